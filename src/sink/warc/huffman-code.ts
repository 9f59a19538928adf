/**
 * Codes by Huffman as deflate has them (RFC 1951 §3.2.2): the number of bits of each symbol tells the whole code.
 */

/** Deflate allows no longer code. */
const MAX_BITS = 15

/** Codes of these lengths, their first bit lowest, as a writer of deflate wants them. */
export function codesOf(lengths: Uint8Array): Uint16Array {
  const codes = new Uint16Array(lengths.length)
  const nextByLength = new Int32Array(MAX_BITS + 2)
  for (let symbol = 0; symbol < lengths.length; symbol++) nextByLength[lengths[symbol]! + 1]!++
  nextByLength[1] = 0
  for (let length = 2; length <= MAX_BITS + 1; length++) {
    nextByLength[length] = (nextByLength[length]! + nextByLength[length - 1]!) << 1
  }
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!
    if (length > 0) codes[symbol] = reversed(nextByLength[length]!++, length)
  }
  return codes
}

const REVERSED_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => {
  let result = 0
  for (let bit = 0; bit < 8; bit++) result |= ((byte >>> bit) & 1) << (7 - bit)
  return result
})

/** At most sixteen bits. */
function reversed(value: number, bits: number): number {
  return ((REVERSED_BYTE[value & 0xff]! << 8) | REVERSED_BYTE[value >>> 8]!) >>> (16 - bits)
}
