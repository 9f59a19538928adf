/**
 * What the visits of a page found, cut down to what is kept of it. Of a page it is known how often it was visited; two
 * more numbers are kept, as a belief: as if `shape` changes had been counted in `timeMs`. From these three follows how many
 * visits found a change and how far apart they were, which is nearly all that they say about the page's rate.
 *
 * A visit that found a change says at least one was made: changes that were seen soon after a visit say more than those
 * seen late. So the gap between visits that found a change is a harmonic mean.
 */
import type { ChangeBelief } from './belief.ts'

export interface Evidence {
  /** Visits that found a change, and that found none. Not whole numbers: older visits count for less. */
  readonly changed: number
  readonly unchanged: number
  /** From one visit to the next. */
  readonly gapMs: number
}

/** What was seen many more visits ago than this hardly counts: pages change their ways. */
const VISITS_REMEMBERED = 25
/** As if one visit more had found half a change. So a rate follows from any number of visits, 0 among them. */
const HALF = 0.5

const countOf = (visits: number): number => 1 + Math.min(visits, VISITS_REMEMBERED)

/** Of a page that was visited so often after the first time. */
export function evidenceOf({ shape, timeMs }: ChangeBelief, visits: number): Evidence {
  const count = countOf(visits)
  const changed = Math.min(Math.max(count * -Math.expm1(-shape / count) - HALF, 0), count - 1)
  return { changed, unchanged: count - 1 - changed, gapMs: timeMs / count }
}

/** With one visit more. */
export function withVisit({ changed, unchanged, gapMs }: Evidence, elapsedMs: number, isChanged: boolean): Evidence {
  const kept = Math.min(1, (VISITS_REMEMBERED - 1) / (changed + unchanged))
  const [seen, without] = [kept * changed, kept * unchanged]
  if (!isChanged) {
    const visits = seen + without
    return { changed: seen, unchanged: without + 1, gapMs: (visits * gapMs + elapsedMs) / (visits + 1) }
  }
  const all = seen + 1
  const harmonicMs = all / (seen / gapMs + 1 / elapsedMs)
  return { changed: all, unchanged: without, gapMs: (all * harmonicMs + without * gapMs) / (all + without) }
}

/** The rate at which so many visits would have found a change, as it is kept. */
export function beliefOf({ changed, unchanged, gapMs }: Evidence): ChangeBelief {
  const count = changed + unchanged + 1
  return { shape: -count * Math.log((unchanged + HALF) / count), timeMs: count * gapMs }
}
