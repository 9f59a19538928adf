/**
 * Finds what repeats itself in a text (LZ77), for deflate. It looks at one place only, the last one that began with the
 * same five bytes, and so finds nearly as much in pages as the fastest level of zlib, in half of the time.
 */
import {
  CODE_OF_LENGTH,
  COUNTS_SIZE,
  DISTANCE_COUNTS,
  HASH_BITS,
  MAX_SEQUENCES,
  PLACE_SIZE,
  PLACES,
  SEQUENCE_SIZE,
  SEQUENCES,
  SYMBOL_COUNTS,
} from './deflate-layout'

const MIN_LENGTH: usize = 4
const MAX_LENGTH: usize = 258
const MAX_DISTANCE: usize = 32 * 1024
/** Of a place, as many bits are remembered as tell where it was among the last 64 KiB. */
const PLACE_MASK: usize = 0xffff
const HASH_FACTOR: u64 = 0x9e37_79b1_85eb_ca87

/** A repetition is distance - 1 in fifteen bits, its length in nine, the code of its distance in five. */
export const LENGTH_SHIFT: u32 = 15
export const LENGTH_MASK: u32 = 0x1ff
export const DISTANCE_CODE_SHIFT: u32 = 24

/** Codes of lengths (RFC 1951 §3.2.5) follow those of bytes and of the end of a block. */
export const FIRST_LENGTH_SYMBOL: usize = 257
export const LENGTH_CODE_COUNT: usize = 29
/** The least length of each code, and that behind the last; and how many extra bits there are. */
export const LENGTH_BASES: usize = memory.data<u16>([
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  259,
])
export const LENGTH_EXTRA_BITS: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
])

/** Before the first byte, so that a place that was never written, 0, is none of the text. */
let zero: usize = 0
let count: usize = 0

export function beginText(start: usize, end: usize): void {
  if (load<u8>(CODE_OF_LENGTH + MIN_LENGTH) == 0) fillCodes()
  // Nothing is known of another text, neither before this one nor behind it: the same text is always packed the same way.
  memory.fill(PLACES, 0, PLACE_SIZE << HASH_BITS)
  store<u64>(end, 0)
  zero = start - 1
}

function fillCodes(): void {
  for (let code: usize = 0; code < LENGTH_CODE_COUNT; code++) {
    const next: usize = load<u16>(LENGTH_BASES + 2 * code + 2)
    for (let length: usize = load<u16>(LENGTH_BASES + 2 * code); length < next; length++) {
      store<u8>(CODE_OF_LENGTH + length, code as u8)
    }
  }
}

/**
 * Finds repetitions from this place on, and how often there are which symbols. Returns where it ended: before the end of
 * the text when there are too many for one block. Behind the last of them is the number of bytes that are left.
 */
export function findSequences(from: usize, end: usize): usize {
  memory.fill(SYMBOL_COUNTS, 0, COUNTS_SIZE)
  let sequence = SEQUENCES
  let here = from
  /** Bytes from here on are not part of a repetition so far. */
  let single = from
  const lastStart = end - MIN_LENGTH
  const origin = zero
  while (here <= lastStart && sequence < SEQUENCES + MAX_SEQUENCES * SEQUENCE_SIZE) {
    const slot = slotOf(here)
    const distance = (here - origin - (load<u16>(slot) as usize)) & PLACE_MASK
    store<u16>(slot, (here - origin) as u16)
    // Bytes are compared first, wherever that is: mostly they say no, and whether it is too far could not be foreseen.
    const before = here - distance
    if (load<u32>(before) != load<u32>(here) || distance - 1 >= min(MAX_DISTANCE, here - origin - 1)) {
      countByte(here)
      here++
      continue
    }
    const length = sameBytes(here, before, end)
    const distanceCode = distanceCodeOf(distance)
    increment(SYMBOL_COUNTS + ((FIRST_LENGTH_SYMBOL + (load<u8>(CODE_OF_LENGTH + length) as usize)) << 2))
    increment(DISTANCE_COUNTS + (distanceCode << 2))
    store<u32>(sequence, (here - single) as u32)
    store<u32>(sequence + 4, ((distanceCode << DISTANCE_CODE_SHIFT) | (length << LENGTH_SHIFT) | (distance - 1)) as u32)
    sequence += SEQUENCE_SIZE
    // Of the places inside, the first and the last are remembered: most of what comes again begins near them.
    store<u16>(slotOf(here + 1), (here + 1 - origin) as u16)
    here += length
    store<u16>(slotOf(here - 1), (here - 1 - origin) as u16)
    single = here
  }
  const stop = here <= lastStart ? here : end
  for (; here < stop; here++) countByte(here)
  store<u32>(sequence, (stop - single) as u32)
  count = (sequence - SEQUENCES) / SEQUENCE_SIZE
  return stop
}

/** Those that were found last. */
export function sequenceCount(): usize {
  return count
}

function slotOf(place: usize): usize {
  return PLACES + ((((load<u64>(place) << 24) * HASH_FACTOR) >> (64 - HASH_BITS)) as usize) * PLACE_SIZE
}

/** How many are the same, of which the first four are known to be. */
function sameBytes(here: usize, before: usize, end: usize): usize {
  let same = MIN_LENGTH
  while (same < MAX_LENGTH) {
    const difference = load<u64>(here + same) ^ load<u64>(before + same)
    if (difference != 0) {
      same += (ctz(difference) >> 3) as usize
      break
    }
    same += 8
  }
  return min(min(same, MAX_LENGTH), end - here)
}

/** Two codes for each power of two. */
function distanceCodeOf(distance: usize): usize {
  const offset = distance - 1
  if (offset < 2) return offset
  const top: usize = 31 - clz(offset)
  return 2 * top + ((offset >> (top - 1)) & 1)
}

function countByte(place: usize): void {
  increment(SYMBOL_COUNTS + ((load<u8>(place) as usize) << 2))
}

function increment(place: usize): void {
  store<u32>(place, load<u32>(place) + 1)
}
