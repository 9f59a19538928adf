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

/**
 * How a host has been answering. It travels with every lease, is worked out anew from what came of it
 * (politeness/backoff.ts), and is kept with the host, so that every worker and every restart goes on from it.
 */
export interface HostHealth {
  /** Pauses after 429 or 503 that are not forgiven yet: the next one is twice as long for each. */
  readonly strikes: number
  /**
   * Answers in a row: above zero, good ones; below zero, refusals (429, 503) and failed connections, each pause counted
   * once. 0: never asked.
   */
  readonly streak: number
  /** When the first of that row came; 0 when there is none. */
  readonly streakSince: number
  /** When the last pause was imposed: what was under way then does not count again. 0: never. */
  readonly blockedAt: number
  /** Time to the first byte, smoothed over the last answers; 0 when none is known. */
  readonly latencyMs: number
}

export const UNKNOWN_HEALTH: HostHealth = { strikes: 0, streak: 0, streakSince: 0, blockedAt: 0, latencyMs: 0 }

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
  /** Clock ms; when the text was had, not when somebody last tried to have a newer one. */
  readonly fetchedAt: number
  /** Names what the record says: the same text has the same version, another one another. Short hex digits. */
  readonly version: string
  /** Since when a newer copy could not be had, so that this last good one is still in force; null while there is no need. */
  readonly staleSince: number | null
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
  /** The delay in force: the policy's, the longest Crawl-delay of its origins or what its latency asks for, the longest of them. */
  readonly delayMs: number
  readonly concurrency: number
  /** When the host last answered; null if it was never asked. */
  readonly answeredAt: number | null
  /** Not to be asked before this time, whatever the pace says; 0 for no such block. */
  readonly blockedUntil: number
  readonly blockedReason: string | null
  readonly health: HostHealth
  /** The address that it is paced by together with others; null when that is not known or not asked for. */
  readonly address: string | null
  /** The closest that two requests ever came: the shortest gap, less the delay in force then. Null before the second. */
  readonly closestMs: number | null
  /** Tasks waiting for it, of all kinds. */
  readonly queued: number
  readonly robots: readonly RobotsRecord[]
}
