/**
 * A text in a block of deflate (RFC 1951), by one code for all texts: named fields and the heads of messages. With
 * nothing to count and no code to make, a few hundred bytes cost next to nothing. The block has some 45 bytes and
 * three quarters of those of its text.
 *
 * The code was made from the records of 300 exchanges with servers of several makes. It has every printable character of
 * ASCII, tab and line ends; other text cannot be a block of this kind.
 */
import { beginBits, bitsSince, endBits, putBits, putCode } from './deflate-bits'
import { OWN_CODE, tellCodes } from './deflate-block'
import { findCodes } from './deflate-code'
import { DEFLATED, DISTANCE_BITS, SYMBOL_BITS, TEXT_BITS, TEXT_CODES, TEXT_HEAD } from './deflate-layout'

const END: usize = 256
const SYMBOLS: i32 = 257
/** Nothing is ever repeated, but some readers want codes for distances to be there. */
const DISTANCES: i32 = 2

const HEAD_PORTION: usize = 32
/** Of the beginning of a block; 0 until that was made. */
let headBits: usize = 0

/**
 * Packs the text between these places and returns where what is made of it ends, or 0 where it has another character.
 * `next` is the type of the block that follows, in three bits, which the last byte is filled up behind; none where it is
 * negative, and this block is the last.
 */
export function packText(start: usize, end: usize, next: i32): usize {
  if (headBits == 0) makeCode()
  for (let place = start; place < end; place++) if (load<u8>(TEXT_BITS + load<u8>(place)) == 0) return 0
  beginBits(DEFLATED)
  putHead(next < 0 ? 1 : 0)
  for (let place = start; place < end; place++) putSymbol(load<u8>(place))
  putSymbol(END)
  if (next >= 0) putBits(next, 3)
  return endBits()
}

function putSymbol(symbol: usize): void {
  putCode(load<u32>(TEXT_CODES + (symbol << 2)))
}

/** The lowest bit of a block says whether it is the last. */
function putHead(isLast: u64): void {
  let bits: u64 = isLast
  let place = TEXT_HEAD
  let left = headBits
  for (; left > HEAD_PORTION; left -= HEAD_PORTION) {
    putBits(bits | load<u32>(place), HEAD_PORTION)
    bits = 0
    place += HEAD_PORTION >> 3
  }
  putBits(bits | (load<u32>(place) & (((1 as u64) << left) - 1)), left)
}

function makeCode(): void {
  memory.fill(TEXT_BITS, 0, SYMBOLS)
  // Codes of these lengths leave nothing over, as readers demand it.
  giveBits(4, 'e')
  giveBits(5, '\n\r -:acnot')
  giveBits(6, './0123456ACRTWdfghilmprsu')
  giveBits(7, '789DIPbxy')
  giveBits(8, '",;<=>BEFGHJKLMNOQSUVXYZ_kqvwz')
  giveBits(9, "\t!#$%&'()*+?@[\\]^`j{|}~")
  store<u8>(TEXT_BITS + END, 9)
  findCodes(TEXT_BITS, SYMBOLS, TEXT_CODES)

  memory.copy(SYMBOL_BITS, TEXT_BITS, SYMBOLS)
  memory.fill(DISTANCE_BITS, 1, DISTANCES)
  beginBits(TEXT_HEAD)
  putBits(OWN_CODE, 3)
  tellCodes(SYMBOLS, DISTANCES)
  headBits = bitsSince(TEXT_HEAD)
}

function giveBits(bits: i32, characters: string): void {
  for (let index = 0; index < characters.length; index++) {
    store<u8>(TEXT_BITS + (characters.charCodeAt(index) as usize), bits as u8)
  }
}
