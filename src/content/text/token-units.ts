/**
 * What each UTF-16 unit is to a fingerprint: part of a word, a token of its own or a separator, and which unit it
 * folds to (NFKC, then lower case). Nearly all text can be folded unit by unit; where it cannot, a table says so, and
 * the text has to be folded as a whole.
 */

/** Not met before. */
export const UNKNOWN = 0
export const SEPARATOR = 1
/** Folds only together with its neighbours, or to several units. */
export const INTRICATE = 2
/** Part of a word; negative. */
const WORD = -0x10000
/** A character of a script that is written without spaces: a token of its own. */
const CHARACTER = 0x10000

export interface UnitTable {
  /** By unit: one of the three above, or the folded unit with WORD or CHARACTER. */
  readonly descriptions: Int32Array
  /** Works out what is unknown. */
  learn(text: string): void
}

/** For text as it comes. */
export const PLAIN: UnitTable = createTable(describePlain)
/** For folded text; it has no intricate units. */
export const FOLDED: UnitTable = createTable(describeFolded)

export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function createTable(describe: (unit: number) => number): UnitTable {
  const descriptions = new Int32Array(65_536)
  return {
    descriptions,
    learn(text) {
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        if (descriptions[unit] === UNKNOWN) descriptions[unit] = describe(unit)
      }
    },
  }
}

function describePlain(unit: number): number {
  const character = String.fromCharCode(unit)
  const folded = foldText(character)
  const descriptions = Array.from({ length: folded.length }, (_, at) => describeFolded(folded.charCodeAt(at)))
  // Full-width and other punctuation, which may well fold to several units: an ellipsis, to three dots.
  if (descriptions.every((description) => description === SEPARATOR)) return SEPARATOR
  const joins = isSurrogate(unit) || JOINS.test(character.normalize('NFKC'))
  return joins || descriptions.length > 1 ? INTRICATE : (descriptions[0] as number)
}

function describeFolded(unit: number): number {
  const character = String.fromCharCode(unit)
  // The halves of a surrogate pair are mostly rare ideographs and emoji: together they act as one short word.
  if (isSurrogate(unit)) return WORD | unit
  if (UNSPACED.test(character)) return CHARACTER | unit
  return PART_OF_WORD.test(character) ? WORD | unit : SEPARATOR
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
