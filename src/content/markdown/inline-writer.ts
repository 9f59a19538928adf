/**
 * The text of one block: words, emphasis, links, code and line breaks. Signs wait for text and never enclose white
 * space or the end of a block, so that none is left empty or broken; emphasis that is open at the end of a block is
 * resumed in the next, a link has had its words. What a block is, is left to the writer.
 */
import { codeSpan } from './code-text.ts'
import { linkMarkup } from './links.ts'
import { CELL, CODE, HEADING, LINK, type Level, type OpenLevels } from './open-levels.ts'
import type { Page } from './page.ts'
import { beginsPlainly, escapeProse, isPlainUnit, isWhite, readCode } from './prose.ts'

const SPACE = 32
const BANG = 33
/** Any sign of Markdown. */
const SIGN = 42
const OPEN_ROUND = 40
const CLOSE_ROUND = 41
const LESS = 60
const GREATER = 62
const OPEN_SQUARE = 91
const CLOSE_SQUARE = 93
const OPEN_CURLY = 123
const CLOSE_CURLY = 125

export class InlineWriter {
  readonly #levels: OpenLevels
  #run = ''
  #plain = ''
  /** The words of the link that is open. */
  #link: string | undefined
  /** Code that may go on: another run of code right behind it is the same. */
  #code = ''
  #codeIsOpen = false
  /** A link that encloses the code, and the one for code that begins next. */
  #codeTarget = ''
  #nextTarget = ''
  /** Signs that end marks, written before whatever comes next. */
  #tail = ''
  /** The last unit written is a closing bracket, which a round one would make a link. */
  #afterSquare = false
  /** What was written last. */
  #last = ''
  /** What the block began with. */
  #first = ''
  #hasLines = false
  #space = false
  #breaks = 0
  /** Levels whose opening waits for text, and those whose opening is written. */
  #waiting = 0
  #written = 0

  constructor(levels: OpenLevels) {
    this.#levels = levels
  }

  /** Two breaks in a row are meant to begin a paragraph. */
  get wantsParagraph(): boolean {
    return this.#breaks > 1 && this.#link === undefined
  }

  /** Whether what was taken last has several lines. */
  get hasLines(): boolean {
    return this.#hasLines
  }

  /**
   * Whether what was taken last is a line that begins no block of another kind, whatever follows. Told from its first
   * piece: to look at the whole text would put it together, which is done once, for all of the Markdown.
   */
  get isPlainLine(): boolean {
    return !this.#hasLines && beginsPlainly(this.#first)
  }

  /** A level with a sign was opened. */
  openMark(): void {
    this.#waiting++
  }

  /** A level with a sign was closed. */
  closeMark(level: Level): void {
    if (level.opening === '') return
    if (!level.written) {
      this.#waiting--
      return
    }
    this.#endCode()
    this.#endMark(level)
    // The level is still open while its block ends, and its mark must not end twice.
    level.written = false
  }

  /**
   * Code that begins next is a link, since Markdown has no link inside code, but code inside a link. Code that is open is
   * about its first link outside of brackets: `java.util.List` is one to the list, `open(String)` none to strings.
   */
  linkCode(target: string): void {
    if (this.#link !== undefined) return
    if (!this.#codeIsOpen) this.#nextTarget = target
    else if (this.#codeTarget === '' && isBalanced(this.#code)) this.#codeTarget = target
  }

  closeCode(): void {
    this.#codeIsOpen = false
  }

  writeSpace(): void {
    this.#space = true
  }

  writeBreak(): void {
    if (this.#levels.has(HEADING)) this.#space = true
    else this.#breaks++
  }

  /** Writes the text between two places of the page. */
  writeText(page: Page, from: number, to: number): void {
    const { units } = page
    let start = from
    while (start < to && isWhite(units[start] as number)) start++
    if (start > from) this.#space = true
    if (start === to) return
    let end = to
    while (isWhite(units[end - 1] as number)) end--
    if (this.#levels.has(CODE)) this.#writeCode(readCode(page, start, end))
    else this.#writeProse(page, start, end)
    if (end < to) this.#space = true
  }

  /** Writes an image or the like. */
  writeMarkup(markup: string): void {
    this.#begin()
    this.#emit(markup)
  }

  /** The words of a heading without signs, up to now. */
  takePlain(): string {
    const plain = this.#plain
    this.#plain = ''
    return plain
  }

  /** Ends the block and returns its text; '' for nothing. */
  take(): string {
    this.#endCode()
    for (let at = this.#levels.count - 1; this.#written > 0 && at >= 0; at--) {
      const level = this.#levels.at(at)
      if (!level.written) continue
      this.#endMark(level)
      level.written = false
      if (level.kind === LINK) level.opening = ''
      else this.#waiting++
    }
    const run = this.#tail === '' ? this.#run : this.#run + this.#tail
    this.#run = ''
    this.#tail = ''
    this.#space = false
    this.#breaks = 0
    return run
  }

  #addPlain(words: string): void {
    this.#plain += this.#space && this.#plain !== '' ? ` ${words}` : words
  }

  #writeProse(page: Page, from: number, to: number): void {
    const before = isPlainUnit(page.units[from] as number) ? SPACE : this.#unitBefore()
    let text = escapeProse(page, from, to, this.#levels.has(LINK), this.#levels.has(CELL), before)
    if (text === '') return
    if (this.#levels.has(HEADING)) this.#addPlain(text.replace(ESCAPES, ''))
    this.#begin()
    if (this.#afterSquare && text.startsWith('(')) text = `\\${text}`
    const last = text.charCodeAt(text.length - 1)
    if (last === BANG || last === LESS) {
      this.#tail = text.slice(-1)
      text = text.slice(0, -1)
    }
    this.#emit(text)
    this.#afterSquare = last === CLOSE_SQUARE
  }

  #writeCode(piece: string): void {
    let text = WHITE.test(piece) ? piece.replace(ALL_WHITE, ' ') : piece
    if (text === '') return
    if (this.#levels.has(HEADING)) this.#addPlain(text)
    if (this.#codeTarget !== '' && this.#codeIsOpen && text.startsWith(',') && isBalanced(this.#code)) {
      // A list of links in one piece of code: each has its own.
      this.#endCode()
      this.#emit(',')
      this.#space ||= text.startsWith(', ')
      text = text.slice(1).trimStart()
      if (text === '') return
    }
    const goesOn =
      this.#code !== '' &&
      this.#breaks === 0 &&
      this.#waiting === 0 &&
      this.#nextTarget === '' &&
      (this.#codeIsOpen || !this.#space)
    if (goesOn) this.#code += this.#space ? ` ${text}` : text
    else {
      this.#begin()
      this.#code = text
      this.#codeTarget = this.#nextTarget
      this.#nextTarget = ''
    }
    this.#codeIsOpen = true
    this.#space = false
  }

  /** What the next words will stand behind: a space, a sign, or what was written last. */
  #unitBefore(): number {
    if (this.#waiting > 0 || (this.#breaks > 0 && this.#levels.has(CELL))) return SIGN
    if (this.#space || this.#breaks > 0 || (this.#run === '' && !this.#link)) return SPACE
    return this.#code !== '' || this.#tail !== '' ? SIGN : this.#last.charCodeAt(this.#last.length - 1)
  }

  /** Writes what waits for text: the ends of marks, a break or space, the openings of marks. */
  #begin(): void {
    this.#endCode()
    if (this.#tail !== '') this.#writeTail()
    if (this.#run === '' && !this.#link) this.#breaks = 0
    else if (this.#breaks > 0) this.#writeBreaks()
    else if (this.#space) this.#emit(' ')
    this.#breaks = 0
    this.#space = false
    if (this.#waiting > 0) this.#openWaiting()
  }

  /** However many there are, they are one. */
  #writeBreaks(): void {
    if (this.#link !== undefined) this.#emit(' ')
    else if (this.#levels.has(CELL)) this.#emit('<br>')
    else {
      this.#emit('  \n')
      this.#hasLines = true
    }
  }

  #writeTail(): void {
    const tail = this.#tail
    this.#tail = ''
    const next = this.#waiting > 0 && !this.#space && this.#breaks === 0 ? this.#firstWaiting() : undefined
    if (next?.kind !== LINK && next?.closing === tail) {
      // The mark that has just ended goes on.
      next.written = true
      this.#waiting--
      this.#written++
    } else {
      // `!` before a link would make it an image, `<` before a word a tag.
      const isSign = next?.kind === LINK ? tail === '!' : tail === '<' && !this.#space && this.#breaks === 0
      this.#emit(isSign ? `\\${tail}` : tail)
    }
  }

  #firstWaiting(): Level {
    const levels = this.#levels
    let at = levels.count
    for (let left = this.#waiting; left > 0;) if (isWaiting(levels.at(--at))) left--
    return levels.at(at)
  }

  /** Writes the openings that wait for text, the outermost first. */
  #openWaiting(): void {
    const levels = this.#levels
    let at = levels.count
    for (let left = this.#waiting; left > 0;) if (isWaiting(levels.at(--at))) left--
    for (; this.#waiting > 0; at++) {
      const level = levels.at(at)
      if (!isWaiting(level)) continue
      if (level.kind === LINK) this.#link = ''
      else this.#emit(level.opening)
      level.written = true
      this.#waiting--
      this.#written++
    }
  }

  /** Ends a mark whose opening is written. */
  #endMark(level: Level): void {
    this.#written--
    if (level.kind !== LINK) {
      this.#tail += level.closing
      return
    }
    if (this.#tail !== '') this.#emit(this.#tail)
    this.#tail = ''
    const words = this.#link ?? ''
    this.#link = undefined
    if (words !== '') this.#emit(linkMarkup(words, level.closing, this.#levels.has(CELL)))
  }

  #endCode(): void {
    if (this.#code === '') return
    const inCell = this.#levels.has(CELL)
    const span = codeSpan(this.#code, inCell)
    this.#code = ''
    this.#codeIsOpen = false
    this.#emit(this.#codeTarget === '' ? span : linkMarkup(span, this.#codeTarget, inCell))
    this.#codeTarget = ''
  }

  #emit(markdown: string): void {
    this.#afterSquare = false
    if (markdown !== '') this.#last = markdown
    if (this.#link !== undefined) this.#link += markdown
    else if (this.#run === '') {
      this.#run = markdown
      this.#first = markdown
      this.#hasLines = false
    } else this.#run += markdown
  }
}

/** Backslashes before signs. */
const ESCAPES = /\\(?=[!-/:-@[-`{-~])/g

function isWaiting(level: Level): boolean {
  return level.opening !== '' && !level.written
}

/** Whether no bracket is open in a piece of code; of a long one that is not asked. */
function isBalanced(code: string): boolean {
  if (code.length > MAX_BALANCED) return false
  let depth = 0
  for (let at = 0; at < code.length; at++) {
    switch (code.charCodeAt(at)) {
      case OPEN_ROUND:
      case OPEN_SQUARE:
      case OPEN_CURLY:
      case LESS:
        depth++
        break
      case CLOSE_ROUND:
      case CLOSE_SQUARE:
      case CLOSE_CURLY:
      case GREATER:
        if (depth > 0) depth--
    }
  }
  return depth === 0
}

const MAX_BALANCED = 200
const WHITE = /[\t\n\f\r\u00a0\u2028\u2029]|  /
const ALL_WHITE = /[\t\n\f\r \u00a0\u2028\u2029]+/g
