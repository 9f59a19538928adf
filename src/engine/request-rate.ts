/**
 * How many requests may start, where a rate is set for all workers of a crawl together. Permits are taken in portions from
 * whoever counts them, and are good for a moment only: what is not used is lost, so that it cannot be saved up.
 */
import type { Clock } from '../base/index.ts'

/** How long a permit is good for. */
const GOOD_MS = 1_000
/** When there is none, it is asked again after this. */
const AGAIN_MS = 100

export interface RequestRate {
  /** Takes up to `wanted` permits, as many as there are now. */
  take(wanted: number): Promise<number>
  /** So many of them were not used. */
  giveBack(unused: number): void
  /** Takes one as soon as there is one; false when aborted before that. */
  wait(signal: AbortSignal): Promise<boolean>
  /** When it is worth asking again. */
  readonly nextAt: number
}

export function createRequestRate(
  ask: (wanted: number) => Promise<number>,
  { clock }: { readonly clock: Clock },
): RequestRate {
  let permits = 0
  let goodUntil = -Infinity
  let nextAt = -Infinity

  const dropOld = (): void => {
    if (goodUntil <= clock.now()) permits = 0
  }
  const take = async (wanted: number): Promise<number> => {
    dropOld()
    if (permits < wanted && nextAt <= clock.now()) {
      const before = clock.now()
      nextAt = before + AGAIN_MS
      const granted = await ask(wanted - permits)
      dropOld()
      if (granted > 0) goodUntil = before + GOOD_MS
      permits += granted
    }
    const taken = Math.min(wanted, permits)
    permits -= taken
    return taken
  }
  return {
    take,
    giveBack(unused) {
      permits += unused
    },
    async wait(signal) {
      while (!signal.aborted) {
        if ((await take(1)) === 1) return true
        await clock.sleepUntil(Math.max(nextAt, clock.now() + 1), signal).catch(() => {})
      }
      return false
    },
    get nextAt() {
      return nextAt
    },
  }
}
