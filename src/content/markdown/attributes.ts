/**
 * The attributes of a page's start tags, by the tokenizer's rules (HTML §13.2.5.32 to §13.2.5.40). Only the few that the
 * rules ask about are noted, and only where they stand: nothing is cut out before it is asked for. Values are as in the
 * source: references are decoded where a value is used.
 */
import type { ClassMemory } from './class-memory.ts'
import { NO_UNITS, NameTable, hashWith } from './name-table.ts'
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

const NAMES = new NameTable(WANTED)
const NUMBERS = Object.fromEntries(WANTED.map((name, number) => [name, number])) as Record<AttributeName, number>
const CLASS = NUMBERS.class

/** Of each attribute: the number of its name, where its value begins, and where it ends. */
const FIELDS = 3
/** Before those of a tag: a bit for each name that is among them, and what its class says, once that was asked. */
const HEAD = 2
const MOST_OF_TAG = HEAD + FIELDS * WANTED.length
/** Notes that are kept for the next page; a longer array is not. */
const KEPT_NOTES = 1 << 18
let keptNotes = new Int32Array(1 << 13)

/** A value that is longer than this is looked through by a call, which costs more to begin with. */
const NEAR = 48

/**
 * Notes of the attributes of a page's tags. They last until the next page is read, and take a few times the page's own
 * memory at most.
 */
export class AttributeNotes {
  readonly page: Page
  notes: Int32Array = keptNotes
  /** At 0, the place for no attributes, stand zeroes. */
  #used = HEAD
  /** Where those of the tag stand that was read last; 0 where it has none that is wanted. */
  last = 0

  constructor(page: Page) {
    this.page = page
  }

  /**
   * Reads a tag whose name ends at `from`; returns the place just behind its `>`, or -1 when the text ends first. One pass
   * for the end and the attributes, as long as the tag is written as tags are; for others the end is found first.
   */
  readTag(from: number): number {
    const { html, units } = this.page
    this.#makeRoom()
    const { notes } = this
    const place = this.#used
    let noted = place + HEAD
    let found = 0
    let at = from
    for (;;) {
      let unit = units[at] as number
      while (unit === SPACE || unit === SLASH || isSpace(unit)) unit = units[++at] as number
      if (unit === GREATER) break
      if (unit === EQUALS) return this.#readOddTag(from)
      const nameStart = at
      let hash = NO_UNITS
      while (unit > GREATER || IN_NAME[unit] !== 0) {
        hash = hashWith(hash, unit)
        unit = units[++at] as number
      }
      const nameEnd = at
      while (isSpace(unit)) unit = units[++at] as number
      let valueStart = 0
      let valueEnd = 0
      if (unit === EQUALS) {
        unit = units[++at] as number
        while (isSpace(unit)) unit = units[++at] as number
        valueStart = at
        if (unit === DOUBLE_QUOTE || unit === SINGLE_QUOTE) {
          valueStart++
          valueEnd = valueStart
          const near = valueStart + NEAR
          while (valueEnd < near && units[valueEnd] !== unit) valueEnd++
          if (valueEnd === near) valueEnd = html.indexOf(unit === DOUBLE_QUOTE ? '"' : "'", near)
          if (valueEnd < 0 || valueEnd >= html.length) return this.#readOddTag(from)
          at = valueEnd + 1
        } else {
          while (unit > GREATER || IN_VALUE[unit] !== 0) unit = units[++at] as number
          if (unit === EQUALS) return this.#readOddTag(from)
          valueEnd = at
        }
      }
      // The text may end here, or hold a zero.
      if (unit === 0) return this.#readOddTag(from)
      const number = NAMES.findHashed(hash, units, nameStart, nameEnd)
      if (number < 0 || (found & (1 << number)) !== 0) continue
      found |= 1 << number
      notes[noted] = number
      notes[noted + 1] = valueStart
      notes[noted + 2] = valueEnd
      noted += FIELDS
    }
    this.#end(place, noted, found)
    return at + 1
  }

  #makeRoom(): void {
    if (this.#used + MOST_OF_TAG <= this.notes.length) return
    const larger = new Int32Array(2 * this.notes.length)
    larger.set(this.notes)
    this.notes = larger
    if (larger.length <= KEPT_NOTES) keptNotes = larger
  }

  #end(place: number, noted: number, found: number): void {
    this.last = 0
    if (found === 0) return
    this.notes[place] = found
    this.notes[place + 1] = (found & (1 << CLASS)) === 0 ? 0 : -1
    this.last = place
    this.#used = noted
  }

  #readOddTag(from: number): number {
    const tagEnd = findTagEnd(this.page, from)
    this.#readAttributes(from, tagEnd < 0 ? this.page.html.length : tagEnd)
    return tagEnd
  }

  /** `from` is just behind the tag's name, `to` just behind its `>`. The first of two equal names counts. */
  #readAttributes(from: number, to: number): void {
    const { html, units } = this.page
    const { notes } = this
    const place = this.#used
    let noted = place + HEAD
    let found = 0
    const end = to - 1
    let at = from
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
      const number = NAMES.find(units, nameStart, nameEnd)
      if (number < 0 || (found & (1 << number)) !== 0) continue
      found |= 1 << number
      notes[noted] = number
      notes[noted + 1] = valueStart
      notes[noted + 2] = valueEnd
      noted += FIELDS
    }
    this.#end(place, noted, found)
  }
}

/** A bit for each of some names. */
export function namesOf(...names: readonly AttributeName[]): number {
  return names.reduce((bits, name) => bits | (1 << NUMBERS[name]), 0)
}

/** The attributes of one tag at a time: what it says changes when it is turned to another. */
export class Attributes {
  readonly #of: AttributeNotes
  #place = 0

  constructor(of: AttributeNotes) {
    this.#of = of
  }

  /** Turns to the tag whose notes stand at a place; 0 for a tag without any. */
  at(place: number): this {
    this.#place = place
    return this
  }

  /** Where the notes of the tag stand; 0 where it has none of the attributes that are wanted. */
  get place(): number {
    return this.#place
  }

  get isEmpty(): boolean {
    return this.#place === 0
  }

  /** Whether the tag has one of some attributes, which are told as `namesOf` does. */
  hasAny(names: number): boolean {
    return ((this.#of.notes[this.#place] as number) & names) !== 0
  }

  /** The number of the name in a table that an attribute has as its value, in whatever case; -1 for none. */
  find(name: AttributeName, table: NameTable): number {
    const note = this.#find(NUMBERS[name])
    if (note === 0) return -1
    const { notes, page } = this.#of
    return table.find(page.units, notes[note + 1] as number, notes[note + 2] as number)
  }

  get alt(): string | undefined {
    return this.#value(NUMBERS.alt)
  }

  get alttext(): string | undefined {
    return this.#value(NUMBERS.alttext)
  }

  get 'aria-hidden'(): string | undefined {
    return this.#value(NUMBERS['aria-hidden'])
  }

  get class(): string | undefined {
    return this.#value(CLASS)
  }

  get colspan(): string | undefined {
    return this.#value(NUMBERS.colspan)
  }

  get 'data-lang'(): string | undefined {
    return this.#value(NUMBERS['data-lang'])
  }

  get 'data-language'(): string | undefined {
    return this.#value(NUMBERS['data-language'])
  }

  get 'data-src'(): string | undefined {
    return this.#value(NUMBERS['data-src'])
  }

  get hidden(): string | undefined {
    return this.#value(NUMBERS.hidden)
  }

  get href(): string | undefined {
    return this.#value(NUMBERS.href)
  }

  get id(): string | undefined {
    return this.#value(NUMBERS.id)
  }

  get itemprop(): string | undefined {
    return this.#value(NUMBERS.itemprop)
  }

  get role(): string | undefined {
    return this.#value(NUMBERS.role)
  }

  get rowspan(): string | undefined {
    return this.#value(NUMBERS.rowspan)
  }

  get src(): string | undefined {
    return this.#value(NUMBERS.src)
  }

  get start(): string | undefined {
    return this.#value(NUMBERS.start)
  }

  get style(): string | undefined {
    return this.#value(NUMBERS.style)
  }

  get width(): string | undefined {
    return this.#value(NUMBERS.width)
  }

  /** A number for what the class says; 0 where there is none, -1 before it was set. */
  get classFacts(): number {
    return this.#of.notes[this.#place + 1] as number
  }

  set classFacts(facts: number) {
    this.#of.notes[this.#place + 1] = facts
  }

  /** What the class means by a memory of classes; `none` where there is no class. */
  classMeaning<Meaning>(memory: ClassMemory<Meaning>, none: Meaning): Meaning {
    const note = this.#find(CLASS)
    if (note === 0) return none
    const { notes, page } = this.#of
    return memory.meaningOf(page.units, notes[note + 1] as number, notes[note + 2] as number)
  }

  #value(name: number): string | undefined {
    const note = this.#find(name)
    if (note === 0) return undefined
    const { notes, page } = this.#of
    return page.html.slice(notes[note + 1], notes[note + 2])
  }

  /** The place of the note of an attribute; 0 for none. */
  #find(name: number): number {
    const place = this.#place
    const { notes } = this.#of
    if (((notes[place] as number) & (1 << name)) === 0) return 0
    let note = place + HEAD
    while (notes[note] !== name) note += FIELDS
    return note
  }
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

const SPACE = 32
const SLASH = 47
const EQUALS = 61
const GREATER = 62
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

/** Of the units up to `>`: what is part of a name, and of a value without quotes. */
const IN_NAME = new Uint8Array(GREATER + 1)
const IN_VALUE = new Uint8Array(GREATER + 1)
for (let unit = 1; unit < EQUALS; unit++) {
  if (!isSpace(unit)) IN_VALUE[unit] = 1
  if (!endsName(unit)) IN_NAME[unit] = 1
}

export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13 && code !== 11)
}

function endsName(code: number): boolean {
  return isSpace(code) || code === SLASH || code === EQUALS
}
