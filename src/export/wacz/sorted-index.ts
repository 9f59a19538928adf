/**
 * The index of an archive in order. It is written as pages come, by each worker for itself, and is sorted here: in ranges
 * of keys that fit into memory, one after the other, reading the files once for each. No file is left behind, and memory
 * does not depend on the size of the archive.
 */
import { committedLines } from '../committed-file.ts'

/** About as much as one range holds. */
const RANGE_BYTES = 64 * 1024 ** 2
/** Lines by which the ranges are chosen, and how much of each is looked at. */
const SAMPLES = 10_000
const SAMPLE_LENGTH = 512

/** An index as far as it is committed. */
export interface IndexPart {
  readonly path: string
  readonly end: number
  /** Put before the names of the files that it leads to. */
  readonly prefix: string
}

/** Lines without their ends, in the order of their bytes. */
export function* sortedIndexLines(parts: readonly IndexPart[], rangeBytes = RANGE_BYTES): Generator<string> {
  const bytes = parts.reduce((sum, { end }) => sum + end, 0)
  const borders = bordersOf(linesOf(parts), bytes, Math.ceil(bytes / rangeBytes))
  let from = ''
  for (const until of [...borders, undefined]) {
    const range: string[] = []
    for (const line of linesOf(parts)) if (line >= from && (until === undefined || line < until)) range.push(line)
    yield* range.toSorted()
    if (until !== undefined) from = until
  }
}

/** The index is ASCII, so the order of its characters is that of its bytes. */
function* linesOf(parts: readonly IndexPart[]): Generator<string> {
  for (const { path, end, prefix } of parts) {
    for (const { bytes } of committedLines(path, end)) {
      const line = bytes.toString('latin1')
      // A quote inside of a value is escaped, so no URL can pretend to be the field.
      yield prefix === '' ? line : line.replace(FILENAME, () => FILENAME + prefix)
    }
  }
}

const FILENAME = ',"filename":"'

/** What divides the lines into so many ranges of about the same size. */
function bordersOf(lines: Iterable<string>, length: number, ranges: number): string[] {
  if (ranges <= 1) return []
  const samples: string[] = []
  const step = length / SAMPLES
  let at = 0
  for (const line of lines) {
    at += line.length + 1
    if (at >= samples.length * step) samples.push(line.slice(0, SAMPLE_LENGTH))
  }
  samples.sort()
  const borders = Array.from(
    { length: ranges - 1 },
    (_, index) => samples[Math.floor(((index + 1) * samples.length) / ranges)]!,
  )
  return [...new Set(borders)]
}
