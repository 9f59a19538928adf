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

export class OpenLevels {
  readonly #levels: Level[] = []
  /** The number of open levels by kind. */
  readonly #depths = new Int32Array(KINDS)
  #language = ''

  get count(): number {
    return this.#levels.length
  }

  /** The language that the levels around give to code. */
  get language(): string {
    return this.#language
  }

  /** How many open levels indent every line of the Markdown: lists and quotations. */
  get indent(): number {
    const depths = this.#depths
    return (
      (depths[LIST] as number) +
      (depths[DEFINITIONS] as number) +
      (depths[QUOTATION] as number) +
      (depths[CALLOUT] as number)
    )
  }

  get innermost(): Level | undefined {
    return this.#levels[this.#levels.length - 1]
  }

  /** By position, the outermost first. */
  at(position: number): Level {
    return this.#levels[position] as Level
  }

  /** The kind of the innermost list of any kind; PLAIN for none. */
  get innermostList(): number {
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const { kind } = this.at(at)
      if (kind === LIST || kind === DEFINITIONS || kind === CELL_LIST || kind === LAYOUT_LIST) return kind
    }
    return PLAIN
  }

  /** Whether text is marked by this sign already. */
  isMarked(opening: string): boolean {
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const level = this.at(at)
      if (level.opening === opening) return true
      if (level.kind > LINK) return false
    }
    return false
  }

  has(kind: number): boolean {
    return this.#depths[kind] !== 0
  }

  push(level: Level): void {
    this.#levels.push(level)
    this.#language = level.language
    this.#depths[level.kind] = (this.#depths[level.kind] as number) + 1
  }

  pop(): Level | undefined {
    const level = this.#levels.pop()
    if (level === undefined) return undefined
    this.#depths[level.kind] = (this.#depths[level.kind] as number) - 1
    const left = this.#levels.length
    this.#language = left === 0 ? '' : this.at(left - 1).language
    return level
  }
}
