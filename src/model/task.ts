/** Work: a URL that was found, and the task that asks for it. */
import type { HostKey, NormalizedUrl, Origin } from './url.ts'

export const TIERS = ['high', 'medium', 'low'] as const
export type Tier = (typeof TIERS)[number]

/** How a URL came to us. */
export type Via = 'seed' | 'link' | 'sitemap' | 'redirect'

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
  readonly tier?: Tier
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
}
