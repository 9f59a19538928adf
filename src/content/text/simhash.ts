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
import { IS_CHARACTER, readTokens, type TokenHashes } from './token-hashes.ts'
import { addVotes, beginVote, createBallot, majority, type Ballot } from './votes.ts'

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
  return vote(readTokens(text), true)
}

/** The same over all pairs of neighbours and no words, for text of which only some pairs are left. */
export function simhashOfPairs(text: string): bigint {
  return vote(readTokens(text), false)
}

export function textFingerprint(text: string): TextFingerprint {
  const tokens = readTokens(text)
  const hash = vote(tokens, true)
  return { simhash: hash, features, near: features < MIN_NEAR_FEATURES ? hashTokens(tokens) : hash }
}

/** Different features of the text that voted last. */
let features = 0
/** A table of the features met so far, seldom more than half full: 24 bits of each one's hash, and 8 for how often it occurred. */
let metFeatures = new Int32Array(2 * 1024)
/** Such a feature has cast all of its eight votes. */
const MAX_TIMES = 128
/** A table for a text of this many tokens is kept for the next one; a larger one is not. */
const KEPT_TOKENS = 64 * 1024
/** A feature that finds no place within so many steps takes that of another one. */
const MAX_STEPS = 16

/** The simhash of some tokens. Leaves the number of features behind. */
function vote(tokens: TokenHashes, withWords: boolean): bigint {
  const { count } = tokens
  features = Math.min(count, 1)
  if (count === 0) return 0n
  // A single token has no neighbour: it is the only feature.
  if (count === 1) return hashTokens(tokens)
  const places = 2 ** Math.ceil(Math.log2(2 * count))
  let table = metFeatures
  if (places > table.length) {
    table = new Int32Array(places)
    if (count <= KEPT_TOKENS) metFeatures = table
  } else table.fill(0, 0, places)
  return voteAll(tokens, table, places - 1, withWords)
}

function join(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

function voteAll({ hashes, count }: TokenHashes, table: Int32Array, mask: number, withWords: boolean): bigint {
  features = 0
  beginVote(lowBallot)
  beginVote(highBallot)
  for (let from = 0; from < count; from += BATCH) {
    const to = Math.min(from + BATCH, count)
    const occurrences = withWords ? findWordsAndPairs(hashes, from, to) : findPairs(hashes, from, to)
    const voters = findVoters(occurrences, table, mask)
    addVotes(lowBallot, waitingLows, voters)
    addVotes(highBallot, waitingHighs, voters)
  }
  return join(majority(lowBallot), majority(highBallot))
}

/**
 * The hashes of features wait here, first as they occur, then those that are to vote. They are told apart first, so that
 * no loop has to guess.
 */
const BATCH = 1024
const waitingLows = new Int32Array(2 * BATCH)
const waitingHighs = new Int32Array(2 * BATCH)
/** The votes on each half of the bits. */
const lowBallot: Ballot = createBallot()
const highBallot: Ballot = createBallot()

/** A constant of this module, which loops need no register for. */
const isCharacter = IS_CHARACTER

/** Of the tokens in this range, each with the one before. */
function findPairs(from: Int32Array, start: number, end: number): number {
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
function findWordsAndPairs(from: Int32Array, start: number, end: number): number {
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
    const word = hash + Math.imul(previous & -(hash & isCharacter), 0x165667b1)
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
    if (isOther(met, low)) {
      place = placeFor(low, place, table, mask)
      met = table[place] as number
      if (isOther(met, low)) met = 0
    }
    const timesBefore = met & 255
    const times = Math.min(timesBefore + 1, MAX_TIMES)
    table[place] = (low & ~255) | times
    waitingLows[voters] = low
    waitingHighs[voters] = high
    different = (different + isZero(timesBefore)) | 0
    voters = (voters + isZero(times & timesBefore)) | 0
  }
  features += different
  return voters
}

/** Whether a place is taken by another feature: neither empty, which is 0, nor of the same hash. One branch, not two. */
function isOther(met: number, low: number): boolean {
  return ((met | -met) & -((met ^ low) >>> 8)) < 0
}

/** Behind a place that is taken: the one of this feature or an empty one, or else any. */
function placeFor(low: number, taken: number, table: Int32Array, mask: number): number {
  let place = taken
  for (let step = 0; step < MAX_STEPS; step++) {
    place = (place + 1) & mask
    if (!isOther(table[place] as number, low)) break
  }
  return place
}

/** 1 or 0, without a branch; for numbers below 2 ** 31. */
function isZero(number: number): number {
  return (number - 1) >>> 31
}

/** A hash that any other token, or another order, changes altogether. */
function hashTokens({ hashes, count }: TokenHashes): bigint {
  let low = count
  let high = SEED
  for (let at = 0; at < count; at++) {
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

/** The finalizer of MurmurHash3: every input bit changes every output bit with probability one half. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
