/**
 * Whether Markdown's signs of emphasis hold around an element. They do not where a sign would stand between a letter and
 * punctuation (CommonMark §6.2): `(*a*)` is fine, `a*(b)*c` is not, and scripts without spaces have it often. Told from
 * the page's own text, a few tags around the element's edges; where that is not enough, signs are believed to hold.
 */
import { referenceAt } from '../../base/index.ts'
import { BLOCK, ELEMENTS, idsOf } from './elements.ts'
import { ELEMENT, END, PARTNER, START, STRIDE, type Outline } from './outline.ts'
import { isMarkdownPunctuation, isWhite } from './prose.ts'

/** Tags between an edge and the next text; more are not looked at. */
const MAX_TAGS = 6
/** The longest name of a character in wide use, with its signs. */
const MAX_REFERENCE = 12

const WHITE = 0
const PUNCTUATION = 1
const WORD = 2

/** Elements that are written with a sign at their edges. */
const SIGNED = idsOf('a', 'code', 'img', 'kbd', 'math', 'q', 'samp', 'sub', 'sup', 'tt', 'var')
const BREAK = idsOf('br')
const CODE = idsOf('code', 'kbd', 'samp', 'tt', 'var')

export function signsHold(outline: Outline, event: number): boolean {
  const last = outline.tape[event * STRIDE + PARTNER] as number
  if (kindBefore(outline, event) === WORD && kindBehind(outline, event) === PUNCTUATION) return false
  return !(kindBefore(outline, last) === PUNCTUATION && kindBehind(outline, last) === WORD)
}

/** Whether an element is nothing but one piece of code, which is mark enough. */
export function isCodeAlone({ tape }: Outline, event: number): boolean {
  const next = (event + 1) * STRIDE
  const last = (tape[event * STRIDE + PARTNER] as number) * STRIDE
  return (
    CODE.has(tape[next + ELEMENT] as number) &&
    tape[next] === tape[event * STRIDE + END] &&
    (tape[next + PARTNER] as number) * STRIDE === last - STRIDE &&
    tape[last - STRIDE + END] === tape[last]
  )
}

/** What stands before the tag of an event. */
function kindBefore({ html, tape }: Outline, event: number): number {
  for (let at = event, left = MAX_TAGS; left > 0; left--) {
    const start = tape[at * STRIDE + START] as number
    if (at === 0) return start === 0 ? WHITE : kindEndingAt(html, start)
    if ((tape[(at - 1) * STRIDE + END] as number) < start) return kindEndingAt(html, start)
    at--
    const kind = kindOfTag(tape[at * STRIDE + ELEMENT] as number)
    if (kind !== undefined) return kind
  }
  return WHITE
}

/** What stands behind the tag of an event. */
function kindBehind({ html, tape, count }: Outline, event: number): number {
  for (let at = event, left = MAX_TAGS; left > 0; left--) {
    const end = tape[at * STRIDE + END] as number
    if (at + 1 >= count || (tape[(at + 1) * STRIDE + START] as number) > end) return kindBeginningAt(html, end)
    at++
    const kind = kindOfTag(tape[at * STRIDE + ELEMENT] as number)
    if (kind !== undefined) return kind
  }
  return WHITE
}

/** Undefined for a tag that leaves no trace, or whose sign joins this one. */
function kindOfTag(id: number): number | undefined {
  const { id: element, flags } = ELEMENTS[Math.abs(id)] as (typeof ELEMENTS)[number]
  if (SIGNED.has(element)) return PUNCTUATION
  return (flags & BLOCK) !== 0 || BREAK.has(element) ? WHITE : undefined
}

function kindBeginningAt(html: string, at: number): number {
  if (html[at] !== '&') return kindOf(html.charCodeAt(at))
  return kindOf((referenceAt(html, at)?.text ?? '&').charCodeAt(0))
}

function kindEndingAt(html: string, end: number): number {
  if (html[end - 1] === ';') {
    const begin = html.slice(Math.max(0, end - MAX_REFERENCE), end).lastIndexOf('&')
    const reference = begin < 0 ? undefined : referenceAt(html, Math.max(0, end - MAX_REFERENCE) + begin)
    if (reference?.end === end) return kindOf(reference.text.charCodeAt(reference.text.length - 1))
  }
  return kindOf(html.charCodeAt(end - 1))
}

function kindOf(unit: number): number {
  if (Number.isNaN(unit) || isWhite(unit)) return WHITE
  return isMarkdownPunctuation(unit) ? PUNCTUATION : WORD
}
