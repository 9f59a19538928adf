/**
 * A 64-bit fingerprint of a text that changes little when the text changes little (Charikar, "Similarity estimation
 * techniques from rounding algorithms", 2002). Features are pairs of neighbouring tokens, in lower case; each occurrence
 * votes on every bit with its own hash, so a frequent pair weighs more. A token is a run of letters, digits and marks
 * in any script, and a single character in scripts written without spaces, where pairs are character bigrams.
 */
import { codeUnitsOf } from './code-units.ts'
import { FOLDED, INTRICATE, KIND_SHIFT, PLAIN, SEPARATOR, WORD, foldText, type UnitTable } from './token-units.ts'

/** 0n for a text without a single token. */
export function simhash(text: string): bigint {
  return hashTokens(text, PLAIN) ?? hashTokens(foldText(text), FOLDED) ?? 0n
}

/** How often each value occurred in each of the eight bytes of a feature's hash: the votes, not yet told apart by bit. */
const votes = new Int32Array(8 * 256)

/** Undefined if the text has a unit that the table cannot tell without its neighbours. */
function hashTokens(text: string, { descriptions, describe }: UnitTable): bigint | undefined {
  const units = codeUnitsOf(text)
  votes.fill(0)
  let tokens = 0
  let previousLow = 0
  let previousHigh = 0
  let low = LOW_SEED
  let high = HIGH_SEED
  /** What the token that is being read consists of; SEPARATOR between tokens. */
  let open = SEPARATOR
  // The zero behind the text is a separator, and ends its last token.
  for (let at = 0; at <= text.length; at++) {
    const unit = units[at] as number
    const description = (descriptions[unit] as number) || describe(unit)
    const kind = description >> KIND_SHIFT
    if (kind !== WORD || (open !== WORD && open !== SEPARATOR)) {
      if (kind === INTRICATE) return undefined
      if (open !== SEPARATOR) {
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
        open = SEPARATOR
      }
      if (kind === SEPARATOR) continue
    }
    const folded = description & 0xffff
    low = Math.imul(low ^ folded, 0x01000193)
    high = (Math.imul(high ^ folded, 0x5bd1e995) + 0x7f4a7c15) | 0
    open = kind
  }
  if (tokens === 0) return 0n
  // A single token has no neighbour: it is the only feature.
  if (tokens === 1) vote(previousLow, previousHigh)
  const features = Math.max(1, tokens - 1)
  return (BigInt(tally(4, features)) << 32n) | BigInt(tally(0, features))
}

function vote(low: number, high: number): void {
  count(low & 255)
  count(256 | ((low >>> 8) & 255))
  count(512 | ((low >>> 16) & 255))
  count(768 | (low >>> 24))
  count(1024 | (high & 255))
  count(1280 | ((high >>> 8) & 255))
  count(1536 | ((high >>> 16) & 255))
  count(1792 | (high >>> 24))
}

function count(at: number): void {
  votes[at] = (votes[at] as number) + 1
}

/** Four bytes of the result: a bit is set where more than half of the features set it. Uses the votes up. */
function tally(firstByte: number, features: number): number {
  let word = 0
  for (let byte = 0; byte < 4; byte++) {
    const row = (firstByte + byte) << 8
    // The values with the highest bit are counted, and added to the same values without it; so on with the next bit.
    for (let bit = 7; bit >= 0; bit--) {
      const half = 1 << bit
      let ones = 0
      for (let value = row; value < row + half; value++) {
        const withBit = votes[value + half] as number
        ones += withBit
        votes[value] = (votes[value] as number) + withBit
      }
      if (ones * 2 > features) word |= 1 << (byte * 8 + bit)
    }
  }
  return word >>> 0
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
