/**
 * An estimate of how many tokens a modern byte-pair tokenizer (of the size of cl100k or o200k) makes of a text, in one
 * pass and without its vocabulary of megabytes. Such tokenizers split text into words with their leading space,
 * numbers of up to three digits, runs of punctuation and runs of white space before they merge, so the estimate
 * counts those pieces: English prose comes to about 4.5 characters a token, code to about 3, Chinese to about one token a
 * character. Expect it within 15 % on English, within a third elsewhere; it is for budgets, not for bills.
 */
import { SHARED_UNITS, copyPiece } from './code-units.ts'

const SPACE = 0
const NEWLINE = 1
const LOWER = 2
const UPPER = 3
const DIGIT = 4
const PUNCTUATION = 5
/** Letters beyond ASCII: Latin with accents, Greek, Cyrillic. */
const EUROPEAN = 6
/** Letters of scripts that are rarer in training text. */
const OTHER = 7
const IDEOGRAPH = 8
const KIND_COUNT = 9

/** How many units make a token, by kind; at most eight. A longer run is cut into pieces. White space has its own rule. */
const UNITS_PER_TOKEN: readonly number[] = [0, 0, 8, 8, 3, 2, 3, 2, 1]

/** By UTF-16 unit; what comes later in this list overrules what comes before. */
const KINDS = new Uint8Array(65_536)
  .fill(OTHER)
  .fill(PUNCTUATION, 0, 0xc0)
  .fill(EUROPEAN, 0xc0, 0x530)
  // General punctuation, arrows, box drawing and the like.
  .fill(PUNCTUATION, 0x2000, 0x2c00)
  // Kana, Han, Hangul, full-width forms and each half of a surrogate pair.
  .fill(IDEOGRAPH, 0x2e80, 0xa4d0)
  .fill(IDEOGRAPH, 0xac00)
  .fill(SPACE, 0, 33)
  .fill(NEWLINE, 10, 11)
  .fill(NEWLINE, 13, 14)
  .fill(DIGIT, 48, 58)
  .fill(UPPER, 65, 91)
  .fill(LOWER, 97, 123)
  .fill(SPACE, 127, 128)
  .fill(SPACE, 0xa0, 0xa1)

/**
 * A finite automaton, because a table has no branches to mispredict. It reads two units at a step, because each step
 * has to wait for the one before.
 */
export function countTokens(text: string): number {
  state = START
  let tokens = 0
  for (let from = 0; from < text.length;) {
    const length = copyPiece(text, from)
    tokens += countPairs(length & ~1)
    // Only the last piece may be odd.
    if ((length & 1) === 1) tokens += tokensBegun(state, KINDS[units[length - 1] as number] as number)
    from += length
  }
  return tokens
}

/** Of the first `end` units, an even number of them. Goes on from `state`, and leaves it behind. */
function countPairs(end: number): number {
  let tokens = 0
  let current = state
  for (let at = 0; at < end; at += 2) {
    const kinds = ((KINDS[units[at] as number] as number) << 4) | (KINDS[units[at + 1] as number] as number)
    const step = (current << 8) | kinds
    tokens = (tokens + (TOKENS[step] as number)) | 0
    current = NEXT[step] as number
  }
  state = current
  return tokens
}

/** A constant of this module, so that the loop needs no register for it. */
const units = SHARED_UNITS
/** The automaton's, between the pieces of a text. */
let state = 0

/** A state is the kind of the run that is being read, times eight, and how far its last token has come: 0 to 7. */
const START = IDEOGRAPH * 8

function continuesRun(state: number, kind: number): boolean {
  const run = state >> 3
  // A capital after a small letter begins a new piece: camelCase.
  return run === kind ? kind !== IDEOGRAPH : run === UPPER && kind === LOWER
}

function stateAfter(state: number, kind: number): number {
  if (kind === NEWLINE || !continuesRun(state, kind)) return kind * 8
  const position = (state & 7) + 1
  if (kind === SPACE) return SPACE * 8 + Math.min(position, 2)
  return kind * 8 + (position % (UNITS_PER_TOKEN[kind] as number))
}

/** How many tokens begin with a unit: one or none. */
function tokensBegun(state: number, kind: number): number {
  const next = stateAfter(state, kind)
  // One space belongs to the word behind it; more are an indentation of their own.
  if (kind === SPACE) return next === SPACE * 8 + 1 ? 1 : 0
  if (kind === NEWLINE) return next === state ? 0 : 1
  return next === kind * 8 ? 1 : 0
}

/** What two units lead to and how many tokens begin with them, by state and both kinds. */
const NEXT = new Uint8Array(KIND_COUNT << 11)
const TOKENS = new Uint8Array(KIND_COUNT << 11)
for (let state = 0; state < KIND_COUNT * 8; state++) {
  for (let first = 0; first < KIND_COUNT; first++) {
    const between = stateAfter(state, first)
    for (let second = 0; second < KIND_COUNT; second++) {
      const step = (state << 8) | (first << 4) | second
      NEXT[step] = stateAfter(between, second)
      TOKENS[step] = tokensBegun(state, first) + tokensBegun(between, second)
    }
  }
}
