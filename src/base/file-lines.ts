/**
 * The lines of a file, one at a time and as bytes, up to an end that the caller knows: what lies beyond may still be
 * under way. Memory holds one block of the file and one line.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const BLOCK_BYTES = 1 << 20
/** No record is longer: its links, 20,000 of 8 KiB at the most, are by far the largest part of it. */
const MAX_LINE_BYTES = 256 * 1024 * 1024
const LINE_FEED = 0x0a

export interface FileLine {
  /** 1 for the first. */
  readonly number: number
  /** Where it begins, in bytes. */
  readonly start: number
  /** Without its end; only valid until the next line is asked for. */
  readonly bytes: Buffer
  /** It has its line feed; only the last line can lack it. */
  readonly complete: boolean
}

/** Returns how many bytes were read, which is less than `end` for a file that is shorter; one that is missing has none. */
export function* fileLines(path: string, end: number): Generator<FileLine, number> {
  const descriptor = end === 0 ? undefined : openToRead(path)
  if (descriptor === undefined) return 0
  try {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end))
    let position = 0
    let number = 0
    let rest: Buffer[] = []
    let restBytes = 0
    while (position < end && restBytes <= MAX_LINE_BYTES) {
      const read = readSync(descriptor, block, 0, Math.min(block.length, end - position), position)
      if (read === 0) break
      let from = 0
      for (let stop = block.indexOf(LINE_FEED); stop !== -1 && stop < read; stop = block.indexOf(LINE_FEED, from)) {
        const piece = block.subarray(from, stop)
        const bytes = rest.length === 0 ? piece : Buffer.concat([...rest, piece])
        yield { number: ++number, start: position + from - restBytes, bytes, complete: true }
        rest = []
        restBytes = 0
        from = stop + 1
      }
      // The block is used again for what follows.
      if (from < read) rest.push(Buffer.from(block.subarray(from, read)))
      restBytes += read - from
      position += read
    }
    if (restBytes > 0) {
      yield { number: number + 1, start: position - restBytes, bytes: Buffer.concat(rest), complete: false }
    }
    return position
  } finally {
    closeSync(descriptor)
  }
}

function openToRead(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** What one line of JSON says; undefined for one that is no object. */
export function parseObject(text: string | Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.toString())
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
