/**
 * The elements that are open in the clean HTML, innermost last, and how many of each kind there are, so that a rule
 * can ask at no cost what it is inside of. What is written when a level opens and closes is the writer's part.
 */

export const PLAIN = 0
export const PRE = 1
export const HEADING = 2
export const CODE = 3
export const LIST = 4
export const DEFINITIONS = 5
/** A note or warning, written as a quotation. */
export const CALLOUT = 6
export const LINK = 7
/** A table of data; one that arranges a page is plain. */
export const TABLE = 8
export const CELL = 9
/** A paragraph inside a cell, which has no tags of its own. */
export const CELL_PARAGRAPH = 10
const KINDS = 11

export interface Level {
  readonly kind: number
  /** For a mark, its tag until there is text to mark; '' once written, and for all else. */
  opening: string
  closing: string
  readonly mark: boolean
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

  get innermost(): Level | undefined {
    return this.#levels[this.#levels.length - 1]
  }

  /** The language that the levels around give to code. */
  get language(): string {
    return this.#language
  }

  /** How many open levels indent every line of the Markdown: lists and quotations. */
  get indent(): number {
    const depths = this.#depths
    return (depths[LIST] as number) + (depths[DEFINITIONS] as number) + (depths[CALLOUT] as number)
  }

  /** By position, the outermost first. */
  at(position: number): Level {
    return this.#levels[position] as Level
  }

  has(kind: number): boolean {
    return this.#depths[kind] !== 0
  }

  hasQuotation(): boolean {
    return this.#levels.some((level) => level.closing === '</blockquote>')
  }

  /** The innermost level of a kind. */
  nearest(kind: number): Level | undefined {
    if (!this.has(kind)) return undefined
    let at = this.#levels.length - 1
    while (this.at(at).kind !== kind) at--
    return this.at(at)
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
