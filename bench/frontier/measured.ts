/** What is measured, at which sizes, and how it is kept: everything that the tables and the chart are made from. */
import type { Memory } from '../support/footprint.ts'

export const SEED = 4
/** Links of one call of `add`: those of ten pages. */
export const LINKS_PER_CALL = 1_000
/** Leases wanted by one call of `lease`. */
export const WANT = 500
const MARKS = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
const MOST_LINKS = 300_000
const MOST_TASKS = 50_000

/** What is done at a size: less where there is little, so that the size stays what it is called. */
export interface Mark {
  readonly urls: number
  /** Links that are added, once for each way of drawing them. */
  readonly links: number
  /** Tasks that are leased and settled. */
  readonly tasks: number
}

/** What is done before anything counts. */
export const WARM_UP: Mark = { urls: 20_000, links: 20_000, tasks: 4_000 }

export function marksUpTo(urls: number): Mark[] {
  return [...MARKS.filter((mark) => mark < urls), urls].map((mark) => ({
    urls: mark,
    links: Math.max(LINKS_PER_CALL, Math.min(MOST_LINKS, 2 * mark)),
    tasks: Math.min(MOST_TASKS, Math.ceil(mark / 5)),
  }))
}

/** Operations and the time that they took, without the time to think them up. */
export interface Timed {
  readonly operations: number
  readonly calls: number
  readonly seconds: number
  /** Of all threads; on a machine that others use too, this says more. */
  readonly cpuSeconds: number
}

/** What both the frontier and the bare store were measured for, at one mark. */
export interface Figures {
  readonly skewed: Timed
  readonly uniform: Timed
  readonly tasks: Timed
  readonly memory: Memory
  /** Of all files, when closed. */
  readonly diskBytes: number
  /** From the beginning of opening until the first lease is answered. */
  readonly openMs: number
}

export interface HomeFigures extends Figures {
  readonly urls: number
  readonly hosts: number
  /** Of all known URLs. */
  readonly textBytes: number
  readonly fill: Timed
  readonly robots: Timed
  /** Like `tasks`, of hosts without a delay: several tasks in a lease. */
  readonly quick: Timed
  /** Of all files, while in use. */
  readonly diskBytesOpen: number
  readonly bloomFalsePositives: number
}

export interface Killed {
  /** Known URLs that were confirmed before the kill, and that were there after it. */
  readonly confirmed: number
  readonly found: number
  readonly openMs: number
}

export interface Measured {
  readonly date: string
  readonly node: string
  readonly marks: readonly { readonly mark: Mark; readonly home: HomeFigures; readonly bare: Figures }[]
  readonly killed: Killed
}

export const perSecond = ({ operations, seconds }: Timed): number => operations / seconds
export const micros = ({ operations, seconds }: Timed): number => (1e6 * seconds) / operations

export const cpuMicros = ({ operations, cpuSeconds }: Timed): number => (1e6 * cpuSeconds) / operations

export interface Stopwatch {
  /** Runs it, and counts its time and so many operations. */
  time<T>(operations: number, work: () => T | Promise<T>): Promise<T>
  read(): Timed
}

export function createStopwatch(): Stopwatch {
  let [operations, calls, milliseconds, cpuMicros] = [0, 0, 0, 0]
  return {
    async time(count, work) {
      const cpu = process.cpuUsage()
      const started = performance.now()
      const result = await work()
      milliseconds += performance.now() - started
      const { user, system } = process.cpuUsage(cpu)
      cpuMicros += user + system
      operations += count
      calls += 1
      return result
    },
    read: () => ({ operations, calls, seconds: milliseconds / 1_000, cpuSeconds: cpuMicros / 1e6 }),
  }
}
