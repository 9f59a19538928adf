/**
 * The payloads that the archive has, by their digests, so that one that comes again is only referred to. Where the
 * original is, and what it is called, is read back from the index when it is wanted.
 *
 * The table is filled from the end of the index when the archive is opened: neither its size nor the time that takes
 * grows with the archive.
 */
import type { AppendFile } from '../append-file.ts'
import { fromBase32 } from './digest.ts'
import { createDigestTable } from './digest-table.ts'
import { MAX_INDEX_LINE_BYTES, originalOf, originalsIn, type Original } from './index-line.ts'

/** Payloads known at once. */
export const MAX_PAYLOADS = 1_000_000
/** How much of the index is read on opening. */
const MAX_INDEX_BYTES = 256 * 1024 ** 2
const PORTION_BYTES = 4 * 1024 ** 2
/** Nearly every line is shorter; a longer one is read again. */
const USUAL_LINE_BYTES = 1024

/** Digests are in Base32. */
export interface KnownPayloads {
  has(digest: string): boolean
  /** The original of this payload; undefined when there is none, or none any more. */
  find(digest: string): Original | undefined
  /** Its line in the index begins here. */
  add(digest: string, at: number): void
}

/** Reads the end of the index, and goes on reading from it. */
export function readKnownPayloads(
  index: Pick<AppendFile, 'length' | 'read'>,
  maxIndexBytes = MAX_INDEX_BYTES,
): KnownPayloads {
  /** One byte is one character: the index is ASCII, so places in the text are places in the file. */
  const textAt = (from: number, most: number): string => {
    const bytes = Buffer.allocUnsafe(Math.min(most, index.length - from))
    index.read(bytes, from)
    return bytes.toString('latin1')
  }
  const { length } = index
  const table = createDigestTable(MAX_PAYLOADS)
  let at = Math.max(0, length - maxIndexBytes)
  // From the middle of the index on, the first line is half a line, and names no original with a true beginning.
  let isCut = at > 0
  while (at < length) {
    const text = textAt(at, PORTION_BYTES)
    const whole = text.lastIndexOf('\n') + 1
    if (whole === 0) break
    const skipped = isCut ? text.indexOf('\n') + 1 : 0
    for (const original of originalsIn(text.slice(skipped, whole))) {
      table.set(fromBase32(original.digest), at + skipped + original.at)
    }
    isCut = false
    at += whole
  }
  const lineAt = (from: number): string | undefined => {
    for (const bytes of [USUAL_LINE_BYTES, MAX_INDEX_LINE_BYTES]) {
      const text = textAt(from, bytes)
      const end = text.indexOf('\n')
      if (end !== -1) return text.slice(0, end)
    }
    return undefined
  }
  /** The same one is asked for, found and added in a row. */
  let last: { digest: string; bytes: Uint8Array } = { digest: '', bytes: new Uint8Array() }
  const bytesOf = (digest: string): Uint8Array => {
    if (last.digest !== digest) last = { digest, bytes: fromBase32(digest) }
    return last.bytes
  }
  return {
    has: (digest) => table.get(bytesOf(digest)) !== undefined,
    find(digest) {
      const from = table.get(bytesOf(digest))
      const line = from === undefined ? undefined : lineAt(from)
      return line === undefined ? undefined : originalOf(line)
    },
    add: (digest, from) => table.set(bytesOf(digest), from),
  }
}
