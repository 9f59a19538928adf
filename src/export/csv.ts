/**
 * Pages as comma-separated values by RFC 4180: a line of names, then one row for each page, lines ended by CRLF.
 *
 * Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` for a formula, and what a page says is not to be run.
 * So text from the network that begins like that has an apostrophe before it (as OWASP has it); numbers of ours are
 * left alone.
 */
import type { PageRecord } from '../model/index.ts'
import type { PageIndex } from './page-index.ts'

/** Every field of a record that fits a cell. What is a list or an object is written as JSON. */
export const CSV_FIELDS = [
  'url',
  'title',
  'status',
  'depth',
  'fetchedAt',
  'bytes',
  'tokens',
  'links',
  'contentType',
  'lang',
  'description',
  'canonical',
  'duplicateOf',
  'duplicateBy',
  'published',
  'modified',
  'markdownPath',
  'htmlPath',
  'change',
  'visit',
  'referrer',
  'via',
  'tier',
  'answerMs',
  'durationMs',
  'truncated',
  'limits',
  'sniffedType',
  'charset',
  'headings',
  'robots',
  'contentSignals',
  'tdm',
  'contentHash',
  'simhash',
  'etag',
  'lastModified',
  'outlinks',
  'attempts',
  'render',
  'schema',
] as const satisfies readonly (keyof PageRecord)[]
export type CsvField = (typeof CSV_FIELDS)[number]

/** What most people want to see in columns. */
export const COMMON_CSV_FIELDS = CSV_FIELDS.slice(0, CSV_FIELDS.indexOf('change'))

/** Every piece is whole lines. */
export function* csvLines(index: PageIndex, fields: readonly CsvField[]): Generator<string> {
  yield `${fields.join(',')}\r\n`
  for (const { record } of index.records()) yield `${fields.map((field) => cell(record[field])).join(',')}\r\n`
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') return quoted(JSON.stringify(value))
  return quoted(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value)
}

/** RFC 4180 §2.5 to §2.7. */
function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
