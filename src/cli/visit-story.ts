/** The visits of one page: how often it was fetched, how often it had changed, and when it is fetched again. */
import { formatDuration } from '../base/index.ts'
import type { VisitRow } from '../frontier/index.ts'
import { countOf, formatCount } from './count-words.ts'
import { timestamp, whenWords } from './report-lines.ts'

export interface VisitStory {
  readonly visits: number
  /** Of these, the ones that brought another content than the one before. */
  readonly changes: number
  /** Answers in a row that said the page is gone. */
  readonly misses: number
  readonly firstAt: string
  readonly lastAt: string
  readonly changedAt: string
  /** From one change to the next, as it is believed. */
  readonly changeIntervalMs: number
  /** From one visit to the next, as last planned. */
  readonly intervalMs: number
  /** Null when no further visit is planned, or when it is under way. */
  readonly nextAt: string | null
}

export function visitStory(row: VisitRow): VisitStory {
  return {
    visits: row.visits,
    changes: row.changes,
    misses: row.misses,
    firstAt: timestamp(row.firstAt),
    lastAt: timestamp(row.checkedAt),
    changedAt: timestamp(row.changedAt),
    changeIntervalMs: row.changeTimeMs / row.changeShape,
    intervalMs: row.intervalMs,
    nextAt: row.dueAt === null ? null : timestamp(row.dueAt),
  }
}

/** A line for each thing to say. */
export function visitLines(story: VisitStory, now: number): string[] {
  const last = `the last ${story.lastAt}, ${whenWords(Date.parse(story.lastAt), now)}`
  const lines = [`${formatCount(story.visits)} since ${story.firstAt}, ${last}`]
  if (story.visits > 1) {
    lines.push(
      `${countOf(story.changes, 'change')} seen, the last content from ${story.changedAt}`,
      `believed to change every ${formatDuration(story.changeIntervalMs)}, planned every ${formatDuration(story.intervalMs)}`,
    )
  }
  if (story.misses > 0) lines.push(`gone at the last ${story.misses === 1 ? 'visit' : countOf(story.misses, 'visit')}`)
  return lines
}
