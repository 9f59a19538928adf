/**
 * Writes Markdown: GitHub Flavored, well-formed whatever the rules open, and no longer than `maxMarkdownLength`
 * allows. Every element opens one level and its end closes it. Which element becomes what is left to the rules.
 */
import { LIMITS, type Heading } from '../../model/index.ts'
import { BlockLines } from './block-lines.ts'
import { codeInCell, fencedCode } from './code-text.ts'
import { InlineWriter } from './inline-writer.ts'
import {
  BLOCK,
  CALLOUT,
  CELL,
  CELL_LIST,
  CODE,
  DEFINITIONS,
  HEADING,
  ITEM,
  LINK,
  LIST,
  MARK,
  OpenLevels,
  PLAIN,
  PRE,
  PRE_LINE,
  QUOTATION,
  ROW,
  TABLE,
  type Level,
} from './open-levels.ts'
import type { Page } from './page.ts'
import { escapeHeading, escapeLineStarts, readCode } from './prose.ts'
import { TableGrid } from './table-grid.ts'

const MAX_MARKDOWN_LENGTH = LIMITS['markdown-size'].value
/** Indexes with long addresses come to a good two times their HTML, and a short page to any number of times. */
const MAX_GROWTH = 4
const FREE_LENGTH = 256 * 1024

/** How long the Markdown of a page may be: marks, indentation and addresses must not make much of little. */
export const maxMarkdownLength = (htmlLength: number): number =>
  Math.min(MAX_MARKDOWN_LENGTH, FREE_LENGTH + MAX_GROWTH * htmlLength)

/** The outline of a page: more headings are left out, and longer ones are cut. */
const MAX_HEADINGS = 500
const MAX_HEADING_LENGTH = 300

/** What is left of a row of links that were left out. */
const SEPARATORS = /^[·•∙|]{1,3}$/
const MAX_SEPARATORS = 3

/** Where a cell of a table stands, as its attributes say. */
export interface CellPlace {
  readonly isHead: boolean
  readonly columns: number
  readonly rows: number
  /** The next cell begins a row, without an element for it. */
  readonly endsRow: boolean
}

export class MarkdownWriter {
  readonly levels = new OpenLevels()
  readonly #headings: Heading[] = []
  readonly #page: Page
  readonly #maxLength: number
  readonly #lines: BlockLines
  readonly #inline = new InlineWriter(this.levels)
  /** Characters that were taken in, so that what is not yet written is bounded as well. */
  #taken = 0
  /** Characters in cells, of which none is written before its table ends. */
  #inCells = 0
  #joins = false
  #pre = ''
  #preEndsLine = true
  #headingLevel = 1
  #grid = new TableGrid()
  #cell = ''
  #place: CellPlace = { isHead: false, columns: 1, rows: 1, endsRow: false }
  /** Begins the next block in a cell: a list there has no lines of its own. */
  #cellMarker = ''
  /** A block that is code as a whole is open. */
  #inCodeBlock = false
  /** By open list of definitions, the innermost last: whether an item is open. */
  readonly #definitions: boolean[] = []

  /** The page whose text is written. */
  constructor(page: Page) {
    this.#page = page
    this.#maxLength = maxMarkdownLength(page.html.length)
    this.#lines = new BlockLines(this.#maxLength)
  }

  /** Something was cut off, or would be. */
  get isFull(): boolean {
    return this.#taken >= this.#maxLength || this.#inCells >= this.#maxLength || this.#lines.isFull
  }

  /** A level without a sign and without lines of its own. Code inside has the language of the levels around. */
  openPlain(language: string = this.levels.language): void {
    this.#push(PLAIN, '', '', language)
  }

  /** A level whose text is set apart from what stands before by a space. */
  openWord(): void {
    this.#inline.writeSpace()
    this.#push(PLAIN, '', '', this.levels.language)
  }

  /** `kind` is BLOCK, or LAYOUT_LIST or LINE for a list or row that is written as one. */
  openBlock(kind: number = BLOCK, language: string = this.levels.language): void {
    this.#breakBlock()
    this.#push(kind, '', '', language)
  }

  /** What comes next belongs to the line that is open, though it may be a block: the text of a footnote. */
  joinNext(): void {
    this.#joins = true
  }

  /** A block whose text is marked as a whole, such as the title of a note. */
  openMarkedBlock(sign: string, language: string = this.levels.language): void {
    this.#breakBlock()
    this.#push(BLOCK, sign, sign, language)
    this.#inline.openMark()
  }

  openHeading(level: number): void {
    this.#breakBlock()
    this.#headingLevel = level
    this.#push(HEADING, '', '', this.levels.language)
  }

  openMark(opening: string, closing: string): void {
    this.#push(MARK, opening, closing, this.levels.language)
    this.#inline.openMark()
  }

  openLink(target: string): void {
    this.#taken += target.length
    this.#push(LINK, '[', target, this.levels.language)
    this.#inline.openMark()
  }

  openCode(): void {
    this.#push(CODE, '', '', this.levels.language)
  }

  /** A block that is code as a whole, such as the signature of a function. */
  openCodeBlock(): void {
    this.#breakBlock()
    this.#push(CODE, '', '\n', this.levels.language)
    this.#inCodeBlock = true
  }

  /** A link in the code that is open. A signature stays in one piece, and none of the types in it is what it is about. */
  linkCode(target: string): void {
    if (this.#inCodeBlock) return
    this.#taken += target.length
    this.#inline.linkCode(target)
  }

  openPre(language: string): void {
    this.#breakBlock()
    this.#push(PRE, '', '', language)
  }

  /** A part of a code block that ends its line. */
  openPreLine(): void {
    this.#push(PRE_LINE, '', '', this.levels.language)
  }

  openList(ordered: boolean, first: number): void {
    this.#breakBlock()
    if (this.levels.has(CELL)) this.#push(CELL_LIST, '', '', this.levels.language)
    else {
      this.#lines.beginList(ordered, first)
      this.#push(LIST, '', '', this.levels.language)
    }
  }

  openItem(): void {
    this.#breakBlock()
    if (this.levels.has(CELL)) {
      this.#cellMarker = '- '
      this.#push(BLOCK, '', '', this.levels.language)
    } else {
      this.#lines.beginItem()
      this.#push(ITEM, '', '', this.levels.language)
    }
  }

  openDefinitions(): void {
    this.#breakBlock()
    if (this.levels.has(CELL)) this.#push(BLOCK, '', '', this.levels.language)
    else {
      this.#lines.beginList(false, 1)
      this.#definitions.push(false)
      this.#push(DEFINITIONS, '', '', this.levels.language)
    }
  }

  /** Begins an item in the innermost list of definitions; where one is open, only a term begins `another`. */
  beginDefinition(another: boolean): void {
    const last = this.#definitions.length - 1
    if (last < 0 || this.levels.has(CELL)) return
    this.#breakBlock()
    if (this.#definitions[last] === true) {
      if (!another) return
      this.#lines.endItem()
    }
    this.#lines.beginItem()
    this.#definitions[last] = true
  }

  /** A quotation, or a note that is written as one: `kind` is QUOTATION or CALLOUT. */
  openQuotation(kind: number = QUOTATION, language: string = this.levels.language): void {
    this.#breakBlock()
    if (this.levels.has(CELL)) this.#push(BLOCK, '', '', language)
    else {
      this.#lines.beginQuotation()
      this.#push(kind, '', '', language)
    }
  }

  openTable(): void {
    this.#breakBlock()
    this.#grid = new TableGrid()
    this.#push(TABLE, '', '', this.levels.language)
  }

  openRow(): void {
    this.#breakBlock()
    this.#grid.beginRow()
    this.#push(ROW, '', '', this.levels.language)
  }

  openCell(place: CellPlace): void {
    this.#breakBlock()
    this.#cell = ''
    this.#cellMarker = ''
    this.#place = place
    this.#push(CELL, '', '', this.levels.language)
  }

  /** Closes the innermost level. */
  close(): void {
    const level = this.levels.innermost
    if (level === undefined) return
    if (level.opening !== '') this.#inline.closeMark(level)
    switch (level.kind) {
      case PLAIN:
      case MARK:
      case LINK:
        break
      case CODE:
        this.#inline.closeCode()
        if (level.closing !== '') {
          this.#endBlock()
          this.#inCodeBlock = false
        }
        break
      case PRE:
        this.#endPre(level.language)
        break
      case PRE_LINE:
        if (!this.#preEndsLine) this.#addCode('\n')
        break
      case CELL:
        this.#endBlock()
        this.#grid.addCell(this.#cell, this.#place.isHead, this.#place.columns, this.#place.rows)
        if (this.#place.endsRow) this.#grid.beginRow()
        break
      case TABLE: {
        this.#endBlock()
        const table = this.#grid.toMarkdown()
        if (table !== '') this.#lines.write(table)
        break
      }
      case HEADING:
        this.#endBlock()
        break
      default:
        this.#breakBlock()
        this.#endContainer(level)
    }
    this.levels.pop()
  }

  /** A line break that the page asks for. */
  writeBreak(): void {
    if (this.levels.has(PRE)) this.#addCode('\n')
    else this.#inline.writeBreak()
  }

  /** A line across the page. */
  writeRule(): void {
    if (this.levels.has(PRE)) return
    this.#endBlock()
    if (!this.levels.has(TABLE) && this.levels.indent === 0) this.#lines.rule()
  }

  /** Markup that stands for words: an image, a formula. */
  writeMarkup(markup: string): void {
    this.#taken += markup.length
    this.#inline.writeMarkup(markup)
  }

  /** Writes a piece of the page's text. */
  writeText(from: number, to: number): void {
    if (from >= to) return
    this.#taken += to - from
    if (this.levels.has(PRE)) this.#addCode(readCode(this.#page, from, to))
    else {
      if (this.#inline.wantsParagraph && !this.levels.has(CELL)) this.#endBlock()
      this.#inline.writeText(this.#page, from, to)
    }
  }

  /** Closes all that is open, and returns what was written with the headings in it. */
  finish(): { readonly markdown: string; readonly headings: readonly Heading[] } {
    while (this.levels.count > 0) this.close()
    this.#endBlock()
    return { markdown: this.#lines.finish(), headings: this.#headings }
  }

  #push(kind: number, opening: string, closing: string, language: string): void {
    this.levels.push(kind, opening, closing, language)
  }

  /** Sets apart what comes next; inside a heading, which has one line, by a space. */
  #breakBlock(): void {
    if (this.levels.has(HEADING)) this.#inline.writeBreak()
    else if (this.#joins) this.#inline.writeSpace()
    else this.#endBlock()
    this.#joins = false
  }

  /** Ends the text that is open, and writes it as the block that it belongs to. */
  #endBlock(): void {
    const text = this.#inline.take()
    if (text === '' || (text.length <= MAX_SEPARATORS && SEPARATORS.test(text))) return
    if (this.levels.has(CELL)) {
      this.#addToCell(text)
    } else if (this.levels.has(HEADING)) {
      this.#lines.write(`${'#'.repeat(this.#headingLevel)} ${escapeHeading(text)}`)
      this.#keepHeading(this.#inline.takePlain())
    } else if (this.#inline.isPlainLine) this.#lines.write(text, true)
    else this.#lines.write(escapeLineStarts(text), !this.#inline.hasLines)
  }

  #addToCell(text: string): void {
    this.#cell += (this.#cell === '' ? '' : '<br>') + this.#cellMarker + text
    this.#cellMarker = ''
    this.#inCells += text.length
  }

  #addCode(code: string): void {
    if (code === '') return
    this.#pre += code
    this.#preEndsLine = code.endsWith('\n')
  }

  #endPre(language: string): void {
    const code = this.#pre
    this.#pre = ''
    this.#preEndsLine = true
    if (this.levels.has(CELL)) {
      const lines = codeInCell(code)
      if (lines !== '') this.#addToCell(lines)
      return
    }
    const block = fencedCode(code, language)
    if (block !== '') this.#lines.write(block)
  }

  #endContainer({ kind }: Level): void {
    if (kind === LIST) this.#lines.endList()
    else if (kind === ITEM) this.#lines.endItem()
    else if (kind === DEFINITIONS) {
      if (this.#definitions.pop() === true) this.#lines.endItem()
      this.#lines.endList()
    } else if (kind === QUOTATION || kind === CALLOUT) this.#lines.endQuotation()
  }

  #keepHeading(text: string): void {
    if (text === '' || this.#headings.length >= MAX_HEADINGS) return
    // A copy: a part of a text keeps the whole of it in memory, and headings outlive their page.
    const heading = Buffer.from(text.slice(0, MAX_HEADING_LENGTH).trimEnd()).toString()
    this.#headings.push({ level: this.#headingLevel, text: heading })
  }
}
