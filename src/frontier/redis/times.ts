/**
 * Between a worker's clock and that of the server that keeps a partition. Times that come back from the server are
 * translated to the worker's, times that go out to the server's; both with one difference, so that what is only handed
 * through comes out as it went in. What must not be early goes over the wire as an age instead (`age`): the server counts
 * it back from its own time, which is later than the moment of sending.
 *
 * The difference is the smallest that was seen between the server's time in a reply and the worker's time *before* it
 * asked: so a lease that is translated never seems to last longer than it does. A server's clock that was set is noticed
 * here. So is a machine of ours that slept: its own wall clock moved as far, and that is no step of the server's.
 */
import type { Clock } from '../../base/index.ts'

/** A difference that grows by more than this cannot be drift or a slow reply: a clock was set. */
const STEP_MS = 1_000
/** Clocks drift: what is kept is looked at again after so many replies. */
const REPLIES_KEPT = 4_096

export interface Times {
  /** A reply said that it was `server` there, to what was asked at `asked` and answered at `answered`. */
  saw(asked: number, server: number, answered: number): void
  /** Null and 0, which mean `never`, stay what they are. */
  toServer<T extends number | null>(time: T): T
  toWorker<T extends number | null>(time: T): T
  /** How long ago it was, 0 or more. */
  age(time: number): number
  /** Whether the server's clock was set since this was last asked. */
  takeStep(): boolean
}

/** Where the servers are told the time (a virtual clock), it is the same for all. */
export function createSameTimes(clock: Clock): Times {
  return {
    saw: () => undefined,
    toServer: (time) => time,
    toWorker: (time) => time,
    age: (time) => Math.max(0, clock.now() - time),
    takeStep: () => false,
  }
}

export function createTimes(clock: Clock): Times {
  /** Server's time less ours. */
  let aheadMs: number | undefined
  let lowest = Infinity
  /** How far the wall clock was ahead of ours when the difference was last made. */
  let sleptMs = 0
  let replies = 0
  let stepped = false
  const shift = <T extends number | null>(time: T, byMs: number): T =>
    (time === null || time === 0 ? time : time + byMs) as T
  return {
    saw(asked, server, answered) {
      // Between these two lies what the difference can be.
      const [most, least] = [server + 1 - asked, server - answered]
      const gapMs = clock.wall() - clock.now()
      if (aheadMs === undefined) {
        aheadMs = Math.ceil(most)
        sleptMs = gapMs
      } else if (least > aheadMs + STEP_MS || most < aheadMs - STEP_MS) {
        const expected = aheadMs + gapMs - sleptMs
        stepped ||= least > expected + STEP_MS || most < expected - STEP_MS
        aheadMs = Math.ceil(most)
        sleptMs = gapMs
        lowest = Infinity
        replies = 0
      }
      lowest = Math.min(lowest, most)
      replies += 1
      if (replies < REPLIES_KEPT) return
      if (Math.abs(lowest - aheadMs) > 1) aheadMs = Math.ceil(lowest)
      lowest = Infinity
      replies = 0
    },
    toServer: (time) => shift(time, aheadMs ?? 0),
    toWorker: (time) => shift(time, -(aheadMs ?? 0)),
    age: (time) => Math.max(0, clock.now() - time),
    takeStep() {
      const was = stepped
      stepped = false
      return was
    },
  }
}
