/**
 * A 64-bit fingerprint of a text that changes little when the text changes little (Charikar, "Similarity estimation
 * techniques from rounding algorithms", 2002). Features are pairs of neighbouring tokens, in lower case; each occurrence
 * votes on every bit with its own hash, so a frequent pair weighs more. A token is a run of letters, digits and marks
 * in any script, and a single character in scripts written without spaces, where pairs are character bigrams.
 */
import { codeUnitsOf } from './code-units.ts'
import { FOLDED, INTRICATE, PLAIN, SEPARATOR, UNKNOWN, foldText, type UnitTable } from './token-units.ts'

/** 0n for a text without a single token. */
export function simhash(text: string): bigint {
  return hashText(text, PLAIN) ?? hashIntricateText(text)
}

/** Reads a text that has units which were not met before, or which fold only together with their neighbours. */
function hashIntricateText(text: string): bigint {
  PLAIN.learn(text)
  const hash = hashText(text, PLAIN)
  if (hash !== undefined) return hash
  const folded = foldText(text)
  FOLDED.learn(folded)
  return hashText(folded, FOLDED) ?? 0n
}

/** Tokens wait here until there are so many, and then vote in pairs. */
const BATCH = 1024
const lows = new Int32Array(BATCH)
const highs = new Int32Array(BATCH)
/** How often each value occurred in each of the eight bytes of a feature's hash: the votes, not yet told apart by bit. */
const votes = new Int32Array(8 * 256)

/**
 * Undefined if the table does not know a unit, or not without its neighbours. It does not ask for the unit at once,
 * since around a call all that the loops keep in registers would go to memory.
 */
function hashText(text: string, { descriptions }: UnitTable): bigint | undefined {
  const units = codeUnitsOf(text)
  const { length } = text
  votes.fill(0)
  let features = 0
  let waiting = 0
  let at = 0
  while (at < length) {
    let description = descriptions[units[at] as number] as number
    at++
    if (description === SEPARATOR) continue
    if (description === UNKNOWN || description === INTRICATE) return undefined
    let low = addToLow(LOW_SEED, description)
    let high = addToHigh(HIGH_SEED, description)
    // A word goes on; a character is a token of its own. The zero behind the text ends its last word.
    while (description < 0) {
      description = descriptions[units[at] as number] as number
      if (description >= 0) break
      low = addToLow(low, description)
      high = addToHigh(high, description)
      at++
    }
    lows[waiting] = low
    highs[waiting] = high
    waiting++
    if (waiting === BATCH) {
      votePairs(waiting)
      features += waiting - 1
      // The last one is still to meet its neighbour.
      lows[0] = low
      highs[0] = high
      waiting = 1
    }
  }
  if (waiting === 0) return 0n
  const tokenLow = lows[0] as number
  // A single token has no neighbour: it is the only feature.
  if (features + waiting === 1) return join(mix(tokenLow), mix((highs[0] as number) ^ tokenLow))
  votePairs(waiting)
  features += waiting - 1
  return join(tally(0, features), tally(4, features))
}

function join(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

function addToLow(low: number, description: number): number {
  return Math.imul(low ^ (description & 0xffff), 0x01000193)
}

function addToHigh(high: number, description: number): number {
  return (Math.imul(high ^ (description & 0xffff), 0x5bd1e995) + 0x7f4a7c15) | 0
}

/** Every two neighbours among the first `count` tokens that wait are a feature. */
function votePairs(count: number): void {
  let previousLow = mix(lows[0] as number)
  let previousHigh = mix((highs[0] as number) ^ (lows[0] as number))
  for (let at = 1; at < count; at++) {
    const low = mix(lows[at] as number)
    const high = mix((highs[at] as number) ^ (lows[at] as number))
    const pairLow = mix(Math.imul(previousLow, 0x9e3779b1) ^ low)
    const pairHigh = mix(Math.imul(previousHigh, 0x85ebca77) ^ high ^ pairLow)
    previousLow = low
    previousHigh = high
    addVote(pairLow & 255)
    addVote(256 | ((pairLow >>> 8) & 255))
    addVote(512 | ((pairLow >>> 16) & 255))
    addVote(768 | (pairLow >>> 24))
    addVote(1024 | (pairHigh & 255))
    addVote(1280 | ((pairHigh >>> 8) & 255))
    addVote(1536 | ((pairHigh >>> 16) & 255))
    addVote(1792 | (pairHigh >>> 24))
  }
}

function addVote(at: number): void {
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
  return word
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
