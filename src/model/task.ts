/** Work: a URL that was found, and the task that asks for it. */
import type { HostKey, NormalizedUrl, Origin } from './url.ts'

export const TIERS = ['high', 'medium', 'low'] as const
export type Tier = (typeof TIERS)[number]

/** How a URL came to us. */
export type Via = 'seed' | 'link' | 'sitemap' | 'redirect' | 'canonical'

/** A page is counted, recorded and limited. A sitemap or robots.txt is asked for on behalf of pages, and is not. */
export type TaskKind = 'page' | 'sitemap' | 'robots'

/** A URL handed to the frontier. It is normalised and in scope: the frontier judges neither. */
export interface FoundUrl {
  readonly url: NormalizedUrl
  /** `robots` is never found: the frontier makes those tasks itself. */
  readonly kind: 'page' | 'sitemap'
  /** Links from a seed: 0 for the seed itself. A redirect's target has the depth of its source. */
  readonly depth: number
  readonly via: Via
  /** The page, sitemap or robots.txt that named it; absent for a seed. */
  readonly referrer?: NormalizedUrl
  /** By a rule; absent: by the score of its host. */
  readonly tier?: Tier
  /** When the page was last changed, as a sitemap says (clock ms). */
  readonly modifiedAt?: number
  /** How many redirects led here in a row; 0 for a link. */
  readonly redirects?: number
  /** For a sitemap: how many index files lie above it. */
  readonly nesting?: number
}

/** One request to be made, as it is handed out inside a lease. */
export interface Task {
  /** The frontier's name for the URL; unique in the crawl. 0 for a robots.txt, which is named by `origin`. */
  readonly id: number
  readonly kind: TaskKind
  readonly url: NormalizedUrl
  readonly host: HostKey
  /** The origin whose rules apply; for `robots`, the origin that the file will speak for, even after a redirect. */
  readonly origin: Origin
  readonly depth: number
  readonly via: Via
  readonly referrer?: NormalizedUrl
  readonly tier: Tier
  /** Attempts already made and settled as `retry`: 0 the first time. */
  readonly attempts: number
  readonly redirects: number
  readonly nesting: number
  /** What is known from the last time; absent for what is fetched for the first time. */
  readonly last?: LastVisit
  /** Why it was set aside: it is to be skipped for that, without a request. */
  readonly aside?: { readonly reason: 'trap' | 'host-budget'; readonly detail: string }
  /** Nothing would be learned from what it says: no sample of it is wanted. */
  readonly isUnsampled?: true
}

/** What is known of a page that was fetched before. */
export interface LastVisit {
  /** Clock ms. */
  readonly at: number
  /** How often it was fetched. */
  readonly visits: number
  /** Answers in a row that said the page is gone. */
  readonly misses: number
  /** Of its content; null when there was none. */
  readonly hash: string | null
  readonly etag: string | null
  readonly lastModified: string | null
}

/**
 * What fetching a page brought, seen from the last time. `gone`: the host says that it is not there any more.
 * `missed`: nothing could be learned, and what was had before still stands.
 */
export type Change = 'new' | 'changed' | 'unchanged' | 'gone' | 'missed'

/** What is kept of a page until the next time. */
export interface Visit {
  readonly change: Change
  readonly hash: string | null
  readonly etag: string | null
  readonly lastModified: string | null
}

/** What a page says, as far as it takes to see that it says the same as another one. 16 hex digits each. */
export interface ContentSample {
  /** Equal for two pages with the same text and title, to the letter. */
  readonly whole: string
  /** Equal for two pages that say the same, dates aside and numbers that stand beside others. */
  readonly undated: string
  /** Equal for two pages that say the same, numbers, dates and what repeats their own addresses aside. */
  readonly exact: string
  /** A fingerprint that differs in few bits for pages that say nearly the same; null for a text too short to tell. */
  readonly near: string | null
  /**
   * Equal in its first or its last eight digits for two pages that say the same, numbers, their own names and whatever is
   * linked aside. null unless the page leads above all to its own place.
   */
  readonly prose: string | null
  /** Whether it has a date. */
  readonly hasDate: boolean
}
