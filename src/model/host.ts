/** What is known of a host and of its origins. It lives in the frontier, so that every worker and restart obeys it. */
import type { SkipReason } from './outcome.ts'
import type { HostKey, Origin } from './url.ts'

/** How a host may be asked, as the configuration has it. */
export interface HostPolicy {
  /** Between the answer to one request and the start of the next. */
  readonly delayMs: number
  /** Requests in flight at once, at most. */
  readonly concurrency: number
}

/** What an origin's robots.txt came to (RFC 9309 §2.3.1). */
export interface RobotsRecord {
  readonly origin: Origin
  /**
   * `rules`: the file was had, and `body` holds it. `allow-all`: there is none (4xx), or we were told to ignore it.
   * `disallow-all`: nothing of the origin may be asked, for the reason in `refusal`.
   */
  readonly state: 'rules' | 'allow-all' | 'disallow-all'
  /** Why each URL of the origin is skipped; null unless `state` is `disallow-all`. */
  readonly refusal: Extract<SkipReason, 'robots-unreachable' | 'crawl-delay' | 'address'> | null
  /** The last status received; null when nothing answered. */
  readonly status: number | null
  /** In words, for people: `HTTP 200, 312 bytes`, `HTTP 503 three times`, `connection refused`. */
  readonly detail: string
  /** Clock ms. */
  readonly fetchedAt: number
  /** Clock ms; from then on it is fetched again before the next page. */
  readonly expiresAt: number
  /** The text of the file, cut at what is parsed; empty unless `state` is `rules`. */
  readonly body: string
  /** The Crawl-delay that the file asks of us, as it asks it; 0 for none. What is made of it is configuration. */
  readonly crawlDelayMs: number
}

/** A host as the frontier has it. */
export interface HostRecord {
  readonly host: HostKey
  /** The delay in force: the policy's or the longest Crawl-delay of its origins, whichever is longer. */
  readonly delayMs: number
  readonly concurrency: number
  /** When the host last answered; null if it was never asked. */
  readonly answeredAt: number | null
  /** Not to be asked before this time, whatever the pace says; 0 for no such block. */
  readonly blockedUntil: number
  readonly blockedReason: string | null
  /** Answers of 429 or 503 in a row, counted once per block. */
  readonly strikes: number
  /** Tasks waiting for it, of all kinds. */
  readonly queued: number
  readonly robots: readonly RobotsRecord[]
}
