/**
 * The attributes of one start tag, by the tokenizer's rules (HTML §13.2.5.32 to §13.2.5.40). Only the few that the
 * reader asks about are kept, as they stand in the source: entities are decoded where a value is used.
 */
import { NameTable } from './name-table.ts'
import type { Page } from './page.ts'

const WANTED = [
  'alt',
  'alttext',
  'aria-hidden',
  'class',
  'colspan',
  'data-lang',
  'data-language',
  'data-src',
  'hidden',
  'href',
  'id',
  'itemprop',
  'role',
  'rowspan',
  'src',
  'start',
  'style',
  'width',
] as const
export type AttributeName = (typeof WANTED)[number]
export type Attributes = { [Name in AttributeName]: string | undefined } & {
  /** What the class says, as `furniture.ts` has worked it out; -1 before. */
  classFacts: number
}

const NAMES = new NameTable(WANTED)

/** Every set of attributes has all fields, in one order: property access stays fast on the hottest path. */
function noAttributes(): Attributes {
  return {
    alt: undefined,
    alttext: undefined,
    'aria-hidden': undefined,
    class: undefined,
    colspan: undefined,
    'data-lang': undefined,
    'data-language': undefined,
    'data-src': undefined,
    hidden: undefined,
    href: undefined,
    id: undefined,
    itemprop: undefined,
    role: undefined,
    rowspan: undefined,
    src: undefined,
    start: undefined,
    style: undefined,
    width: undefined,
    classFacts: -1,
  }
}

export const NO_ATTRIBUTES: Attributes = noAttributes()

/** `from` is just behind the tag's name, `to` just behind its `>`. The first of two equal names counts. */
export function readAttributes({ html, units }: Page, from: number, to: number): Attributes {
  const end = to - 1
  let at = from
  let found: Attributes | undefined
  while (at < end) {
    const code = units[at] as number
    if (isSpace(code) || code === SLASH) {
      at++
      continue
    }
    const nameStart = at++
    while (at < end && !endsName(units[at] as number)) at++
    const nameEnd = at
    while (at < end && isSpace(units[at] as number)) at++
    let valueStart = 0
    let valueEnd = 0
    if (at < end && (units[at] as number) === EQUALS) {
      at++
      while (at < end && isSpace(units[at] as number)) at++
      const quote = units[at] as number
      valueStart = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE ? at + 1 : at
      if (valueStart === at) while (at < end && !isSpace(units[at] as number)) at++
      else at = html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", valueStart)
      if (at < 0 || at > end) at = end
      valueEnd = at
      if (valueStart > 0 && at < end && (units[at] as number) === quote) at++
    }
    const known = NAMES.find(units, nameStart, nameEnd)
    if (known < 0) continue
    found ??= noAttributes()
    keep(found, WANTED[known] as AttributeName, html.slice(valueStart, valueEnd))
  }
  return found ?? NO_ATTRIBUTES
}

/** A switch instead of a computed key, for the same reason. */
function keep(attributes: Attributes, name: AttributeName, value: string): void {
  switch (name) {
    case 'alt':
      attributes.alt ??= value
      break
    case 'alttext':
      attributes.alttext ??= value
      break
    case 'aria-hidden':
      attributes['aria-hidden'] ??= value
      break
    case 'class':
      attributes.class ??= value
      break
    case 'colspan':
      attributes.colspan ??= value
      break
    case 'data-lang':
      attributes['data-lang'] ??= value
      break
    case 'data-language':
      attributes['data-language'] ??= value
      break
    case 'data-src':
      attributes['data-src'] ??= value
      break
    case 'hidden':
      attributes.hidden ??= value
      break
    case 'href':
      attributes.href ??= value
      break
    case 'id':
      attributes.id ??= value
      break
    case 'itemprop':
      attributes.itemprop ??= value
      break
    case 'role':
      attributes.role ??= value
      break
    case 'rowspan':
      attributes.rowspan ??= value
      break
    case 'src':
      attributes.src ??= value
      break
    case 'start':
      attributes.start ??= value
      break
    case 'style':
      attributes.style ??= value
      break
    case 'width':
      attributes.width ??= value
      break
  }
}

/** The class alone; most tags that have one have nothing else. */
export function readClass(page: Page, from: number, to: number): string | undefined {
  const { html } = page
  if (html.startsWith(' class="', from)) {
    const end = html.indexOf('"', from + 8)
    if (end > 0 && end < to) return html.slice(from + 8, end)
  }
  return readAttributes(page, from, to).class
}

/** Where the tag that began before `from` ends: just behind its `>`. -1 when the text ends first. */
export function findTagEnd({ html, units }: Page, from: number): number {
  let at = from
  for (;;) {
    const code = units[at] as number
    if (code === GREATER) return at + 1
    if (code === EQUALS) {
      at++
      while (isSpace(units[at] as number)) at++
      const quote = units[at] as number
      if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
        at = html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", at + 1)
        if (at < 0) return -1
        at++
      } else if (quote === EQUALS) at++
    } else if (at >= html.length) return -1
    else at++
  }
}

const SLASH = 47
const EQUALS = 61
const GREATER = 62
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13 && code !== 11)
}

function endsName(code: number): boolean {
  return isSpace(code) || code === SLASH || code === EQUALS
}
