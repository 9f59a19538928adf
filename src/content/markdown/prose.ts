/**
 * A page's words as Markdown says them: references decoded, runs of white space made one space, control characters and
 * invisible ones left out, and a backslash before what Markdown would take for a sign. Only where it would: names
 * like `snake_case`, an asterisk between spaces and square brackets without a target stay as they are.
 */
import { decodeReferences, referenceAt } from '../../base/index.ts'
import type { Page } from './page.ts'

const PLAIN = 0
const SPACE = 1
const AMPERSAND = 2
/** Left out: control characters, and signs that only say where a line may break. */
const INVISIBLE = 3
const BACKSLASH = 4
const STAR = 5
const UNDERSCORE = 6
const BACKTICK = 7
const OPEN_SQUARE = 8
const CLOSE_SQUARE = 9
const LESS = 10
const PIPE = 11
const TILDE = 12

/** By UTF-16 unit. */
const KINDS = new Uint8Array(65_536).fill(INVISIBLE, 0, 32).fill(INVISIBLE, 127, 160)
for (const [kind, characters] of [
  [SPACE, '\t\n\f\r \u00a0\u2028\u2029'],
  [INVISIBLE, '\u00ad\u200b\u2060\ufeff'],
  [AMPERSAND, '&'],
  [BACKSLASH, '\\'],
  [STAR, '*'],
  [UNDERSCORE, '_'],
  [BACKTICK, '`'],
  [OPEN_SQUARE, '['],
  [CLOSE_SQUARE, ']'],
  [LESS, '<'],
  [PIPE, '|'],
  [TILDE, '~'],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind
}

/** What a unit is to the loop over a text: passed, passed if no space stands before it, or worth a look. */
const PASSED = 0
const SINGLE_SPACE = 1
const STOPS = 2
const STEPS = KINDS.map((kind) => (kind === PLAIN ? PASSED : STOPS))
STEPS[32] = SINGLE_SPACE

/** Whether a unit stands for itself, wherever it stands. */
export function isPlainUnit(unit: number): boolean {
  return KINDS[unit] === PLAIN
}

/** Whether a unit is white space, of which one space is left. */
export function isWhite(unit: number): boolean {
  return KINDS[unit] === SPACE
}

/**
 * The units from `from` to `to`, which neither begin nor end with white space; `unitBefore` is what was written before
 * them. Whether the last one is a sign depends on what is written next: a bracket that would make a link, or what would
 * make a tag, is the caller's part.
 */
export function escapeProse(
  page: Page,
  from: number,
  to: number,
  inLink: boolean,
  inCell: boolean,
  unitBefore: number,
): string {
  const { html, units } = page
  let out = ''
  let copied = from
  for (let at = from; ;) {
    // Where the next word ends cannot be foreseen, so a single space is passed over without a branch.
    let step = PASSED
    for (let before = PASSED; at < to; at++, before = step) {
      step = STEPS[units[at] as number] as number
      if (((step & before) | (step & STOPS)) !== 0) break
    }
    if (at >= to) break
    const kind = KINDS[units[at] as number] as number
    if (kind === SPACE) {
      let start = at
      while (start > copied && units[start - 1] === 32) start--
      while (at < to && KINDS[units[at] as number] === SPACE) at++
      if (at - start > 1 || units[start] !== 32) {
        out += html.slice(copied, start) + ' '
        copied = at
      }
      continue
    }
    if (kind === AMPERSAND) {
      const reference = referenceAt(html, at)
      if (reference !== undefined && reference.end <= to) {
        out += html.slice(copied, at)
        out += escapeReferred(reference.text, html, reference.end, to, inLink, inCell)
        copied = at = reference.end
        continue
      }
    } else if (kind === INVISIBLE) {
      out += html.slice(copied, at)
      copied = at + 1
    } else {
      const before = at > from ? (units[at - 1] as number) : unitBefore
      const behind = at + 1 < to ? (units[at + 1] as number) : 0
      if (isSign(kind, before, behind, inLink, inCell)) {
        out += html.slice(copied, at) + '\\'
        copied = at
      }
    }
    at++
  }
  return out === '' && copied === from ? html.slice(from, to) : out + html.slice(copied, to)
}

/** Code has no signs; white space is the caller's part. */
export function readCode({ html, units }: Page, from: number, to: number): string {
  let at = from
  while (at < to && IS_DECODED[units[at] as number] === 0) at++
  const text = html.slice(from, to)
  return at === to ? text : decodeReferences(text, false).replace(UNSEEN, '')
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u2060\ufeff]/g
/** By unit: 1 where a text that holds it does not stand as it is, since it is unseen or may begin a reference. */
const IS_DECODED = Uint8Array.from({ length: 65_536 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  return character === '&' || character.replace(UNSEEN, '') === '' ? 1 : 0
})

/** The text of a reference: what it would mean unescaped is decided by what follows it. */
function escapeReferred(text: string, html: string, end: number, to: number, inLink: boolean, inCell: boolean): string {
  const unit = text.charCodeAt(0)
  const kind = KINDS[unit] as number
  if (kind === PLAIN) return text
  if (kind === SPACE) return isWhite(html.charCodeAt(end)) ? '' : ' '
  if (kind === INVISIBLE) return text.length === 1 ? '' : text
  if (kind === AMPERSAND) {
    REFERENCE_TAIL.lastIndex = end
    return REFERENCE_TAIL.test(html) ? '\\&' : '&'
  }
  return isSign(kind, 0, end < to ? html.charCodeAt(end) : 0, inLink, inCell) ? `\\${text}` : text
}

const REFERENCE_TAIL = /(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/y

/** Whether Markdown takes a unit between two others for a sign; 0 stands for one that is not known. */
function isSign(kind: number, before: number, behind: number, inLink: boolean, inCell: boolean): boolean {
  switch (kind) {
    case BACKSLASH:
      return behind === 0 || isPunctuation(behind)
    case STAR:
      return !(isWhite(before) && isWhite(behind))
    case UNDERSCORE:
      return !(isWordUnit(before) && isWordUnit(behind))
    case BACKTICK:
      return true
    case OPEN_SQUARE:
      return inLink
    case CLOSE_SQUARE:
      return inLink || behind === 40
    case LESS:
      return behind === 47 || behind === 33 || behind === 63 || isLetter(behind)
    case PIPE:
      return inCell
    case TILDE:
      // A sign that cannot end a mark does no harm as a beginning (GFM §6.5 has marks of one tilde too).
      return !isWhite(before) || behind === 126
    default:
      return false
  }
}

function isLetter(unit: number): boolean {
  const lower = unit | 32
  return lower >= 97 && lower <= 122
}

function isWordUnit(unit: number): boolean {
  return isLetter(unit) || (unit >= 48 && unit <= 57) || (unit > 160 && !isMarkdownPunctuation(unit))
}

/** What CommonMark §2.1 takes for punctuation: signs of any script, and symbols. */
export function isMarkdownPunctuation(unit: number): boolean {
  return unit < 128 ? isPunctuation(unit) : SIGN_OF_ANY_SCRIPT.test(String.fromCharCode(unit))
}

const SIGN_OF_ANY_SCRIPT = /[\p{P}\p{S}]/u

function isPunctuation(unit: number): boolean {
  return unit > 32 && unit < 127 && !isLetter(unit) && !(unit >= 48 && unit <= 57)
}

/** What would begin a heading, quotation, item, rule, underline, row of a table or link definition at the start of a line. */
const BLOCK_SIGN = /^(?:#{1,6}(?= |$)|>|[-+*](?= |$)|(?:-|=)+(?= *$)|(?=[:| ]*-)[-:|][-:| ]*$|\[[^\]\n]{1,99}\]:)/
const NUMBER_SIGN = /^(\d{1,9})([.)])(?= |$)/

/** A paragraph whose lines begin with no sign of a block. */
export function escapeLineStarts(paragraph: string): string {
  if (!paragraph.includes('\n')) return escapeLineStart(paragraph)
  return paragraph.split('\n').map(escapeLineStart).join('\n')
}

/** The words of a heading, whose end would be taken for a closing row of hashes (CommonMark §4.2). */
export function escapeHeading(text: string): string {
  return text.endsWith('#') ? text.replace(/(^| )(#+)$/, '$1\\$2') : text
}

/** Whether a line begins with a letter, and so with no sign of a block. */
export function beginsPlainly(line: string): boolean {
  const unit = line.charCodeAt(0)
  return isLetter(unit) || unit > 127
}

function escapeLineStart(line: string): string {
  if (beginsPlainly(line)) return line
  const unit = line.charCodeAt(0)
  if (unit >= 48 && unit <= 57) return line.replace(NUMBER_SIGN, '$1\\$2')
  return BLOCK_SIGN.test(line) ? `\\${line}` : line
}
