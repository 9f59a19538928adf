/**
 * How many requests may start, where a rate is set for all workers of a crawl together. Whoever is about to send one waits
 * here for a permit. Permits are asked for when somebody waits for them, in one call for all who do, from whoever counts
 * them for the whole crawl; and they are good for a moment only, which counts from before they were asked for. So the one
 * who counts knows when the request starts, to within that moment, whatever the clocks of the two show.
 */
import type { Clock } from '../base/index.ts'

/**
 * How long a permit is good for at least, and at most: as long as asking takes, twice, so that it arrives in good time.
 * While it is good nobody else gets its place, so a rate is used the better the shorter that is.
 */
const GOOD_LEAST_MS = 20
const GOOD_MOST_MS = 2_000
/** Of how long the last ones were good for, this part at least: one asking that was quick does not make the next one so. */
const GOOD_KEPT = 0.8
/** Who comes while others are being answered waits for this long, and so asks together with those who come next. */
const GATHER_MS = 25
/**
 * When there are too few, more are asked for after a while: half as long as the last time when there were some, a little
 * longer when there were none. So of all askings, whoever makes them, about one in five gets something, as long as
 * nobody would have to ask less often than the most.
 */
const AGAIN_FIRST_MS = 100
const AGAIN_LEAST_MS = 20
const AGAIN_MOST_MS = 800
const SOONER = 0.5
const LATER = 1.2
/** How soon it is worth looking again whether fewer wait. */
const LOOK_AGAIN_MS = 100
/** The part of a second's requests that may wait at once in one thread. */
const WAITING_SHARE = 0.25

export interface PermitsWanted {
  readonly wanted: number
  /** A request starts within this time of the moment at which its permit is given, or not at all. */
  readonly goodMs: number
}

export interface RequestRate {
  /** Until when the request may start that was waited for; undefined when it may not, since the signal or a stop came first. */
  next(signal?: AbortSignal): Promise<number | undefined>
  /** So many leases with nothing under way are enough: with more, they would only wait here. */
  readonly enough: number
  /** When it is worth looking again whether there are fewer. */
  readonly nextAt: number
  /** Nobody gets a permit from now on. */
  stop(): void
}

/** Somebody who waits: is told until when to start, or that it is over. */
interface Waiter {
  tell(goodUntil: number | undefined): void
  refuse(error: unknown): void
}

export function createRequestRate(
  ask: (asked: PermitsWanted) => Promise<number>,
  { clock, perSecond }: { readonly clock: Clock; readonly perSecond: number },
): RequestRate {
  /** In the order in which they came; at most one for each slot. */
  const waiting = new Set<Waiter>()
  const stopping = new AbortController()
  let goodMs = GOOD_LEAST_MS
  let againMs = AGAIN_FIRST_MS
  let isAsking = false

  const serve = (permits: number, goodUntil: number): void => {
    let left = permits
    for (const waiter of waiting) {
      if (left === 0) return
      left -= 1
      waiter.tell(goodUntil)
    }
  }
  const askOnce = async (): Promise<void> => {
    const wanted = waiting.size
    const before = clock.now()
    const permits = await ask({ wanted, goodMs })
    const goodUntil = before + goodMs
    goodMs = Math.min(GOOD_MOST_MS, Math.max(GOOD_LEAST_MS, GOOD_KEPT * goodMs, 2 * (clock.now() - before)))
    againMs = Math.min(AGAIN_MOST_MS, Math.max(AGAIN_LEAST_MS, againMs * (permits > 0 ? SOONER : LATER)))
    // Those that have come too late are lost, and the next ones are good for longer.
    serve(permits, goodUntil)
    const nextAt = before + (permits < wanted ? againMs : GATHER_MS)
    await clock.sleepUntil(Math.max(nextAt, clock.now() + 1), stopping.signal).catch(() => {})
  }
  const askWhileAnyWaits = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    try {
      while (waiting.size > 0 && !stopping.signal.aborted) await askOnce()
    } catch (error) {
      for (const waiter of waiting) waiter.refuse(error)
    } finally {
      isAsking = false
    }
  }

  const wait = (signal: AbortSignal | undefined): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(waiter)
        signal?.removeEventListener('abort', giveUp)
      }
      const waiter: Waiter = {
        tell(goodUntil) {
          leave()
          resolve(goodUntil)
        },
        refuse(error) {
          leave()
          reject(error)
        },
      }
      const giveUp = (): void => waiter.tell(undefined)
      if (stopping.signal.aborted || signal?.aborted === true) return resolve(undefined)
      signal?.addEventListener('abort', giveUp, { once: true })
      waiting.add(waiter)
      void askWhileAnyWaits()
    })

  return {
    async next(signal) {
      for (;;) {
        const goodUntil = await wait(signal)
        if (goodUntil === undefined || clock.now() <= goodUntil) return goodUntil
      }
    },
    // One more, since a lease whose page is being read has nothing under way either.
    enough: 1 + Math.ceil(perSecond * WAITING_SHARE),
    get nextAt() {
      return clock.now() + LOOK_AGAIN_MS
    },
    stop() {
      stopping.abort()
      for (const waiter of waiting) waiter.tell(undefined)
    },
  }
}
