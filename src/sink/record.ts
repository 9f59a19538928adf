/** What the engine hands to a sink: one line for one of the four files, and what goes with it. */
import type { FailRecord, PageRecord, RevisitRecord, SkipRecord } from '../model/index.ts'
import type { ArchivedExchange } from './warc/exchange.ts'

/** The exchange that a record comes from; absent when nothing was exchanged, or nothing is archived. */
interface Archived {
  readonly exchange?: ArchivedExchange
}

export type OutputRecord =
  | PageOutput
  | (Archived & { readonly kind: 'revisit'; readonly record: RevisitRecord })
  | (Archived & { readonly kind: 'skip'; readonly record: SkipRecord })
  | (Archived & { readonly kind: 'fail'; readonly record: FailRecord })
  /** An exchange that has no record: robots.txt, a sitemap, an answer after which the page is tried again. */
  | { readonly kind: 'exchange'; readonly exchange: ArchivedExchange }

export interface PageOutput extends Archived {
  readonly kind: 'page'
  readonly record: PageRecord
  readonly markdown: string | null
  /** The body as it was sent, decompressed and no more, for the file that `htmlPath` names. */
  readonly html?: Uint8Array
}

/** The file that each kind of record goes to. */
export const RECORD_FILES = {
  page: 'pages.jsonl',
  revisit: 'revisits.jsonl',
  skip: 'skipped.jsonl',
  fail: 'failed.jsonl',
} as const
