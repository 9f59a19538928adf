/**
 * The index of an archive in order. It is written as pages come, and is sorted here: in parts that fit into memory, one
 * range of keys after the other, reading the file once for each. No file is left behind, and memory does not depend on
 * the size of the archive.
 */
import { committedLines } from '../committed-file.ts'

/** About as much as one part holds. */
const PART_BYTES = 64 * 1024 ** 2
/** Lines by which the ranges are chosen, and how much of each is looked at. */
const SAMPLES = 10_000
const SAMPLE_LENGTH = 512

/** Lines without their ends, in the order of their bytes, as far as they are committed. */
export function* sortedIndexLines(path: string, end: number, partBytes = PART_BYTES): Generator<string> {
  const borders = bordersOf(linesOf(path, end), end, Math.ceil(end / partBytes))
  let from = ''
  for (const until of [...borders, undefined]) {
    const part: string[] = []
    for (const line of linesOf(path, end)) if (line >= from && (until === undefined || line < until)) part.push(line)
    yield* part.toSorted()
    if (until !== undefined) from = until
  }
}

/** The index is ASCII, so the order of its characters is that of its bytes. */
function* linesOf(path: string, end: number): Generator<string> {
  for (const { bytes } of committedLines(path, end)) yield bytes.toString('latin1')
}

/** What parts the lines into so many ranges of about the same size. */
function bordersOf(lines: Iterable<string>, length: number, parts: number): string[] {
  if (parts <= 1) return []
  const samples: string[] = []
  const step = length / SAMPLES
  let at = 0
  for (const line of lines) {
    at += line.length + 1
    if (at >= samples.length * step) samples.push(line.slice(0, SAMPLE_LENGTH))
  }
  samples.sort()
  const borders = Array.from(
    { length: parts - 1 },
    (_, index) => samples[Math.floor(((index + 1) * samples.length) / parts)]!,
  )
  return [...new Set(borders)]
}
