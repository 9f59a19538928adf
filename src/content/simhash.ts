/**
 * A 64-bit fingerprint of a text that changes little when the text changes little (Charikar, "Similarity estimation
 * techniques from rounding algorithms", 2002). Features are pairs of neighbouring tokens, in lower case; each occurrence
 * votes on every bit with its own hash, so a frequent pair weighs more. A token is a run of letters, digits and marks
 * in any script, and a single character in scripts written without spaces, where pairs are character bigrams.
 */

const BYTES = 8
const SEPARATOR = 1
const WORD = 2
const CHARACTER = 3
/** What each UTF-16 unit is, found out once per unit met. */
const kinds = new Uint8Array(65_536)

/** 0n for a text without a single token. */
export function simhash(text: string): bigint {
  const folded = text.normalize('NFKC').toLowerCase()
  /** How often each value occurred in each byte of a feature's hash: the votes, not yet told apart by bit. */
  const counts = new Int32Array(BYTES * 256)
  let features = 0
  let tokens = 0
  let previousLow = 0
  let previousHigh = 0
  let low = LOW_SEED
  let high = HIGH_SEED
  let inWord = false

  const vote = (a: number, b: number): void => {
    features++
    for (let byte = 0; byte < 4; byte++) {
      const at = (byte << 8) | ((a >>> (byte << 3)) & 255)
      counts[at] = (counts[at] as number) + 1
      const above = ((byte + 4) << 8) | ((b >>> (byte << 3)) & 255)
      counts[above] = (counts[above] as number) + 1
    }
  }
  const endToken = (): void => {
    const tokenLow = mix(low)
    const tokenHigh = mix(high ^ low)
    if (tokens > 0) {
      const pairLow = mix(Math.imul(previousLow, 0x9e3779b1) ^ tokenLow)
      vote(pairLow, mix(Math.imul(previousHigh, 0x85ebca77) ^ tokenHigh ^ pairLow))
    }
    tokens++
    previousLow = tokenLow
    previousHigh = tokenHigh
    low = LOW_SEED
    high = HIGH_SEED
    inWord = false
  }
  for (let at = 0; at < folded.length; at++) {
    const code = folded.charCodeAt(at)
    const kind = (kinds[code] as number) || classify(code)
    if (kind !== WORD && inWord) endToken()
    if (kind === SEPARATOR) continue
    low = Math.imul(low ^ code, 0x01000193)
    high = (Math.imul(high ^ code, 0x5bd1e995) + 0x7f4a7c15) | 0
    inWord = true
    if (kind === CHARACTER) endToken()
  }
  if (inWord) endToken()
  if (tokens === 0) return 0n
  // A single token has no neighbour: it is the only feature.
  if (features === 0) vote(previousLow, previousHigh)
  return (BigInt(tally(counts, 4, features)) << 32n) | BigInt(tally(counts, 0, features))
}

/** The number of bits in which two fingerprints differ. */
export function hammingDistance(a: bigint, b: bigint): number {
  const difference = BigInt.asUintN(64, a ^ b)
  return countBits(Number(difference & 0xffff_ffffn)) + countBits(Number(difference >> 32n))
}

/** The ones in a 32-bit word. */
export function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555)
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** Four bytes of the result: a bit is set where more than half of the features set it. */
function tally(counts: Int32Array, firstByte: number, features: number): number {
  let word = 0
  for (let bit = 0; bit < 32; bit++) {
    const row = (firstByte + (bit >>> 3)) << 8
    const mask = 1 << (bit & 7)
    let ones = 0
    for (let value = 0; value < 256; value++) if ((value & mask) !== 0) ones += counts[row | value] as number
    if (ones * 2 > features) word |= 1 << bit
  }
  return word >>> 0
}

const LOW_SEED = 0x811c9dc5 | 0
const HIGH_SEED = 0x2545f491 | 0

/** The finalizer of MurmurHash3: every input bit changes every output bit with probability one half. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const PART_OF_WORD = /[\p{L}\p{N}\p{M}]/u

function classify(code: number): number {
  let kind = SEPARATOR
  // The halves of a surrogate pair are mostly rare ideographs and emoji: together they act as one short word.
  if (code >= 0xd800 && code <= 0xdfff) kind = WORD
  else {
    const character = String.fromCharCode(code)
    if (UNSPACED.test(character)) kind = CHARACTER
    else if (PART_OF_WORD.test(character)) kind = WORD
  }
  kinds[code] = kind
  return kind
}
