/**
 * A sorted list of 32-bit hashes that can be made to take less room: then it keeps the first bits of each and no more, and
 * is wrong about a hash that has these bits in common with one of its own. Written down, it is the differences from each
 * to the next in Rice's code, whose length has a firm bound whatever the hashes are.
 */
import type { Reader, Writer } from './codec.ts'

export interface HashList {
  readonly size: number
  has(hash: number): boolean
  /** Of a hash that it does not have. */
  add(hash: number): void
  /** Keeps no more bits of each than can be written in so many bytes, a few for its size aside. */
  fitInto(bytes: number): void
  write(writer: Writer): void
}

const ALL_BITS = 32
/** Added since the list was last put in order as a whole: so many at most are moved for each that is added. */
const MAX_FRESH = 512
/** Room for these at first: most hosts have few pages. */
const FIRST_FRESH = 16

export function createHashList(): HashList {
  return hashListOf(new Uint32Array(0), ALL_BITS)
}

/** Of these numbers of so many bits, which it takes over. */
function hashListOf(sorted: Uint32Array, bits: number): HashList {
  let fresh = new Uint32Array(FIRST_FRESH)
  let freshSize = 0
  const numberOf = (hash: number): number => hash >>> (ALL_BITS - bits)
  const isIn = (numbers: Uint32Array, size: number, number: number): boolean => {
    const place = placeOf(numbers, size, number)
    return place < size && numbers[place] === number
  }
  const putInOrder = (): void => {
    if (freshSize === 0) return
    const all = new Uint32Array(sorted.length + freshSize)
    for (let at = 0, old = 0, young = 0; at < all.length; at++) {
      const isOld = young === freshSize || (sorted[old] as number) < (fresh[young] as number)
      all[at] = (isOld ? sorted[old++] : fresh[young++]) as number
    }
    sorted = all
    freshSize = 0
  }
  /** Those that are the same by their first bits become one. */
  const keepBits = (fewer: number): void => {
    putInOrder()
    const dropped = bits - fewer
    let kept = 0
    for (const each of sorted) {
      const number = each >>> dropped
      if (kept === 0 || sorted[kept - 1] !== number) sorted[kept++] = number
    }
    sorted = sorted.slice(0, kept)
    bits = fewer
  }
  const sizeOf = (): number => sorted.length + freshSize
  return {
    get size() {
      return sizeOf()
    },
    has(hash) {
      const number = numberOf(hash)
      return isIn(sorted, sorted.length, number) || isIn(fresh, freshSize, number)
    },
    add(hash) {
      if (freshSize === MAX_FRESH) putInOrder()
      if (freshSize === fresh.length) {
        const larger = new Uint32Array(2 * freshSize)
        larger.set(fresh)
        fresh = larger
      }
      const number = numberOf(hash)
      const place = placeOf(fresh, freshSize, number)
      fresh.copyWithin(place + 1, place, freshSize)
      fresh[place] = number
      freshSize += 1
    },
    fitInto(bytes) {
      const most = bitsThatFit(sizeOf(), bytes)
      if (most < bits) keepBits(most)
    },
    write(writer) {
      putInOrder()
      const size = sorted.length
      writer.word(size)
      writer.byte(bits)
      const stream = createBitWriter(writer)
      const low = lowBits(size, bits)
      const mask = low === 32 ? -1 : (1 << low) - 1
      let last = 0
      for (const number of sorted) {
        const difference = number - last
        last = number
        for (let high = low === 32 ? 0 : difference >>> low; high > 0; high--) stream.bits(1, 1)
        stream.bits(0, 1)
        stream.bits(difference & mask, low)
      }
      stream.end()
    },
  }
}

/** A list as it was written; of one that is longer than the text nothing can be said. */
export function readHashList(reader: Reader): HashList {
  const size = reader.word()
  const bits = Math.min(reader.byte(), ALL_BITS)
  // Each takes a bit at least.
  const numbers = new Uint32Array(Math.min(size, 8 * reader.left))
  const bitsOf = createBitReader(reader)
  const low = lowBits(size, bits)
  let number = 0
  for (let index = 0; index < numbers.length; index++) {
    let high = 0
    while (bitsOf(1) === 1) high += 1
    number += high * 2 ** low + bitsOf(low)
    numbers[index] = number
  }
  return hashListOf(numbers, bits)
}

/** Of the first that is not less. */
function placeOf(numbers: Uint32Array, size: number, number: number): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * How many bits of a difference are written as they are; what is above them is written as so many ones. All differences
 * together have no more of these ones than there are hashes.
 */
const lowBits = (size: number, bits: number): number => Math.max(0, bits - Math.floor(Math.log2(Math.max(1, size))))

/** Each hash takes its low bits, a zero, and one of those ones. */
function bitsThatFit(size: number, bytes: number): number {
  if (size === 0) return ALL_BITS
  const each = Math.floor((8 * bytes) / size)
  return Math.min(ALL_BITS, Math.max(1, each - 2 + Math.floor(Math.log2(size))))
}

interface BitWriter {
  /** The last `count` bits of a number, at most 32. */
  bits(value: number, count: number): void
  end(): void
}

function createBitWriter(writer: Writer): BitWriter {
  let word = 0
  let used = 0
  return {
    bits(value, count) {
      word |= value << used
      used += count
      if (used < 32) return
      writer.word(word)
      used -= 32
      // What did not fit; a shift by 32 would be none.
      word = used === 0 ? 0 : value >>> (count - used)
    },
    end() {
      if (used > 0) writer.word(word)
    },
  }
}

/** Reads so many bits; a text that is too short goes on with zeros. */
function createBitReader(reader: Reader): (count: number) => number {
  let word = 0
  let left = 0
  return (count) => {
    let value = 0
    let done = 0
    while (done < count) {
      if (left === 0) {
        word = reader.word()
        left = 32
      }
      const taken = Math.min(left, count - done)
      const part = taken === 32 ? word : word & (2 ** taken - 1)
      value += part * 2 ** done
      word = taken === 32 ? 0 : word >>> taken
      left -= taken
      done += taken
    }
    return value
  }
}
