/** The records of the output folder. Their shape is a contract with everyone who reads the files. */
import type { LimitName } from './limits.ts'
import type { FailureCode, SkipReason } from './outcome.ts'
import type { Tier, Via } from './task.ts'

/** The version of the record layout; it changes when a field changes its meaning or goes away. */
export const RECORD_SCHEMA = 1

/** `noindex` and `nofollow`, from meta robots and X-Robots-Tag together: the stricter wins. */
export interface RobotsDirectives {
  readonly index: boolean
  readonly follow: boolean
}

/** What a text may be used for, as its host's robots.txt signals it (`Content-Signal`); what is not named is not said. */
export type ContentSignals = Readonly<Record<string, boolean>>

/** A reservation of text and data mining by the TDM protocol, from headers or meta elements. */
export interface TdmReservation {
  /** True: rights are reserved. */
  readonly reserved: boolean
  /** Where the terms are, if the page says so. */
  readonly policy?: string
}

export interface Heading {
  /** 1 to 6. */
  readonly level: number
  readonly text: string
}

/** Why a page counts as a repetition: it names the other as canonical, its text is the same, or nearly the same. */
export type DuplicateBy = 'canonical' | 'same' | 'near'

/** One line of `pages.jsonl`: a page that was fetched for the first time, or again and had changed. */
export interface PageRecord {
  /** The version of the record layout. */
  readonly schema: typeof RECORD_SCHEMA
  /** The URL as requested. */
  readonly url: string
  /** `new` when it was fetched for the first time, `changed` when it differs from the last time. */
  readonly change: 'new' | 'changed'
  /** How often it has been visited, this time included: 1 for the first. */
  readonly visit: number
  /** The HTTP status, 200 to 299. */
  readonly status: number
  /** Links from a seed, on the shortest path known when the page was fetched; 0 for a seed, 1 for a sitemap entry. */
  readonly depth: number
  /** The page or sitemap that named it first; null for a seed. */
  readonly referrer: string | null
  /** How it was found: `seed`, `link`, `sitemap`, `redirect` or `canonical`, when a page named it as its canonical URL. */
  readonly via: Via
  /** `high`, `medium` or `low`. */
  readonly tier: Tier
  /** When the request that brought the page was sent. */
  readonly fetchedAt: string
  /** From the request to the first byte of the answer: the host's pace counts from there. */
  readonly answerMs: number
  /** From the request to the last byte. */
  readonly durationMs: number
  /** Decoded body bytes kept. */
  readonly bytes: number
  /** A limit was met, and what lies beyond it is missing. */
  readonly truncated?: true
  /** The limits that were met, by their names in the table of limits; present with `truncated`. */
  readonly limits?: readonly LimitName[]
  /** The Content-Type header as sent; null when there was none. */
  readonly contentType: string | null
  /** The media type by which the body was read, where that is not what the header says. */
  readonly sniffedType?: string
  /** The encoding by which the body was read, as the Encoding Standard names it; null for what is not text. */
  readonly charset: string | null
  /** The title element, or og:title. */
  readonly title: string | null
  /** meta description, or og:description. */
  readonly description: string | null
  /** The language that the page states. */
  readonly lang: string | null
  /** The canonical URL that the page states. */
  readonly canonical: string | null
  /** When it was published, as the page itself states it: ISO 8601, as precise as stated. */
  readonly published?: string
  /** When it was last modified, likewise. */
  readonly modified?: string
  /** The headings of the main content, in order. */
  readonly headings: readonly Heading[]
  /** `{ index, follow }`: false where meta robots or X-Robots-Tag say noindex or nofollow. */
  readonly robots: RobotsDirectives
  /** Permitted uses that robots.txt signals for this URL: `{ "search": true, "ai-train": false }`. */
  readonly contentSignals?: ContentSignals
  /** A reservation of text and data mining. */
  readonly tdm?: TdmReservation
  /**
   * `sha256:` and the hex digest of the Markdown, or of the body where there is no Markdown; with `--no-content`, `xxh64:`
   * and that of the body, which is made faster.
   */
  readonly contentHash: string
  /** 16 hex digits; null where there is no text. */
  readonly simhash: string | null
  /** The URL of the page that this one repeats; both are kept. */
  readonly duplicateOf?: string
  /** `canonical`, `same` or `near`; present with `duplicateOf`. */
  readonly duplicateBy?: DuplicateBy
  /** An estimate of how many tokens a language model makes of the Markdown. */
  readonly tokens: number
  /** How many distinct links the page has. */
  readonly links: number
  /** The links themselves, with `--record-links`. */
  readonly outlinks?: readonly string[]
  /** Relative to the output folder, with forward slashes. */
  readonly markdownPath?: string
  /** The body as decoded, with `--format html`. */
  readonly htmlPath?: string
  /** The ETag header. */
  readonly etag?: string
  /** The Last-Modified header. */
  readonly lastModified?: string
  /** 1 when the first attempt succeeded. */
  readonly attempts: number
  /** How the page was had; always `http` today. */
  readonly render: 'http'
}

/** One line of `revisits.jsonl`: a page that was visited again, with nothing new to save. */
export interface RevisitRecord {
  /** The version of the record layout. */
  readonly schema: typeof RECORD_SCHEMA
  /** The URL. */
  readonly url: string
  /** `unchanged`: it is what it was. `gone`: the host has it no more. `missed`: it could not be had, and what was had stands. */
  readonly change: 'unchanged' | 'gone' | 'missed'
  /** As in pages.jsonl; visits of both files are counted together. */
  readonly visit: number
  /** The HTTP status, if the host answered: 304 when it sent nothing, for nothing had changed. */
  readonly status?: number
  /** What exactly, where there was no page. */
  readonly detail?: string
  /** It is gone for good, and will not be visited again. Its earlier records and its Markdown stay. */
  readonly retired?: true
  /** As in pages.jsonl, if the host answered. */
  readonly fetchedAt?: string
  /** As in pages.jsonl, if the host answered. */
  readonly answerMs?: number
  /** As in pages.jsonl, if the host answered. */
  readonly durationMs?: number
  /** Decoded body bytes, where the page was sent although it is the same. */
  readonly bytes?: number
  /** As in pages.jsonl. */
  readonly depth: number
  /** As in pages.jsonl. */
  readonly tier: Tier
  /** When it was decided. */
  readonly checkedAt: string
}

/** One line of `skipped.jsonl`. */
export interface SkipRecord {
  /** The version of the record layout. */
  readonly schema: typeof RECORD_SCHEMA
  /** The URL. */
  readonly url: string
  /** One of the reasons below. */
  readonly reason: SkipReason
  /** What exactly: the robots.txt line, the address, the Crawl-delay. */
  readonly detail: string | null
  /** For a redirect: where it led. */
  readonly location?: string
  /** The HTTP status, where the URL was asked for. */
  readonly status?: number
  /** As in pages.jsonl. */
  readonly depth: number
  /** As in pages.jsonl. */
  readonly referrer: string | null
  /** As in pages.jsonl. */
  readonly via: Via
  /** When it was decided. */
  readonly at: string
}

/** One line of `failed.jsonl`. */
export interface FailRecord {
  /** The version of the record layout. */
  readonly schema: typeof RECORD_SCHEMA
  /** The URL. */
  readonly url: string
  /** One of the errors below. */
  readonly error: FailureCode
  /** In words, with the system's own code where there is one. */
  readonly detail: string
  /** The HTTP status, if the host answered. */
  readonly status?: number
  /** How often it was tried. */
  readonly attempts: number
  /** As in pages.jsonl. */
  readonly depth: number
  /** As in pages.jsonl. */
  readonly referrer: string | null
  /** As in pages.jsonl. */
  readonly via: Via
  /** When it was given up. */
  readonly at: string
}

/** A page as a library user receives it: the record, and what the record only points to. */
export interface Page extends PageRecord {
  readonly markdown: string | null
}
