/**
 * How the rates of change are spread over the pages of a tier, learned from all of them together: by it a single page is
 * judged of which little is known. Where all pages are alike, one that changed twice in a row is no exception; where some
 * change every few minutes, it is likely one of them.
 *
 * Rates stand in cells, each twice as fast as the one before or a little more, by the tier's average interval. Arithmetic
 * over what is passed in: who keeps the spread, and when a page is visited, is for recrawl.ts.
 */
import type { Evidence } from './evidence.ts'

const CELLS = 16
/** Changes in an average interval, of the slowest and the fastest cell. */
const SLOWEST = 1e-3
const FASTEST = 300
const RATES: readonly number[] = Array.from(
  { length: CELLS },
  (_, cell) => SLOWEST * (FASTEST / SLOWEST) ** (cell / (CELLS - 1)),
)
/** Before anything was seen, every rate is as likely as any other: for as many pages as this. */
const PRIOR_PAGES = 4
/** What was learned is forgotten when every page was visited about so often since. */
const ROUNDS_REMEMBERED = 2
/** What one visit changes at the most. */
const MOST_LEARNED = 0.5
/** No rate is ever ruled out for good. */
const NEVER_NOTHING = 1e-9
/** Intervals need not be exact to more than about a hundredth. */
const HALVINGS = 12

/** How likely each cell is; then, last, the time over which it was learned, in average intervals. */
export type RateSpread = number[]

/** What is believed of one page: how likely each cell is. */
export type RateBelief = readonly number[]

/** What the evidence of a page makes of its tier's spread. An empty spread is one of which nothing is known. */
export function rateBelief(spread: RateSpread, evidence: Evidence, averageMs: number): RateBelief {
  const gap = evidence.gapMs / averageMs
  const logs = RATES.map((rate, cell) => {
    const prior = Math.log((spread[cell] ?? 1 / CELLS) + NEVER_NOTHING)
    return prior + evidence.changed * Math.log(-Math.expm1(-rate * gap)) - evidence.unchanged * rate * gap
  })
  const most = Math.max(...logs)
  const weights = logs.map((log) => Math.exp(log - most))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

/**
 * Learns from a page that was visited; changes the spread in place. A page counts for as long as it was not visited, so
 * one that is visited often counts no more than another.
 */
export function learnSpread(spread: RateSpread, belief: RateBelief, elapsed: number, pages: number): void {
  if (spread.length !== CELLS + 1) spread.splice(0, spread.length, ...RATES.map(() => 1 / CELLS), 0)
  const seen = Math.min((spread[CELLS] as number) + elapsed, ROUNDS_REMEMBERED * pages)
  const share = Math.min(elapsed / (seen + PRIOR_PAGES), MOST_LEARNED)
  for (let cell = 0; cell < CELLS; cell++) {
    spread[cell] = (spread[cell] as number) * (1 - share) + (belief[cell] as number) * share
  }
  spread[CELLS] = seen
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
