/**
 * Finds what repeats itself in a text (LZ77), for deflate: each token is a byte, or says that so many bytes are the same
 * as those so far before. It looks at one place only, the last one that began with the same four bytes, and so finds
 * nearly as much in pages as the fastest level of zlib, in less time.
 */

/** Tokens that are found at once; a text that has more is told in several blocks. */
const MAX_TOKENS = 16 * 1024

const MIN_LENGTH = 4
const MAX_LENGTH = 258
const MAX_DISTANCE = 32 * 1024
/** Four bytes are read at a time, also where fewer are left. */
const MARGIN_BYTES = 2 * MAX_LENGTH

/** A token is below 256 for a byte; else distance - 1 in fifteen bits, length in nine, code of the distance in five. */
export const LENGTH_SHIFT = 15
export const LENGTH_MASK = 0x1ff
export const DISTANCE_CODE_SHIFT = 24

/** Codes of lengths (RFC 1951 §3.2.5) follow those of bytes and of the end of a block. */
export const FIRST_LENGTH_SYMBOL = 257
export const LENGTH_EXTRA_BITS = Uint8Array.from([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
])
/** By the length; those below three do not exist. */
export const LENGTH_CODES = new Uint8Array(MAX_LENGTH + 1)
/** The least length of each code. */
export const LENGTH_BASES = new Uint16Array(LENGTH_EXTRA_BITS.length)
for (let code = 0, length = 3; code < LENGTH_BASES.length; code++) {
  // The longest has a code of its own, though the one before reaches it.
  if (code === LENGTH_BASES.length - 1) length = MAX_LENGTH
  LENGTH_BASES[code] = length
  for (let left = 1 << LENGTH_EXTRA_BITS[code]!; left > 0 && length <= MAX_LENGTH; left--) LENGTH_CODES[length++] = code
}

/** Tokens of a text, or of a part of it. */
export interface Tokens {
  readonly tokens: Int32Array
  readonly count: number
  /** How often there are bytes, the end of a block (never counted here) and lengths; and codes of distances. */
  readonly symbols: Uint32Array
  readonly distances: Uint32Array
}

export interface RepetitionFinder {
  /** Begins with another text, and returns it as a whole, in memory that is used again for the next. */
  begin(parts: readonly Uint8Array[]): Uint8Array
  /** Finds the next tokens, and returns whether there are more beyond them. */
  find(): boolean
  /** What was found last. */
  readonly found: Tokens
}

/** Where four bytes were met last is kept by a hash of this many bits. */
const HASH_BITS = 14
const HASH_FACTOR = 0x9e3779b1 | 0
const MAX_PLACE = 2 ** 30

export function createRepetitionFinder(maxTextBytes: number): RepetitionFinder {
  const bytes = new Uint8Array(maxTextBytes + MARGIN_BYTES)
  const view = new DataView(bytes.buffer)
  /** Places are counted on from text to text, so that those of earlier ones are known as such. */
  const lastPlaces = new Int32Array(1 << HASH_BITS)
  let firstPlace = 1
  let textBytes = 0
  let at = 0
  const found = {
    tokens: new Int32Array(MAX_TOKENS),
    count: 0,
    symbols: new Uint32Array(FIRST_LENGTH_SYMBOL + LENGTH_EXTRA_BITS.length),
    distances: new Uint32Array(30),
  }
  const remember = (place: number): void => {
    lastPlaces[Math.imul(view.getInt32(place, true), HASH_FACTOR) >>> (32 - HASH_BITS)] = place + firstPlace
  }
  return {
    begin(parts) {
      firstPlace += textBytes
      if (firstPlace > MAX_PLACE) {
        lastPlaces.fill(0)
        firstPlace = 1
      }
      textBytes = 0
      for (const part of parts) {
        bytes.set(part, textBytes)
        textBytes += part.length
      }
      at = 0
      return bytes.subarray(0, textBytes)
    },
    find() {
      const { tokens, symbols, distances } = found
      symbols.fill(0)
      distances.fill(0)
      const length = textBytes
      const lastStart = length - MIN_LENGTH
      let here = at
      let count = 0
      while (here < length && count < MAX_TOKENS) {
        const four = view.getInt32(here, true)
        const hash = Math.imul(four, HASH_FACTOR) >>> (32 - HASH_BITS)
        const before = lastPlaces[hash]! - firstPlace
        lastPlaces[hash] = here + firstPlace
        const distance = here - before
        if (before < 0 || distance > MAX_DISTANCE || here > lastStart || view.getInt32(before, true) !== four) {
          const byte = four & 0xff
          tokens[count++] = byte
          symbols[byte]!++
          here++
          continue
        }
        let same = MIN_LENGTH
        while (same < MAX_LENGTH) {
          const difference = view.getInt32(here + same, true) ^ view.getInt32(before + same, true)
          if (difference !== 0) {
            // The bytes below the lowest bit in which the two differ.
            same += (31 - Math.clz32(difference & -difference)) >>> 3
            break
          }
          same += 4
        }
        same = Math.min(same, MAX_LENGTH, length - here)
        const code = distanceCode(distance)
        tokens[count++] = (code << DISTANCE_CODE_SHIFT) | (same << LENGTH_SHIFT) | (distance - 1)
        symbols[FIRST_LENGTH_SYMBOL + LENGTH_CODES[same]!]!++
        distances[code]!++
        // Of the places inside, the first and the last are remembered: most of what comes again begins near them.
        remember(here + 1)
        here += same
        remember(here - 1)
      }
      at = here
      found.count = count
      return here < length
    },
    found,
  }
}

/** Two codes for each power of two. */
function distanceCode(distance: number): number {
  const offset = distance - 1
  if (offset < 2) return offset
  const top = 31 - Math.clz32(offset)
  return 2 * top + ((offset >>> (top - 1)) & 1)
}
