/**
 * Time, passed in. Nothing outside this file reads the machine's clock or sets a timer, so the whole crawler runs
 * the same on a virtual clock.
 */
import { createHeap } from './heap.ts'

export interface Clock {
  /**
   * Milliseconds since the Unix epoch, with a fraction. It never steps: it is read from the wall clock once and
   * then follows the monotonic clock, so a gap measured with it is a true gap.
   */
  now(): number
  /** The wall clock as it stands at this moment, steps and all; only for comparing it with `now()`. */
  wall(): number
  /** Resolves at `time` or soon after, never before; at once if it has passed. Rejects with the signal's reason. */
  sleepUntil(time: number, signal?: AbortSignal): Promise<void>
  /** Calls back once after `ms` or more; returns how to cancel. The timer keeps the process alive. */
  timer(ms: number, callback: () => void): () => void
  /** Resolves when everything else that has happened by now was heard of: for whoever has much to do in one go. */
  turn(): Promise<void>
}

/** Longer timers overflow Node's 32-bit milliseconds and would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** Of the machine's monotonic clock, which all threads of it share. */
function uptimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}

/** What a clock shows beyond the machine's monotonic one: two with one origin show the same in any thread. */
export function clockOrigin(): number {
  return Date.now() - uptimeMs()
}

export function createSystemClock(origin = clockOrigin()): Clock {
  const now = (): number => origin + uptimeMs()
  const timer = (ms: number, callback: () => void): (() => void) => {
    let left = ms
    let handle: NodeJS.Timeout
    const arm = (): void => {
      const part = Math.min(Math.max(left, 0), LONGEST_TIMER_MS)
      left -= part
      handle = setTimeout(left > 0 ? arm : callback, part)
    }
    arm()
    return () => clearTimeout(handle)
  }
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  return { now, wall: () => Date.now(), timer, turn, sleepUntil: sleepWith(now, timer) }
}

/** `sleepUntil` from `now` and `timer`: a timer may fire a fraction early, so the time is checked and slept again. */
export function sleepWith(now: Clock['now'], timer: Clock['timer']): Clock['sleepUntil'] {
  return (time, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      let cancel = (): void => {}
      const onAbort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const tick = (): void => {
        const left = time - now()
        if (left > 0) {
          cancel = timer(Math.ceil(left), tick)
          return
        }
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      tick()
    })
}

/** A clock that moves only when told to. Timers fire in order of their time, then of their making. */
export interface VirtualClock extends Clock {
  /** Moves time on by `ms`, firing what falls due, and lets promises settle between two firings. */
  advance(ms: number): Promise<void>
  /** When the next timer fires; undefined when none is set. */
  nextTimer(): number | undefined
}

interface Timer {
  callback: (() => void) | undefined
}

export function createVirtualClock(start = 1_700_000_000_000): VirtualClock {
  let time = start
  const timers = createHeap<Timer>()
  /** The next timer that is still wanted; those cancelled are dropped on the way. */
  const next = (): number | undefined => {
    let first = timers.peek()
    for (; first !== undefined && first.item.callback === undefined; first = timers.peek()) timers.pop()
    return first?.rank
  }
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 8; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const now = (): number => time
  const timer = (ms: number, callback: () => void): (() => void) => {
    const entry: Timer = { callback }
    timers.push(time + Math.max(ms, 0), entry)
    return () => {
      entry.callback = undefined
    }
  }
  return {
    now,
    wall: now,
    turn: () => Promise.resolve(),
    timer,
    sleepUntil: sleepWith(now, timer),
    nextTimer: next,
    async advance(ms) {
      const target = time + ms
      await settle()
      for (let at = next(); at !== undefined && at <= target; at = next()) {
        const callback = timers.pop()?.item.callback
        time = Math.max(time, at)
        callback?.()
        await settle()
      }
      time = target
      await settle()
    },
  }
}
