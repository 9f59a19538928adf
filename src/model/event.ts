/** What happens in a crawl, as it happens: one typed list for progress, logs and library users. */
import type { FailRecord, Page, RevisitRecord, SkipRecord } from './page.ts'
import type { HostKey } from './url.ts'

/** What the audit saw. Times are clock ms. */
export interface ImpoliteRequest {
  readonly host: HostKey
  /** `pace`: before its delay had passed. `in-flight`: beyond its limit. `pause`: inside a pause that the host asked for. */
  readonly kind: 'pace' | 'in-flight' | 'pause'
  readonly at: number
  /** In words: `asked 812 ms after its answer, with a delay of 1 s`. */
  readonly detail: string
}

export interface CrawlEvents {
  /** A page was fetched for the first time, or again and found to be changed; its record is durable. */
  page: Page
  /** A page was fetched again, or was tried to be, and there was nothing new to save. */
  revisit: RevisitRecord
  /** A URL will not be fetched, or led elsewhere. */
  skip: SkipRecord
  /** A URL was given up on. */
  fail: FailRecord
  /** A URL will be tried again, not before `notBefore` (clock ms). */
  retry: { readonly url: string; readonly notBefore: number }
  /** A host is left alone until then: it answered 429 or 503, or could not be reached. */
  blocked: { readonly host: HostKey; readonly until: number; readonly reason: string }
  /** The audit saw a request that the host's policy does not permit. There must never be one: it is a bug of ours. */
  impolite: ImpoliteRequest
}
