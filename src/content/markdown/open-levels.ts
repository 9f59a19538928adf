/**
 * The elements that are open in the Markdown, innermost last, and how many of each kind there are, so that a rule can
 * ask at no cost what it is inside of. What is written when a level opens and closes is the writer's part.
 */

/** Nothing of its own: its text belongs to what is around it. */
export const PLAIN = 0
/** Its text is set apart from what stands before and behind. */
export const BLOCK = 1
export const HEADING = 2
export const PRE = 3
/** Something inside a code block that ends its line. */
export const PRE_LINE = 4
/** A run of code. */
export const CODE = 5
/** Emphasis and the like. */
export const MARK = 6
export const LINK = 7
export const LIST = 8
export const ITEM = 9
export const DEFINITIONS = 10
export const QUOTATION = 11
/** A note or warning, written as a quotation. */
export const CALLOUT = 12
/** A table of data; one that arranges a page is plain. */
export const TABLE = 13
export const ROW = 14
export const CELL = 15
/** A list in a cell, where it has no lines of its own. */
export const CELL_LIST = 16
/** A list that is none: it arranges sections, or stands too deep. */
export const LAYOUT_LIST = 17
/** A row of a table that arranges: its cells are one line. */
export const LINE = 18
const KINDS = 19
const NONE_OPEN: readonly number[] = Array.from({ length: KINDS }, () => 0)

/** A level that is closed is used again for the next one that stands as deep: an element costs no object. */
export interface Level {
  readonly kind: number
  /** The sign that begins marked text; '' for a level without one, and for a link that has had its words. */
  opening: string
  /** The sign that ends it; for a link, its target. */
  readonly closing: string
  /** The opening is written: there was text to mark. */
  written: boolean
  /** The language of code inside; '' where nothing says. */
  readonly language: string
}

type Reused = { -readonly [Field in keyof Level]: Level[Field] }

export class OpenLevels {
  /** As many as were open at once. */
  readonly #levels: Reused[] = []
  #count = 0
  /** The number of open levels by kind. */
  readonly #depths = [...NONE_OPEN]
  /** Open levels that indent every line of the Markdown. */
  #indent = 0
  #language = ''

  get count(): number {
    return this.#count
  }

  /** The language that the levels around give to code. */
  get language(): string {
    return this.#language
  }

  /** How many open levels indent every line of the Markdown: lists and quotations. */
  get indent(): number {
    return this.#indent
  }

  get innermost(): Level | undefined {
    return this.#count === 0 ? undefined : this.#levels[this.#count - 1]
  }

  /** By position, the outermost first. */
  at(position: number): Level {
    return this.#levels[position] as Level
  }

  /** The kind of the innermost list of any kind; PLAIN for none. */
  get innermostList(): number {
    for (let at = this.#count - 1; at >= 0; at--) {
      const { kind } = this.at(at)
      if (kind === LIST || kind === DEFINITIONS || kind === CELL_LIST || kind === LAYOUT_LIST) return kind
    }
    return PLAIN
  }

  /** Whether text is marked by this sign already. */
  isMarked(opening: string): boolean {
    for (let at = this.#count - 1; at >= 0; at--) {
      const level = this.at(at)
      if (level.opening === opening) return true
      if (level.kind > LINK) return false
    }
    return false
  }

  has(kind: number): boolean {
    return this.#depths[kind] !== 0
  }

  push(kind: number, opening: string, closing: string, language: string): void {
    const level = this.#levels[this.#count]
    if (level === undefined) this.#levels.push({ kind, opening, closing, written: false, language })
    else {
      level.kind = kind
      level.opening = opening
      level.closing = closing
      level.written = false
      level.language = language
    }
    this.#count++
    this.#language = language
    this.#depths[kind] = (this.#depths[kind] as number) + 1
    if (indents(kind)) this.#indent++
  }

  /** Closes the innermost level. */
  pop(): void {
    if (this.#count === 0) return
    this.#count--
    const { kind } = this.at(this.#count)
    this.#depths[kind] = (this.#depths[kind] as number) - 1
    if (indents(kind)) this.#indent--
    this.#language = this.#count === 0 ? '' : this.at(this.#count - 1).language
  }
}

function indents(kind: number): boolean {
  return kind === LIST || kind === DEFINITIONS || kind === QUOTATION || kind === CALLOUT
}
