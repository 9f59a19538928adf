/**
 * Writes one run, entry by entry in order, then its index and filter, in steps: each leaves little that is not on the
 * disk, so that none has much to wait for. The run can be read when the last step is done, and not before.
 */
import { crc32 } from 'node:zlib'
import { createBloomFilter, type BloomFilter } from '../../../base/index.ts'
import {
  BLOCK_ENTRIES,
  BLOCK_WORDS,
  blocksOf,
  blockSum,
  bytesOf,
  damaged,
  ENTRY_WORDS,
  writeTrailer,
} from './run-format.ts'
import type { RunFiles } from './run-files.ts'
import { createRun, type Run } from './run.ts'

/** Blocks written at once: 128 KiB. */
const PORTION_BLOCKS = 128
/** Bytes of index and filter that one step writes. */
const TABLE_STEP_BYTES = 524_288
/** Bytes that a step may leave to a later one to wait for: the disk takes longer to turn to us than to write them. */
const UNSYNCED_BYTES = 1_048_576

export interface RunWriter {
  /** In ascending order, as many as were announced. */
  add(hi: number, lo: number, id: number): void
  /** Ends a step. */
  settle(): void
  /** Called when all were added, until it gives the run. */
  finish(): Run | undefined
  abandon(): void
}

export interface RunPlan {
  readonly name: string
  readonly level: number
  readonly entries: number
  /** 0 for no filter. */
  readonly filterWords: number
  readonly probes: number
}

export function createRunWriter(files: RunFiles, plan: RunPlan, block: Uint32Array): RunWriter {
  const draft = files.create(plan.name)
  const portion = new Uint32Array(PORTION_BLOCKS * BLOCK_WORDS)
  const index = new Uint32Array(blocksOf(plan.entries))
  const filter: BloomFilter | undefined =
    plan.filterWords === 0 ? undefined : createBloomFilter(new Int32Array(plan.filterWords), plan.probes)
  let added = 0
  /** The word of the portion that the next entry begins at. */
  let at = 0
  let inBlock = 0
  let tableSum = 0
  let unsynced = 0
  const tables = [index, ...(filter === undefined ? [] : [filter.words])].map((words) => bytesOf(words))
  let tableAt = 0

  const endBlock = (): void => {
    const begin = at - inBlock * ENTRY_WORDS
    // What a shorter last block leaves is of an earlier portion.
    portion.fill(0, at, begin + BLOCK_WORDS - 1)
    portion[begin + BLOCK_WORDS - 1] = blockSum(portion, begin)
    at = begin + BLOCK_WORDS
    inBlock = 0
    if (at === portion.length) write()
  }
  const append = (bytes: Uint8Array): void => {
    draft.append(bytes)
    unsynced += bytes.length
  }
  const settle = (): void => {
    if (unsynced < UNSYNCED_BYTES) return
    draft.sync()
    unsynced = 0
  }
  const write = (): void => {
    append(bytesOf(portion, 0, at))
    at = 0
  }

  /** False when index and filter are written. */
  const writeTables = (): boolean => {
    const table = tables[0]
    if (table === undefined) return false
    const part = table.subarray(tableAt, tableAt + TABLE_STEP_BYTES)
    append(part)
    tableSum = crc32(part, tableSum)
    tableAt += part.length
    if (tableAt === table.length) {
      tables.shift()
      tableAt = 0
    }
    return true
  }

  return {
    add(hi, lo, id) {
      if (inBlock === 0) index[Math.floor(added / BLOCK_ENTRIES)] = hi
      portion[at] = hi
      portion[at + 1] = lo
      portion[at + 2] = id
      at += ENTRY_WORDS
      filter?.add(hi, lo)
      added += 1
      inBlock += 1
      if (inBlock === BLOCK_ENTRIES) endBlock()
    },
    settle,
    finish() {
      if (added !== plan.entries) throw new Error(`a run of ${plan.entries} entries was given ${added}`)
      if (inBlock > 0) endBlock()
      if (at > 0) write()
      if (writeTables()) {
        settle()
        return undefined
      }
      const trailer = writeTrailer({ ...plan, tableSum })
      draft.append(bytesOf(trailer))
      draft.finish()
      const file = files.open(plan.name)
      if (file === undefined) throw damaged(files.place, plan.name, 'was removed while it was written')
      const { name, level, entries } = plan
      return createRun(files, { name, level, entries, sum: trailer.at(-1) as number }, { file, block, index, filter })
    },
    abandon: () => draft.abandon(),
  }
}
