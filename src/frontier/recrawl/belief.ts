/**
 * What is believed of how often a page changes. Changes come at random, so many a unit of time on average; that rate is
 * not known, and the belief is a gamma distribution of it. A visit shows whether the page changed since the last one,
 * but not how often: a page that changes every minute and one that changes every hour look alike to a visit a day.
 *
 * It is a pair of numbers, and judges nothing: when to look again is for interval.ts.
 */

/** As if `shape` changes had been counted in `timeMs`. Both are above 0. */
export interface ChangeBelief {
  readonly shape: number
  readonly timeMs: number
}

/**
 * How much of a belief one visit leaves; the rest is what is believed of a page that nothing is known of. Pages change
 * their ways, so what was seen a hundred visits ago hardly counts.
 */
const REMEMBERED = 0.99
/** However often a page was visited, no more changes than this are remembered: one that falls silent is soon noticed. */
const MOST_SHAPE = 40
/** Below this nothing would be believed at all. */
const LEAST_SHAPE = 1e-3

/** Changes a millisecond, on average. */
export function meanRate({ shape, timeMs }: ChangeBelief): number {
  return shape / timeMs
}

/** How likely it is that the page changes within this time. */
export function chanceOfChange({ shape, timeMs }: ChangeBelief, withinMs: number): number {
  return -Math.expm1(-shape * Math.log1p(withinMs / timeMs))
}

/**
 * The belief after a visit that came `elapsedMs` after the one before and found the page changed or not. `prior` is what
 * would be believed of a page that was never visited; without one nothing is forgotten.
 */
export function observeChange(
  belief: ChangeBelief,
  elapsedMs: number,
  changed: boolean,
  prior: ChangeBelief = belief,
): ChangeBelief {
  if (!(elapsedMs > 0)) return belief
  const shape = blend(belief.shape, prior.shape)
  const timeMs = blend(belief.timeMs, prior.timeMs)
  // No change has the likelihood exp(-rate * elapsed), and the family is closed under that.
  if (!changed) return { shape, timeMs: timeMs + elapsedMs }
  // A change has one minus this: the difference of two gamma densities, of which mean and variance are kept.
  const logRatio = -Math.log1p(elapsedMs / timeMs)
  const seen = -Math.expm1(shape * logRatio)
  const mean = ((shape / timeMs) * -Math.expm1((shape + 1) * logRatio)) / seen
  const square = ((shape / timeMs) * ((shape + 1) / timeMs) * -Math.expm1((shape + 2) * logRatio)) / seen
  const matched = (mean * mean) / (square - mean * mean)
  const kept = Math.min(Math.max(matched, LEAST_SHAPE), MOST_SHAPE)
  return { shape: kept, timeMs: kept / mean }
}

function blend(known: number, prior: number): number {
  return known * REMEMBERED + prior * (1 - REMEMBERED)
}
