/**
 * One pass over a page that finds its element structure: which tag opens what, where it closes, how much text lies
 * before. It keeps every element properly nested, no deeper than MAX_DEPTH, whatever the tags say, in time linear in
 * the text: each end tag looks back over at most MAX_DEPTH open elements. It is no HTML5 tree builder; it follows
 * the standard's implied end tags (HTML §13.2.6.4.7) so far as they change where text belongs.
 */
import { LIMITS, type LimitName } from '../../model/index.ts'
import { NO_ATTRIBUTES, findTagEnd, isSpace, readAttributes } from './attributes.ts'
import { BLOCK, BOUNDARY, ELEMENTS, HARD_JUNK, RAW, SOFT_JUNK, VOID, elementNamed, idsOf } from './elements.ts'
import type { ElementKind } from './elements.ts'
import { isFurniture, isNamedContent, isTitledSidebar } from './furniture.ts'
import { endOfDeclaration, endOfRawText, endsTagName, isLetter } from './markup.ts'
import {
  CONTENT_TEXT,
  ELEMENT,
  END,
  FLAGS,
  HOLDS_MAIN,
  IS_ARTICLE,
  IS_FURNITURE,
  IS_LAYOUT,
  IS_MAIN,
  IS_NAMED_CONTENT,
  IS_SIDEBAR,
  PARTNER,
  STRIDE,
  TEXT,
  type Outline,
} from './outline.ts'

/** Deeper elements are transparent. Browsers stop at 512; real pages stay under 60. */
export const MAX_DEPTH = LIMITS.nesting.value
/** Whatever follows this many tags is left unread; a page of 10 MB has about 300,000. */
export const MAX_TAGS = LIMITS.tags.value

const ID = Object.fromEntries(ELEMENTS.map((element) => [element.name, element.id])) as Record<string, number>
/** By id, for the loops over what is open. */
const FLAGS_BY_ID = Int32Array.from(ELEMENTS, (element) => element.flags)
const P = ID['p'] as number
const TABLE = ID['table'] as number
const SVG = ID['svg'] as number
const H1 = ID['h1'] as number
const UL = ID['ul'] as number
const OL = ID['ol'] as number
const LI = ID['li'] as number
const LIST_ITEMS = idsOf('li')
const DEFINITIONS = idsOf('dt', 'dd')
const ROWS = idsOf('tr')
const CELLS = idsOf('td', 'th')
const ROW_GROUPS = idsOf('thead', 'tbody', 'tfoot', 'caption')
const TABLE_PARTS = idsOf('table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption')
const HEADINGS = idsOf('h1', 'h2', 'h3', 'h4', 'h5', 'h6')
const LINKS = idsOf('a')
const PARAGRAPH = idsOf('p')
/** A list item's implied end tag is found through these, and no other block. */
const THROUGH = idsOf('div', 'p', 'address')
/** What may hold the main content, and what may be furniture by its attributes. */
const REGIONS = idsOf(
  'address',
  'div',
  'section',
  'main',
  'article',
  'td',
  'form',
  'aside',
  'header',
  'table',
  'ul',
  'ol',
  'p',
  'dl',
)

export function outlinePage(html: string): Outline {
  const length = html.length
  let tape = new Int32Array(STRIDE * Math.max(256, length >> 5))
  let count = 0
  let text = 0
  let contentText = 0
  let end = length
  let base: string | undefined
  /** Open elements: ids and event indexes. */
  const stackIds: number[] = []
  const stackEvents: number[] = []
  const openCounts = new Int32Array(ELEMENTS.length)
  const excess = new Int32Array(ELEMENTS.length)
  let hardDepth = 0
  let softDepth = 0
  let inSvg = 0
  let isTooDeep = false
  const candidates: number[] = []
  const headings: number[] = []

  const emit = (start: number, tagEnd: number, element: number, partner: number, flags: number): number => {
    const at = count * STRIDE
    if (at + STRIDE > tape.length) {
      const larger = new Int32Array(tape.length * 2)
      larger.set(tape)
      tape = larger
    }
    tape[at] = start
    tape[at + END] = tagEnd
    tape[at + ELEMENT] = element
    tape[at + PARTNER] = partner
    tape[at + FLAGS] = flags
    tape[at + TEXT] = text
    tape[at + CONTENT_TEXT] = contentText
    return count++
  }
  const flagsAt = (event: number): number => tape[event * STRIDE + FLAGS] as number

  const pop = (start: number, tagEnd: number): void => {
    const id = stackIds.pop() as number
    const opening = stackEvents.pop() as number
    openCounts[id] = (openCounts[id] as number) - 1
    const flags = FLAGS_BY_ID[id] as number
    if ((flags & HARD_JUNK) !== 0) hardDepth--
    if ((flagsAt(opening) & IS_FURNITURE) !== 0) softDepth--
    if (id === SVG) inSvg--
    const closing = emit(start, tagEnd, -id, opening, 0)
    // Only now: the tape may have grown, and moved, meanwhile.
    tape[opening * STRIDE + PARTNER] = closing
  }
  /** Pops down to the open element at `depth`, which the tag at start ends; what lies above ends by implication. */
  const popTo = (depth: number, start: number, tagEnd: number): void => {
    while (stackIds.length > depth + 1) pop(start, start)
    pop(start, tagEnd)
  }
  /** Ends the nearest open element of `ids`, if nothing but inline elements and `through` lies above it. */
  const imply = (ids: ReadonlySet<number>, through: ReadonlySet<number> | undefined, start: number): void => {
    for (let depth = stackIds.length - 1; depth >= 0; depth--) {
      const id = stackIds[depth] as number
      if (ids.has(id)) return popTo(depth, start, start)
      if (((FLAGS_BY_ID[id] as number) & BLOCK) !== 0 && through?.has(id) !== true) return
    }
  }
  const impliedEnds = (element: ElementKind, start: number): void => {
    const { id, flags } = element
    if (LINKS.has(id)) return imply(LINKS, undefined, start)
    if ((flags & BLOCK) === 0) return
    if (LIST_ITEMS.has(id)) imply(LIST_ITEMS, THROUGH, start)
    else if (DEFINITIONS.has(id)) imply(DEFINITIONS, THROUGH, start)
    else if (TABLE_PARTS.has(id) && id !== TABLE) {
      // Everything in a cell ends with it, so the search passes all but the table itself.
      const ends = CELLS.has(id) ? CELLS : ROWS.has(id) ? ROWS : ROW_GROUPS
      for (let depth = stackIds.length - 1; depth >= 0; depth--) {
        const open = stackIds[depth] as number
        if (open === TABLE) return
        if (ends.has(open)) return popTo(depth, start, start)
        if (ends === CELLS && ROWS.has(open)) return
      }
      return
    }
    if (openCounts[P] !== 0) imply(PARAGRAPH, undefined, start)
    if (HEADINGS.has(id)) imply(HEADINGS, undefined, start)
  }

  const open = (element: ElementKind, start: number, tagEnd: number): void => {
    const { id, flags } = element
    if ((flags & VOID) !== 0) {
      if ((flags & BLOCK) !== 0) impliedEnds(element, start)
      emit(start, tagEnd, id, count, 0)
      return
    }
    impliedEnds(element, start)
    if (stackIds.length >= MAX_DEPTH) {
      excess[id] = (excess[id] as number) + 1
      isTooDeep = true
      emit(start, tagEnd, 0, 0, 0)
      return
    }
    let eventFlags = (flags & SOFT_JUNK) === 0 ? 0 : IS_FURNITURE
    if (REGIONS.has(id)) {
      const name = element.name
      const nameEnd = start + 1 + name.length
      const attributes = tagEnd - nameEnd > 1 ? readAttributes(html, nameEnd, tagEnd) : NO_ATTRIBUTES
      if (name === 'main' || attributes.role === 'main') eventFlags |= IS_MAIN
      else if (name === 'article') eventFlags |= IS_ARTICLE
      else if (attributes !== NO_ATTRIBUTES || name === 'aside') {
        if (isFurniture(name, attributes)) {
          eventFlags |= isTitledSidebar(attributes, html, tagEnd) ? IS_SIDEBAR : IS_FURNITURE
        } else if (isNamedContent(attributes)) eventFlags |= IS_NAMED_CONTENT
      }
    }
    const event = emit(start, tagEnd, id, 0, eventFlags)
    if ((eventFlags & (IS_MAIN | IS_ARTICLE | IS_NAMED_CONTENT)) !== 0) candidates.push(event)
    if (id === H1) headings.push(event)
    if (id === H1 || (eventFlags & (IS_MAIN | IS_ARTICLE)) !== 0) {
      for (const outer of stackEvents) tape[outer * STRIDE + FLAGS] = flagsAt(outer) | HOLDS_MAIN
    }
    if (openCounts[LI] !== 0 && HEADINGS.has(id)) {
      // An item that begins with a heading is a section.
      const item = stackIds.lastIndexOf(LI)
      const list = stackIds.lastIndexOf(UL, item)
      if (list > stackIds.lastIndexOf(OL, item) && tape[(stackEvents[item] as number) * STRIDE + TEXT] === text) {
        const outer = stackEvents[list] as number
        tape[outer * STRIDE + FLAGS] = flagsAt(outer) | IS_LAYOUT
      }
    }
    if (openCounts[TABLE] !== 0 && (id === TABLE || HEADINGS.has(id))) {
      const table = stackEvents[stackIds.lastIndexOf(TABLE)] as number
      tape[table * STRIDE + FLAGS] = flagsAt(table) | IS_LAYOUT
    }
    stackIds.push(id)
    stackEvents.push(event)
    openCounts[id] = (openCounts[id] as number) + 1
    if ((flags & HARD_JUNK) !== 0) hardDepth++
    if ((eventFlags & IS_FURNITURE) !== 0) softDepth++
    if (id === SVG) inSvg++
  }

  const close = (element: ElementKind, start: number, tagEnd: number): void => {
    const { id, flags } = element
    if (excess[id] !== 0) excess[id] = (excess[id] as number) - 1
    else if (openCounts[id] !== 0 || HEADINGS.has(id)) {
      const inline = (flags & BLOCK) === 0 || id === P
      const tablePart = TABLE_PARTS.has(id)
      const isHeading = HEADINGS.has(id)
      for (let depth = stackIds.length - 1; depth >= 0; depth--) {
        const candidate = stackIds[depth] as number
        if (candidate === id || (isHeading && HEADINGS.has(candidate))) return popTo(depth, start, tagEnd)
        const candidateFlags = FLAGS_BY_ID[candidate] as number
        if (inline && (candidateFlags & BLOCK) !== 0) break
        if (tablePart ? candidate === TABLE : (candidateFlags & BOUNDARY) !== 0) break
      }
    }
    emit(start, tagEnd, 0, 0, 0)
  }

  const countText = (from: number, to: number): void => {
    if (hardDepth !== 0) return
    let at = from
    while (at < to && isSpace(html.charCodeAt(at))) at++
    text += to - at
    if (softDepth === 0) contentText += to - at
  }

  let textStart = 0
  let at = html.indexOf('<')
  for (; at >= 0;) {
    if (count >= MAX_TAGS) break
    const next = html.charCodeAt(at + 1)
    const closing = next === 47
    const nameStart = closing ? at + 2 : at + 1
    let tagEnd: number
    let element: ElementKind | undefined
    if (isLetter(html.charCodeAt(nameStart))) {
      let nameEnd = nameStart + 1
      while (nameEnd < length && !endsTagName(html.charCodeAt(nameEnd))) nameEnd++
      tagEnd = html.charCodeAt(nameEnd) === 62 ? nameEnd + 1 : findTagEnd(html, nameEnd)
      // A tag that the page never ends swallows the rest, as in a browser.
      if (tagEnd < 0) tagEnd = length
      // The longest name in the table has ten letters; a longer one need not be cut out.
      element = nameEnd - nameStart <= 10 ? elementNamed(html.slice(nameStart, nameEnd)) : undefined
    } else if (next === 33 || next === 63 || closing) {
      tagEnd = endOfDeclaration(html, at)
    } else {
      at = html.indexOf('<', at + 1)
      continue
    }
    countText(textStart, at)
    if (element === undefined) emit(at, tagEnd, 0, 0, 0)
    else if (closing) {
      // </br> begins a line, as <br> does (HTML §13.2.6.4.7).
      if (element.name === 'br') open(element, at, tagEnd)
      else close(element, at, tagEnd)
    } else {
      if (element.name === 'base') base ??= readAttributes(html, at + 5, tagEnd).href
      if ((element.flags & RAW) !== 0 && inSvg === 0) {
        // Never content, so the whole element is one event, and its text is nobody's.
        tagEnd = endOfRawText(html, tagEnd, element.name)
        emit(at, tagEnd, 0, 0, 0)
      } else if (inSvg !== 0 && html.charCodeAt(tagEnd - 2) === 47) emit(at, tagEnd, 0, 0, 0)
      else open(element, at, tagEnd)
    }
    textStart = tagEnd
    at = html.indexOf('<', tagEnd)
  }
  if (count >= MAX_TAGS) end = textStart
  countText(textStart, end)
  while (stackIds.length > 0) pop(end, end)
  const limits: LimitName[] = isTooDeep ? ['nesting'] : []
  if (count >= MAX_TAGS) limits.push('tags')
  return { html, tape, count, text, contentText, end, base, candidates, headings, limits }
}
