/**
 * How the work on a crawl ends: by itself, or by a stop, of which the first reason is the one that counts. A stop leaves
 * what is under way some time to end, and whatever fails is a stop that is told at the end.
 *
 * What a stop takes is left to whoever works: this only remembers it.
 */
import type { Clock } from '../base/index.ts'

/** `halted`: the crawl was ended for all of its workers. */
export type EndReason = 'finished' | 'limit' | 'time' | 'bytes' | 'halted' | 'stopped'

export interface Ending {
  /** Nothing new starts once there is one. */
  readonly reason: EndReason | undefined
  /** When a stop will abort what still runs; undefined while nothing is stopping. */
  readonly drainUntil: number | undefined
  /** Resolves when a stop is asked for. */
  readonly stopped: Promise<void>
  stop(reason?: EndReason): void
  /** A stop, because of this. Of several failures the first is told. */
  fail(error: unknown): void
  /** There is nothing left to do: nothing has to be stopped. */
  reach(reason: EndReason): void
  /** What it came to, when all is over; throws what has failed. */
  result(): EndReason
}

/** `onStop` is called once, when a stop is asked for. */
export function createEnding(
  options: { readonly drainMs: number; onStop(reason: EndReason): void },
  { clock }: { readonly clock: Clock },
): Ending {
  const { promise: stopped, resolve: tellStopped } = Promise.withResolvers<void>()
  let reason: EndReason | undefined
  let drainUntil: number | undefined
  let failure: { readonly error: unknown } | undefined

  const stop = (why: EndReason = 'stopped'): void => {
    if (reason !== undefined) return
    reason = why
    drainUntil = clock.now() + options.drainMs
    tellStopped()
    options.onStop(why)
  }
  return {
    get reason() {
      return reason
    },
    get drainUntil() {
      return drainUntil
    },
    stopped,
    stop,
    fail(error) {
      failure ??= { error }
      stop()
    },
    reach(why) {
      reason ??= why
    },
    result() {
      if (failure !== undefined) throw failure.error
      return reason ?? 'stopped'
    },
  }
}
