/**
 * When a page is worth another visit. At a given number of visits altogether, the pages are fresh for the greatest part
 * of the time when one more visit is worth the same wherever it is spent (Cho and Garcia-Molina, "Effective page refresh
 * policies for web crawlers"): this worth is the price that all pages pay. A page that hardly changes reaches it late;
 * one that changes faster than it could be visited never does, and its visits are better spent on others.
 *
 * The worth is averaged over the belief, so that a page of which little is known keeps being looked at.
 */
import type { ChangeBelief } from './belief.ts'

/**
 * What one more visit a millisecond adds to the page's freshness, in milliseconds, where visits are `intervalMs` apart.
 *
 * For a known rate, with x = rate * interval, the page is fresh for (1 - exp(-x)) / x of the time; the derivative by the
 * number of visits is (1 - exp(-x) (1 + x)) / rate. Its mean over a gamma distribution has a closed form.
 */
export function visitWorthMs({ shape, timeMs }: ChangeBelief, intervalMs: number): number {
  return timeMs * worth(shape, intervalMs / timeMs)
}

/** The same with times in units of the belief's own. Grows with the interval. */
function worth(shape: number, interval: number): number {
  const log = Math.log1p(interval)
  const less = shape - 1
  const meanTime = Math.abs(less) < 1e-6 ? log : -Math.expm1(-less * log) / less
  return meanTime - interval * Math.exp(-shape * log)
}

/** Its derivative by the interval. */
function slope(shape: number, interval: number): number {
  return shape * interval * Math.exp(-(shape + 1) * Math.log1p(interval))
}

/** Of Newton's method; it takes about five, and where it leaves the bounds they are halved instead. */
const MOST_STEPS = 60
/** Intervals need not be exact to more than this part of themselves. */
const CLOSE_ENOUGH = 1e-3

/** The interval at which a visit is worth `priceMs`; within the bounds, and `mostMs` for a page that is never worth it. */
export function bestIntervalMs(belief: ChangeBelief, priceMs: number, leastMs: number, mostMs: number): number {
  const { shape, timeMs } = belief
  const price = priceMs / timeMs
  let low = leastMs / timeMs
  let high = mostMs / timeMs
  if (!(worth(shape, high) > price)) return mostMs
  if (worth(shape, low) >= price) return leastMs
  // The worth begins as shape / 2 times the square of the interval.
  let guess = Math.sqrt((2 * price) / shape)
  for (let step = 0; step < MOST_STEPS; step++) {
    if (!(guess > low && guess < high)) guess = Math.sqrt(low * high)
    const excess = worth(shape, guess) - price
    if (excess > 0) high = guess
    else low = guess
    const next = guess - excess / slope(shape, guess)
    if (Math.abs(next - guess) <= CLOSE_ENOUGH * guess) break
    guess = next
  }
  return Math.min(Math.max(guess * timeMs, leastMs), mostMs)
}
