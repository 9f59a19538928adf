/** What the engine hands to a sink: one line for one of the four files, and for a page its Markdown. */
import type { FailRecord, PageRecord, RevisitRecord, SkipRecord } from '../model/index.ts'

export type OutputRecord =
  | { readonly kind: 'page'; readonly record: PageRecord; readonly markdown: string | null }
  | { readonly kind: 'revisit'; readonly record: RevisitRecord }
  | { readonly kind: 'skip'; readonly record: SkipRecord }
  | { readonly kind: 'fail'; readonly record: FailRecord }

/** The file that each kind of record goes to. */
export const RECORD_FILES = {
  page: 'pages.jsonl',
  revisit: 'revisits.jsonl',
  skip: 'skipped.jsonl',
  fail: 'failed.jsonl',
} as const
