/**
 * Finds fingerprints within a small Hamming distance without looking at all of them (Manku, Jain and Das Sarma,
 * "Detecting near-duplicates for web crawling", 2007). A fingerprint is cut into distance + 1 blocks; two that differ in
 * at most `distance` bits agree in at least one block, so only entries that share a block are compared. The answer
 * is exact. An entry takes 8 bytes and 4 for each block, besides its id.
 *
 * It remembers between half of `maxEntries` and all of them: when the younger half is full, the older half is forgotten.
 */
import { countBits } from './simhash.ts'

export interface NearDuplicate {
  readonly id: string
  readonly distance: number
}

export interface NearDuplicateIndex {
  add(hash: bigint, id: string): void
  /** The entries within the distance, nearest first and then in order of their adding; at most `limit` of them. */
  find(hash: bigint, limit?: number): NearDuplicate[]
  readonly size: number
}

const DEFAULT_MAX_ENTRIES = 4_000_000
const DEFAULT_LIMIT = 1000
/** More blocks would be so small that most entries share one. */
const MAX_DISTANCE = 7
/** A block's first bits suffice as its key: agreeing blocks agree in them too. */
const MAX_KEY_BITS = 16

export function createNearDuplicateIndex(options: {
  /** 0 to 7 bits; 3 is usual for 64-bit fingerprints of web pages. */
  distance: number
  maxEntries?: number
}): NearDuplicateIndex {
  const { distance, maxEntries = DEFAULT_MAX_ENTRIES } = options
  if (!Number.isInteger(distance) || distance < 0 || distance > MAX_DISTANCE) {
    throw new RangeError(`distance must be a whole number from 0 to ${MAX_DISTANCE}, not ${distance}`)
  }
  if (!(maxEntries >= 1)) throw new RangeError(`maxEntries must be at least 1, not ${maxEntries}`)
  const capacity = Math.max(1, Math.floor(maxEntries / 2))
  let older = createHalf(distance)
  let younger = createHalf(distance)
  return {
    add(hash, id) {
      if (younger.size >= capacity) {
        older = younger
        younger = createHalf(distance)
      }
      younger.add(lowWord(hash), highWord(hash), id)
    },
    find(hash, limit = DEFAULT_LIMIT) {
      const found: NearDuplicate[] = []
      older.find(lowWord(hash), highWord(hash), found)
      younger.find(lowWord(hash), highWord(hash), found)
      return found.sort((a, b) => a.distance - b.distance).slice(0, limit)
    },
    get size() {
      return older.size + younger.size
    },
  }
}

interface Half {
  add(low: number, high: number, id: string): void
  find(low: number, high: number, into: NearDuplicate[]): void
  readonly size: number
}

function createHalf(distance: number): Half {
  const blocks = distance + 1
  const width = Math.floor(64 / blocks)
  const keyBits = Math.min(width, MAX_KEY_BITS)
  const keys = 1 << keyBits
  /** For each block and key, the number of the latest entry plus one; 0 for none. */
  const heads = new Int32Array(blocks * keys)
  let room = 64
  let lows = new Int32Array(room)
  let highs = new Int32Array(room)
  /** For each entry and block, the entry before it with the same key, plus one. */
  let links = new Int32Array(room * blocks)
  const ids: string[] = []

  const keyOf = (low: number, high: number, block: number): number => {
    const shift = block * width
    const mask = keys - 1
    if (shift >= 32) return (high >>> (shift - 32)) & mask
    if (shift === 0) return low & mask
    return ((low >>> shift) | (high << (32 - shift))) & mask
  }
  const grow = (): void => {
    room *= 2
    lows = enlarged(lows, room)
    highs = enlarged(highs, room)
    links = enlarged(links, room * blocks)
  }
  return {
    add(low, high, id) {
      const entry = ids.length
      if (entry === room) grow()
      ids.push(id)
      lows[entry] = low
      highs[entry] = high
      for (let block = 0; block < blocks; block++) {
        const head = block * keys + keyOf(low, high, block)
        links[entry * blocks + block] = heads[head] as number
        heads[head] = entry + 1
      }
    },
    find(low, high, into) {
      const entries: { entry: number; distance: number }[] = []
      for (let block = 0; block < blocks; block++) {
        let next = heads[block * keys + keyOf(low, high, block)] as number
        while (next !== 0) {
          const entry = next - 1
          next = links[entry * blocks + block] as number
          const lowBits = (lows[entry] as number) ^ low
          const highBits = (highs[entry] as number) ^ high
          const apart = countBits(lowBits) + countBits(highBits)
          if (apart > distance) continue
          // An entry that agrees in several blocks is taken in the first of them only.
          let first = 0
          while (keyOf(lowBits, highBits, first) !== 0) first++
          if (first === block) entries.push({ entry, distance: apart })
        }
      }
      entries.sort((a, b) => a.entry - b.entry)
      for (const match of entries) into.push({ id: ids[match.entry] as string, distance: match.distance })
    },
    get size() {
      return ids.length
    },
  }
}

function enlarged(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length)
  larger.set(array)
  return larger
}

function lowWord(hash: bigint): number {
  return Number(BigInt.asIntN(32, hash))
}

function highWord(hash: bigint): number {
  return Number(BigInt.asIntN(32, hash >> 32n))
}
