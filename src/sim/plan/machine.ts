/**
 * The machine that a planned crawl runs on: one core that does one thing after another. Whatever the crawler itself
 * works on waits for it, so a crawl that no host bounds is bounded by it.
 */
import type { PlanClock } from './plan-clock.ts'

/** What one thing costs, in ms of one core. */
export interface MachineCosts {
  /** A request sent and its answer taken in. */
  readonly requestMs: number
  /** A page of the mean size, from its bytes to its record in the store. */
  readonly pageMs: number
  /** So many pages cost twice as much: the first ones, before the code that reads them is warm. */
  readonly coldPages: number
  /** A commit of the store, however much is in it. */
  readonly commitMs: number
  /** How late a timer fires. */
  readonly timerLagMs: number
  /** From the beginning of the run to its first request, and after its last answer. */
  readonly startMs: number
  /** By which they are known: as is usual, on the machine that plans, or from a crawl that kept its machine busy. */
  readonly from: 'usual' | 'measured' | 'recorded'
}

/** A machine of two shared cores, measured with bench/plan.ts; used where the machine cannot be what bounds the crawl. */
export const USUAL_COSTS: MachineCosts = {
  requestMs: 0.8,
  pageMs: 2,
  coldPages: 0,
  commitMs: 2,
  timerLagMs: 1.5,
  startMs: 40,
  from: 'usual',
}

/** The costs on a machine that a crawl has kept busy all the time, at so many pages a second. */
export function recordedCosts(costs: MachineCosts, pagesPerSecond: number): MachineCosts {
  const totalMs = 1_000 / pagesPerSecond
  const requestMs = Math.min(costs.requestMs, totalMs / 3)
  return { ...costs, requestMs, pageMs: totalMs - requestMs, coldPages: 0, commitMs: 0, from: 'recorded' }
}

export interface Machine {
  /** Resolves when the core has come to this work and done it. */
  work(ms: number): Promise<void>
  /** Work done so far. */
  readonly busyMs: number
}

export function createMachine(clock: PlanClock): Machine {
  let freeAt = 0
  let busyMs = 0
  return {
    work(ms) {
      if (ms <= 0) return Promise.resolve()
      freeAt = Math.max(freeAt, clock.now()) + ms
      busyMs += ms
      return new Promise((resolve) => void clock.exactly(freeAt - clock.now(), resolve))
    },
    get busyMs() {
      return busyMs
    },
  }
}
