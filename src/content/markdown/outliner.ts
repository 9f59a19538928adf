/**
 * One pass over a page that finds its element structure: which tag opens what, where it closes, how much text lies
 * before. It keeps every element properly nested, no deeper than MAX_DEPTH, whatever the tags say, in time linear in
 * the text: each end tag looks back over at most MAX_DEPTH open elements. It is no HTML5 tree builder; it follows
 * the standard's implied end tags (HTML §13.2.6.4.7) so far as they change where text belongs.
 */
import { LIMITS, type LimitName } from '../../model/index.ts'
import { AttributeNotes, Attributes, findTagEnd, isSpace } from './attributes.ts'
import { BLOCK, BOUNDARY, ELEMENTS, HARD_JUNK, RAW, SOFT_JUNK, VOID, elementNamed } from './elements.ts'
import type { ElementKind } from './elements.ts'
import { isFurniture, isNamedContent, isTitledSidebar } from './furniture.ts'
import { endOfDeclaration, endOfRawText, endsTagName, isLetter } from './markup.ts'
import { NO_UNITS, hashWith } from './name-table.ts'
import { pageOf, type Page } from './page.ts'
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
const P = ID['p'] as number
const A = ID['a'] as number
const TABLE = ID['table'] as number
const SVG = ID['svg'] as number
const H1 = ID['h1'] as number
const UL = ID['ul'] as number
const OL = ID['ol'] as number
const LI = ID['li'] as number
const BR = ID['br'] as number
const BASE = ID['base'] as number
const MAIN = ID['main'] as number
const ARTICLE = ID['article'] as number
const ASIDE = ID['aside'] as number
const LESS = 60
const GREATER = 62
const SLASH = 47

/** Further facts about elements, beside the flags of all. */
const LIST_ITEM = 1 << 8
const DEFINITION = 1 << 9
const ROW = 1 << 10
const CELL = 1 << 11
const ROW_GROUP = 1 << 12
const TABLE_PART = 1 << 13
const HEADING = 1 << 14
const LINK = 1 << 15
const PARAGRAPH = 1 << 16
/** A list item's implied end tag is found through these, and no other block. */
const THROUGH = 1 << 17
/** What may hold the main content, and what may be furniture by its attributes. */
const REGION = 1 << 18

const FACTS_BY_NAME: readonly (readonly [number, string])[] = [
  [LIST_ITEM, 'li'],
  [DEFINITION, 'dt dd'],
  [ROW, 'tr'],
  [CELL, 'td th'],
  [ROW_GROUP, 'thead tbody tfoot caption'],
  [TABLE_PART, 'table thead tbody tfoot tr td th caption'],
  [HEADING, 'h1 h2 h3 h4 h5 h6'],
  [LINK, 'a'],
  [PARAGRAPH, 'p'],
  [THROUGH, 'div p address'],
  [REGION, 'address div section main article td form aside header table ul ol p dl'],
]
/** Flags and facts by id: asked many times for every tag. */
const FACTS = Int32Array.from(ELEMENTS, ({ name, flags }) =>
  FACTS_BY_NAME.reduce((facts, [fact, names]) => (names.split(' ').includes(name) ? facts | fact : facts), flags),
)

/** The names of elements by id: how long they are, and their units. */
const NAME_LENGTHS = Uint8Array.from(ELEMENTS, ({ name }) => name.length)
const NAME_STRIDE = Math.max(...NAME_LENGTHS)
const NAME_UNITS = new Uint8Array(ELEMENTS.length * NAME_STRIDE)
for (const { id, name } of ELEMENTS) NAME_UNITS.set(Buffer.from(name), id * NAME_STRIDE)

/** The tape of a page with at most this many events is kept for the next page; a longer one is not. */
const KEPT_EVENTS = 1 << 16
let keptTape = new Int32Array(STRIDE * 4096)
/** The elements that are open, outermost first: their ids and events. */
const stackIds = new Int32Array(MAX_DEPTH)
const stackEvents = new Int32Array(MAX_DEPTH)
/** By id: how many are open, and how many were opened too deep. */
const openCounts = new Int32Array(ELEMENTS.length)
const excess = new Int32Array(ELEMENTS.length)

/**
 * Where the reading of a page stands. All of it belongs to the module, since what is known to be the same for all pages
 * costs least to reach; a page is read at one go, and nothing of another meanwhile.
 */
let tape = keptTape
let count = 0
let text = 0
let contentText = 0
/** How many elements are open. */
let opened = 0
let hardDepth = 0
let softDepth = 0
let inSvg = 0
let isTooDeep = false
let candidates: number[] = []
let headings: number[] = []

/** The outline lasts until the next page is read. */
export function outlinePage(html: string): Outline {
  const page = pageOf(html)
  const notes = new AttributeNotes(page)
  const attributes = new Attributes(notes)
  tape = keptTape
  count = 0
  text = 0
  contentText = 0
  opened = 0
  hardDepth = 0
  softDepth = 0
  inSvg = 0
  isTooDeep = false
  candidates = []
  headings = []
  openCounts.fill(0)
  excess.fill(0)
  const { end, base } = readTags(page, notes, attributes)
  for (let left = opened; left > 0; left--) pop(end, end)
  // What lies behind the last event is empty, not what another page left there.
  tape.fill(0, count * STRIDE, (count + 1) * STRIDE)
  const events = tape
  // A tape that is too long to be kept is the outline's alone.
  tape = keptTape
  const limits: LimitName[] = isTooDeep ? ['nesting'] : []
  if (count >= MAX_TAGS) limits.push('tags')
  return {
    page,
    html,
    tape: events,
    attributes,
    otherAttributes: new Attributes(notes),
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

/** All tags and the text between them. Returns where the text ends, and what the first base element says. */
function readTags(
  page: Page,
  notes: AttributeNotes,
  attributes: Attributes,
): { readonly end: number; readonly base: string | undefined } {
  const { html, units } = page
  const { length } = html
  let base: string | undefined
  let textStart = 0
  let at = findLess(page, 0)
  while (at >= 0 && count < MAX_TAGS) {
    const next = units[at + 1] as number
    const closing = next === SLASH
    const nameStart = closing ? at + 2 : at + 1
    let tagEnd = closing ? endOfInnermost(units, nameStart) : 0
    if (tagEnd !== 0) {
      if (hardDepth === 0) countText(units, textStart, at)
      pop(at, tagEnd)
      textStart = tagEnd
      at = findLess(page, tagEnd)
      continue
    }
    let id = 0
    let place = 0
    if (isLetter(units[nameStart] as number)) {
      let nameEnd = nameStart
      let unit = units[nameStart] as number
      let hash = NO_UNITS
      while (nameEnd < length && (unit > GREATER || !endsTagName(unit))) {
        hash = hashWith(hash, unit)
        unit = units[++nameEnd] as number
      }
      id = elementNamed(hash, units, nameStart, nameEnd)
      if (unit === GREATER) tagEnd = nameEnd + 1
      else if (id === 0 || closing || ((FACTS[id] as number) & HARD_JUNK) !== 0) tagEnd = findTagEnd(page, nameEnd)
      else {
        tagEnd = notes.readTag(nameEnd)
        place = notes.last
      }
      // A tag that the page never ends swallows the rest, as in a browser.
      if (tagEnd < 0) tagEnd = length
    } else if (next === 33 || next === 63 || closing) {
      tagEnd = endOfDeclaration(html, at)
    } else {
      at = findLess(page, at + 1)
      continue
    }
    if (hardDepth === 0) countText(units, textStart, at)
    if (id === 0) emit(at, tagEnd, 0, 0, 0, 0)
    else if (closing) {
      // </br> begins a line, as <br> does (HTML §13.2.6.4.7).
      if (id === BR) openVoid(id, at, tagEnd, 0)
      else close(id, at, tagEnd)
    } else {
      const facts = FACTS[id] as number
      if (id === BASE) base ??= attributes.at(place).href
      if ((facts & RAW) !== 0 && inSvg === 0) {
        // Never content, so the whole element is one event, and its text is nobody's.
        tagEnd = endOfRawText(page, tagEnd, (ELEMENTS[id] as ElementKind).name)
        emit(at, tagEnd, 0, 0, 0, 0)
      } else if (inSvg !== 0 && units[tagEnd - 2] === SLASH) emit(at, tagEnd, 0, 0, 0, 0)
      else if ((facts & VOID) !== 0) openVoid(id, at, tagEnd, place)
      else open(id, at, tagEnd, attributes.at(place), html)
    }
    textStart = tagEnd
    at = findLess(page, tagEnd)
  }
  const end = count >= MAX_TAGS ? textStart : length
  if (hardDepth === 0) countText(units, textStart, end)
  return { end, base }
}

/**
 * Where the end tag whose name begins at a place ends, if it is that of the innermost open element, as most are, and
 * written as most are; else 0. Those are spared what other tags need: to find their name, and what they end.
 */
function endOfInnermost(units: Uint16Array, nameStart: number): number {
  if (opened === 0) return 0
  const id = stackIds[opened - 1] as number
  const nameEnd = nameStart + (NAME_LENGTHS[id] as number)
  if (units[nameEnd] !== GREATER || excess[id] !== 0) return 0
  const name = id * NAME_STRIDE - nameStart
  for (let at = nameStart; at < nameEnd; at++) if (units[at] !== NAME_UNITS[name + at]) return 0
  return nameEnd + 1
}

/** The next `<` from a place on; -1 for none. Most text between two tags is short: a loop is there before a call is. */
function findLess({ html, units }: Page, from: number): number {
  const near = Math.min(from + 32, html.length)
  for (let place = from; place < near; place++) if (units[place] === LESS) return place
  return html.indexOf('<', near)
}

function countText(units: Uint16Array, from: number, to: number): void {
  let at = from
  while (at < to && isSpace(units[at] as number)) at++
  text += to - at
  if (softDepth === 0) contentText += to - at
}

function emit(start: number, tagEnd: number, element: number, partner: number, flags: number, place: number): number {
  const at = count * STRIDE
  // There is always room for one event more.
  if (at + 2 * STRIDE > tape.length) enlargeTape()
  const events = tape
  events[at] = start
  events[at + END] = tagEnd
  events[at + ELEMENT] = element
  events[at + PARTNER] = partner
  events[at + FLAGS] = flags
  events[at + TEXT] = text
  events[at + CONTENT_TEXT] = contentText
  events[at + ATTRIBUTES] = place
  return count++
}

function enlargeTape(): void {
  const larger = new Int32Array(tape.length * 2)
  larger.set(tape)
  tape = larger
  if (tape.length <= KEPT_EVENTS * STRIDE) keptTape = tape
}

function flagsAt(event: number): number {
  return tape[event * STRIDE + FLAGS] as number
}

function addFlag(event: number, flag: number): void {
  tape[event * STRIDE + FLAGS] = flagsAt(event) | flag
}

function pop(start: number, tagEnd: number): void {
  opened--
  const id = stackIds[opened] as number
  const opening = stackEvents[opened] as number
  openCounts[id] = (openCounts[id] as number) - 1
  if (((FACTS[id] as number) & HARD_JUNK) !== 0) hardDepth--
  if ((flagsAt(opening) & IS_FURNITURE) !== 0) softDepth--
  if (id === SVG) inSvg--
  const closing = emit(start, tagEnd, -id, opening, 0, 0)
  // Only now: the tape may have grown, and moved, meanwhile.
  tape[opening * STRIDE + PARTNER] = closing
}

/** Pops down to the open element at `depth`, which the tag at start ends; what lies above ends by implication. */
function popTo(depth: number, start: number, tagEnd: number): void {
  for (let implied = opened - depth - 1; implied > 0; implied--) pop(start, start)
  pop(start, tagEnd)
}

/** Ends the nearest open element with one of `wanted`, if nothing but inline elements and `through` lies above it. */
function imply(wanted: number, through: number, start: number): void {
  for (let depth = opened - 1; depth >= 0; depth--) {
    const facts = FACTS[stackIds[depth] as number] as number
    if ((facts & wanted) !== 0) return popTo(depth, start, start)
    if ((facts & BLOCK) !== 0 && (facts & through) === 0) return
  }
}

function impliedEnds(facts: number, start: number): void {
  if ((facts & LINK) !== 0) {
    if (openCounts[A] !== 0) imply(LINK, 0, start)
    return
  }
  if ((facts & BLOCK) === 0) return
  if ((facts & LIST_ITEM) !== 0) imply(LIST_ITEM, THROUGH, start)
  else if ((facts & DEFINITION) !== 0) imply(DEFINITION, THROUGH, start)
  else if ((facts & (CELL | ROW | ROW_GROUP)) !== 0) return endTableParts(facts, start)
  if (openCounts[P] !== 0) imply(PARAGRAPH, 0, start)
  if ((facts & HEADING) !== 0) imply(HEADING, 0, start)
}

/** Everything in a cell ends with it, so the search passes all but the table itself. */
function endTableParts(facts: number, start: number): void {
  const ends = facts & (CELL | ROW | ROW_GROUP)
  for (let depth = opened - 1; depth >= 0; depth--) {
    const id = stackIds[depth] as number
    if (id === TABLE) return
    const openFacts = FACTS[id] as number
    if ((openFacts & ends) !== 0) return popTo(depth, start, start)
    if (ends === CELL && (openFacts & ROW) !== 0) return
  }
}

function openVoid(id: number, start: number, tagEnd: number, place: number): void {
  const facts = FACTS[id] as number
  if ((facts & BLOCK) !== 0) impliedEnds(facts, start)
  emit(start, tagEnd, id, count, 0, place)
}

function open(id: number, start: number, tagEnd: number, attributes: Attributes, html: string): void {
  const facts = FACTS[id] as number
  impliedEnds(facts, start)
  if (opened >= MAX_DEPTH) {
    excess[id] = (excess[id] as number) + 1
    isTooDeep = true
    emit(start, tagEnd, 0, 0, 0, 0)
    return
  }
  let flags = (facts & SOFT_JUNK) === 0 ? 0 : IS_FURNITURE
  if ((facts & REGION) !== 0) flags |= regionFlags(id, attributes, html, tagEnd)
  const event = emit(start, tagEnd, id, 0, flags, attributes.place)
  if ((flags & (IS_MAIN | IS_ARTICLE | IS_NAMED_CONTENT)) !== 0) candidates.push(event)
  if (id === H1) headings.push(event)
  if (id === H1 || (flags & (IS_MAIN | IS_ARTICLE)) !== 0) {
    for (let depth = 0; depth < opened; depth++) addFlag(stackEvents[depth] as number, HOLDS_MAIN)
  }
  if ((facts & HEADING) !== 0 && openCounts[LI] !== 0) {
    // An item that begins with a heading is a section.
    const item = stackIds.lastIndexOf(LI, opened - 1)
    const list = stackIds.lastIndexOf(UL, item)
    if (list > stackIds.lastIndexOf(OL, item) && tape[(stackEvents[item] as number) * STRIDE + TEXT] === text) {
      addFlag(stackEvents[list] as number, IS_LAYOUT)
    }
  }
  if ((id === TABLE || (facts & HEADING) !== 0) && openCounts[TABLE] !== 0) {
    addFlag(stackEvents[stackIds.lastIndexOf(TABLE, opened - 1)] as number, IS_LAYOUT)
  }
  stackIds[opened] = id
  stackEvents[opened] = event
  opened++
  openCounts[id] = (openCounts[id] as number) + 1
  if ((facts & HARD_JUNK) !== 0) hardDepth++
  if ((flags & IS_FURNITURE) !== 0) softDepth++
  if (id === SVG) inSvg++
}

/** Whether an element may hold the main content, or is furniture, by its name and attributes. */
function regionFlags(id: number, attributes: Attributes, html: string, tagEnd: number): number {
  if (id === MAIN) return IS_MAIN
  if (attributes.isEmpty && id !== ARTICLE && id !== ASIDE) return 0
  if (attributes.role === 'main') return IS_MAIN
  if (id === ARTICLE) return IS_ARTICLE
  if (isFurniture((ELEMENTS[id] as ElementKind).name, attributes)) {
    return isTitledSidebar(attributes, html, tagEnd) ? IS_SIDEBAR : IS_FURNITURE
  }
  return isNamedContent(attributes) ? IS_NAMED_CONTENT : 0
}

function close(id: number, start: number, tagEnd: number): void {
  const facts = FACTS[id] as number
  const isHeading = (facts & HEADING) !== 0
  if (excess[id] !== 0) excess[id] = (excess[id] as number) - 1
  else if (openCounts[id] !== 0 || isHeading) {
    const inline = (facts & BLOCK) === 0 || id === P
    const tablePart = (facts & TABLE_PART) !== 0
    for (let depth = opened - 1; depth >= 0; depth--) {
      const candidate = stackIds[depth] as number
      const candidateFacts = FACTS[candidate] as number
      if (candidate === id || (isHeading && (candidateFacts & HEADING) !== 0)) return popTo(depth, start, tagEnd)
      if (inline && (candidateFacts & BLOCK) !== 0) break
      if (tablePart ? candidate === TABLE : (candidateFacts & BOUNDARY) !== 0) break
    }
  }
  emit(start, tagEnd, 0, 0, 0, 0)
}
