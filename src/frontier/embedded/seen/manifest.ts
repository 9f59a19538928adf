/** The manifest of a set: which files belong to it. Whoever stores it durably decides which state of the set is true. */
import { TiptoeError } from '../../../model/index.ts'
import type { RunRecord } from './run.ts'

const LAYOUT = 1

export interface Manifest {
  /** Every id up to here is in a run. */
  readonly storedUpTo: number
  /** Oldest first. */
  readonly runs: readonly RunRecord[]
}

export function writeManifest({ storedUpTo, runs }: Manifest): string {
  return JSON.stringify({
    layout: LAYOUT,
    storedUpTo,
    runs: runs.map(({ name, entries, level, sum }) => ({ name, entries, level, sum })),
  })
}

export function readManifest(text: string | undefined, place: string): Manifest {
  if (text === undefined) return { storedUpTo: 0, runs: [] }
  const refuse = (why: string, cause?: unknown): never => {
    throw new TiptoeError('store', `the list of files of known URLs in ${place} ${why}`, {
      cause,
      hint: 'restore the whole folder from a copy, or start over with --fresh',
    })
  }
  let read: Partial<Manifest> & { layout?: unknown }
  try {
    read = JSON.parse(text) as typeof read
  } catch (error) {
    return refuse('cannot be read', error)
  }
  if (read?.layout !== LAYOUT) return refuse(`is not of layout ${LAYOUT}`)
  const { storedUpTo, runs } = read
  if (!isCount(storedUpTo) || !Array.isArray(runs) || !runs.every(isRecord)) return refuse('cannot be read')
  return { storedUpTo, runs }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isRecord = (value: Partial<RunRecord> | null): boolean =>
  value !== null &&
  typeof value.name === 'string' &&
  isCount(value.entries) &&
  isCount(value.level) &&
  isCount(value.sum)
