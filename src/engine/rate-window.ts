/**
 * Counts the permits to start requests where one process does all the work, as a store does for a fleet
 * (`frontier/redis/lua/crawl-permits.lua`, by the same rule).
 *
 * It keeps true that in any second no more requests start than the rate says, as long as each starts within the time that
 * its permit is good for: there are as many places as requests in a second, and a permit holds one until a second after it
 * has run out. So of requests that start within a second, the last one to be permitted found places for all of them.
 * Besides, permits are given out evenly: a quarter of a second's worth at once and no more.
 */
import type { Clock } from '../base/index.ts'
import type { PermitsWanted } from './request-rate.ts'

const SECOND_MS = 1_000
const AT_ONCE = 0.25
/** Places that come free within this time do so together, at its end: so there are few times to remember. */
const TOGETHER_MS = 5

export interface RateWindow {
  take(asked: PermitsWanted): number
}

export function createRateWindow(perSecond: number, { clock }: { readonly clock: Clock }): RateWindow {
  const atOnce = Math.max(1, perSecond * AT_ONCE)
  /** How many places come free, and when; not more times than a permit may be good for, in steps of `TOGETHER_MS`. */
  const taken = new Map<number, number>()
  let at = clock.now()
  let even = 1

  return {
    take({ wanted, goodMs }) {
      const now = clock.now()
      even = Math.min(atOnce, even + (perSecond * (now - at)) / SECOND_MS)
      at = now
      let free = perSecond
      for (const [until, count] of taken) {
        if (until <= now) taken.delete(until)
        else free -= count
      }
      const permits = Math.max(0, Math.min(wanted, Math.floor(even), Math.floor(free)))
      if (permits === 0) return 0
      even -= permits
      const until = Math.ceil((now + goodMs + SECOND_MS) / TOGETHER_MS) * TOGETHER_MS
      taken.set(until, (taken.get(until) ?? 0) + permits)
      return permits
    },
  }
}
