/**
 * What each UTF-16 unit is to a fingerprint: part of a word, a token of its own or a separator, and which unit it
 * folds to (NFKC, then lower case). Nearly all text can be folded unit by unit; where it cannot, a table says so, and
 * the text has to be folded as a whole.
 */

export const SEPARATOR = 1
export const WORD = 2
/** A character of a script that is written without spaces. */
export const CHARACTER = 3
/** Folds only together with its neighbours, or to several units. */
export const INTRICATE = 4

/** A description is a kind, shifted by this, and the folded unit. */
export const KIND_SHIFT = 16

export interface UnitTable {
  /** By unit; 0 for one that was not met before. */
  readonly descriptions: Int32Array
  /** Works a description out and keeps it. */
  readonly describe: (unit: number) => number
}

/** For text as it comes. */
export const PLAIN: UnitTable = createTable(describePlain)
/** For folded text; it has no intricate units. */
export const FOLDED: UnitTable = createTable(describeFolded)

export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function createTable(read: (unit: number) => number): UnitTable {
  const descriptions = new Int32Array(65_536)
  return { descriptions, describe: (unit) => (descriptions[unit] = read(unit)) }
}

function describePlain(unit: number): number {
  const character = String.fromCharCode(unit)
  const folded = foldText(character)
  const descriptions = Array.from({ length: folded.length }, (_, at) => describeFolded(folded.charCodeAt(at)))
  // Full-width and other punctuation, which may well fold to several units: an ellipsis, to three dots.
  if (descriptions.every((description) => description >> KIND_SHIFT === SEPARATOR)) return SEPARATOR << KIND_SHIFT
  const joins = isSurrogate(unit) || JOINS.test(character.normalize('NFKC'))
  return joins || descriptions.length > 1 ? INTRICATE << KIND_SHIFT : (descriptions[0] as number)
}

function describeFolded(unit: number): number {
  const character = String.fromCharCode(unit)
  let kind = SEPARATOR
  // The halves of a surrogate pair are mostly rare ideographs and emoji: together they act as one short word.
  if (isSurrogate(unit)) kind = WORD
  else if (UNSPACED.test(character)) kind = CHARACTER
  else if (PART_OF_WORD.test(character)) kind = WORD
  return (kind << KIND_SHIFT) | unit
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

/**
 * What may compose with the character before it (marks, and the vowels and final consonants of Hangul; Unicode UAX #15,
 * NFKC_QC=Maybe), and sigma, whose lower case depends on its place in the word.
 */
const JOINS = /[\p{M}\u1160-\u11ffΣ]/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const PART_OF_WORD = /[\p{L}\p{N}\p{M}]/u
