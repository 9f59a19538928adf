/**
 * Codes by Huffman as deflate has them (RFC 1951 §3.2.2): symbols that are frequent get few bits, and the lengths alone
 * tell the code. The codes of one set of lengths leave nothing over, as readers demand it.
 */

/** Deflate has no larger alphabet. */
const MAX_SYMBOLS = 288
const SYMBOL_BITS = 9
const SYMBOL_MASK = (1 << SYMBOL_BITS) - 1
/** Deflate allows no longer code. */
const MAX_BITS = 15

/** Scratch memory, since a code is made for each page. */
const ranked = new Uint32Array(MAX_SYMBOLS)
const nodes = new Int32Array(MAX_SYMBOLS)
const countByLength = new Int32Array(MAX_BITS + 1)
const nextByLength = new Int32Array(MAX_BITS + 2)

/**
 * Writes the number of bits for each symbol into `lengths`: 0 for one that never comes, at most `maxBits`. Frequencies
 * are below 2^23. A single symbol gets one bit. Returns how many symbols there are up to the last one that comes.
 */
export function findCodeLengths(frequencies: Uint32Array, maxBits: number, lengths: Uint8Array): number {
  lengths.fill(0)
  let count = 0
  let end = 0
  for (let symbol = 0; symbol < frequencies.length; symbol++) {
    const frequency = frequencies[symbol]!
    if (frequency === 0) continue
    ranked[count++] = (frequency << SYMBOL_BITS) | symbol
    end = symbol + 1
  }
  if (count === 1) lengths[end - 1] = 1
  if (count < 2) return end
  const rising = ranked.subarray(0, count).sort()
  countLengths(rising, maxBits)
  let at = 0
  for (let length = maxBits; length > 0; length--) {
    for (let left = countByLength[length]!; left > 0; left--) lengths[rising[at++]! & SYMBOL_MASK] = length
  }
  return end
}

/**
 * How many symbols have codes of which length, by Moffat and Katajainen's way in place: `nodes` holds first the weights
 * of inner nodes of the tree, then their parents, then their depths.
 */
function countLengths(rising: Uint32Array, maxBits: number): void {
  const count = rising.length
  for (let index = 0; index < count; index++) nodes[index] = rising[index]! >>> SYMBOL_BITS
  let leaf = 2
  let root = 0
  nodes[0] = nodes[0]! + nodes[1]!
  for (let next = 1; next < count - 1; next++) {
    let weight = 0
    for (let child = 0; child < 2; child++) {
      if (root < next && (leaf >= count || nodes[root]! < nodes[leaf]!)) {
        weight += nodes[root]!
        nodes[root++] = next
      } else weight += nodes[leaf++]!
    }
    nodes[next] = weight
  }
  nodes[count - 2] = 0
  for (let node = count - 3; node >= 0; node--) nodes[node] = nodes[nodes[node]!]! + 1

  countByLength.fill(0)
  let open = 1
  let node = count - 2
  for (let depth = 0; open > 0; depth++) {
    let inner = 0
    for (; node >= 0 && nodes[node] === depth; node--) inner++
    countByLength[Math.min(depth, maxBits)]! += open - inner
    open = 2 * inner
  }
  shorten(maxBits)
}

/** Codes that were cut to `maxBits` take more room than there is: others get longer until all fit. */
function shorten(maxBits: number): void {
  let taken = 0
  for (let length = 1; length <= maxBits; length++) taken += countByLength[length]! << (maxBits - length)
  for (; taken > 1 << maxBits; taken--) {
    let length = maxBits - 1
    while (countByLength[length] === 0) length--
    countByLength[length]!--
    countByLength[length + 1]! += 2
    countByLength[maxBits]!--
  }
}

/** Codes of these lengths, their first bit lowest, as a writer of deflate wants them. */
export function codesOf(lengths: Uint8Array, codes: Uint16Array = new Uint16Array(lengths.length)): Uint16Array {
  nextByLength.fill(0)
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
