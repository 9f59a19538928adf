/**
 * The web of a plan: what each URL will answer, and after how long. It is made from assumptions or from the records of
 * a crawl, and asked by the planned fetcher; only what costs time is in it, not what pages say.
 */
import type { FetchErrorCode } from '../../fetch/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'

export interface PlannedResponse {
  readonly kind: 'response'
  readonly status: number
  /** To the first byte, and from there to the last, without what this machine does for it. */
  readonly answerMs: number
  readonly transferMs: number
  /** The decoded body as it would be; what is served in the simulation is smaller. */
  readonly bytes: number
  /** What the page, or the sitemap, leads to. */
  readonly links: readonly NormalizedUrl[]
  readonly location?: string
  readonly retryAfterSeconds?: number
  /** Of a robots.txt: what it asks for; 0 for nothing. */
  readonly crawlDelayMs?: number
}

export interface PlannedFailure {
  readonly kind: 'error'
  readonly code: FetchErrorCode
  readonly retryable: boolean
  readonly answerMs: number
}

export type PlannedAnswer = PlannedResponse | PlannedFailure

/** What kind of thing a URL is asked as. */
export type AskedAs = 'page' | 'robots' | 'sitemap'

export interface PlannedHost {
  readonly host: string
  /** Pages that the plan has on it. */
  readonly pages: number
  /** Mean of its answers. */
  readonly latencyMs: number
  readonly crawlDelayMs: number
}

/** Asking it changes nothing: one web serves any number of plans, and each finds it as the first did. */
export interface PlannedWeb {
  readonly seeds: readonly NormalizedUrl[]
  /** `n`: how often this URL has been asked, this time included. */
  answer(url: NormalizedUrl, as: AskedAs, n: number): PlannedAnswer
  /** The refusal with a pause that a host answers its first page with, once in each plan; undefined for none. */
  refusalOf(host: string): PlannedResponse | undefined
  hosts(): Iterable<PlannedHost>
  /** Where a host is; undefined where that is not known, and then it is alone there. */
  addressOf(host: string): string | undefined
  readonly pages: number
  /** Mean size of a page, for what reading one costs this machine. */
  readonly bytesPerPage: number
  /** The plan has one page for so many of the crawl's: times are multiplied. 1 for a plan of the full size. */
  readonly shrink: number
}

export const NOT_FOUND = { kind: 'response', status: 404, transferMs: 0, bytes: 0, links: [] } as const

export function robotsUrlOf(origin: string): NormalizedUrl {
  return `${origin}/robots.txt` as NormalizedUrl
}
