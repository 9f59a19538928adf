/**
 * The tokens of a text, each as a hash, in their order: words folded to one case and form, and single characters of
 * scripts that are written without spaces. What is made of them is left to the fingerprint.
 */
import { SHARED_LENGTH, SHARED_UNITS, copyPiece } from './code-units.ts'
import { DESCRIPTIONS, INTRICATE, SEPARATOR, UNKNOWN, readByUnits, type Unread } from './token-units.ts'

export interface TokenHashes {
  /** The first `count` are the text's; they last until the next text is read. */
  readonly hashes: Int32Array
  readonly count: number
}

/** The bit of a hash that tells a character of an unspaced script from a word. */
export const IS_CHARACTER = 1

const PRIME = 0x01000193

/**
 * Constants of this module, which the compiler knows: what is imported would take a register in the loop, and so would
 * an overflow that is not ruled out.
 */
const units = SHARED_UNITS
const descriptions = DESCRIPTIONS
const unknown = UNKNOWN
const separator = SEPARATOR
/** Touched only as far as a text needs it. A longer text gets an array of its own. */
const sharedHashes = new Int32Array(SHARED_LENGTH + 1)

export function readTokens(text: string): TokenHashes {
  return readByUnits(text, readAll)
}

function readAll(text: string, table: number): TokenHashes | Unread {
  hash = 0
  inWord = 0
  if (text.length <= SHARED_LENGTH) {
    const length = copyPiece(text, 0)
    // The zero behind the text ends its last word.
    return readPiece(length + 1, table) ?? { hashes: sharedHashes, count }
  }
  const hashes = new Int32Array(text.length)
  let total = 0
  for (let from = 0; from < text.length; from += SHARED_LENGTH) {
    const length = copyPiece(text, from)
    const unread = readPiece(from + length === text.length ? length + 1 : length, table)
    if (unread !== undefined) return unread
    hashes.set(sharedHashes.subarray(0, count), total)
    total += count
  }
  return { hashes, count: total }
}

/** Where the reading of a piece stands. */
let at = 0
/** Tokens found in it. */
let count = 0
/** Of the word that is being read, which may have begun in the piece before; 0 between words. */
let hash = 0
/** -1 within a word, else 0. */
let inWord = 0

function readPiece(end: number, table: number): Unread | undefined {
  at = 0
  count = 0
  for (;;) {
    readWords(end, table)
    if (at >= end) return undefined
    let description = describe(table)
    if (description === UNKNOWN || description === INTRICATE) return description
    for (; description > INTRICATE; description = describe(table)) {
      sharedHashes[count++] = Math.imul(description, PRIME) | IS_CHARACTER
      if (++at >= end) return undefined
    }
  }
}

function describe(table: number): number {
  return descriptions[table + (units[at] as number)] as number
}

/**
 * Stops at a unit that is neither part of a word nor a separator. Where words end cannot be foreseen, so the loop has
 * no branch there: where the next unit does not go on with the word, its hash stays; else it is overwritten.
 */
function readWords(end: number, table: number): void {
  let place = at | 0
  let found = count | 0
  let wordHash = hash | 0
  let wasWord = inWord | 0
  for (; place < end; place = (place + 1) | 0) {
    const description = descriptions[(table + (units[place] as number)) | 0] as number
    const isWord = description >> 31
    sharedHashes[found] = wordHash & ~IS_CHARACTER
    found = (found + (wasWord & ~isWord & 1)) | 0
    wordHash = Math.imul(wordHash ^ description, PRIME) & isWord
    wasWord = isWord
    if (description === unknown || description > separator) break
  }
  at = place
  count = found
  hash = wordHash
  inWord = wasWord
}
