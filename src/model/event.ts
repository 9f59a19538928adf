/** What happens in a crawl, as it happens: one typed list for progress, logs and library users. */
import type { FailRecord, Page, SkipRecord } from './page.ts'
import type { HostKey } from './url.ts'

export interface CrawlEvents {
  /** A page was fetched and its record is durable. */
  page: Page
  /** A URL will not be fetched, or led elsewhere. */
  skip: SkipRecord
  /** A URL was given up on. */
  fail: FailRecord
  /** A URL will be tried again, not before `notBefore` (clock ms). */
  retry: { readonly url: string; readonly notBefore: number }
  /** A host asked to be left alone, with a status of 429 or 503. */
  blocked: { readonly host: HostKey; readonly until: number; readonly reason: string }
}
