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

/** Two tables, one behind the other: for text as it comes, and for folded text, which has no intricate units. */
export const PLAIN = 0
export const FOLDED = 0x10000

/** By table and unit: one of the three above, or the folded unit with WORD or CHARACTER. */
export const DESCRIPTIONS = new Int32Array(2 * 0x10000)

/** Why a text could not be read by a table. */
export type Unread = typeof UNKNOWN | typeof INTRICATE

/** Reads a text by its units, or where that is not enough by those of the folded text, with the table for them. */
export function readByUnits<Reading extends object>(
  text: string,
  read: (text: string, table: number) => Reading | Unread,
): Reading {
  let reading = readLearning(text, PLAIN, read)
  if (reading === INTRICATE) reading = readLearning(foldText(text), FOLDED, read)
  if (typeof reading === 'number') throw new Error('a folded text has only units that are known')
  return reading
}

function readLearning<Reading extends object>(
  text: string,
  table: number,
  read: (text: string, table: number) => Reading | Unread,
): Reading | Unread {
  const reading = read(text, table)
  if (reading !== UNKNOWN) return reading
  learnUnits(text, table)
  return read(text, table)
}

/** Works out for one of the tables what it does not know. */
function learnUnits(text: string, table: number): void {
  const describe = table === PLAIN ? describePlain : describeFolded
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (DESCRIPTIONS[table + unit] === UNKNOWN) DESCRIPTIONS[table + unit] = describe(unit)
  }
}

export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase()
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

// A zero ends every text that is read.
learnUnits('\0', PLAIN)
learnUnits('\0', FOLDED)
