/**
 * The words of Markdown without its signs and without link targets: what two copies of a text share, however they
 * are linked. Works on the text's code units, in place and in linear time: what is left is never longer.
 *
 * What is linked stands between two marks, which are white space and so part of no word. The second is there twice where
 * the link leads to the page's own place, three times where it leads below the page; the first twice before an image.
 */
import { codeUnitsOf, textOfUnits } from './code-units.ts'
import { leadsTo, type Place } from './place.ts'

export const LINK_BEGIN = 0x0b
export const LINK_END = 0x0c

/** `place` is that of the page. */
export function plainText(markdown: string, place: Place): string {
  const units = codeUnitsOf(markdown)
  let end = dropSigns(units, dropTargets(markdown, units, place))
  let begin = 0
  while (begin < end && isBlank(units[begin] as number)) begin++
  while (end > begin && isBlank(units[end - 1] as number)) end--
  return textOfUnits(units.subarray(begin), end - begin)
}

/** White space, unless it is a mark. */
function isBlank(unit: number): boolean {
  return has(WHITE_SPACE, unit) && unit !== LINK_BEGIN && unit !== LINK_END
}

const TAB = 9
const NEWLINE = 10
const SPACE = 32
const BANG = 33
const HASH = 35
const CLOSE_ROUND = 41
const STAR = 42
const PLUS = 43
const MINUS = 45
const DOT = 46
const SLASH = 47
const LESS = 60
const GREATER = 62
const OPEN_SQUARE = 91
const BACKSLASH = 92
const CLOSE_SQUARE = 93
const BACKTICK = 96
const SMALL_B = 98
const SMALL_A = 97
const SMALL_Z = 122
const PIPE = 124
const TILDE = 126

/** Tags that stand in Markdown for what it has no sign for. */
const TAGS: ReadonlySet<string> = new Set(['br', 'sub', 'sup', 'em', 'strong', 'del'])
const MAX_TAG_NAME = 6

/** Markdown's own limits for a heading and for a numbered item (CommonMark §4.2, §5.2). */
const MAX_HASHES = 6
const MAX_DIGITS = 9

/** Of what is linked, as far as its beginning is looked for. */
const MAX_LINK_UNITS = 512

/** Facts about each unit. */
const WHITE_SPACE = 1
const LINE_END = 2
/** Ends a target that is not in angle brackets. */
const ENDS_TARGET = 4
const PUNCTUATION = 8
/** May be a sign within a line, or the end of the line or the text. */
const INTERRUPTS = 16
const FACTS = new Uint8Array(65_536)
mark(WHITE_SPACE | ENDS_TARGET, '\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff')
mark(WHITE_SPACE | ENDS_TARGET, '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a')
mark(LINE_END, '\n\r\u2028\u2029')
mark(ENDS_TARGET, '()<>')
mark(PUNCTUATION, '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~')
mark(INTERRUPTS, '*`[]\\!~<|\n\r\u2028\u2029\0')

function mark(fact: number, characters: string): void {
  for (const character of characters) {
    const unit = character.charCodeAt(0)
    FACTS[unit] = (FACTS[unit] as number) | fact
  }
}

function has(fact: number, unit: number): boolean {
  return ((FACTS[unit] as number) & fact) !== 0
}

/** Puts marks in the places of the bracket before a link and of its `](target)`, and returns the length that is left. */
function dropTargets(markdown: string, units: Uint16Array, place: Place): number {
  const { length } = markdown
  let kept = 0
  let copied = 0
  for (let at = markdown.indexOf(']('); at >= 0;) {
    const end = behindTarget(units, at + 2, length)
    if (end > 0) {
      units.copyWithin(kept, copied, at)
      kept += at - copied
      if (markBegin(units, kept)) {
        const target = units[at + 2] === LESS ? at + 3 : at + 2
        for (let marks = leadsTo(place, markdown, target, end); marks >= 0; marks--) units[kept++] = LINK_END
      } else units[kept++] = SPACE
      copied = end
    }
    at = markdown.indexOf('](', end || at + 2)
  }
  units.copyWithin(kept, copied, length)
  kept += length - copied
  units[kept] = 0
  return kept
}

/** Marks where the text that ends here begins to be linked, or to name an image. False if no bracket opens it. */
function markBegin(units: Uint16Array, end: number): boolean {
  let closed = 0
  for (let at = end - 1; at >= Math.max(0, end - MAX_LINK_UNITS); at--) {
    const unit = units[at]
    if ((unit !== OPEN_SQUARE && unit !== CLOSE_SQUARE) || units[at - 1] === BACKSLASH) continue
    if (unit === CLOSE_SQUARE) closed++
    else if (closed > 0) closed--
    else {
      units[at] = LINK_BEGIN
      if (units[at - 1] === BANG && units[at - 2] !== BACKSLASH) units[at - 1] = LINK_BEGIN
      return true
    }
  }
  return false
}

/** Just behind the bracket that closes a target; the target is in angle brackets or has no spaces. 0 for none. */
function behindTarget(units: Uint16Array, from: number, length: number): number {
  let at = from
  if (units[at] === LESS) {
    at++
    while (at < length && units[at] !== LESS && units[at] !== GREATER && units[at] !== NEWLINE) at++
    if (at >= length || units[at] !== GREATER) return 0
    at++
  } else while (at < length && !has(ENDS_TARGET, units[at] as number)) at++
  return at < length && units[at] === CLOSE_ROUND ? at + 1 : 0
}

/** Drops the signs that begin a line and those within, and returns the length that is left. */
function dropSigns(units: Uint16Array, length: number): number {
  let kept = 0
  let at = 0
  while (at < length) {
    at = behindTableRule(units, at, length) || behindLineSigns(units, at, length)
    for (let inLine = true; inLine && at < length;) {
      // The zero behind the text interrupts.
      let unit = units[at] as number
      while (((FACTS[unit] as number) & INTERRUPTS) === 0) {
        units[kept++] = unit
        unit = units[++at] as number
      }
      if (at >= length) break
      if (unit === PIPE && kept > 0 && units[at - 1] === SPACE && units[kept - 1] === SPACE) {
        // The space before it goes with it, if it is still there.
        kept--
        at++
        continue
      }
      if (unit === BACKSLASH && has(PUNCTUATION, units[at + 1] as number)) {
        // What stands behind it is no sign.
        units[kept++] = units[at + 1] as number
        at += 2
        continue
      }
      const dropped = signLength(units, at)
      if (setsApart(units, at, unit, dropped)) {
        units[kept++] = SPACE
        at += Math.max(1, dropped)
        continue
      }
      if (dropped === 0) {
        units[kept++] = unit
        inLine = !has(LINE_END, unit)
        at++
      } else at += dropped
    }
  }
  return kept
}

/** Whether what stands on both sides are two words: a break, a bracket, an asterisk between letters. */
function setsApart(units: Uint16Array, at: number, unit: number, dropped: number): boolean {
  if (unit === LESS) return dropped > 0 && units[at + 1] === SMALL_B
  if (unit === OPEN_SQUARE || unit === CLOSE_SQUARE) return true
  return unit === STAR && at > 0 && isWordUnit(units[at - 1] as number) && isWordUnit(units[at + 1] as number)
}

/** The length of a sign; 0 where it is none. */
function signLength(units: Uint16Array, at: number): number {
  const next = units[at + 1] as number
  switch (units[at] as number) {
    case STAR:
    case BACKTICK:
      return 1
    case BANG:
      return next === OPEN_SQUARE ? 2 : 0
    case TILDE:
      return next === TILDE ? 2 : 0
    case LESS:
      return tagLength(units, at)
    default:
      return 0
  }
}

/** The length of one of the tags that Markdown has no sign for; any other is a word of the page, such as `<stdin>`. */
function tagLength(units: Uint16Array, start: number): number {
  const nameStart = units[start + 1] === SLASH ? start + 2 : start + 1
  let at = nameStart
  while (at - nameStart <= MAX_TAG_NAME && isSmallLetter(units[at] as number)) at++
  if (units[at] !== GREATER || !TAGS.has(String.fromCharCode(...units.subarray(nameStart, at)))) return 0
  return at + 1 - start
}

/** The end of a line that sets a table's head apart from its rows, `| --- | --- |`; 0 for any other line. */
function behindTableRule(units: Uint16Array, start: number, length: number): number {
  if (units[start] !== PIPE) return 0
  let at = start + 1
  while (
    units[at] === SPACE &&
    units[at + 1] === MINUS &&
    units[at + 2] === MINUS &&
    units[at + 3] === MINUS &&
    units[at + 4] === SPACE &&
    units[at + 5] === PIPE
  ) {
    at += 6
  }
  return at > start + 1 && isLineEnd(units, at, length) ? at : 0
}

/** Behind the marks of quotations, headings, items, fences, rules and table rows, with the space before; else `start`. */
function behindLineSigns(units: Uint16Array, start: number, length: number): number {
  let from = start
  while (units[from] === SPACE || units[from] === TAB) from++
  let at = from
  let next = behindLineSign(units, at, length)
  while (next > at) {
    // What follows in a row of a table is a cell, whatever it looks like.
    const isRow = units[at] === PIPE
    at = next
    if (!isRow) next = behindLineSign(units, at, length)
  }
  return at === from ? start : at
}

function behindLineSign(units: Uint16Array, start: number, length: number): number {
  const first = units[start] as number
  const next = units[start + 1] as number
  switch (first) {
    case GREATER:
      return next === SPACE || next === TAB ? start + 2 : start + 1
    case MINUS:
      if (next === MINUS && units[start + 2] === MINUS && isLineEnd(units, start + 3, length)) return start + 3
      return next === SPACE ? start + 2 : start
    case STAR:
    case PLUS:
    case PIPE:
      return next === SPACE ? start + 2 : start
    case HASH:
      return behindHashes(units, start)
    case BACKTICK:
      return behindFence(units, start, length)
    default:
      return isDigit(first) ? behindNumber(units, start) : start
  }
}

function behindHashes(units: Uint16Array, start: number): number {
  let at = start
  while (at - start < MAX_HASHES && units[at] === HASH) at++
  return units[at] === SPACE ? at + 1 : start
}

function behindNumber(units: Uint16Array, start: number): number {
  let at = start
  while (at - start < MAX_DIGITS && isDigit(units[at] as number)) at++
  return units[at] === DOT && units[at + 1] === SPACE ? at + 2 : start
}

/** A fence with its language fills its line. */
function behindFence(units: Uint16Array, start: number, length: number): number {
  if (units[start + 1] !== BACKTICK || units[start + 2] !== BACKTICK) return start
  let at = start + 3
  while (at < length && !has(WHITE_SPACE, units[at] as number)) at++
  return isLineEnd(units, at, length) ? at : start
}

function isLineEnd(units: Uint16Array, at: number, length: number): boolean {
  return at >= length || has(LINE_END, units[at] as number)
}

function isSmallLetter(unit: number): boolean {
  return unit >= SMALL_A && unit <= SMALL_Z
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57
}

function isWordUnit(unit: number): boolean {
  const lower = unit | 32
  return (lower >= 97 && lower <= 122) || isDigit(unit) || unit > 160
}
