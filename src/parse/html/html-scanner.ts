/**
 * The tags and the text of a page, one after the other, by the HTML Standard's rules of tokenisation (§13.2.5): a single
 * pass over its bytes, linear in time, without memory that grows with the page. What stands between tags is skipped by the
 * page's search, names are told apart without making strings of them, only the attributes that are wanted are kept, as
 * places in the page, and nothing is decoded before it is asked for.
 *
 * What takes a tree is left to the reader: whether an element's inside is text (`readAsText`), and whether the place is in
 * svg or math, where CDATA counts. Comments and declarations are passed over. Line ends stay as they are written.
 */
import { decodeReferences } from '../../base/index.ts'
import type { NameTable } from './name-table.ts'
import type { PageSource } from './page-source.ts'

export const END = 0
export const OPEN_TAG = 1
export const CLOSE_TAG = 2
export const TEXT = 3
export type Token = typeof END | typeof OPEN_TAG | typeof CLOSE_TAG | typeof TEXT

/** The names that a reader knows. An id is a place in its table, from 1. */
export interface Vocabulary {
  readonly elements: NameTable
  /** By id of an element: its name, in lower case; the empty name for 0. */
  readonly elementNames: readonly string[]
  /** By id of an element: whether its attributes are wanted. */
  readonly hasAttributes: readonly boolean[]
  readonly attributes: NameTable
  /** Ids of attributes are at most this. */
  readonly attributeCount: number
}

const TAB = 0x09
const LINE_FEED = 0x0a
const FORM_FEED = 0x0c
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const BANG = 0x21
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const DASH = 0x2d
const SLASH = 0x2f
const LESS = 0x3c
const EQUALS = 0x3d
const GREATER = 0x3e
const QUESTION = 0x3f

/** How the inside of an element is read that is text: with character references or not, as a script, or for ever. */
export type TextKind = 'raw' | 'escapable' | 'script' | 'plain'

const TEXT_KINDS: ReadonlyMap<string, TextKind> = new Map([
  ['iframe', 'raw'],
  ['noembed', 'raw'],
  ['noframes', 'raw'],
  ['style', 'raw'],
  ['xmp', 'raw'],
  ['textarea', 'escapable'],
  ['title', 'escapable'],
  ['script', 'script'],
  ['plaintext', 'plain'],
])

/**
 * Told where the value of a plain link begins and ends, as it is written: the `href` of an `a` without a `rel`. Most links
 * of a page are such.
 */
export type OnLink = (valueStart: number, valueEnd: number) => void

/** What is kept of an attribute. */
const FIELDS = 3

/** A hot loop: fields are read into locals, and places beyond the end of the bytes are never looked at. */
export class HtmlScanner {
  /** Of the latest tag, in lower case; empty if the vocabulary has no such name. */
  name = ''
  /** Of the latest start tag: whether it ends with `/>`. */
  isSelfClosing = false

  readonly #source: PageSource
  readonly #vocabulary: Vocabulary
  readonly #onLink: OnLink | undefined
  readonly #size: number
  /** What comes next is read from here. */
  #at: number
  /** The element whose inside is text, and its kind if the place is in one. */
  #textElement = ''
  #textKind: TextKind | undefined
  /** The `-->` that was found last. */
  #escapeEnd = -1
  /** The latest piece of text: where it begins and ends, and how it is to be decoded. */
  #textStart = 0
  #textEnd = 0
  #hasReferences = false
  #isRaw = false
  /** Of the latest tag. */
  #nameStart = 0
  #nameEnd = 0
  /** Counts tags, so that attributes of earlier ones need not be cleared. */
  #tag = 0
  /** By id of an attribute: the tag that it was met in, and where its value begins and ends. */
  readonly #attributes: number[]

  /** @param onLink given, plain links are told and are no tokens wherever unknown tags are passed over */
  constructor(source: PageSource, vocabulary: Vocabulary, onLink?: OnLink) {
    this.#source = source
    this.#vocabulary = vocabulary
    this.#onLink = onLink
    this.#size = source.bytes.length
    this.#at = source.start
    this.#attributes = Array<number>(FIELDS * (vocabulary.attributeCount + 1)).fill(0)
  }

  /**
   * Moves on to the next token. A tag or comment in which the page ends is none.
   * @param wantsText false passes text over
   * @param isForeign whether the place is in svg or math
   * @param wantsAll false passes over tags whose names the vocabulary does not have
   */
  next(wantsText: boolean, isForeign: boolean, wantsAll = true): Token {
    if (this.#textKind !== undefined && this.#passText(this.#textKind, wantsText)) return TEXT
    const { bytes, search } = this.#source
    const size = this.#size
    const shapes = wantsText || isForeign || wantsAll ? undefined : this.#vocabulary.elements.shapes
    let textStart = this.#at
    let at = textStart
    for (;;) {
      const open = shapes === undefined ? search.find(LESS, at) : search.pass(at, shapes, this.#onLink)
      // A `<` that begins no markup is text.
      const begins = open + 1 < size ? (bytes[open + 1] as number) : -1
      const isTag = isLetter(begins)
      if (!isTag && begins !== SLASH && begins !== BANG && begins !== QUESTION && open < size) {
        at = open + 1
        continue
      }
      // So is `</` at the very end.
      const textEnd = begins === SLASH && open + 2 === size ? size : open
      if (wantsText && textEnd > textStart) {
        this.#at = textEnd
        return this.#foundText(textStart, textEnd, true, false)
      }
      if (textEnd === size) {
        this.#at = size
        return END
      }
      const isClose = !isTag && begins === SLASH && isLetter(bytes[open + 2] as number)
      if (isTag || isClose) {
        if (!this.#readTag(isTag ? open + 1 : open + 2)) return END
        if (wantsAll || this.name !== '') return isTag ? OPEN_TAG : CLOSE_TAG
        at = this.#at
      } else if (isForeign && begins === BANG && bytes.toString('latin1', open + 2, open + 9) === '[CDATA[') {
        const end = this.#findText(']]>', open + 9)
        this.#at = Math.min(end + 3, size)
        if (wantsText && end > open + 9) return this.#foundText(open + 9, end, false, false)
        at = this.#at
      } else if (begins === BANG && stands('--', bytes, open + 2)) at = this.#endOfComment(open + 4)
      else at = this.#endOfDeclaration(open + (begins === SLASH ? 2 : 1))
      textStart = at
    }
  }

  /** To be called at a start tag of HTML: where its element holds text, what follows is read as such. */
  readAsText(kind: TextKind | undefined = this.name === '' ? undefined : TEXT_KINDS.get(this.name)): void {
    if (kind === undefined) return
    this.#textKind = kind
    this.#textElement = this.spelledName()
  }

  /** The name of the latest tag, whether or not the vocabulary has it: in lower case, one character for each byte. */
  spelledName(): string {
    if (this.name !== '') return this.name
    const name = this.#source.bytes.toString('latin1', this.#nameStart, this.#nameEnd)
    return /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name
  }

  /** The latest piece of text, decoded. */
  text(): string {
    const written = this.#source.decode(this.#textStart, this.#textEnd)
    const text = this.#isRaw ? withoutNul(written) : written
    return this.#hasReferences ? decodeReferences(text, false) : text
  }

  /** Whether the latest piece of text is white space as it is written, or nothing. */
  isBlankAsWritten(): boolean {
    const { bytes } = this.#source
    let at = this.#textStart
    while (at < this.#textEnd && isSpace(bytes[at] as number)) at++
    return at === this.#textEnd
  }

  /** Whether the latest start tag has this attribute; of two with one name, the first counts. */
  has(attribute: number): boolean {
    return this.#attributes[FIELDS * attribute] === this.#tag
  }

  /** Where its value begins and ends, as it is written. Only for an attribute that is there. */
  startOf(attribute: number): number {
    return this.#attributes[FIELDS * attribute + 1] as number
  }

  endOf(attribute: number): number {
    return this.#attributes[FIELDS * attribute + 2] as number
  }

  /** Its value, decoded. */
  get(attribute: number): string | undefined {
    if (!this.has(attribute)) return undefined
    return decodeValue(this.#source, this.startOf(attribute), this.endOf(attribute))
  }

  #foundText(start: number, end: number, hasReferences: boolean, isRaw: boolean): typeof TEXT {
    this.#textStart = start
    this.#textEnd = end
    this.#hasReferences = hasReferences
    this.#isRaw = isRaw
    return TEXT
  }

  /** Passes over the inside of a text element; true if that is a token. */
  #passText(kind: TextKind, isWanted: boolean): boolean {
    const start = this.#at
    const end = this.#endOfText(start, kind)
    this.#textKind = undefined
    this.#at = end
    if (!isWanted || end === start) return false
    this.#foundText(start, end, kind === 'escapable', true)
    return true
  }

  #endOfText(start: number, kind: TextKind): number {
    if (kind === 'plain') return this.#size
    if (kind === 'script') return this.#endOfScript(start)
    let at = this.#findText('</', start)
    while (at < this.#size && !this.#isTagName(at + 2, this.#textElement)) at = this.#findText('</', at + 2)
    return at
  }

  /**
   * A script may say `<!--` and then hold `<script>` with its end tag; `-->` ends that (§13.2.5.15 to §13.2.5.31, the
   * escaped and the double escaped states).
   */
  #endOfScript(start: number): number {
    const { bytes, search } = this.#source
    let isEscaped = false
    let isNested = false
    let escapeEnd = -1
    for (let at = search.find(LESS, start); at < this.#size; at = search.find(LESS, at + 1)) {
      if (isEscaped && escapeEnd < at) isEscaped = isNested = false
      if (bytes[at + 1] === SLASH) {
        if (!this.#isTagName(at + 2, isNested ? 'script' : this.#textElement)) continue
        if (!isNested) return at
        isNested = false
      } else if (!isEscaped && stands('!--', bytes, at + 1)) {
        isEscaped = true
        // The dashes of the opening may be those of the end.
        escapeEnd = this.#findEscapeEnd(at + 2)
      } else if (isEscaped && this.#isTagName(at + 1, 'script')) isNested = true
    }
    return this.#size
  }

  /** The next `-->`, or the end of the page. It may be far behind the script, so it is not looked for twice. */
  #findEscapeEnd(start: number): number {
    if (this.#escapeEnd < start) this.#escapeEnd = this.#findText('-->', start)
    return this.#escapeEnd
  }

  /** Whether this name, and nothing longer, stands here. */
  #isTagName(start: number, name: string): boolean {
    const end = start + name.length
    if (end >= this.#size) return false
    const after = this.#source.bytes[end] as number
    if (after !== GREATER && after !== SLASH && !isSpace(after)) return false
    return stands(name, this.#source.bytes, start)
  }

  /** The next place where these characters stand, or the end of the page. */
  #findText(text: string, start: number): number {
    const { bytes, search } = this.#source
    const first = text.charCodeAt(0)
    let at = search.find(first, start)
    while (at < this.#size && !stands(text, bytes, at)) at = search.find(first, at + 1)
    return at
  }

  /** Just behind a comment, `start` being behind its `<!--`: `-->` ends it, and so do `--!>`, `<!-->` and `<!--->`. */
  #endOfComment(start: number): number {
    const { bytes, search } = this.#source
    for (let end = search.find(GREATER, start); end < this.#size; end = search.find(GREATER, end + 1)) {
      if (end === start || (end === start + 1 && bytes[start] === DASH)) return end + 1
      const dashes = bytes[end - 1] === BANG ? end - 3 : end - 2
      if (dashes >= start && bytes[dashes] === DASH && bytes[dashes + 1] === DASH) return end + 1
    }
    return this.#size
  }

  /** Just behind a declaration, an instruction or what is none of these: the first `>` ends it, in quotes or not. */
  #endOfDeclaration(start: number): number {
    return Math.min(this.#source.search.find(GREATER, start) + 1, this.#size)
  }

  /** Reads a tag whose name begins here; false if the page ends in it. */
  #readTag(nameStart: number): boolean {
    const { bytes } = this.#source
    const size = this.#size
    let at = nameStart + 1
    while (at < size && !endsName(bytes[at] as number)) at++
    this.#nameStart = nameStart
    this.#nameEnd = at
    this.#tag++
    this.isSelfClosing = false
    const { elements, elementNames, hasAttributes } = this.#vocabulary
    const id = elements.idOf(bytes, nameStart, at)
    this.name = elementNames[id] as string
    const isBare = at < size && bytes[at] === GREATER
    const end = isBare ? at + 1 : this.#readAttributes(at, hasAttributes[id] as boolean)
    this.#at = end === -1 ? size : end
    return end !== -1
  }

  /** Reads attributes up to the end of their tag, and returns what is just behind it; -1 if the page ends before. */
  #readAttributes(start: number, isWanted: boolean): number {
    const { bytes, search } = this.#source
    const size = this.#size
    let at = start
    for (;;) {
      while (at < size && isSpace(bytes[at] as number)) at++
      if (at >= size) return -1
      const first = bytes[at] as number
      if (first === GREATER) return at + 1
      if (first === SLASH) {
        at++
        if (at < size && bytes[at] === GREATER) {
          this.isSelfClosing = true
          return at + 1
        }
        continue
      }
      // Whatever stands here begins a name, even `=` or a quote.
      const nameStart = at++
      while (at < size && bytes[at] !== EQUALS && !endsName(bytes[at] as number)) at++
      const nameEnd = at
      while (at < size && isSpace(bytes[at] as number)) at++
      if (at >= size) return -1
      let valueStart = at
      let valueEnd = at
      if (bytes[at] === EQUALS) {
        at++
        while (at < size && isSpace(bytes[at] as number)) at++
        if (at >= size) return -1
        const quote = bytes[at] as number
        if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
          valueStart = at + 1
          valueEnd = search.find(quote, valueStart)
          if (valueEnd === size) return -1
          at = valueEnd + 1
        } else {
          valueStart = at
          while (at < size && bytes[at] !== GREATER && !isSpace(bytes[at] as number)) at++
          if (at >= size) return -1
          valueEnd = at
        }
      }
      if (isWanted) this.#keep(nameStart, nameEnd, valueStart, valueEnd)
    }
  }

  #keep(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    const id = this.#vocabulary.attributes.idOf(this.#source.bytes, nameStart, nameEnd)
    if (id === 0 || this.has(id)) return
    const attributes = this.#attributes
    attributes[FIELDS * id] = this.#tag
    attributes[FIELDS * id + 1] = valueStart
    attributes[FIELDS * id + 2] = valueEnd
  }
}

/** The value of an attribute that stands between these places. */
export function decodeValue(source: PageSource, start: number, end: number): string {
  return decodeReferences(withoutNul(source.decode(start, end)), true)
}

/** Text and values never hold U+0000, which stands for itself between elements alone. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** Whether these characters of ASCII stand here, letters in either case; the text has them in lower case, if any. */
function stands(text: string, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < text.length; at++) {
    const byte = bytes[start + at]
    const isUpperCase = byte !== undefined && byte >= 0x41 && byte <= 0x5a
    if ((isUpperCase ? byte | 0x20 : byte) !== text.charCodeAt(at)) return false
  }
  return true
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** Nearly everything that is asked about is beyond the space, so that is asked first; so in `endsName`. */
function isSpace(byte: number): boolean {
  if (byte > SPACE) return false
  return byte === SPACE || byte === LINE_FEED || byte === TAB || byte === CARRIAGE_RETURN || byte === FORM_FEED
}

function endsName(byte: number): boolean {
  return byte <= GREATER && (byte === GREATER || byte === SLASH || isSpace(byte))
}
