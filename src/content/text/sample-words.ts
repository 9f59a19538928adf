/**
 * The words of a short text for its sample: where each stands, its hash, and what can be told from its units alone. The
 * words of an address stand as its first one. What they mean to the page is left to the sample.
 *
 * All of it lasts until the next text is read. A text has at most `SHARED_LENGTH` units; what is longer is cut.
 */
import { SHARED_LENGTH, SHARED_UNITS, copyPiece } from './code-units.ts'
import { LINK_BEGIN, LINK_END } from './plain-text.ts'
import { DESCRIPTIONS, INTRICATE, SEPARATOR, UNKNOWN, readByUnits, type Unread } from './token-units.ts'

/** The hash of no units. */
export const EMPTY_HASH = 0x811c9dc5 | 0

/** By word, in order: its first unit, just behind its last, and the hash of its folded units. */
export const WORD_BEGINS = new Int32Array(SHARED_LENGTH)
export const WORD_ENDS = new Int32Array(SHARED_LENGTH)
export const WORD_HASHES = new Int32Array(SHARED_LENGTH)
/** Facts about it. */
export const WORD_TRAITS = new Uint8Array(SHARED_LENGTH)

export const HAS_DIGIT = 1
/** A character of a script that is written without spaces. */
export const IS_CHARACTER = 2
/** It begins an address, which is left out; its hash and end are its own. */
export const BEGINS_ADDRESS = 4
/** It is part of what is linked. */
export const IS_LINKED = 8

export interface SampleWords {
  readonly count: number
  /** Units of the text. */
  readonly length: number
  /** The table that folds them. */
  readonly table: number
  /** Links, how many of them lead to the page's own place, and below the page; and whether there is an image. */
  readonly links: number
  readonly ownLinks: number
  readonly linksBelow: number
  readonly hasImage: boolean
}

/** Constants of this module, which the compiler knows: what is imported would take a register in the loop. */
const units = SHARED_UNITS
const descriptions = DESCRIPTIONS
const begins = WORD_BEGINS
const ends = WORD_ENDS
const hashes = WORD_HASHES
const traits = WORD_TRAITS
const separator = SEPARATOR
const unknown = UNKNOWN
const intricate = INTRICATE
const linkBegin = LINK_BEGIN
const linkEnd = LINK_END
const isLinked = IS_LINKED

const SPACE = 0x20
const NO_BREAK_SPACE = 0xa0
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const BEHIND_DIGITS = 0x3a
const PRIME = 0x01000193

export function readSampleWords(text: string): SampleWords {
  return readByUnits(text, readWith)
}

function readWith(text: string, table: number): SampleWords | Unread {
  const length = copyPiece(text, 0)
  const unread = split(length, table)
  return unread ?? { count, length, table, links, ownLinks, linksBelow, hasImage }
}

/** Of the text that was split last. */
let count = 0
let links = 0
let ownLinks = 0
let linksBelow = 0
let hasImage = false

function split(length: number, table: number): Unread | undefined {
  let found = 0
  let at = 0
  /** The trait of words from here on. */
  let linked = 0
  links = 0
  ownLinks = 0
  linksBelow = 0
  hasImage = false
  while (at < length) {
    let description = descriptions[(table + (units[at] as number)) | 0] as number
    if (description === separator) {
      const unit = units[at++] as number
      if (unit === linkBegin) {
        linked = isLinked
        if (units[at] === linkBegin) hasImage = true
      } else if (unit === linkEnd) {
        linked = 0
        links++
        if (units[at] === linkEnd) {
          at++
          if (units[at] === linkEnd) {
            at++
            linksBelow++
          } else ownLinks++
        }
      }
      continue
    }
    const begin = at
    let hash = EMPTY_HASH
    /** Negative as soon as there is a digit: all other parts of words come behind them. */
    let digitMark = 0
    if (description >= 0) {
      if (description === unknown || description === intricate) return description
      hash = hashWith(hash, description & 0xffff)
      at++
      traits[found] = IS_CHARACTER | linked
    } else {
      do {
        const unit = description & 0xffff
        hash = hashWith(hash, unit)
        digitMark |= unit - BEHIND_DIGITS
        at++
        description = descriptions[(table + (units[at] as number)) | 0] as number
      } while (description < 0)
      traits[found] = (digitMark >>> 31) | linked
    }
    begins[found] = begin
    ends[found] = at
    hashes[found] = hash
    if (startsAddress(hash, at)) {
      traits[found] = (traits[found] as number) | BEGINS_ADDRESS
      at = endOfAddress(at, length)
    }
    found++
  }
  count = found
  return undefined
}

/** The hash of a word's units, and one more. */
export function hashWith(before: number, unit: number): number {
  return Math.imul(before ^ unit, PRIME)
}

/** Of a word that is folded. */
export function plainHash(word: string): number {
  let hash = EMPTY_HASH
  for (let at = 0; at < word.length; at++) hash = hashWith(hash, word.charCodeAt(at))
  return hash
}

const HTTP = plainHash('http')
const HTTPS = plainHash('https')
const WWW = plainHash('www')

/** `hash` is that of the word before `at`. */
function startsAddress(hash: number, at: number): boolean {
  const next = units[at] as number
  if (next !== COLON && next !== DOT) return false
  if (next === DOT) return hash === WWW
  return (hash === HTTP || hash === HTTPS) && units[at + 1] === SLASH && units[at + 2] === SLASH
}

function endOfAddress(from: number, length: number): number {
  let at = from
  while (at < length && (units[at] as number) > SPACE && units[at] !== NO_BREAK_SPACE) at++
  return at
}
