/**
 * A block of deflate (RFC 1951) for the text that records are made of: named fields and the heads of messages. It is
 * coded character by character, by one code for all records. So there is no compressor to set up, which costs far more
 * than to pack a few hundred bytes. The block has some 45 bytes and three quarters of those
 * of its text.
 *
 * The code was made from the records of 300 exchanges with servers of several makes. It has every printable character of
 * ASCII, tab and line ends; other text cannot be a block of this kind.
 */
import type { BitWriter } from './bit-writer.ts'
import { codesOf } from './huffman-code.ts'

type Bits = readonly [value: number, bits: number]

/** Characters by the bits that each takes. Codes of these lengths leave nothing over, as readers demand it. */
const CHARACTERS: readonly (readonly [bits: number, characters: string])[] = [
  [4, 'e'],
  [5, '\n\r -:acnot'],
  [6, './0123456ACRTWdfghilmprsu'],
  [7, '789DIPbxy'],
  [8, '",;<=>BEFGHJKLMNOQSUVXYZ_kqvwz'],
  [9, "\t!#$%&'()*+?@[\\]^`j{|}~"],
]
/** Ends the block. */
const END = 256
const END_BITS = 9

const BITS = new Uint8Array(END + 1)
for (const [bits, characters] of CHARACTERS) for (const each of characters) BITS[each.charCodeAt(0)] = bits
BITS[END] = END_BITS
const CODES = codesOf(BITS)

/** Whether it is the last block, and that it brings its own code. */
const TYPE_BITS = 3
const OWN_CODE = 2 << 1
const CODE_HEAD = joined(codeHead())
const CODE_HEAD_BITS = CODE_HEAD.reduce((sum, [, bits]) => sum + bits, 0)

/** The bits that the block of this text has; undefined when it cannot be one. */
export function textBlockBits(text: Uint8Array): number | undefined {
  let sum = TYPE_BITS + CODE_HEAD_BITS + END_BITS
  const { length } = text
  for (let index = 0; index < length; index++) {
    const bits = BITS[text[index]!]!
    if (bits === 0) return undefined
    sum += bits
  }
  return sum
}

/** The text is one for which `textBlockBits` has an answer. */
export function writeTextBlock(writer: BitWriter, text: Uint8Array, isLast: boolean): void {
  writer.write(OWN_CODE | (isLast ? 1 : 0), TYPE_BITS)
  for (let index = 0; index < CODE_HEAD.length; index++) writer.write(CODE_HEAD[index]![0], CODE_HEAD[index]![1])
  writer.writeCodes(text, CODES, BITS)
  writer.write(CODES[END]!, END_BITS)
}

/**
 * How a block tells its code (§3.2.7): the lengths of all codes, in a second code. In that one symbols up to 15 are
 * lengths, 17 and 18 runs of zeros; its own lengths come first, three bits each, in an order that the standard gives.
 */
function codeHead(): Bits[] {
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
  // Of the symbols from 0 to 18, by how often each is told.
  const lengths = Uint8Array.of(6, 6, 0, 0, 7, 3, 2, 4, 2, 2, 0, 0, 0, 0, 0, 0, 0, 7, 6)
  const codes = codesOf(lengths)
  const told = (symbol: number): Bits => [codes[symbol]!, lengths[symbol]!]

  // Nothing is ever repeated, but some readers want codes for distances to be there.
  const all = [...BITS, 1, 1]
  const head: Bits[] = [
    [END + 1 - 257, 5],
    [2 - 1, 5],
    [order.indexOf(1) + 1 - 4, 4],
    ...order.slice(0, order.indexOf(1) + 1).map((symbol) => [lengths[symbol]!, 3] as const),
  ]
  for (let index = 0; index < all.length;) {
    let zeros = 0
    while (all[index + zeros] === 0 && zeros < 138) zeros++
    if (zeros >= 11) head.push(told(18), [zeros - 11, 7])
    else if (zeros >= 3) head.push(told(17), [zeros - 3, 3])
    else head.push(told(all[index]!))
    index += zeros >= 3 ? zeros : 1
  }
  return head
}

/** The same bits in fewer parts, of sixteen at most. */
function joined(parts: readonly Bits[]): Bits[] {
  const whole: Bits[] = []
  for (const [value, bits] of parts) {
    const [before, beforeBits] = whole.at(-1) ?? [0, 16]
    if (beforeBits + bits > 16) whole.push([value, bits])
    else whole[whole.length - 1] = [before | (value << beforeBits), beforeBits + bits]
  }
  return whole
}
