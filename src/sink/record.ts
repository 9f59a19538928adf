/** What the engine hands to a sink: one line for one of the four files, and what goes with it. */
import type { FailRecord, PageRecord, RevisitRecord, SkipRecord } from '../model/index.ts'
import type { ArchivedExchange } from './warc/exchange.ts'

interface Written {
  /** The exchange that a record comes from; absent when nothing was exchanged, or nothing is archived. */
  readonly exchange?: ArchivedExchange
  /** The record as `recordLine` has it, where that was made already. */
  readonly line?: string
}

export type OutputRecord =
  | PageOutput
  | (Written & { readonly kind: 'revisit'; readonly record: RevisitRecord })
  | (Written & { readonly kind: 'skip'; readonly record: SkipRecord })
  | (Written & { readonly kind: 'fail'; readonly record: FailRecord })
  /** An exchange that has no record: robots.txt, a sitemap, an answer after which the page is tried again. */
  | { readonly kind: 'exchange'; readonly exchange: ArchivedExchange }

export interface PageOutput extends Written {
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

/** One line of JSON. The two line separators that JSON allows and some readers split at are escaped. */
export function recordLine(record: object): string {
  const text = JSON.stringify(record)
  return `${text.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)}\n`
}
