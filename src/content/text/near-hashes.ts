/**
 * Many 64-bit hashes, to be found again by a few differing bits without looking at all of them (Manku, Jain and Das
 * Sarma, "Detecting near-duplicates for web crawling", 2007). A hash is cut into distance + 1 blocks; two that differ in
 * at most `distance` bits agree in at least one block, so only hashes that share a block are compared. The user may note
 * a few numbers beside each hash.
 *
 * It remembers between half of `capacity` and all of it: when the younger half is full, the older half is forgotten.
 *
 * Those that share a block form a chain, from young to old. A link of a chain carries some other bits of the hash that it
 * leads to, so nearly all that are far are seen to be far without being read. A look-up is exact unless very many hashes
 * share a block: then the youngest of each half are compared, see `walkLimit`.
 */
import { countBits } from './simhash.ts'

export interface NearHashes {
  readonly size: number
  /** Remembers a hash, given as two words; returns its slot, which it has until it is forgotten. Its notes are 0. */
  add(low: number, high: number): number
  /** Calls `take` for each hash within the distance, in no order; it is not to look up others meanwhile. */
  find(low: number, high: number, take: (slot: number, distance: number) => void): void
  /** How many were added after the one in this slot. */
  ageOf(slot: number): number
  /** Whether it is in the younger half. */
  isYoung(slot: number): boolean
  note(slot: number, which: number): number
  setNote(slot: number, which: number, value: number): void
}

/** More blocks would be so small that most hashes share one. */
export const MAX_DISTANCE = 7
/** Of a block; blocks that agree agree in their first bits, too. */
const MAX_KEY_BITS = 22
const MIN_KEY_BITS = 8
/** Hashes with the same key, on average, once a half is full; fewer would make the table of heads large. */
const KEY_LOAD = 4
/** Hashes of one half with a block in common that a look-up compares, at least. */
const MIN_WALK = 4_096
/** And at least so many times what chance would bring together. */
const WALK_FACTOR = 8
/** Hashes for which a half has room at first; then twice as many, and so on. */
const FIRST_ROOM = 1_024

interface Shape {
  readonly distance: number
  readonly notes: number
  /** Hashes in a half. */
  readonly limit: number
}

export function createNearHashes(options: {
  /** 0 to 7 bits. */
  readonly distance: number
  /** At least 1. */
  readonly capacity: number
  /** 32-bit numbers beside each hash. */
  readonly notes?: number
}): NearHashes {
  const { distance, capacity, notes = 0 } = options
  const limit = Math.max(1, Math.floor(capacity / 2))
  const shape = { distance, notes, limit }
  let older = createHalf(shape)
  let younger = createHalf(shape)
  /** Slots of the younger half begin here; those of the older one begin at 0 if these do not, and at `limit` if they do. */
  let start = 0

  const isYoung = (slot: number): boolean => slot >= limit === start > 0
  const halfOf = (slot: number): Half => (isYoung(slot) ? younger : older)
  const indexOf = (slot: number): number => (slot >= limit ? slot - limit : slot)
  return {
    get size() {
      return older.size + younger.size
    },
    add(low, high) {
      if (younger.size === limit) {
        older = younger
        younger = createHalf(shape)
        start = limit - start
      }
      return start + younger.add(low, high)
    },
    find(low, high, take) {
      younger.find(low, high, start, take)
      older.find(low, high, limit - start, take)
    },
    ageOf: (slot) => (isYoung(slot) ? 0 : younger.size) + halfOf(slot).size - 1 - indexOf(slot),
    isYoung,
    note: (slot, which) => halfOf(slot).note(indexOf(slot), which),
    setNote: (slot, which, value) => halfOf(slot).setNote(indexOf(slot), which, value),
  }
}

interface Half {
  readonly size: number
  add(low: number, high: number): number
  /** Slots are counted from `start` on. */
  find(low: number, high: number, start: number, take: (slot: number, distance: number) => void): void
  note(index: number, which: number): number
  setNote(index: number, which: number, value: number): void
}

function createHalf({ distance, notes, limit }: Shape): Half {
  const blocks = distance + 1
  const width = Math.floor(64 / blocks)
  const keyBits = Math.min(width, MAX_KEY_BITS, Math.max(MIN_KEY_BITS, Math.round(Math.log2(limit / KEY_LOAD))))
  const keys = 2 ** keyBits
  const walkLimit = Math.max(MIN_WALK, Math.ceil((WALK_FACTOR * limit) / keys))
  /** A link is the index of a hash plus one, and above it the upper bits of that word in which the block is not. 0: none. */
  const indexMask = 2 ** Math.ceil(Math.log2(limit + 1)) - 1
  /** For each block and key, the link to the youngest. */
  const heads = new Int32Array(blocks * keys)
  let room = Math.min(FIRST_ROOM, limit)
  /** For each block, the link of every hash to the next older one with the same key. */
  const links = Array.from({ length: blocks }, () => new Int32Array(room))
  /** The two words of each hash and its notes. */
  const stride = 2 + notes
  let hashes = new Int32Array(room * stride)
  let size = 0

  const keyOf = (low: number, high: number, block: number): number => {
    const shift = block * width
    const mask = keys - 1
    if (shift >= 32) return (high >>> (shift - 32)) & mask
    if (shift === 0) return low & mask
    return ((low >>> shift) | (high << (32 - shift))) & mask
  }
  const otherWord = (low: number, high: number, block: number): number => (block * width < 32 ? high : low)
  const grow = (): void => {
    room = Math.min(2 * room, limit)
    hashes = enlarged(hashes, room * stride)
    for (let block = 0; block < blocks; block++) links[block] = enlarged(links[block] as Int32Array, room)
  }
  /** One that agrees in several blocks is taken in the first of them only. */
  const firstAgreement = (lowBits: number, highBits: number): number => {
    let block = 0
    while (keyOf(lowBits, highBits, block) !== 0) block++
    return block
  }
  /** Of a look-up: for each block, the link with which its walk goes on. */
  const nexts = new Int32Array(blocks)

  return {
    get size() {
      return size
    },
    add(low, high) {
      const index = size++
      if (index === room) grow()
      hashes[index * stride] = low
      hashes[index * stride + 1] = high
      for (let block = 0; block < blocks; block++) {
        const head = block * keys + keyOf(low, high, block)
        ;(links[block] as Int32Array)[index] = heads[head] as number
        heads[head] = (otherWord(low, high, block) & ~indexMask) | (index + 1)
      }
      return index
    },
    find(low, high, start, take) {
      for (let block = 0; block < blocks; block++) {
        nexts[block] = heads[block * keys + keyOf(low, high, block)] as number
      }
      // All chains at once, since each step waits for memory: then they wait together.
      for (let walked = 0, going = blocks; going > 0 && walked < walkLimit; walked++) {
        going = 0
        for (let block = 0; block < blocks; block++) {
          const link = nexts[block] as number
          if (link === 0) continue
          going++
          const index = (link & indexMask) - 1
          nexts[block] = (links[block] as Int32Array)[index] as number
          if (countBits((link ^ otherWord(low, high, block)) & ~indexMask) > distance) continue
          const lowBits = (hashes[index * stride] as number) ^ low
          const highBits = (hashes[index * stride + 1] as number) ^ high
          const apart = countBits(lowBits) + countBits(highBits)
          if (apart <= distance && firstAgreement(lowBits, highBits) === block) take(start + index, apart)
        }
      }
    },
    note: (index, which) => hashes[index * stride + 2 + which] as number,
    setNote(index, which, value) {
      hashes[index * stride + 2 + which] = value
    },
  }
}

function enlarged(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length)
  larger.set(array)
  return larger
}

/** The lower and the upper half of a hash, as signed words. */
export function lowWord(hash: bigint): number {
  return Number(BigInt.asIntN(32, hash))
}

export function highWord(hash: bigint): number {
  return Number(BigInt.asIntN(32, hash >> 32n))
}
