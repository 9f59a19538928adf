/**
 * One immutable run: sorted fingerprints with their ids in a file, of which the index and the filter are in memory. A
 * look-up reads the one block where the fingerprint must be. Whoever asks decides whether to ask the filter first.
 */
import { crc32 } from 'node:zlib'
import { createBloomFilter, type BloomFilter } from '../../../base/index.ts'
import {
  BLOCK_BYTES,
  BLOCK_ENTRIES,
  BLOCK_WORDS,
  blocksOf,
  bytesOf,
  damaged,
  ENTRY_WORDS,
  isWhole,
  readTrailer,
  sizeOf,
  TRAILER_BYTES,
} from './run-format.ts'
import type { RunFile, RunFiles } from './run-files.ts'

/** Blocks that a cursor reads at once: 64 KiB. */
const PORTION_BLOCKS = 64
/**
 * How far from where even fingerprints would have it a block is looked for at first. In the middle of a run of ten million
 * one standard deviation is 19 blocks.
 */
const NEAR_BLOCKS = 32

/** What a manifest says of a run. */
export interface RunRecord {
  readonly name: string
  readonly entries: number
  /** How often its entries were merged, at the least: see merging.ts. */
  readonly level: number
  /** The checksum at the end of its file, by which another file of the same name is recognised. */
  readonly sum: number
}

export interface Run extends RunRecord {
  /** Without one the run is always read. May be replaced by a smaller one. */
  filter: BloomFilter | undefined
  /** The id, or 0. */
  find(hi: number, lo: number): number
  /** All entries in order. */
  read(): RunCursor
  close(): void
}

/** Stands on an entry; `next` goes to the one behind it, and is false when there is none. */
export interface RunCursor {
  hi: number
  lo: number
  id: number
  next(): boolean
}

/** One block in memory, shared by all runs of a set, since it is searched as soon as it is read. */
export const createBlock = (): Uint32Array => new Uint32Array(BLOCK_WORDS)

export function openRun(files: RunFiles, record: RunRecord, block: Uint32Array): Run {
  const refuse = (why: string): never => {
    throw damaged(files.place, record.name, why)
  }
  const file = files.open(record.name) ?? refuse('is missing')
  try {
    if (file.size < TRAILER_BYTES) return refuse('is cut short, or is no run at all')
    const words = new Uint32Array(TRAILER_BYTES / 4)
    file.read(bytesOf(words), file.size - TRAILER_BYTES)
    const trailer = readTrailer(words)
    if (typeof trailer === 'string') return refuse(trailer)
    if (file.size !== sizeOf(trailer)) return refuse(`has ${file.size} bytes, not ${sizeOf(trailer)}`)
    if (words.at(-1) !== record.sum || trailer.entries !== record.entries) return refuse('is of another crawl or time')
    const blocks = blocksOf(trailer.entries)
    const index = new Uint32Array(blocks)
    const filter = new Int32Array(trailer.filterWords)
    file.read(bytesOf(index), blocks * BLOCK_BYTES)
    file.read(bytesOf(filter), blocks * (BLOCK_BYTES + 4))
    if (crc32(bytesOf(filter), crc32(bytesOf(index))) !== trailer.tableSum)
      return refuse('has a damaged index or filter')
    return createRun(files, record, {
      file,
      block,
      index,
      filter: filter.length === 0 ? undefined : createBloomFilter(filter, trailer.probes),
    })
  } catch (error) {
    file.close()
    throw error
  }
}

export function createRun(
  files: RunFiles,
  record: RunRecord,
  parts: {
    readonly file: RunFile
    readonly block: Uint32Array
    /** The upper half of the first fingerprint of each block. */
    readonly index: Uint32Array
    readonly filter: BloomFilter | undefined
  },
): Run {
  const { file, block, index } = parts
  const { entries } = record
  const blocksOfHalf = index.length / 4_294_967_296
  /** Blocks that were read before and found whole: what is searched a hundred times is summed up once. */
  const isChecked = new Uint8Array(index.length)
  const blockBytes = bytesOf(block)
  const summedBytes = bytesOf(block, 0, BLOCK_WORDS - 1)

  /** The first block that may have a fingerprint with this upper half: the last that begins below it. */
  const firstBlock = (hi: number): number => {
    // Fingerprints are even, so it is near the place that its size says: the search begins there, in wider and wider steps.
    const guess = Math.floor(hi * blocksOfHalf)
    let low = 0
    let high = index.length
    for (let step = NEAR_BLOCKS, at = guess - step; at > 0; step *= 2, at -= step) {
      if ((index[at] as number) < hi) {
        low = at
        break
      }
      high = at
    }
    for (let step = NEAR_BLOCKS, at = guess + step; at < high; step *= 2, at += step) {
      if ((index[at] as number) >= hi) {
        high = at
        break
      }
      low = at
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((index[middle] as number) < hi) low = middle + 1
      else high = middle
    }
    return Math.max(low - 1, 0)
  }

  const findIn = (number: number, hi: number, lo: number): number => {
    file.read(blockBytes, number * BLOCK_BYTES)
    if (isChecked[number] === 0) {
      if (crc32(summedBytes) !== block[BLOCK_WORDS - 1])
        throw damaged(files.place, record.name, `has a damaged block at ${number * BLOCK_BYTES}`)
      isChecked[number] = 1
    }
    let low = 0
    let high = Math.min(BLOCK_ENTRIES, entries - number * BLOCK_ENTRIES)
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = middle * ENTRY_WORDS
      const there = block[at] as number
      if (there < hi || (there === hi && (block[at + 1] as number) < lo)) low = middle + 1
      else high = middle
    }
    const at = low * ENTRY_WORDS
    return low < BLOCK_ENTRIES && block[at] === hi && block[at + 1] === lo ? (block[at + 2] as number) : 0
  }

  return {
    ...record,
    filter: parts.filter,
    find(hi, lo) {
      // More than one block only where a block begins in the midst of fingerprints with the same upper half.
      for (let number = firstBlock(hi); number < index.length; number++) {
        const id = findIn(number, hi, lo)
        if (id !== 0 || index[number + 1] !== hi) return id
      }
      return 0
    },
    read: () => createCursor(files, record, file),
    close: () => file.close(),
  }
}

function createCursor(files: RunFiles, record: RunRecord, file: RunFile): RunCursor {
  const words = new Uint32Array(PORTION_BLOCKS * BLOCK_WORDS)
  let left = record.entries
  let nextBlock = 0
  let at = 0
  /** Entries of the current block, and blocks of the portion, that were not visited. */
  let inBlock = 0
  let inPortion = 0

  const readOn = (): void => {
    inPortion = Math.min(PORTION_BLOCKS, blocksOf(record.entries) - nextBlock)
    file.read(bytesOf(words, 0, inPortion * BLOCK_WORDS), nextBlock * BLOCK_BYTES)
    for (let block = 0; block < inPortion; block++) {
      if (isWhole(words, block * BLOCK_WORDS)) continue
      throw damaged(files.place, record.name, `has a damaged block at ${(nextBlock + block) * BLOCK_BYTES}`)
    }
    nextBlock += inPortion
    at = 0
  }

  return {
    hi: 0,
    lo: 0,
    id: 0,
    next() {
      if (left === 0) return false
      if (inBlock === 0) {
        if (inPortion === 0) readOn()
        else at += 1
        inPortion -= 1
        inBlock = BLOCK_ENTRIES
      }
      this.hi = words[at] as number
      this.lo = words[at + 1] as number
      this.id = words[at + 2] as number
      at += ENTRY_WORDS
      inBlock -= 1
      left -= 1
      return true
    },
  }
}
