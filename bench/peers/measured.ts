/** What the comparison has measured, as it is kept in bench/peers.json, and what follows from it. */
import type { Asked } from './log.ts'
import type { Used } from './timed.ts'

export interface Run extends Asked, Pick<Used, 'seconds' | 'cpuSeconds' | 'peakBytes' | 'end'> {}

export interface Result {
  readonly name: string
  /** One for each round, in their order. */
  readonly runs: readonly Run[]
}

export interface Measured {
  readonly date: string
  readonly node: string
  readonly cores: number
  /** What there was to find. */
  readonly site: { readonly pages: number; readonly bytesPerPage: number; readonly linksPerPage: number }
  readonly concurrency: number
  readonly rounds: number
  /** When a run that was too slow was stopped. */
  readonly limitSeconds: number
  readonly results: readonly Result[]
  readonly missing: readonly { readonly name: string; readonly why: string }[]
}

export const pagesPerSecond = (run: Run): number => run.pages / run.seconds
export const cpuPerThousand = (run: Run): number => (1_000 * run.cpuSeconds) / run.pages
export const peakBytes = (run: Run): number => run.peakBytes

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

export const medianOf = ({ runs }: Result, read: (run: Run) => number): number => median(runs.map(read))

/** The median of the ratios of each round, so that a slow round is slow for both. */
export function ratio(result: Result, to: Result, read: (run: Run) => number): number {
  const paired = result.runs.flatMap((run, round) => {
    const other = to.runs[round]
    return other === undefined ? [] : [read(run) / read(other)]
  })
  return median(paired)
}
