/** Words for stdout: rows in columns, times and counts as people read them. Network text is escaped by the caller. */
import { formatDuration } from '../base/index.ts'
import { formatCount } from './count-words.ts'
import { padToWidth } from './terminal.ts'

/** A name, and what is to be said about it. */
export type ReportRow = readonly [name: string, value: string]

const NAME_COLUMNS = 12

/** `  name        value`, one to a line; a value of several lines stays in its column. */
export function reportRows(rows: readonly ReportRow[]): string[] {
  return rows.flatMap(([name, value]) =>
    value.split('\n').map((line, index) => `  ${padToWidth(index === 0 ? name : '', NAME_COLUMNS)} ${line}`.trimEnd()),
  )
}

/** `12 robots, 3 depth`: the most frequent first; `none` for nothing. */
export function countList(counts: Readonly<Partial<Record<string, number>>>): string {
  const parts = Object.entries(counts)
    .filter(([, count]) => (count ?? 0) > 0)
    .sort(([, a], [, b]) => (b ?? 0) - (a ?? 0))
    .map(([name, count]) => `${formatCount(count ?? 0)} ${name}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** `in 4.2s`, `2m 05s ago`, `now`. */
export function whenWords(time: number, now: number): string {
  const ms = time - now
  if (Math.abs(ms) < 1) return 'now'
  return ms > 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`
}

/** ISO 8601 in UTC, to the millisecond. */
export function timestamp(time: number): string {
  return new Date(time).toISOString()
}
