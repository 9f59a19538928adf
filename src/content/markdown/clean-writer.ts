/**
 * Writes clean HTML: well-formed whatever the rules open, with text cut off at MAX_CLEAN_LENGTH. Emphasis, links and
 * code are marks: their tags wait for text and never enclose a block, so they leave no empty or broken Markdown. A
 * cell of a table has one line. Which element becomes what is left to the rules.
 */
import { isSpace } from './attributes.ts'
import { CELL, CELL_PARAGRAPH, PLAIN, PRE, OpenLevels, type Level } from './open-levels.ts'

/** The converter gets no more HTML than this; what follows is cut off. */
const MAX_CLEAN_LENGTH = 4 * 1024 * 1024

/** A mark's opening by its closing: emphasis is written again in the next block. */
const OPENINGS: ReadonlyMap<string, string> = new Map(
  ['b', 'strong', 'i', 'em', 'cite', 'del', 's', 'q', 'sub', 'sup', 'code'].map((tag) => [`</${tag}>`, `<${tag}>`]),
)

export class CleanWriter {
  readonly levels = new OpenLevels()
  readonly #html: string
  #out = ''
  /** Marks whose opening waits for text. */
  #waiting = 0
  /** Marks that are open in the output. */
  #marked = 0
  #skipSpace = false
  #cellHasText = false
  #breakCell = false

  /** `html` is the page whose text is written. */
  constructor(html: string) {
    this.#html = html
  }

  get isFull(): boolean {
    return this.#out.length >= MAX_CLEAN_LENGTH
  }

  /** Opens a level; code inside has the language of the levels around, unless another is named. */
  open(kind: number, opening: string, closing: string, language: string = this.levels.language): void {
    if (kind === PLAIN && (opening === '<p>' || opening === '<div>') && this.levels.has(CELL)) {
      // A cell has one line, so its paragraphs are set apart by a break.
      this.#breakCell ||= this.#cellHasText
      this.levels.push({ kind: CELL_PARAGRAPH, opening: '', closing: '', mark: false, language })
      return
    }
    if (kind === CELL) {
      this.#cellHasText = false
      this.#breakCell = false
    }
    this.#out += opening
    this.levels.push({ kind, opening: '', closing, mark: false, language })
  }

  openMark(kind: number, opening: string, closing: string): void {
    this.#waiting++
    this.levels.push({ kind, opening, closing, mark: true, language: this.levels.language })
  }

  /** Closes the innermost level. */
  close(): void {
    const level = this.levels.pop()
    if (level === undefined) return
    if (!level.mark) {
      if (level.closing !== '') this.suspendMarks()
      this.#out += level.closing
    } else if (level.opening !== '') this.#waiting--
    else if (level.closing !== '') {
      this.#out += level.closing
      this.#marked--
    }
    if (level.kind === CELL_PARAGRAPH) this.#breakCell ||= this.#cellHasText
  }

  /** Closes all that is open, and returns what was written. */
  finish(): string {
    while (this.levels.count > 0) this.close()
    return this.#out
  }

  /** Ends all marks before a block begins or ends; emphasis resumes at the next text, a link has had its words. */
  suspendMarks(): void {
    for (let at = this.levels.count - 1; this.#marked > 0 && at >= 0; at--) {
      const level = this.levels.at(at)
      if (!level.mark || level.opening !== '' || level.closing === '') continue
      this.#out += level.closing
      this.#marked--
      const again = OPENINGS.get(level.closing)
      if (again === undefined) level.closing = ''
      else {
        level.opening = again
        this.#waiting++
      }
    }
  }

  /** Writes a tag as it stands: one without content, or one that a level's closing answers for. */
  writeTag(tag: string): void {
    this.#out += tag
  }

  /** Writes markup that stands for words, with the marks around it. */
  writeInline(markup: string): void {
    this.#openMarks()
    this.#out += markup
  }

  writeImage(tag: string): void {
    if (this.levels.has(CELL)) {
      if (this.#breakCell) this.#out += '<br>'
      this.#breakCell = false
      this.#cellHasText = true
    }
    this.writeInline(tag)
  }

  /** Leaves out the white space before the next text. */
  skipSpace(): void {
    this.#skipSpace = true
  }

  /** Writes a piece of the page's text. */
  writeText(from: number, to: number): void {
    if (from >= to) return
    let start = from
    if (this.#skipSpace) {
      start = this.#behindSpace(start, to)
      if (start === to) return
      this.#skipSpace = false
    }
    if (this.levels.has(CELL) && !this.#beginCellText(start, to)) return
    if (this.#waiting > 0) {
      const first = this.#behindSpace(start, to)
      if (first > start) this.#out += this.levels.has(PRE) ? this.#html.slice(start, first) : ' '
      if (first === to) return
      this.#openMarks()
      start = first
    }
    const text = this.#html.slice(start, Math.min(to, start + MAX_CLEAN_LENGTH))
    const escaped = text.includes('<') ? text.replaceAll('<', '&lt;') : text
    this.#out += escaped.slice(0, Math.max(0, MAX_CLEAN_LENGTH - this.#out.length))
  }

  /** Writes the openings that waited for text, the outermost first. */
  #openMarks(): void {
    const { levels } = this
    let at = levels.count
    for (let left = this.#waiting; left > 0;) if (isWaiting(levels.at(--at))) left--
    for (; this.#waiting > 0; at++) {
      const level = levels.at(at)
      if (!isWaiting(level)) continue
      this.#out += level.opening
      level.opening = ''
      this.#waiting--
      this.#marked++
    }
  }

  /** Writes the break between two paragraphs of a cell; false when there is no text yet to set apart. */
  #beginCellText(from: number, to: number): boolean {
    if (this.#cellHasText && !this.#breakCell) return true
    if (this.#behindSpace(from, to) === to) return false
    if (this.#breakCell) {
      this.suspendMarks()
      this.#out += '<br>'
    }
    this.#breakCell = false
    this.#cellHasText = true
    return true
  }

  /** The first character from `from` on that is no white space, or `to`. */
  #behindSpace(from: number, to: number): number {
    let at = from
    while (at < to && isSpace(this.#html.charCodeAt(at))) at++
    return at
  }
}

function isWaiting(level: Level): boolean {
  return level.mark && level.opening !== ''
}
