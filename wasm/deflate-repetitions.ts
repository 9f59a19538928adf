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
  PLACES,
  SEQUENCE_SIZE,
  SEQUENCES,
  SYMBOL_COUNTS,
} from './deflate-layout'

const MIN_LENGTH: usize = 4
const MAX_LENGTH: usize = 258
const MAX_DISTANCE: usize = 32 * 1024
const MAX_PLACE: usize = 1 << 30
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

/**
 * Places are counted on from text to text, and those of two texts are farther from each other than deflate can refer: so
 * what is known of earlier texts need not be removed.
 */
let firstPlace: usize = MAX_DISTANCE + 1
let shift: usize = 0
let count: usize = 0

export function beginText(start: usize, end: usize): void {
  if (load<u8>(CODE_OF_LENGTH + MIN_LENGTH) == 0) fillCodes()
  if (firstPlace > MAX_PLACE) {
    memory.fill(PLACES, 0, (4 as usize) << HASH_BITS)
    firstPlace = MAX_DISTANCE + 1
  }
  shift = firstPlace - start
  // What is behind the text is looked at, and should not be of another one: the same text is always packed the same way.
  store<u64>(end, 0)
  firstPlace += end - start + MAX_DISTANCE
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
  while (here + MIN_LENGTH <= end && sequence < SEQUENCES + MAX_SEQUENCES * SEQUENCE_SIZE) {
    const slot = slotOf(here)
    const before = (load<u32>(slot) as usize) - shift
    store<u32>(slot, (here + shift) as u32)
    const distance = here - before
    if (distance > MAX_DISTANCE || load<u32>(before) != load<u32>(here)) {
      here++
      continue
    }
    const length = sameBytes(here, before, end)
    const distanceCode = distanceCodeOf(distance)
    countBytes(single, here)
    increment(SYMBOL_COUNTS + ((FIRST_LENGTH_SYMBOL + (load<u8>(CODE_OF_LENGTH + length) as usize)) << 2))
    increment(DISTANCE_COUNTS + (distanceCode << 2))
    store<u32>(sequence, (here - single) as u32)
    store<u32>(sequence + 4, ((distanceCode << DISTANCE_CODE_SHIFT) | (length << LENGTH_SHIFT) | (distance - 1)) as u32)
    sequence += SEQUENCE_SIZE
    // Of the places inside, the first and the last are remembered: most of what comes again begins near them.
    store<u32>(slotOf(here + 1), (here + 1 + shift) as u32)
    here += length
    store<u32>(slotOf(here - 1), (here - 1 + shift) as u32)
    single = here
  }
  const stop = here + MIN_LENGTH <= end ? here : end
  countBytes(single, stop)
  store<u32>(sequence, (stop - single) as u32)
  count = (sequence - SEQUENCES) / SEQUENCE_SIZE
  return stop
}

/** Those that were found last. */
export function sequenceCount(): usize {
  return count
}

function slotOf(place: usize): usize {
  return (PLACES + ((((load<u64>(place) << 24) * HASH_FACTOR) >> (64 - HASH_BITS)) << 2)) as usize
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

function countBytes(from: usize, end: usize): void {
  for (let place = from; place < end; place++) increment(SYMBOL_COUNTS + ((load<u8>(place) as usize) << 2))
}

function increment(place: usize): void {
  store<u32>(place, load<u32>(place) + 1)
}
