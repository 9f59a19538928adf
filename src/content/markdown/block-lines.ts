/**
 * The lines of the Markdown: each block with the marks and the indentation of the lists and quotations that it stands
 * in, and an empty line before it where Markdown needs one. A list or quotation without a block leaves nothing behind.
 * Never longer than its limit, however deep a block stands. What a block says is left to the writer.
 */

interface Container {
  /** What its first line begins with, and all others. */
  readonly marker: string
  readonly indent: string
  /** Its first line is written. */
  started: boolean
  /** An empty line stands inside. */
  loose: boolean
}

interface List {
  readonly ordered: boolean
  /** The number of the next item. */
  next: number
  items: number
  /** An item has an empty line inside, so items are set apart by one as well. */
  loose: boolean
}

/** Markdown knows no longer numbers (CommonMark §5.2). */
const MAX_NUMBER = 999_999_999
/** What was written last is put together when it has become this long: each of its parts takes more memory than its text. */
const PART_LENGTH = 64 * 1024

export class BlockLines {
  readonly #maxLength: number
  readonly #containers: Container[] = []
  readonly #lists: List[] = []
  /** What was written, but for the last of it. */
  readonly #parts: string[] = []
  #partsLength = 0
  #out = ''
  /** The next block follows without an empty line. */
  #tight = false
  /** A line across the page waits for a block behind it. */
  #ruled = false
  #isFull = false

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** Something was cut off, and whatever is written from now on is lost. */
  get isFull(): boolean {
    return this.#isFull
  }

  beginList(ordered: boolean, first: number): void {
    this.#lists.push({ ordered, next: first, items: 0, loose: false })
  }

  endList(): void {
    this.#lists.pop()
    this.#tight = false
  }

  beginItem(): void {
    const list = this.#lists[this.#lists.length - 1]
    const marker = list?.ordered === true ? `${Math.min(list.next++, MAX_NUMBER)}. ` : '- '
    if (list !== undefined) {
      const parent = this.#containers[this.#containers.length - 1]
      // A list inside an item needs no empty line if the item is one paragraph so far; a number but 1 does need it.
      if (list.items === 0) this.#tight = parent?.started === true && !parent.loose && list.next <= 2
      else this.#tight = !list.loose
      list.items++
    }
    this.#containers.push({ marker, indent: ' '.repeat(marker.length), started: false, loose: false })
  }

  endItem(): void {
    const item = this.#containers.pop()
    const list = this.#lists[this.#lists.length - 1]
    if (item === undefined || list === undefined) return
    list.loose ||= item.loose
    if (!item.started) list.items--
    this.#tight = false
  }

  beginQuotation(): void {
    this.#containers.push({ marker: '> ', indent: '> ', started: false, loose: false })
  }

  endQuotation(): void {
    this.#containers.pop()
    this.#tight = false
  }

  /** A line across the page, between the blocks before and behind it; outside of all lists and quotations. */
  rule(): void {
    this.#ruled = this.#length > 0
  }

  /** Writes a block, which is one line or may be several. */
  write(block: string, isLine = false): void {
    if (this.#isFull) return
    if (this.#ruled) {
      this.#ruled = false
      this.#tight = false
      this.#out += '\n\n---'
    }
    this.#write(block, isLine)
  }

  /** All that was written, ending with a newline; '' for nothing. */
  finish(): string {
    return this.#length === 0 ? '' : `${this.#parts.join('')}${this.#out}\n`
  }

  get #length(): number {
    return this.#partsLength + this.#out.length
  }

  #write(block: string, isLine: boolean): void {
    const containers = this.#containers
    let before = ''
    if (this.#length > 0) {
      before = '\n'
      if (!this.#tight) {
        let prefix = ''
        for (const container of containers) {
          if (!container.started) break
          prefix += container.indent
          container.loose = true
        }
        before += prefix.trimEnd() + '\n'
      }
    }
    this.#tight = false
    let first = ''
    let others = ''
    for (const container of containers) {
      first += container.started ? container.indent : container.marker
      others += container.indent
      container.started = true
    }
    const left = this.#maxLength - this.#length - before.length - first.length - 1
    if (left <= 0) {
      this.#isFull = true
      return
    }
    this.#out += before + first + this.#indented(block, isLine, others, left)
    if (this.#out.length >= PART_LENGTH) this.#endPart()
  }

  #endPart(): void {
    // To be asked for a unit, a text has to be in one piece: then its parts are the collector's.
    this.#out.charCodeAt(0)
    this.#parts.push(this.#out)
    this.#partsLength += this.#out.length
    this.#out = ''
  }

  /** A block with all lines but its first indented, cut at the last line that fits into what is left. */
  #indented(block: string, isLine: boolean, indent: string, left: number): string {
    let fitting = block
    if (block.length > left || (indent !== '' && block.length * (indent.length + 1) > left)) {
      let length = block.length
      for (let at = block.indexOf('\n'); at >= 0 && length <= left; at = block.indexOf('\n', at + 1)) {
        length += indent.length
      }
      if (length > left) {
        this.#isFull = true
        fitting = cutAtLine(block, Math.max(0, Math.floor(left / (indent.length + 1))))
      }
    }
    if (isLine || indent === '' || !fitting.includes('\n')) return fitting
    const lines = fitting.replace(/\n(?!\n)/g, `\n${indent}`)
    const ofEmptyLine = indent.trimEnd()
    return ofEmptyLine === '' ? lines : lines.replace(/\n(?=\n)/g, `\n${ofEmptyLine}`)
  }
}

function cutAtLine(text: string, length: number): string {
  const end = text.lastIndexOf('\n', length)
  return text.slice(0, end > 0 ? end : length).toWellFormed()
}
