/**
 * What a page says, cut down to what it takes to see that another page says the same, in four degrees. Which one tells
 * whether a page is new is for those to decide who know what its address looks like.
 *
 * - `whole`: the same title and text, to the letter.
 * - `undated`: the same words, dates aside. Numbers count that stand alone, as in `Page 7`, and not in a date or a row.
 * - `exact`: aside is whatever a machine fills into a template: numbers, dates, URLs, and words that follow one on the
 *   other in the page's own address too (a heading that repeats the path, the filters that were chosen). But a number
 *   that is a parameter's value and that the page repeats is what the page is about, and counts.
 * - `prose`: aside are all numbers, whatever is linked, and the words of its address: in one half those that follow one
 *   on the other there too, in the other half all of them, since a name may be a single word. One half that is equal is
 *   enough. Only of pages that lead above all to others of their own place, and have no image: there may be ever more of
 *   these, each with another name. With little prose it may be a list: then how many links there are counts as well, for
 *   lists differ in that, and those to what lies below it are not to its place.
 *
 * For the last three the order of the words does not count, so a list that is sorted in another way is the same list.
 *
 * A short text is another matter: `Page 7` and `Page 8` may be all that two honest pages have to say. There numbers
 * count for `exact`, unless there are dates. Its first digit says how much text there was, for
 * whoever has to decide how much two equal samples prove: see `SAMPLE_SIZES`.
 *
 * One pass over the text, of a long one over its beginning and its end; `whole` alone is about all of it.
 */
import type { ContentSample } from '../../model/index.ts'
import { SHARED_UNITS, textOfUnits } from './code-units.ts'
import { DATE_CHARACTERS, DATE_NAMES, DATE_UNITS } from './date-words.ts'
import {
  BEGINS_ADDRESS,
  EMPTY_HASH,
  HAS_DIGIT,
  IS_CHARACTER,
  IS_LINKED,
  WORD_BEGINS,
  WORD_ENDS,
  WORD_HASHES,
  WORD_TRAITS,
  hashWith,
  plainHash,
  readSampleWords,
} from './sample-words.ts'
import { simhashOfPairs } from './simhash.ts'
import { DESCRIPTIONS, foldText } from './token-units.ts'
import { wholeHash } from './whole-hash.ts'

/** First digits of `exact`: a text of next to no words, of a line or two, of a paragraph, of a page or more. */
export const SAMPLE_SIZES = { nothing: '0', short: '1', long: '2', ample: '3' } as const

/** Different words, at least; with fewer, a text says nothing, unless it is a date. */
const SHORT_WORDS = 5
const LONG_WORDS = 20
/** With fewer different ones that are not linked, a page may be a list. */
const PROSE_WORDS = 24
/** Of the links, those to the page's own place. */
const OWN_SHARE = 3 / 4
/** With less, one word that is another makes a page that is another. */
const AMPLE_UNITS = 1_024
const MAX_UNITS = 6_144
const HEAD_UNITS = 4_096
/** From this length on, an eighth of the words, each with its next one, are enough for a fingerprint. */
const DENSE_UNITS = 1_024
const MAX_TITLE_UNITS = 512
/** Of the URL, to be looked up in the text. */
const MAX_URL_UNITS = 2_048

/** The text is the page's main text as plain words, the URL the page's own, the title empty if it has none. */
export function contentSample(text: string, url: string, title: string): ContentSample {
  learnUrl(url)
  const heading = readText(title.slice(0, MAX_TITLE_UNITS))
  const body = readText(text.length > MAX_UNITS ? text.slice(0, HEAD_UNITS) + text.slice(HEAD_UNITS - MAX_UNITS) : text)
  const { words, skeleton } = body
  const hasDate = heading.hasDate || body.hasDate
  const size = sizeOf(text.length, words, hasDate)
  const isLong = words >= LONG_WORDS
  const named = sum(heading.said, heading.echoed, heading.own, heading.alone)
  // Numbers in a row that are no date are a version: release notes of several say the same.
  if (!heading.hasDate) addAll(named, heading.filledIn)
  const exact = sum(heading.said, heading.own, body.said, body.own)
  if (size === 'nothing') addAll(exact, heading.echoed, body.echoed)
  if (!isLong && !hasDate) addAll(exact, heading.alone, heading.filledIn, body.alone, body.filledIn)
  // Pages that call themselves by other names or numbers are not nearly the same.
  const label = isLong ? sum(named, body.own, body.alone) : named
  return {
    whole: hex(wholeHash(title, '\n', text)),
    undated: hex(sum(named, body.said, body.echoed, body.own, body.alone)),
    exact: SAMPLE_SIZES[size] + hex(exact).slice(1),
    near: words < SHORT_WORDS ? null : hex(moved(simhashOfPairs(skeleton), label)),
    prose: proseOf(heading, body),
    hasDate,
  }
}

function proseOf(heading: Reading, { unlinkedSum, namelessSum, unlinkedWords, ...body }: Reading): string | null {
  const { links, ownLinks, linksBelow, hasImage } = body
  const mayBeList = unlinkedWords < PROSE_WORDS
  const kept = mayBeList ? ownLinks : ownLinks + linksBelow
  if (kept === 0 || kept < OWN_SHARE * links || hasImage) return null
  const counted = mayBeList ? mix(links) : 0
  return hex({ high: heading.unlinkedSum + unlinkedSum + counted, low: heading.namelessSum + namelessSum + counted })
}

function sizeOf(units: number, words: number, hasDate: boolean): keyof typeof SAMPLE_SIZES {
  if (words >= LONG_WORDS) return units >= AMPLE_UNITS ? 'ample' : 'long'
  return words >= SHORT_WORDS || hasDate ? 'short' : 'nothing'
}

/** The sum of the hashes of some words. */
interface Bag {
  low: number
  high: number
}

interface Reading {
  /** Words that are neither filled in nor echoed. */
  readonly said: Bag
  /** Words that the URL has in the same order. */
  readonly echoed: Bag
  /** Numbers that stand alone, and are values of parameters. */
  readonly own: Bag
  /** Other numbers and random tokens that stand alone. */
  readonly alone: Bag
  /** Numbers beside others, names of days and months. */
  readonly filledIn: Bag
  /** Sums of the words that were said and are not linked; and of those, of the ones that the URL does not have. */
  readonly unlinkedSum: number
  readonly namelessSum: number
  /** Different words that were said, as far as it matters; and of those, the ones that are not linked. */
  readonly words: number
  readonly unlinkedWords: number
  readonly links: number
  readonly ownLinks: number
  readonly linksBelow: number
  readonly hasImage: boolean
  readonly hasDate: boolean
  /** What was said, in its order; of a long text, only some of the words, with their next ones. */
  readonly skeleton: string
}

/** What a word may be to the one beside it. */
const WORD = 0
const NUMBER = 1
const DAY = 2
const YEAR = 3
const DATE_NAME = 4
const DATE_UNIT = 5

/**
 * Constants of this module, which the compiler knows: what is imported, or might overflow, would take a register in the
 * loop.
 */
const seenWords = new Uint8Array(256)
const SAID = 1
const UNLINKED = 2
const units = SHARED_UNITS
const descriptions = DESCRIPTIONS
const begins = WORD_BEGINS
const ends = WORD_ENDS
const hashes = WORD_HASHES
const traits = WORD_TRAITS
const hasDigit = HAS_DIGIT
const isCharacter = IS_CHARACTER
const beginsAddress = BEGINS_ADDRESS
const isLinked = IS_LINKED

function readText(text: string): Reading {
  const { count, length, table, links, ownLinks, linksBelow, hasImage } = readSampleWords(text)
  let saidLow = 0
  let saidHigh = 0
  let unlinkedSum = 0
  let namelessSum = 0
  const echoed = emptyBag()
  const own = emptyBag()
  const alone = emptyBag()
  const filledIn = emptyBag()
  seenWords.fill(0)
  let words = 0
  let unlinkedWords = 0
  let hasDate = false
  let previousKind = WORD
  /** The word before, whether it was said, and where it was written. */
  let previous = 0
  let wasSaid = false
  let wasUnlinked = false
  let wasSampled = false
  let start = 0
  /** A number behind a word, and where it ends; what comes next tells whether it stands alone. */
  let number = 0
  let numberEnd = 0
  const sparseness = length < DENSE_UNITS ? 0 : 7
  /** The skeleton is written where the text was: it is never longer. */
  let written = 0
  let endsInWord = false
  for (let index = 0; index < count; index++) {
    const begin = begins[index] as number
    const end = ends[index] as number
    const trait = traits[index] as number
    const hash = mix((hashes[index] as number) ^ (end - begin))
    const marks = WORD_MARKS[hash & MARK_MASK] as number
    let kind = (trait & hasDigit) === 0 ? WORD : kindWithDigits(begin, end)
    if ((marks & DATE_MARK) !== 0) kind = DATE_WORDS.get(hash) ?? kind
    if (kind !== WORD && previousKind !== WORD) hasDate ||= makesDate(previousKind, kind)
    if (numberEnd > 0) {
      const isAlone = kind === WORD || isLineEnd(numberEnd, begin)
      addWord(!isAlone ? filledIn : queryNumbers.has(number) ? own : alone, number)
      numberEnd = 0
    }
    const mayBeAlone = kind !== WORD && kind <= YEAR && previousKind === WORD
    previousKind = kind
    if ((trait & beginsAddress) !== 0) {
      previous = 0
      continue
    }
    const isFilledIn = kind !== WORD && kind !== DATE_UNIT
    const isEcho = (marks & URL_MARK) !== 0 && urlPairs.has(pairHash(previous, hash))
    if (isEcho && wasSaid) {
      // The word before is part of the echo, too.
      saidLow = (saidLow - previous) | 0
      saidHigh = (saidHigh - mix(previous ^ HIGH_SEED)) | 0
      if (wasUnlinked) unlinkedSum = (unlinkedSum - previous) | 0
      addWord(echoed, previous)
      written = start
      endsInWord = false
    }
    previous = hash
    wasSaid = !isFilledIn && !isEcho
    start = written
    if (mayBeAlone) {
      number = hash
      numberEnd = end
    } else if (isFilledIn) addWord(filledIn, hash)
    else if (isEcho) addWord(echoed, hash)
    else {
      saidLow = (saidLow + hash) | 0
      saidHigh = (saidHigh + mix(hash ^ HIGH_SEED)) | 0
      const isUnlinked = (trait & isLinked) === 0
      wasUnlinked = isUnlinked
      const isNameless = isUnlinked && ((marks & URL_MARK) === 0 || !urlWords.has(hash))
      if (isUnlinked) unlinkedSum = (unlinkedSum + hash) | 0
      if (isNameless) namelessSum = (namelessSum + hash) | 0
      if (words < LONG_WORDS || unlinkedWords < PROSE_WORDS) {
        const seen = seenWords[hash & 255] as number
        if ((seen & SAID) === 0 && words < LONG_WORDS) words++
        if (isUnlinked && (seen & UNLINKED) === 0) unlinkedWords++
        seenWords[hash & 255] = seen | (isUnlinked ? SAID | UNLINKED : SAID)
      }
      const isSampled = ((hash >>> 12) & sparseness) === 0
      if (isSampled || wasSampled) {
        const isWord = (trait & isCharacter) === 0
        if (isWord && endsInWord) units[written++] = SPACE
        for (let from = begin; from < end; from++) {
          units[written++] = (descriptions[(table + (units[from] as number)) | 0] as number) & 0xffff
        }
        endsInWord = isWord
      }
      wasSampled = isSampled
    }
  }
  if (numberEnd > 0) addWord(queryNumbers.has(number) ? own : alone, number)
  const skeleton = words < SHORT_WORDS ? '' : textOfUnits(units, written)
  return {
    said: { low: saidLow, high: saidHigh },
    echoed,
    own,
    alone,
    filledIn,
    unlinkedSum,
    namelessSum,
    words,
    unlinkedWords,
    links,
    ownLinks,
    linksBelow,
    hasImage,
    hasDate,
    skeleton,
  }
}

function isLineEnd(from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (units[at] === NEWLINE) return true
  return false
}

/** What a word with digits is. Session ids, digests and the like, letters and digits in turns, are as good as numbers. */
function kindWithDigits(begin: number, end: number): number {
  let digits = 0
  let value = 0
  let switches = 0
  let wasDigit = false
  for (let at = begin; at < end; at++) {
    const unit = units[at] as number
    const isDigit = unit >= 0x30 && unit < BEHIND_DIGITS
    if (isDigit) {
      digits++
      value = value * 10 + unit - 0x30
    }
    if (isDigit !== wasDigit) switches++
    wasDigit = isDigit
  }
  const size = end - begin
  if (digits < size) return size >= 8 && digits >= 3 && switches >= 4 ? NUMBER : WORD
  if (digits <= 2 && value >= 1 && value <= 31) return DAY
  return digits === 4 && value >= 1900 && value < 2200 ? YEAR : NUMBER
}

/** `March 2027`, `14 March`, `2027-03`, `3/2027`, `week 12`, `3月`. A year alone, as of a copyright, is none. */
function makesDate(first: number, second: number): boolean {
  if (first === WORD || second === WORD) return false
  if (first >= DATE_NAME) return second <= YEAR
  if (second >= DATE_NAME) return true
  return (first === YEAR && second === DAY) || (first === DAY && second === YEAR)
}

const NEWLINE = 0x0a
const SPACE = 0x20
const BEHIND_DIGITS = 0x3a
const HIGH_SEED = 0x7f4a7c15

/** What a word may be, by a few bits of its hash: this spares nearly all look-ups. */
const WORD_MARKS = new Uint8Array(16_384)
const MARK_MASK = WORD_MARKS.length - 1
const DATE_MARK = 1
const URL_MARK = 2

const DATE_WORDS = new Map<number, number>()
for (const name of DATE_NAMES) DATE_WORDS.set(wordHash(name), DATE_NAME)
for (const unit of [...DATE_UNITS, ...DATE_CHARACTERS]) DATE_WORDS.set(wordHash(unit), DATE_UNIT)
for (const hash of DATE_WORDS.keys()) markWord(hash, DATE_MARK)

function markWord(hash: number, mark: number): void {
  WORD_MARKS[hash & MARK_MASK] = (WORD_MARKS[hash & MARK_MASK] as number) | mark
}

function wordHash(word: string): number {
  return mix(plainHash(word) ^ word.length)
}

/** Of the page that is being read: its words, and the hashes of each two that follow one on the other. */
const urlWords = new Set<number>()
const urlPairs = new Set<number>()
/** The numbers in its query. */
const queryNumbers = new Set<number>()

function pairHash(first: number, second: number): number {
  return Math.imul(first, 0x9e3779b1) ^ second
}

function learnUrl(url: string): void {
  for (const hash of urlWords) WORD_MARKS[hash & MARK_MASK] = (WORD_MARKS[hash & MARK_MASK] as number) & ~URL_MARK
  urlWords.clear()
  urlPairs.clear()
  queryNumbers.clear()
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return
  const end = Math.min(url.length, start + MAX_URL_UNITS)
  const question = url.indexOf('?', start)
  const pathEnd = question === -1 ? end : Math.min(question, end)
  const last = learnWords(url.slice(start, pathEnd), 0)
  learnWords(url.slice(pathEnd, end), last, queryNumbers)
}

/** The words of a part of the URL, behind the hash of the word before; returns that of its last word. */
function learnWords(part: string, before: number, numbers?: Set<number>): number {
  const text = decoded(part)
  if (!ASCII.test(text)) {
    let previous = before
    for (const [word] of foldText(text).matchAll(WORDS)) {
      previous = learnWord(wordHash(word), previous, NUMBER_WORD.test(word) ? numbers : undefined)
    }
    return previous
  }
  // Nearly every URL comes this way, on which no word is cut out.
  let previous = before
  let low = EMPTY_HASH
  let size = 0
  let digits = 0
  for (let at = 0; at <= text.length; at++) {
    const unit = text.charCodeAt(at)
    const isDigit = unit >= 0x30 && unit < BEHIND_DIGITS
    if (isDigit || isLetter(unit)) {
      low = hashWith(low, isDigit ? unit : unit | 32)
      size++
      if (isDigit) digits++
    } else if (size > 0) {
      previous = learnWord(mix(low ^ size), previous, digits === size ? numbers : undefined)
      low = EMPTY_HASH
      size = 0
      digits = 0
    }
  }
  return previous
}

/** `numbers` is where it is kept as well; returns its hash. */
function learnWord(hash: number, previous: number, numbers: Set<number> | undefined): number {
  urlWords.add(hash)
  markWord(hash, URL_MARK)
  if (previous !== 0) urlPairs.add(pairHash(previous, hash))
  numbers?.add(hash)
  return hash
}

function isLetter(unit: number): boolean {
  const lower = unit | 32
  return lower >= 0x61 && lower <= 0x7a
}

// oxlint-disable-next-line no-control-regex -- all of ASCII is meant
const ASCII = /^[\0-\x7f]*$/
const WORDS = /[\p{L}\p{N}\p{M}]+/gu
const NUMBER_WORD = /^\d+$/

function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function addWord(bag: Bag, hash: number): void {
  bag.low = (bag.low + hash) | 0
  bag.high = (bag.high + mix(hash ^ HIGH_SEED)) | 0
}

const emptyBag = (): Bag => ({ low: 0, high: 0 })

function addAll(bag: Bag, ...others: readonly Bag[]): void {
  for (const { low, high } of others) {
    bag.low = (bag.low + low) | 0
    bag.high = (bag.high + high) | 0
  }
}

function sum(...bags: readonly Bag[]): Bag {
  const total = emptyBag()
  addAll(total, ...bags)
  return total
}

/** A fingerprint, as far away from others as their labels differ: not at all or far. */
function moved(near: bigint, label: Bag): Bag {
  return { low: Number(near & 0xffff_ffffn) ^ label.low, high: Number(near >> 32n) ^ label.high }
}

function hex({ low, high }: Bag): string {
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

/** The finalizer of MurmurHash3. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
