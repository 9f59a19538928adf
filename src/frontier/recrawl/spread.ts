/**
 * Rates of change, in cells, each twice as fast as the one before or a little more, by the tier's average interval; and
 * what follows from how likely each cell is: how soon a page has changed, and what a visit of it is worth.
 *
 * Arithmetic over what is passed in: how the rates of a tier's pages are spread is learned in population.ts, and when a
 * page is visited is for recrawl.ts.
 */
import type { Evidence } from './evidence.ts'

export const CELLS = 16
/** Changes in an average interval, of the slowest and the fastest cell. */
const SLOWEST = 1e-3
const FASTEST = 300
/** From one cell to the next, as a logarithm. */
export const CELL_STEP = Math.log(FASTEST / SLOWEST) / (CELLS - 1)
export const RATES: readonly number[] = Array.from({ length: CELLS }, (_, cell) => SLOWEST * Math.exp(cell * CELL_STEP))
/** No rate is ever ruled out for good. */
const NEVER_NOTHING = 1e-9
/** Intervals need not be exact to more than about a hundredth. */
const HALVINGS = 12

/** How likely each cell is. */
export type RateBelief = readonly number[]

/** How well each cell explains what the visits of a page found; 1 for the one that does best. */
export function likelihoods({ changed, unchanged, gapMs }: Evidence, averageMs: number): number[] {
  const gap = gapMs / averageMs
  const logs = RATES.map((rate) => changed * Math.log(-Math.expm1(-rate * gap)) - unchanged * rate * gap)
  const most = Math.max(...logs)
  return logs.map((log) => Math.exp(log - most))
}

/** What is believed of a page, by what was believed before anything was seen of it and by what was seen. */
export function updated(prior: RateBelief, likelihood: readonly number[]): number[] {
  const weights = prior.map((weight, cell) => (weight + NEVER_NOTHING) * (likelihood[cell] as number))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

/** How likely it is that the page changes within this time. */
export function chanceWithin(belief: RateBelief, withinMs: number, averageMs: number): number {
  const time = withinMs / averageMs
  return belief.reduce((sum, weight, cell) => sum - weight * Math.expm1(-(RATES[cell] as number) * time), 0)
}

/** What one more visit a millisecond is worth, in milliseconds: see interval.ts. */
export function worthMs(belief: RateBelief, intervalMs: number, averageMs: number): number {
  const time = intervalMs / averageMs
  return belief.reduce((sum, weight, cell) => {
    const rate = RATES[cell] as number
    const changes = rate * time
    return sum + ((weight * averageMs) / rate) * (1 - Math.exp(-changes) * (1 + changes))
  }, 0)
}

/** The part of what is believed by which the page could be worth this price, if it were visited seldom enough. */
export function chanceOfWorth(belief: RateBelief, priceMs: number, averageMs: number): number {
  return belief.reduce((sum, weight, cell) => (averageMs / (RATES[cell] as number) > priceMs ? sum + weight : sum), 0)
}

/** Where something that grows with the interval reaches a value; the bounds if it does not within them. */
export function intervalWhere(
  of: (intervalMs: number) => number,
  value: number,
  leastMs: number,
  mostMs: number,
): number {
  if (!(of(mostMs) > value)) return mostMs
  if (of(leastMs) >= value) return leastMs
  let [low, high] = [leastMs, mostMs]
  for (let step = 0; step < HALVINGS; step++) {
    const middle = Math.sqrt(low * high)
    if (of(middle) > value) high = middle
    else low = middle
  }
  return Math.sqrt(low * high)
}
