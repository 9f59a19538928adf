/**
 * An estimate of how many tokens a modern byte-pair tokenizer (of the size of cl100k or o200k) makes of a text, in one
 * pass and without its vocabulary of megabytes. Such tokenizers split text into words with their leading space,
 * numbers of up to three digits, runs of punctuation and runs of white space before they merge, so the estimate
 * counts those pieces: English prose comes to about 4.5 characters a token, code to about 3, Chinese to about one token a
 * character. Expect it within 15 % on English, within a third elsewhere; it is for budgets, not for bills.
 */

/** A word of ASCII letters up to this long is one token; longer ones are cut into pieces of this size. */
const LETTERS_PER_TOKEN = 8
const DIGITS_PER_TOKEN = 3
const PUNCTUATION_PER_TOKEN = 2
/** Letters beyond ASCII: Latin with accents, Greek, Cyrillic, and scripts that are rarer in training text. */
const EUROPEAN_PER_TOKEN = 3
const OTHER_SCRIPT_PER_TOKEN = 2

const SPACE = 0
const NEWLINE = 1
const LOWER = 2
const UPPER = 3
const DIGIT = 4
const PUNCTUATION = 5
const EUROPEAN = 6
const OTHER = 7
const IDEOGRAPH = 8

export function countTokens(text: string): number {
  let tokens = 0
  let at = 0
  const length = text.length
  while (at < length) {
    const start = at
    const kind = kindOf(text.charCodeAt(at++))
    switch (kind) {
      case SPACE:
        while (at < length && kindOf(text.charCodeAt(at)) === SPACE) at++
        // One space belongs to the word behind it; more are an indentation of their own.
        if (at - start > 1) tokens++
        break
      case NEWLINE:
        while (at < length && kindOf(text.charCodeAt(at)) === NEWLINE) at++
        tokens++
        break
      case LOWER:
      case UPPER: {
        // A capital after a small letter begins a new piece: camelCase.
        let previous = kind
        while (at < length) {
          const next = kindOf(text.charCodeAt(at))
          if (next !== LOWER && (next !== UPPER || previous === LOWER)) break
          previous = next
          at++
        }
        tokens += pieces(at - start, LETTERS_PER_TOKEN)
        break
      }
      case DIGIT:
      case PUNCTUATION:
      case EUROPEAN:
      case OTHER: {
        while (at < length && kindOf(text.charCodeAt(at)) === kind) at++
        tokens += pieces(at - start, PER_TOKEN[kind] as number)
        break
      }
      default:
        tokens++
    }
  }
  return tokens
}

const PER_TOKEN: readonly number[] = (() => {
  const sizes: number[] = []
  sizes[DIGIT] = DIGITS_PER_TOKEN
  sizes[PUNCTUATION] = PUNCTUATION_PER_TOKEN
  sizes[EUROPEAN] = EUROPEAN_PER_TOKEN
  sizes[OTHER] = OTHER_SCRIPT_PER_TOKEN
  return sizes
})()

function pieces(length: number, size: number): number {
  return Math.ceil(length / size)
}

function kindOf(code: number): number {
  if (code < 128) return ASCII[code] as number
  // Latin-1 signs and general punctuation, arrows, box drawing and the like.
  if (code < 0xc0 || (code >= 0x2000 && code < 0x2c00)) return code === 0xa0 ? SPACE : PUNCTUATION
  if (code < 0x530) return EUROPEAN
  // Kana, Han, Hangul, full-width forms and each half of a surrogate pair: one token a unit.
  if (code >= 0x2e80 && !(code >= 0xa4d0 && code < 0xac00)) return IDEOGRAPH
  return OTHER
}

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 10 || code === 13) return NEWLINE
  if (code <= 32 || code === 127) return SPACE
  if (code >= 48 && code <= 57) return DIGIT
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 65 && code <= 90) return UPPER
  return PUNCTUATION
})
