/**
 * A block of deflate (RFC 1951 §3.2.7) that brings a code made for what is in it. Codes have eleven bits at most, so that
 * four bytes, or a repetition with all its extra bits, go out at once; that costs next to no room.
 */
import { putBits, putCode } from './deflate-bits'
import { findCodeLengths, findCodes } from './deflate-code'
import {
  ALL_BITS,
  DISTANCE_BITS,
  DISTANCE_CODES,
  DISTANCE_COUNTS,
  LENGTH_CODES,
  SEQUENCE_SIZE,
  SEQUENCES,
  SYMBOL_BITS,
  SYMBOL_CODES,
  SYMBOL_COUNTS,
  TOLD,
  TOLD_BITS,
  TOLD_CODES,
  TOLD_COUNTS,
} from './deflate-layout'
import {
  DISTANCE_CODE_SHIFT,
  FIRST_LENGTH_SYMBOL,
  LENGTH_BASES,
  LENGTH_CODE_COUNT,
  LENGTH_EXTRA_BITS,
  LENGTH_MASK,
  LENGTH_SHIFT,
  sequenceCount,
} from './deflate-repetitions'

const MAX_SYMBOL_BITS = 11
const MAX_DISTANCE_BITS = 11
const MAX_TOLD_BITS = 7
const SYMBOLS = 286
const DISTANCES: usize = 30
const END: usize = 256

/** Its type in three bits: the lowest says whether it is the last. */
export const OWN_CODE = 2 << 1

/** The lengths of codes are told in a code of their own, whose lengths come in this order. */
const TOLD_SYMBOLS = 19
const TOLD_ORDER: usize = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])
/** Of those symbols, the ones that stand for a run, and how long it may be. */
const REPEAT = 16
const REPEAT_LEAST = 3
const REPEAT_MOST = 6
const FEW_ZEROS = 17
const FEW_ZEROS_LEAST = 3
const MANY_ZEROS = 18
const MANY_ZEROS_LEAST = 11
const MANY_ZEROS_MOST = 138

/** Writes what was found last, in the text from this place on. */
export function writeBlock(from: usize, isLast: bool): void {
  store<u32>(SYMBOL_COUNTS + (END << 2), 1)
  const symbols = findCodeLengths(SYMBOL_COUNTS, SYMBOLS, MAX_SYMBOL_BITS, SYMBOL_BITS)
  const distances = max(1, findCodeLengths(DISTANCE_COUNTS, DISTANCES as i32, MAX_DISTANCE_BITS, DISTANCE_BITS))
  findCodes(SYMBOL_BITS, symbols, SYMBOL_CODES)
  findCodes(DISTANCE_BITS, distances, DISTANCE_CODES)
  putBits(OWN_CODE | (isLast ? 1 : 0), 3)
  tellCodes(symbols, distances)
  addExtraBits()
  writeSequences(from)
  putCode(load<u32>(SYMBOL_CODES + (END << 2)))
}

/** Whatever `SYMBOL_BITS` and `DISTANCE_BITS` say of so many. */
export function tellCodes(symbols: i32, distances: i32): void {
  memory.copy(ALL_BITS, SYMBOL_BITS, symbols)
  memory.copy(ALL_BITS + symbols, DISTANCE_BITS, distances)
  const toldEnd = findRuns(symbols + distances)
  findCodeLengths(TOLD_COUNTS, TOLD_SYMBOLS, MAX_TOLD_BITS, TOLD_BITS)
  findCodes(TOLD_BITS, TOLD_SYMBOLS, TOLD_CODES)
  let orders: usize = TOLD_SYMBOLS
  while (orders > 4 && load<u8>(TOLD_BITS + load<u8>(TOLD_ORDER + orders - 1)) == 0) orders--
  putBits(symbols - (FIRST_LENGTH_SYMBOL as i32), 5)
  putBits(distances - 1, 5)
  putBits(orders - 4, 4)
  for (let order: usize = 0; order < orders; order++) putBits(load<u8>(TOLD_BITS + load<u8>(TOLD_ORDER + order)), 3)
  for (let place = TOLD; place < toldEnd; place += 2) {
    const symbol = load<u8>(place) as i32
    putCode(load<u32>(TOLD_CODES + (symbol << 2)))
    if (symbol >= REPEAT) putBits(load<u8>(place + 1), symbol == REPEAT ? 2 : symbol == FEW_ZEROS ? 3 : 7)
  }
}

/** The lengths as symbols of the told code, with how often there is each of them. Returns the place behind them. */
function findRuns(count: i32): usize {
  memory.fill(TOLD_COUNTS, 0, TOLD_SYMBOLS << 2)
  let place = TOLD
  for (let index = 0; index < count;) {
    const length = load<u8>(ALL_BITS + index)
    let run = 1
    while (index + run < count && run < MANY_ZEROS_MOST && load<u8>(ALL_BITS + index + run) == length) run++
    let symbol: i32 = length
    let least = 1
    if (length == 0 && run >= MANY_ZEROS_LEAST) {
      symbol = MANY_ZEROS
      least = MANY_ZEROS_LEAST
    } else if (length == 0 && run >= FEW_ZEROS_LEAST) {
      symbol = FEW_ZEROS
      least = FEW_ZEROS_LEAST
    } else if (run >= REPEAT_LEAST && index > 0 && load<u8>(ALL_BITS + index - 1) == length) {
      symbol = REPEAT
      least = REPEAT_LEAST
      run = min(run, REPEAT_MOST)
    } else run = 1
    store<u8>(place, symbol as u8)
    store<u8>(place + 1, (run - least) as u8)
    place += 2
    const counter = TOLD_COUNTS + ((symbol as usize) << 2)
    store<u32>(counter, load<u32>(counter) + 1)
    index += run
  }
  return place
}

/** What stands for each length of a repetition, and how many extra bits follow the code of a distance. */
function addExtraBits(): void {
  for (let code: usize = 0; code < LENGTH_CODE_COUNT; code++) {
    const entry = load<u32>(SYMBOL_CODES + ((FIRST_LENGTH_SYMBOL + code) << 2))
    const bits = entry >> 16
    const allBits = bits + (load<u8>(LENGTH_EXTRA_BITS + code) as u32)
    const base: usize = load<u16>(LENGTH_BASES + 2 * code)
    const next: usize = load<u16>(LENGTH_BASES + 2 * code + 2)
    for (let length = base; length < next; length++) {
      const value = (entry & 0xffff) | (((length - base) as u32) << bits)
      store<u32>(LENGTH_CODES + (length << 2), value | (allBits << 16))
    }
  }
  for (let code: usize = 4; code < DISTANCES; code++) {
    const place = DISTANCE_CODES + (code << 2)
    store<u32>(place, (load<u32>(place) & 0xff_ffff) | ((((code >> 1) - 1) as u32) << 24))
  }
}

function writeSequences(from: usize): void {
  const last = SEQUENCES + sequenceCount() * SEQUENCE_SIZE
  let place = from
  // One call of `writeBytes` alone, which so becomes part of the loop: this is where the time goes.
  for (let sequence = SEQUENCES; ; sequence += SEQUENCE_SIZE) {
    place = writeBytes(place, place + load<u32>(sequence))
    if (sequence == last) return
    const repetition = load<u32>(sequence + 4)
    const length = (repetition >> LENGTH_SHIFT) & LENGTH_MASK
    const lengthCode = load<u32>(LENGTH_CODES + ((length as usize) << 2))
    const lengthBits = lengthCode >> 16
    const distanceCode = load<u32>((DISTANCE_CODES + ((repetition >> DISTANCE_CODE_SHIFT) << 2)) as usize)
    const distanceBits = (distanceCode >> 16) & 0xff
    // A code stands for 2^n distances from a multiple of 2^n on, so the lowest n bits say which of them it is.
    const extraBits = distanceCode >> 24
    const distance = (distanceCode & 0xffff) | ((repetition & ((1 << extraBits) - 1)) << distanceBits)
    putBits(((lengthCode & 0xffff) as u64) | ((distance as u64) << lengthBits), lengthBits + distanceBits + extraBits)
    place += length
  }
}

function writeBytes(from: usize, end: usize): usize {
  let place = from
  for (; place + 4 <= end; place += 4) {
    const one = codeOf(place)
    const two = codeOf(place + 1)
    const three = codeOf(place + 2)
    const four = codeOf(place + 3)
    let value = (one & 0xffff) as u64
    let bits = one >> 16
    value |= ((two & 0xffff) as u64) << bits
    bits += two >> 16
    value |= ((three & 0xffff) as u64) << bits
    bits += three >> 16
    value |= ((four & 0xffff) as u64) << bits
    putBits(value, bits + (four >> 16))
  }
  for (; place < end; place++) putCode(codeOf(place))
  return place
}

function codeOf(place: usize): u32 {
  return load<u32>(SYMBOL_CODES + ((load<u8>(place) as usize) << 2))
}
