/**
 * The layout of a run file, in the byte order of the machine (one of the other order does not find the magic number):
 *
 * - blocks of 1,024 bytes: 85 entries of 12 bytes (the two halves of the fingerprint, the id), in order, then the CRC-32
 *   of these 1,020 bytes; the last block is filled up with zeros;
 * - the index: the upper half of the first fingerprint of each block;
 * - the words of the Bloom filter, which may be none;
 * - the trailer, of a fixed size, with what is needed to read the rest, and the checksum of index, filter and itself.
 *
 * Opening reads the trailer, the index and the filter. A block is checked when it is first searched, and whenever it is
 * merged.
 */
import { crc32 } from 'node:zlib'
import { TiptoeError } from '../../../model/index.ts'

export const ENTRY_WORDS = 3
export const BLOCK_ENTRIES = 85
export const BLOCK_WORDS = 256
export const BLOCK_BYTES = BLOCK_WORDS * 4

const MAGIC = 0x6e656573
const LAYOUT = 1
const TRAILER_WORDS = 8
export const TRAILER_BYTES = TRAILER_WORDS * 4

export interface Trailer {
  readonly entries: number
  /** 0 when there is no filter. */
  readonly filterWords: number
  readonly probes: number
  /** Of the index and the filter. */
  readonly tableSum: number
}

export const blocksOf = (entries: number): number => Math.ceil(entries / BLOCK_ENTRIES)

export function sizeOf(trailer: Trailer): number {
  const blocks = blocksOf(trailer.entries)
  return blocks * BLOCK_BYTES + blocks * 4 + trailer.filterWords * 4 + TRAILER_BYTES
}

/** The last word is the checksum of the others: together with it the trailer tells one run from any other. */
export function writeTrailer(trailer: Trailer): Uint32Array {
  const words = Uint32Array.of(
    MAGIC,
    LAYOUT,
    trailer.entries,
    trailer.filterWords,
    trailer.probes,
    trailer.tableSum,
    0,
    0,
  )
  words[TRAILER_WORDS - 1] = trailerSum(words)
  return words
}

/** Says in words why this is not the trailer of a run. */
export function readTrailer(words: Uint32Array): Trailer | string {
  if (words[0] !== MAGIC) return 'is cut short, or is no run at all'
  if (words[1] !== LAYOUT) return `has layout ${words[1]}, not ${LAYOUT}`
  if (words[TRAILER_WORDS - 1] !== trailerSum(words)) return 'has a damaged end'
  const [, , entries = 0, filterWords = 0, probes = 0, tableSum = 0] = words
  return { entries, filterWords, probes, tableSum }
}

export const trailerSum = (words: Uint32Array): number => crc32(bytesOf(words, 0, TRAILER_WORDS - 1))

/** Whether a block, at this word of `words`, is as it was written. */
export function isWhole(words: Uint32Array, at: number): boolean {
  return words[at + BLOCK_WORDS - 1] === blockSum(words, at)
}

export const blockSum = (words: Uint32Array, at: number): number => crc32(bytesOf(words, at, at + BLOCK_WORDS - 1))

export function bytesOf(words: Uint32Array | Int32Array, from = 0, to = words.length): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset + from * 4, (to - from) * 4)
}

export function damaged(place: string, name: string, why: string): TiptoeError {
  return new TiptoeError('store', `${name}, a file of known URLs in ${place}, ${why}`, {
    hint: 'the file is damaged: restore the whole folder from a copy, or start over with --fresh',
  })
}
