/**
 * The clock of a plan: the simulated world's, with timers that are late by what a real one is late. A plan does no real
 * waiting, so it ends as soon as the machine has done its part of the work.
 */
import { sleepWith, type Clock } from '../../base/index.ts'
import { createWorld } from '../world.ts'

export interface PlanClock extends Clock {
  /** A timer that is never late: for the network, which does not wait for our timers. */
  exactly(ms: number, callback: () => void): () => void
  /** Lets time pass until `work` has ended. Throws when it waits for something that will never come. */
  drive<T>(work: Promise<T>): Promise<T>
}

/** No crawl is planned for longer. */
const LONGEST_MS = 100 * 365 * 86_400_000
/** Far beyond what the largest plan needs. */
const MOST_EVENTS = 1_000_000_000

export function createPlanClock(timerLagMs: number): PlanClock {
  const world = createWorld()
  const { clock, later } = world.process('plan')
  const timer = (ms: number, callback: () => void): (() => void) => later(Math.max(0, ms) + timerLagMs, callback)
  return {
    now: clock.now,
    wall: clock.wall,
    turn: clock.turn,
    timer,
    sleepUntil: sleepWith(clock.now, timer),
    exactly: later,
    async drive(work) {
      let over = false
      const ended = (): void => {
        over = true
      }
      work.then(ended, ended)
      const end = await world.run({ done: () => over, untilMs: LONGEST_MS, maxEvents: MOST_EVENTS })
      if (end !== 'done') throw new Error(`the planned crawl does not end: ${end}`)
      return work
    },
  }
}
