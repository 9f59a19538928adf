/**
 * The lines of a file of records, one at a time and as bytes, up to its committed end: what lies beyond may still be
 * under way. Memory holds one block of the file and one line.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const BLOCK_BYTES = 1 << 20
/** No record is longer: its links, 20,000 of 8 KiB at the most, are by far the largest part of it. */
const MAX_LINE_BYTES = 256 * 1024 * 1024
const LINE_FEED = 0x0a

export interface RecordLine {
  /** 1 for the first. */
  readonly number: number
  /** Without its end; only valid until the next line is asked for. */
  readonly bytes: Buffer
  /** It has its line feed; only the last line can lack it. */
  readonly complete: boolean
}

/** The size of the file; 0 when there is none. */
export function fileSize(path: string): number {
  const descriptor = open(path)
  if (descriptor === undefined) return 0
  try {
    return fstatSync(descriptor).size
  } finally {
    closeSync(descriptor)
  }
}

/** A file that does not exist has no lines. */
export function* recordLines(path: string, end: number): Generator<RecordLine> {
  const descriptor = open(path)
  if (descriptor === undefined) return
  try {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end))
    let number = 0
    let rest: Buffer[] = []
    let restBytes = 0
    for (let position = 0; position < end;) {
      const read = readSync(descriptor, block, 0, Math.min(block.length, end - position), position)
      if (read === 0) break
      position += read
      let start = 0
      for (let stop = block.indexOf(LINE_FEED); stop !== -1 && stop < read; stop = block.indexOf(LINE_FEED, start)) {
        const piece = block.subarray(start, stop)
        yield { number: ++number, bytes: rest.length === 0 ? piece : Buffer.concat([...rest, piece]), complete: true }
        rest = []
        restBytes = 0
        start = stop + 1
      }
      if (start === read) continue
      // The block is used again for what follows.
      rest.push(Buffer.from(block.subarray(start, read)))
      restBytes += read - start
      if (restBytes > MAX_LINE_BYTES) break
    }
    if (rest.length > 0) yield { number: ++number, bytes: Buffer.concat(rest), complete: false }
  } finally {
    closeSync(descriptor)
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The last record of one URL, which may have one for each of its visits; undefined when the file has none. */
export function findLastRecord(path: string, end: number, url: string): Record<string, unknown> | undefined {
  const needle = Buffer.from(`"url":${JSON.stringify(url)},`)
  let last: Record<string, unknown> | undefined
  for (const { bytes } of recordLines(path, end)) {
    if (!bytes.includes(needle)) continue
    const record = parseRecord(bytes)
    if (record?.['url'] === url) last = record
  }
  return last
}

/** Undefined for a line that is no JSON object. */
export function parseRecord(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
