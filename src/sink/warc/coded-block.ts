/**
 * A block of deflate (RFC 1951 §3.2.7) that brings a code made for its own tokens. Codes have eleven bits at
 * most, so that what is repeated, and from where, goes out with its extra bits at once; that costs next to no room.
 */
import type { BitWriter } from './bit-writer.ts'
import { codesOf, findCodeLengths } from './huffman-code.ts'
import { FIRST_LENGTH_SYMBOL, LENGTH_BASES, LENGTH_CODES, LENGTH_EXTRA_BITS, type Tokens } from './repetitions.ts'

const MAX_SYMBOL_BITS = 11
const MAX_DISTANCE_BITS = 11
const MAX_TOLD_BITS = 7
const END = 256

/** Its type in three bits. */
const OWN_CODE = 2 << 1

/** The lengths of codes are told in a code of their own, whose lengths come in this order. */
const TOLD_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
/** Of those symbols, the ones that stand for a run: its least length, and how many bits say by how much it is longer. */
const REPEAT = 16
const FEW_ZEROS = 17
const MANY_ZEROS = 18
const RUN_LEAST = Uint8Array.of(...new Uint8Array(16), 3, 3, 11)
const RUN_BITS = Uint8Array.of(...new Uint8Array(16), 2, 3, 7)
const RUN_MOST = Uint8Array.of(...new Uint8Array(16), 6, 10, 138)

/** Scratch memory, since there is a block for each page. */
const symbolBits = new Uint8Array(FIRST_LENGTH_SYMBOL + LENGTH_EXTRA_BITS.length)
const symbolCodes = new Uint16Array(symbolBits.length)
const distanceBits = new Uint8Array(30)
const distanceCodes = new Uint16Array(30)
const toldBits = new Uint8Array(19)
const toldCodes = new Uint16Array(19)
const toldFrequencies = new Uint32Array(19)
const lengths = new Uint8Array(symbolBits.length + distanceBits.length)
/** Symbols of the told code, and what follows each. */
const told = new Uint8Array(lengths.length)
const toldMore = new Uint8Array(lengths.length)
/** What stands for each length of a repetition: its code and, above it, the extra bits. */
const lengthValues = new Uint16Array(LENGTH_CODES.length)
const lengthBits = new Uint8Array(LENGTH_CODES.length)

export function writeCodedBlock(writer: BitWriter, tokens: Tokens, isLast: boolean): void {
  tokens.symbols[END] = 1
  const symbolCount = findCodeLengths(tokens.symbols, MAX_SYMBOL_BITS, symbolBits)
  const distanceCount = Math.max(1, findCodeLengths(tokens.distances, MAX_DISTANCE_BITS, distanceBits))
  codesOf(symbolBits, symbolCodes)
  codesOf(distanceBits, distanceCodes)
  writer.write(OWN_CODE | (isLast ? 1 : 0), 3)
  tellCodes(writer, symbolCount, distanceCount)
  for (let length = 3; length < lengthBits.length; length++) {
    const code = LENGTH_CODES[length]!
    const bits = symbolBits[FIRST_LENGTH_SYMBOL + code]!
    lengthValues[length] = symbolCodes[FIRST_LENGTH_SYMBOL + code]! | ((length - LENGTH_BASES[code]!) << bits)
    lengthBits[length] = bits + LENGTH_EXTRA_BITS[code]!
  }
  writer.writeTokens(tokens, { symbolCodes, symbolBits, lengthValues, lengthBits, distanceCodes, distanceBits })
  writer.write(symbolCodes[END]!, symbolBits[END]!)
}

function tellCodes(writer: BitWriter, symbolCount: number, distanceCount: number): void {
  lengths.set(symbolBits.subarray(0, symbolCount))
  lengths.set(distanceBits.subarray(0, distanceCount), symbolCount)
  const toldCount = findRuns(symbolCount + distanceCount)
  findCodeLengths(toldFrequencies, MAX_TOLD_BITS, toldBits)
  codesOf(toldBits, toldCodes)
  let orderCount = TOLD_ORDER.length
  while (orderCount > 4 && toldBits[TOLD_ORDER[orderCount - 1]!] === 0) orderCount--
  writer.write(symbolCount - FIRST_LENGTH_SYMBOL, 5)
  writer.write(distanceCount - 1, 5)
  writer.write(orderCount - 4, 4)
  for (let index = 0; index < orderCount; index++) writer.write(toldBits[TOLD_ORDER[index]!]!, 3)
  for (let index = 0; index < toldCount; index++) {
    const symbol = told[index]!
    writer.write(toldCodes[symbol]!, toldBits[symbol]!)
    writer.write(toldMore[index]!, RUN_BITS[symbol]!)
  }
}

/** The lengths as symbols of the told code, with how often there is each of them. */
function findRuns(count: number): number {
  toldFrequencies.fill(0)
  let toldCount = 0
  for (let index = 0; index < count;) {
    const length = lengths[index]!
    let run = 1
    while (index + run < count && run < RUN_MOST[MANY_ZEROS]! && lengths[index + run] === length) run++
    const isRepeated = index > 0 && lengths[index - 1] === length
    let symbol = length
    if (run >= 3 && length === 0) symbol = run >= RUN_LEAST[MANY_ZEROS]! ? MANY_ZEROS : FEW_ZEROS
    else if (run >= 3 && isRepeated) symbol = REPEAT
    run = symbol === length ? 1 : Math.min(run, RUN_MOST[symbol]!)
    told[toldCount] = symbol
    toldMore[toldCount++] = symbol === length ? 0 : run - RUN_LEAST[symbol]!
    toldFrequencies[symbol]!++
    index += run
  }
  return toldCount
}
