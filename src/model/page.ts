/** The records of the output folder. Their shape is a contract with everyone who reads the files. */
import type { FailureCode, SkipReason } from './outcome.ts'
import type { Tier, Via } from './task.ts'

/** The version of the record layout; it changes when a field changes its meaning or goes away. */
export const RECORD_SCHEMA = 1

/** `noindex` and `nofollow`, from meta robots and X-Robots-Tag together: the stricter wins. */
export interface RobotsDirectives {
  readonly index: boolean
  readonly follow: boolean
}

/** One line of `pages.jsonl`. */
export interface PageRecord {
  readonly schema: typeof RECORD_SCHEMA
  /** The URL as requested. */
  readonly url: string
  /** Where the content was in the end, if that is another URL. */
  readonly finalUrl?: string
  readonly status: number
  readonly depth: number
  readonly referrer: string | null
  readonly via: Via
  readonly tier: Tier
  /** ISO 8601, UTC, of the request that brought the page. */
  readonly fetchedAt: string
  /** From the request to the first byte of the answer: the host's pace counts from there. */
  readonly answerMs: number
  /** From the request to the last byte. */
  readonly durationMs: number
  /** Decoded body bytes kept. */
  readonly bytes: number
  /** The body was longer than max_body_size and was cut. */
  readonly truncated?: true
  readonly contentType: string | null
  readonly charset: string | null
  readonly title: string | null
  readonly description: string | null
  readonly lang: string | null
  readonly canonical: string | null
  readonly robots: RobotsDirectives
  /** `sha256:` and the hex digest of the Markdown, or of the body where there is no Markdown. */
  readonly contentHash: string
  /** 16 hex digits; null where there is no text. */
  readonly simhash: string | null
  readonly duplicateOf?: string
  readonly tokens: number
  /** How many distinct links the page has. */
  readonly links: number
  /** The links themselves, with `--record-links`. */
  readonly outlinks?: readonly string[]
  /** Relative to the output folder, with forward slashes. */
  readonly markdownPath?: string
  readonly etag?: string
  readonly lastModified?: string
  /** 1 when the first attempt succeeded. */
  readonly attempts: number
  readonly render: 'http' | 'browser'
}

/** One line of `skipped.jsonl`. */
export interface SkipRecord {
  readonly schema: typeof RECORD_SCHEMA
  readonly url: string
  readonly reason: SkipReason
  /** What exactly: the robots.txt line, the address, the Crawl-delay. */
  readonly detail: string | null
  /** For a redirect: where it led. */
  readonly location?: string
  readonly status?: number
  readonly depth: number
  readonly referrer: string | null
  readonly via: Via
  readonly at: string
}

/** One line of `failed.jsonl`. */
export interface FailRecord {
  readonly schema: typeof RECORD_SCHEMA
  readonly url: string
  readonly error: FailureCode
  readonly detail: string
  readonly status?: number
  readonly attempts: number
  readonly depth: number
  readonly referrer: string | null
  readonly via: Via
  readonly at: string
}

/** A page as a library user receives it: the record, and what the record only points to. */
export interface Page extends PageRecord {
  readonly markdown: string | null
}
