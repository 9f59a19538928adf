/**
 * One pass over a page that finds its element structure: which tag opens what, where it closes, how much text lies
 * before. It keeps every element properly nested, no deeper than MAX_DEPTH, whatever the tags say, in time linear in
 * the text: each end tag looks back over at most MAX_DEPTH open elements. It is no HTML5 tree builder; it follows
 * the standard's implied end tags (HTML §13.2.6.4.7) so far as they change where text belongs.
 */
import { LIMITS, type LimitName } from '../../model/index.ts'
import { NO_ATTRIBUTES, findTagEnd, isSpace, readAttributes, type Attributes } from './attributes.ts'
import { BLOCK, BOUNDARY, ELEMENTS, HARD_JUNK, RAW, SOFT_JUNK, VOID, elementNamed, idsOf } from './elements.ts'
import type { ElementKind, ElementSet } from './elements.ts'
import { isFurniture, isNamedContent, isTitledSidebar } from './furniture.ts'
import { endOfDeclaration, endOfRawText, endsTagName, isLetter } from './markup.ts'
import { pageOf } from './page.ts'
import {
  ATTRIBUTES,
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
const LESS = 60
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

/** The tape of a page with at most this many events is kept for the next page; a longer one is not. */
const KEPT_EVENTS = 1 << 16
let keptTape = new Int32Array(STRIDE * 4096)
/** The elements that are open, outermost first: their ids and events. */
const stackIds = new Int32Array(MAX_DEPTH)
const stackEvents = new Int32Array(MAX_DEPTH)
/** By id: how many are open, and how many were opened too deep. */
const openCounts = new Int32Array(ELEMENTS.length)
const excess = new Int32Array(ELEMENTS.length)

/** The outline lasts until the next page is read. */
export function outlinePage(html: string): Outline {
  const page = pageOf(html)
  const { units } = page
  const length = html.length
  let tape = keptTape
  let count = 0
  let text = 0
  let contentText = 0
  let end = length
  let base: string | undefined
  /** How many elements are open. */
  let opened = 0
  openCounts.fill(0)
  excess.fill(0)
  let hardDepth = 0
  let softDepth = 0
  let inSvg = 0
  let isTooDeep = false
  const attributesRead: Attributes[] = []
  const candidates: number[] = []
  const headings: number[] = []

  const emit = (start: number, tagEnd: number, element: number, partner: number, flags: number): number => {
    const at = count * STRIDE
    // There is always room for one event more.
    if (at + 2 * STRIDE > tape.length) {
      const larger = new Int32Array(tape.length * 2)
      larger.set(tape)
      tape = larger
      if (tape.length <= KEPT_EVENTS * STRIDE) keptTape = tape
    }
    tape[at] = start
    tape[at + END] = tagEnd
    tape[at + ELEMENT] = element
    tape[at + PARTNER] = partner
    tape[at + FLAGS] = flags
    tape[at + TEXT] = text
    tape[at + CONTENT_TEXT] = contentText
    tape[at + ATTRIBUTES] = 0
    return count++
  }
  const flagsAt = (event: number): number => tape[event * STRIDE + FLAGS] as number
  const addFlag = (event: number, flag: number): void => {
    tape[event * STRIDE + FLAGS] = flagsAt(event) | flag
  }

  const pop = (start: number, tagEnd: number): void => {
    opened--
    const id = stackIds[opened] as number
    const opening = stackEvents[opened] as number
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
    for (let implied = opened - depth - 1; implied > 0; implied--) pop(start, start)
    pop(start, tagEnd)
  }
  /** Ends the nearest open element of `ids`, if nothing but inline elements and `through` lies above it. */
  const imply = (ids: ElementSet, through: ElementSet | undefined, start: number): void => {
    for (let depth = opened - 1; depth >= 0; depth--) {
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
      for (let depth = opened - 1; depth >= 0; depth--) {
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
    if (opened >= MAX_DEPTH) {
      excess[id] = (excess[id] as number) + 1
      isTooDeep = true
      emit(start, tagEnd, 0, 0, 0)
      return
    }
    let eventFlags = (flags & SOFT_JUNK) === 0 ? 0 : IS_FURNITURE
    let attributes = NO_ATTRIBUTES
    if (REGIONS.has(id)) {
      const name = element.name
      const nameEnd = start + 1 + name.length
      if (tagEnd - nameEnd > 1) attributes = readAttributes(page, nameEnd, tagEnd)
      if (name === 'main' || attributes.role === 'main') eventFlags |= IS_MAIN
      else if (name === 'article') eventFlags |= IS_ARTICLE
      else if (attributes !== NO_ATTRIBUTES || name === 'aside') {
        if (isFurniture(name, attributes)) {
          eventFlags |= isTitledSidebar(attributes, html, tagEnd) ? IS_SIDEBAR : IS_FURNITURE
        } else if (isNamedContent(attributes)) eventFlags |= IS_NAMED_CONTENT
      }
    }
    const event = emit(start, tagEnd, id, 0, eventFlags)
    if (attributes !== NO_ATTRIBUTES) tape[event * STRIDE + ATTRIBUTES] = attributesRead.push(attributes)
    if ((eventFlags & (IS_MAIN | IS_ARTICLE | IS_NAMED_CONTENT)) !== 0) candidates.push(event)
    if (id === H1) headings.push(event)
    if (id === H1 || (eventFlags & (IS_MAIN | IS_ARTICLE)) !== 0) {
      for (let depth = 0; depth < opened; depth++) addFlag(stackEvents[depth] as number, HOLDS_MAIN)
    }
    if (openCounts[LI] !== 0 && HEADINGS.has(id)) {
      // An item that begins with a heading is a section.
      const item = stackIds.lastIndexOf(LI, opened - 1)
      const list = stackIds.lastIndexOf(UL, item)
      if (list > stackIds.lastIndexOf(OL, item) && tape[(stackEvents[item] as number) * STRIDE + TEXT] === text) {
        addFlag(stackEvents[list] as number, IS_LAYOUT)
      }
    }
    if (openCounts[TABLE] !== 0 && (id === TABLE || HEADINGS.has(id))) {
      addFlag(stackEvents[stackIds.lastIndexOf(TABLE, opened - 1)] as number, IS_LAYOUT)
    }
    stackIds[opened] = id
    stackEvents[opened] = event
    opened++
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
      for (let depth = opened - 1; depth >= 0; depth--) {
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
    while (at < to && isSpace(units[at] as number)) at++
    text += to - at
    if (softDepth === 0) contentText += to - at
  }

  /** The next `<` from a place on; -1 for none. Most text between two tags is short: a loop is there before a call is. */
  const findLess = (from: number): number => {
    const near = Math.min(from + 32, length)
    for (let place = from; place < near; place++) if (units[place] === LESS) return place
    return html.indexOf('<', near)
  }

  let textStart = 0
  let at = findLess(0)
  for (; at >= 0;) {
    if (count >= MAX_TAGS) break
    const next = units[at + 1] as number
    const closing = next === 47
    const nameStart = closing ? at + 2 : at + 1
    let tagEnd: number
    let element: ElementKind | undefined
    if (isLetter(units[nameStart] as number)) {
      let nameEnd = nameStart + 1
      while (nameEnd < length && !endsTagName(units[nameEnd] as number)) nameEnd++
      tagEnd = units[nameEnd] === 62 ? nameEnd + 1 : findTagEnd(page, nameEnd)
      // A tag that the page never ends swallows the rest, as in a browser.
      if (tagEnd < 0) tagEnd = length
      element = elementNamed(units, nameStart, nameEnd)
    } else if (next === 33 || next === 63 || closing) {
      tagEnd = endOfDeclaration(html, at)
    } else {
      at = findLess(at + 1)
      continue
    }
    countText(textStart, at)
    if (element === undefined) emit(at, tagEnd, 0, 0, 0)
    else if (closing) {
      // </br> begins a line, as <br> does (HTML §13.2.6.4.7).
      if (element.name === 'br') open(element, at, tagEnd)
      else close(element, at, tagEnd)
    } else {
      if (element.name === 'base') base ??= readAttributes(page, at + 5, tagEnd).href
      if ((element.flags & RAW) !== 0 && inSvg === 0) {
        // Never content, so the whole element is one event, and its text is nobody's.
        tagEnd = endOfRawText(page, tagEnd, element.name)
        emit(at, tagEnd, 0, 0, 0)
      } else if (inSvg !== 0 && units[tagEnd - 2] === 47) emit(at, tagEnd, 0, 0, 0)
      else open(element, at, tagEnd)
    }
    textStart = tagEnd
    at = findLess(tagEnd)
  }
  if (count >= MAX_TAGS) end = textStart
  countText(textStart, end)
  for (let left = opened; left > 0; left--) pop(end, end)
  // What lies behind the last event is empty, not what another page left there.
  tape.fill(0, count * STRIDE, (count + 1) * STRIDE)
  const limits: LimitName[] = isTooDeep ? ['nesting'] : []
  if (count >= MAX_TAGS) limits.push('tags')
  return {
    page,
    html,
    tape,
    attributes: attributesRead,
    count,
    text,
    contentText,
    end,
    base,
    candidates,
    headings,
    limits,
  }
}
