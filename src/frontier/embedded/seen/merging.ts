/**
 * When runs are merged, and how: in bounded steps, next to whatever else happens to the set.
 *
 * A sealed memtable is a run of level 0. When enough runs of one level are there, they become one of the next. The
 * oldest run has most of the entries; it takes part unless it is much larger than the rest together, so that it stays
 * one: then a look-up asks few filters, and nearly all entries share one. An entry is written about six times until
 * there are a hundred million.
 */
import type { Run, RunCursor } from './run.ts'
import type { RunWriter } from './run-writer.ts'

/** Runs that one merge reads, for each that would be enough. */
const MOST_FOR_ENOUGH = 2

/**
 * The next runs to merge: neighbours of one level, none of them in `busy`, the youngest first; undefined when nowhere
 * are enough of them. A large merge may end after smaller ones of younger runs, and others may stand between runs that
 * are free: only what is side by side becomes one run in the same place.
 */
export function planMerge(runs: readonly Run[], busy: ReadonlySet<Run>, fanIn: number): Run[] | undefined {
  let end = runs.length
  while (end > 0) {
    const { level } = runs[end - 1] as Run
    let begin = end
    while (begin > 0 && isFree(runs[begin - 1] as Run, level, busy)) begin -= 1
    if (end - begin >= fanIn) {
      const most = Math.min(end, begin + fanIn * MOST_FOR_ENOUGH)
      return withOldest(runs, runs.slice(begin, most), busy, fanIn)
    }
    end = Math.min(begin, end - 1)
  }
  return undefined
}

const isFree = (run: Run, level: number, busy: ReadonlySet<Run>): boolean => run.level === level && !busy.has(run)

function withOldest(runs: readonly Run[], merged: Run[], busy: ReadonlySet<Run>, fanIn: number): Run[] {
  const [oldest] = runs
  if (oldest === undefined || oldest === merged[0] || busy.has(oldest) || runs[1] !== merged[0]) return merged
  return oldest.entries < fanIn * countOf(merged) ? [oldest, ...merged] : merged
}

export const countOf = (runs: readonly Run[]): number => runs.reduce((sum, run) => sum + run.entries, 0)

export interface Merge {
  readonly runs: readonly Run[]
  /** Goes on by so many entries at most; the merged run when all is done. */
  step(entries: number): Run | undefined
  abandon(): void
}

export function createMerge(runs: readonly Run[], writer: RunWriter): Merge {
  const cursors: RunCursor[] = runs.map((run) => run.read()).filter((cursor) => cursor.next())
  return {
    runs,
    step(entries) {
      if (cursors.length === 0) return writer.finish()
      for (let done = 0; done < entries && cursors.length > 0; done++) {
        let least = cursors[0] as RunCursor
        let place = 0
        for (let other = 1; other < cursors.length; other++) {
          const cursor = cursors[other] as RunCursor
          if (cursor.hi < least.hi || (cursor.hi === least.hi && cursor.lo < least.lo)) {
            least = cursor
            place = other
          }
        }
        writer.add(least.hi, least.lo, least.id)
        if (!least.next()) cursors.splice(place, 1)
      }
      writer.settle()
      return undefined
    },
    abandon: () => writer.abandon(),
  }
}
