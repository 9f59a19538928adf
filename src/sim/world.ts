/**
 * One simulated time for everything that happens: events in a heap, run one after another, with all promises settled
 * between two of them. Nothing here reads the machine's clock, so the same seed gives the same run, event by event.
 *
 * Processes live in the world. Each has a clock of its own and may be frozen, put to sleep or killed: what is
 * scheduled for a frozen process waits for it, what is scheduled for a dead one never happens.
 *
 * Times are kept to 1/1024 ms, so that sums and differences of them are exact and checkers need no tolerance.
 */
import { createHeap, sleepWith, type Clock } from '../base/index.ts'
import { createTrace, type Trace } from './trace.ts'

/** The moment at which every world begins, by its own wall clock. */
export const WORLD_START = 1_700_000_000_000

/** The smallest step of time, in parts of a millisecond; a power of two, so that no sum is ever rounded. */
const TICKS_PER_MS = 1_024

/** The next moment on the grid, never an earlier one. */
export const onGrid = (ms: number): number => Math.ceil(ms * TICKS_PER_MS) / TICKS_PER_MS

/** Thrown by whatever a dead process still tries to do to the world outside. Nobody is there to catch it. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

export interface SimProcess {
  readonly name: string
  readonly clock: Clock
  readonly alive: boolean
  /** Counts the times it was frozen or put to sleep: whoever remembers the number knows whether it was since. */
  readonly freezes: number
  readonly frozen: boolean
  /** Calls back in this process after `ms` of the world's time; later if it is frozen then, never if it is dead. */
  later(ms: number, callback: () => void): () => void
  /** SIGSTOP for a while: nothing runs, and both its clocks go on. */
  freeze(ms: number): void
  /** The machine sleeps: its monotonic clock and its timers stand still, the wall clock goes on. */
  suspend(ms: number): void
  /** The wall clock is set, forth or back; the monotonic clock does not notice. */
  stepWall(ms: number): void
  /** From now on nothing of it runs: its timers never fire and its promises never settle. */
  kill(): void
}

export interface WorldProcessOptions {
  /** How far its wall clock is from the world's. */
  readonly wallOffsetMs?: number
}

export interface World {
  now(): number
  readonly trace: Trace
  /** Runs a callback at a time of the world, outside all processes; returns how to cancel. */
  at(time: number, callback: () => void): () => void
  process(name: string, options?: WorldProcessOptions): SimProcess
  /** Called after every event, once promises have settled. What it throws ends the run. */
  afterEach(check: () => void): void
  /** Ends the run with this error, after the present event. */
  fail(error: unknown): void
  /**
   * Runs events until `done` says so, none is left, or time or events have run out. Rejects with what a checker threw
   * or what was given to `fail`.
   */
  run(limits: RunLimits): Promise<'done' | 'idle' | 'late'>
  readonly events: number
}

export interface RunLimits {
  done(): boolean
  readonly untilMs: number
  readonly maxEvents: number
}

interface Event {
  callback: (() => void) | undefined
  readonly process: Process | undefined
  /** For a timer: when it is due by the monotonic clock of its process. */
  readonly monotonic: number
}

interface Process extends SimProcess {
  resumesAt: number
  monotonic(): number
}

export function createWorld(): World {
  let time = WORLD_START
  let events = 0
  let failure: { readonly error: unknown } | undefined
  const heap = createHeap<Event>()
  const checks: (() => void)[] = []
  const trace = createTrace(() => time - WORLD_START)

  const schedule = (at: number, event: Event): (() => void) => {
    heap.push(onGrid(Math.max(at, time)), event)
    return () => {
      event.callback = undefined
    }
  }

  const createProcess = (name: string, options: WorldProcessOptions): Process => {
    let alive = true
    let wallOffset = onGrid(options.wallOffsetMs ?? 0)
    const offset = wallOffset
    let asleepMs = 0
    let freezes = 0
    let asleepUntil = 0
    let fellAsleepAt = 0
    /** It stands still from the moment of falling asleep, and asleepMs is what it has missed once awake again. */
    const monotonic = (): number => (time < asleepUntil ? fellAsleepAt : time - asleepMs)
    const now = (): number => monotonic() + offset
    const timer = (ms: number, callback: () => void): (() => void) => {
      const wait = onGrid(Math.max(ms, 0))
      return schedule(time + wait, { callback, process, monotonic: monotonic() + wait })
    }
    const freezeUntil = (resumesAt: number): void => {
      process.resumesAt = Math.max(process.resumesAt, resumesAt)
      freezes += 1
    }
    const process: Process = {
      name,
      clock: {
        now,
        wall: () => time + wallOffset,
        timer,
        turn: () => Promise.resolve(),
        sleepUntil: sleepWith(now, timer),
      },
      get alive() {
        return alive
      },
      get freezes() {
        return freezes
      },
      get frozen() {
        return process.resumesAt > time
      },
      resumesAt: 0,
      monotonic,
      later: (ms, callback) => schedule(time + ms, { callback, process, monotonic: 0 }),
      freeze(ms) {
        trace.note('freeze', name, ms)
        freezeUntil(onGrid(time + ms))
      },
      suspend(ms) {
        trace.note('suspend', name, ms)
        if (time < asleepUntil) return
        const until = onGrid(time + ms)
        fellAsleepAt = monotonic()
        asleepUntil = until
        asleepMs = until - fellAsleepAt
        freezeUntil(until)
      },
      stepWall(ms) {
        trace.note('step', name, ms)
        wallOffset += onGrid(ms)
      },
      kill() {
        if (!alive) return
        trace.note('kill', name, '')
        alive = false
      },
    }
    return process
  }

  /** Runs the next event; false when there is none within the limit. */
  const step = (untilMs: number): boolean => {
    const first = heap.peek()
    if (first === undefined || first.rank > untilMs) return false
    heap.pop()
    const { callback, process, monotonic } = first.item
    if (callback === undefined || process?.alive === false) return true
    if (process !== undefined && process.resumesAt > first.rank) {
      heap.push(process.resumesAt, first.item)
      return true
    }
    time = first.rank
    if (process !== undefined && process.monotonic() < monotonic) {
      heap.push(time + (monotonic - process.monotonic()), first.item)
      return true
    }
    events += 1
    // Fired once: cancelling it afterwards is harmless.
    first.item.callback = undefined
    try {
      callback()
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
    return true
  }

  return {
    now: () => time,
    trace,
    at: (at, callback) => schedule(at, { callback, process: undefined, monotonic: 0 }),
    process: (name, options = {}) => createProcess(name, options),
    afterEach: (check) => void checks.push(check),
    fail(error) {
      failure ??= { error }
    },
    run(limits) {
      const untilMs = time + limits.untilMs
      const lastEvent = events + limits.maxEvents
      return new Promise((resolve, reject) => {
        // One turn of the event loop for each event: promises that it settles are all heard before the next.
        const turn = (): void => {
          try {
            for (const check of checks) check()
            if (failure !== undefined) return reject(failure.error)
            if (limits.done()) return resolve('done')
            if (events >= lastEvent) return resolve('late')
            if (!step(untilMs)) return resolve(heap.size === 0 ? 'idle' : 'late')
          } catch (error) {
            return reject(error)
          }
          setImmediate(turn)
        }
        setImmediate(turn)
      })
    },
    get events() {
      return events
    },
  }
}
