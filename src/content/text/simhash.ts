/**
 * A 64-bit fingerprint of a text that changes little when the text changes little (Charikar, "Similarity estimation
 * techniques from rounding algorithms", 2002). Features are words and every second pair of neighbouring words, in lower
 * case; each votes on every bit with its own hash. A word is a run of letters, digits and marks in any script; in
 * scripts written without spaces, where a character is a token of its own, each two neighbours are one.
 *
 * Words alone take pages of one kind for each other, pairs alone lose copies with a few changed words. A feature votes
 * when it occurs for the first, second, fourth, eighth time and so on: by the logarithm of its frequency, or tables and
 * indexes with the same two words in every row would all be one page. How features and weights were chosen is told in
 * docs/adr/0017-near-duplicates.md.
 *
 * Time is linear in the text, whatever the text; whoever knows this code can still write two texts with one hash.
 */
import { SHARED_LENGTH, codeUnitsOf } from './code-units.ts'
import { FOLDED, INTRICATE, PLAIN, SEPARATOR, UNKNOWN, foldText, type UnitTable } from './token-units.ts'

export interface TextFingerprint {
  /** 0n for a text without a single token. */
  readonly simhash: bigint
  /** How many different features there are. */
  readonly features: number
  /**
   * What to compare texts by: the simhash, but of a short text an ordinary hash of its tokens, which is near to nothing
   * but that of an equal text.
   */
  readonly near: bigint
}

/**
 * With fewer features (some 100 words) a few changed words are the difference between two pages, not between two
 * versions of one: stubs of generated documentation differ in one name.
 */
export const MIN_NEAR_FEATURES = 96

/** 0n for a text without a single token. */
export function simhash(text: string): bigint {
  readTokens(text)
  const hash = vote(true)
  hashes = sharedHashes
  return hash
}

/** The same over all pairs of neighbours and no words, for text of which only some pairs are left. */
export function simhashOfPairs(text: string): bigint {
  readTokens(text)
  const hash = vote(false)
  hashes = sharedHashes
  return hash
}

export function textFingerprint(text: string): TextFingerprint {
  readTokens(text)
  const hash = vote(true)
  const near = features < MIN_NEAR_FEATURES ? hashTokens() : hash
  hashes = sharedHashes
  return { simhash: hash, features, near }
}

/** The bit of a token's hash that tells a character of an unspaced script from a word. */
const IS_CHARACTER = 1

/** How many tokens the text has that is being read. */
let tokens = 0
/** Of the text that voted last. */
let features = 0
/** The hashes of its tokens. Texts up to `SHARED_LENGTH` share this array, which is touched only as far as a text needs. */
const sharedHashes = new Int32Array(SHARED_LENGTH)
/** A longer text has its own only while it is read. */
let hashes = sharedHashes

function readTokens(text: string): void {
  hashes = text.length <= SHARED_LENGTH ? sharedHashes : new Int32Array(text.length)
  if (readUnits(text, PLAIN)) return
  // There are units that were not met before, or that fold only together with their neighbours.
  PLAIN.learn(text)
  if (readUnits(text, PLAIN)) return
  const folded = foldText(text)
  FOLDED.learn(folded)
  if (folded.length > hashes.length) hashes = new Int32Array(folded.length)
  readUnits(folded, FOLDED)
}

/**
 * False if the table does not know a unit, or not without its neighbours. It does not ask for the unit at once, since
 * around a call all that the loop keeps in registers would go to memory. Where words end cannot be foreseen, so the
 * loop has no branch there.
 */
function readUnits(text: string, { descriptions }: UnitTable): boolean {
  const units = codeUnitsOf(text)
  const { length } = text
  const into = hashes
  let count = 0
  /** Of the word that is being read, as far as it goes; 0 between words. */
  let hash = 0
  /** -1 within a word, else 0. */
  let inWord = 0
  for (let at = 0; at < length; at++) {
    const description = descriptions[units[at] as number] as number
    const isWord = description >> 31
    // Where the next unit does not go on with the word, its hash stays; else it is overwritten.
    into[count] = hash & ~IS_CHARACTER
    count += inWord & ~isWord & 1
    hash = Math.imul(hash ^ description, PRIME) & isWord
    inWord = isWord
    if (((description ^ SEPARATOR) & ~isWord) === 0) continue
    if (description === UNKNOWN || description === INTRICATE) return false
    into[count] = Math.imul(description, PRIME) | IS_CHARACTER
    count++
  }
  if (inWord !== 0) {
    into[count] = hash & ~IS_CHARACTER
    count++
  }
  tokens = count
  return true
}

/** How often each value occurred in each of the eight bytes of a feature's hash: the votes, not yet told apart by bit. */
const votes = new Int32Array(8 * 256)
/** A table of the features met so far, seldom more than half full: 24 bits of each one's hash, and 8 for how often it occurred. */
let metFeatures = new Int32Array(2 * 1024)
/** Such a feature has cast all of its eight votes. */
const MAX_TIMES = 128
/** A table for a text of this many tokens is kept for the next one; a larger one is not. */
const KEPT_TOKENS = 64 * 1024
/** A feature that finds no place within so many steps takes that of another one. */
const MAX_STEPS = 16

/** The simhash of the tokens that were read. Leaves the number of features behind. */
function vote(withWords: boolean): bigint {
  features = Math.min(tokens, 1)
  if (tokens === 0) return 0n
  // A single token has no neighbour: it is the only feature.
  if (tokens === 1) return hashTokens()
  votes.fill(0)
  const places = 2 ** Math.ceil(Math.log2(2 * tokens))
  let table = metFeatures
  if (places > table.length) {
    table = new Int32Array(places)
    if (tokens <= KEPT_TOKENS) metFeatures = table
  } else table.fill(0, 0, places)
  const cast = voteAll(table, places - 1, withWords)
  return join(tally(0, cast), tally(4, cast))
}

function join(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

/** Returns how many votes were cast. */
function voteAll(table: Int32Array, mask: number, withWords: boolean): number {
  let cast = 0
  features = 0
  for (let from = 0; from < tokens; from += BATCH) {
    const to = Math.min(from + BATCH, tokens)
    const occurrences = withWords ? findWordsAndPairs(from, to) : findPairs(from, to)
    const voters = findVoters(occurrences, table, mask)
    castVotes(voters)
    cast += voters
  }
  return cast
}

/**
 * The hashes of features wait here, first as they occur, then those that are to vote. They are told apart first, so that
 * no loop has to guess.
 */
const BATCH = 1024
const waitingLows = new Int32Array(2 * BATCH)
const waitingHighs = new Int32Array(2 * BATCH)

/** Of the tokens in this range, each with the one before. */
function findPairs(start: number, end: number): number {
  const from = hashes
  const first = Math.max(1, start)
  let previous = from[first - 1] as number
  for (let at = first; at < end; at++) {
    const hash = from[at] as number
    waitingLows[at - first] = pairLow(previous, hash)
    waitingHighs[at - first] = pairHigh(previous, hash)
    previous = hash
  }
  return end - first
}

/** Of the tokens in this range, and of half of them with the one before. */
function findWordsAndPairs(start: number, end: number): number {
  const from = hashes
  let count = 0
  let previous = start === 0 ? 0 : (from[start - 1] as number)
  for (let at = start; at < end; at++) {
    const hash = from[at] as number
    const low = pairLow(previous, hash)
    const high = pairHigh(previous, hash)
    waitingLows[count] = low
    waitingHighs[count] = high
    // A bit that none of the votes shows. Before the first token there is nothing to pair it with.
    count += (Math.imul(low ^ high, 0x27d4eb2f) >>> 31) & (at === 0 ? 0 : 1)
    const word = hash + Math.imul(previous & -(hash & IS_CHARACTER), 0x165667b1)
    waitingLows[count] = mix(Math.imul(word, 0xc2b2ae3d))
    waitingHighs[count] = mix(Math.imul(word, 0x27d4eb2f) ^ 0x5bd1e995)
    count++
    previous = hash
  }
  return count
}

function pairLow(first: number, second: number): number {
  return mix(Math.imul(first, 0x9e3779b1) ^ second)
}

function pairHigh(first: number, second: number): number {
  return mix(Math.imul(second, 0x85ebca77) ^ first)
}

/** Of the features that wait. Returns how many are to vote, which wait in place of the others. */
function findVoters(occurrences: number, table: Int32Array, mask: number): number {
  let voters = 0
  let different = 0
  for (let at = 0; at < occurrences; at++) {
    const low = waitingLows[at] as number
    const high = waitingHighs[at] as number
    let place = high & mask
    let met = table[place] as number
    // 0 stands for an empty place.
    for (let step = 0; met !== 0 && (met ^ low) >>> 8 !== 0; step++) {
      if (step === MAX_STEPS) {
        met = 0
        break
      }
      place = (place + 1) & mask
      met = table[place] as number
    }
    const timesBefore = met & 255
    const times = Math.min(timesBefore + 1, MAX_TIMES)
    table[place] = (low & ~255) | times
    waitingLows[voters] = low
    waitingHighs[voters] = high
    different += isZero(timesBefore)
    voters += isZero(times & timesBefore)
  }
  features += different
  return voters
}

/** 1 or 0, without a branch; for numbers below 2 ** 31. */
function isZero(number: number): number {
  return (number - 1) >>> 31
}

function castVotes(voters: number): void {
  for (let at = 0; at < voters; at++) {
    const low = waitingLows[at] as number
    const high = waitingHighs[at] as number
    addVote(low & 255)
    addVote(256 | ((low >>> 8) & 255))
    addVote(512 | ((low >>> 16) & 255))
    addVote(768 | (low >>> 24))
    addVote(1024 | (high & 255))
    addVote(1280 | ((high >>> 8) & 255))
    addVote(1536 | ((high >>> 16) & 255))
    addVote(1792 | (high >>> 24))
  }
}

function addVote(at: number): void {
  votes[at] = (votes[at] as number) + 1
}

/** Four bytes of the result: a bit is set where more than half of the votes set it. Uses the votes up. */
function tally(firstByte: number, cast: number): number {
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
      if (ones * 2 > cast) word |= 1 << (byte * 8 + bit)
    }
  }
  return word
}

/** A hash that any other token, or another order, changes altogether. */
function hashTokens(): bigint {
  let low = tokens
  let high = SEED
  for (let at = 0; at < tokens; at++) {
    const hash = hashes[at] as number
    low = mix(Math.imul(low, 0x9e3779b1) ^ hash)
    high = mix((Math.imul(high, 0x85ebca77) ^ hash) + low)
  }
  return join(low, high)
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

const SEED = 0x811c9dc5 | 0
const PRIME = 0x01000193

/** The finalizer of MurmurHash3: every input bit changes every output bit with probability one half. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
