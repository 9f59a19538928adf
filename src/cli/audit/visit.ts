/** One request for a page, as its record tells of it, and how far its times can be trusted. */

/** A start is cut (up to 1 ms too early), a duration is rounded (up to half a millisecond off). */
export const CUT_MS = 1
export const ROUNDED_MS = 0.5

/**
 * How a database brings visits into the order in which they were made. Of those that began within one millisecond the one
 * that was answered first was made first, where they were made one at a time.
 */
export const IN_ORDER = 'start, answer, finish'

export interface Visit {
  /** The page's row. */
  readonly id: number
  readonly host: number
  readonly lane: number
  /** Clock ms, cut. */
  readonly startedAt: number
  readonly answerMs: number
  readonly durationMs: number
}

/** The same in the temporary database. */
export interface VisitRow {
  readonly host: number
  readonly start: number
  /** The start with the time to the answer, and to the last byte. */
  readonly answer: number
  readonly finish: number
  readonly id: number
  readonly lane: number
}

/** When the request of a record was sent and answered; undefined for one that has no answer to tell of. */
export function timesOf(
  record: Readonly<Record<string, unknown>>,
): Pick<Visit, 'startedAt' | 'answerMs' | 'durationMs'> | undefined {
  const startedAt = Date.parse(String(record['fetchedAt']))
  const { answerMs, durationMs } = record
  if (Number.isNaN(startedAt) || typeof answerMs !== 'number' || typeof durationMs !== 'number') return undefined
  return { startedAt, answerMs, durationMs }
}
