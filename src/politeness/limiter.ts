/**
 * One pace per host, inside one process, for whoever wants just that (D2, D3). The crawler itself keeps its pace in the
 * frontier, where the whole fleet sees it.
 *
 * Keeps true: two requests to one host start at least the larger of the two delays asked for apart, counted from the
 * moment the earlier one was let go, not from when it had hoped to; callers of one host are let go in the order in which
 * they came; hosts do not touch each other. The place in the queue is taken synchronously and no lock is held while
 * anybody sleeps. Hosts that differ in spelling are different hosts: names are compared as given.
 */
import { createSystemClock, type Clock } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'

export interface HostLimiter {
  /**
   * Resolves when the caller may send its request to `host`. Rejects with the signal's reason if that comes first; the
   * place is then given back, and those behind move up as if it had never been taken. A `delayMs` that is negative or
   * no finite number rejects with a usage error and takes no place; 0 asks for no gap on its own part.
   */
  wait(host: string, delayMs: number, signal?: AbortSignal): Promise<void>
  /** Forgets the hosts that were not asked for an hour, whose last delay has passed, and for which nobody waits. */
  sweep(): void
  /** How many hosts are remembered: those of the last hour, and those whose delay or queue is longer. */
  readonly size: number
}

/** A host idle for so long is forgotten, unless its delay is longer still. */
export const IDLE_HOST_MS = 3_600_000

/** `wait` sweeps by itself when the last sweep is so long ago; no timer runs for it, so none keeps the process alive. */
export const SWEEP_INTERVAL_MS = 300_000

interface Waiter {
  readonly delayMs: number
  readonly release: () => void
}

interface HostPace {
  /** When the last request was let go, and the delay it asked for. */
  startedAt: number
  delayMs: number
  /** In the order of their coming; undefined while nobody waits. As many as there are callers, who wait once each. */
  waiters: Set<Waiter> | undefined
  /** Stops the timer that will let the first waiter go. */
  stopTimer: (() => void) | undefined
}

export function createHostLimiter(options: { clock?: Clock } = {}): HostLimiter {
  const clock = options.clock ?? createSystemClock()
  const hosts = new Map<string, HostPace>()
  let sweptAt = clock.now()

  /** Lets go everyone whose time has come, and sets the timer for the first who still has to wait. */
  const advance = (pace: HostPace): void => {
    pace.stopTimer?.()
    pace.stopTimer = undefined
    for (const waiter of pace.waiters ?? []) {
      const now = clock.now()
      const leftMs = pace.startedAt + Math.max(pace.delayMs, waiter.delayMs) - now
      if (leftMs > 0) {
        // A timer may fire a fraction early or, beyond Node's longest, far too early: then this is asked again.
        pace.stopTimer = clock.timer(Math.ceil(leftMs), () => advance(pace))
        return
      }
      pace.startedAt = now
      pace.delayMs = waiter.delayMs
      pace.waiters?.delete(waiter)
      waiter.release()
    }
    pace.waiters = undefined
  }

  const enqueue = (pace: HostPace, delayMs: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = {
        delayMs,
        release() {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = (): void => {
        const wasFirst = pace.waiters?.values().next().value === waiter
        pace.waiters?.delete(waiter)
        if (wasFirst) advance(pace)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      pace.waiters ??= new Set()
      pace.waiters.add(waiter)
      if (pace.waiters.size === 1) advance(pace)
    })

  const sweep = (): void => {
    const now = clock.now()
    sweptAt = now
    for (const [host, pace] of hosts) {
      if (pace.waiters === undefined && now - pace.startedAt >= Math.max(IDLE_HOST_MS, pace.delayMs)) hosts.delete(host)
    }
  }

  return {
    async wait(host, delayMs, signal) {
      if (!Number.isFinite(delayMs) || delayMs < 0) {
        throw new TiptoeError('usage', `delayMs must be a number of milliseconds, 0 or more, not ${delayMs}`)
      }
      signal?.throwIfAborted()
      let pace = hosts.get(host)
      if (pace === undefined) {
        pace = { startedAt: -Infinity, delayMs: 0, waiters: undefined, stopTimer: undefined }
        hosts.set(host, pace)
      }
      const turn = enqueue(pace, delayMs, signal)
      // Only now: this request may know a longer delay than the one by which its host would be forgotten.
      if (clock.now() - sweptAt >= SWEEP_INTERVAL_MS) sweep()
      await turn
    },
    sweep,
    get size() {
      return hosts.size
    },
  }
}
