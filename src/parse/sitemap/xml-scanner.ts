/**
 * Elements and text out of XML that arrives in pieces, as far as sitemaps and feeds need: names, attributes, text,
 * CDATA, and the five predefined and the numeric character references. Declarations are read past: no entity is ever
 * defined, expanded or loaded, so there is nothing to blow up. In a file with a DOCTYPE, a reference to any other entity
 * stands for nothing; in one without, it is an ampersand that should have been escaped, and stays. Broken markup is
 * read as far as it makes sense; nothing throws. What is held back between pieces is at most `MAX_TAG_CHARS`.
 */

export interface XmlHandler {
  /** `attributes` is the tag as written after its name; `xmlAttribute` reads one out of it. */
  openTag(name: string, attributes: string): void
  closeTag(name: string): void
  /** Text in pieces, character references decoded. */
  text(piece: string): void
}

export interface XmlScanner {
  write(piece: string): void
  end(): void
}

/** A longer tag ends the reading: no sitemap has one, and it would have to be kept whole. */
const MAX_TAG_CHARS = 65_536

/** A reference with a longer name is text like any other. */
const MAX_REFERENCE_CHARS = 64

const COMMENT = '<!--'
const SPACE = 0x20
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const SLASH = 0x2f
const GREATER = 0x3e

type State = 'content' | 'comment' | 'cdata' | 'instruction' | 'doctype' | 'broken'

export function createXmlScanner(handler: XmlHandler): XmlScanner {
  let state: State = 'content'
  let held = ''
  /** Inside `<!DOCTYPE`: the quote that is open, and how many `<` and `[` are. */
  let quote = ''
  let nesting = 0
  let hasDoctype = false
  /** The element that was opened last and has not been closed; empty when the last tag was an end tag. */
  let innermost = ''

  /** Reads on to `terminator`, in a section that may be longer than memory; returns where to go on, or -1. */
  const readSection = (buffer: string, at: number, terminator: string, isText: boolean): number => {
    const end = buffer.indexOf(terminator, at)
    if (end === -1) {
      const keep = Math.max(at, buffer.length - terminator.length + 1)
      if (isText && keep > at) handler.text(buffer.slice(at, keep))
      held = buffer.slice(keep)
      return -1
    }
    if (isText && end > at) handler.text(buffer.slice(at, end))
    state = nesting > 0 ? 'doctype' : 'content'
    return end + terminator.length
  }
  const readDoctype = (buffer: string, start: number): number => {
    for (let at = start; at < buffer.length; at++) {
      const char = buffer[at] as string
      if (quote !== '') {
        if (char === quote) quote = ''
      } else if (char === '"' || char === "'") quote = char
      else if (char === '<') {
        // A quote in a comment or an instruction quotes nothing.
        if (buffer.startsWith(COMMENT, at)) {
          state = 'comment'
          return at + COMMENT.length
        }
        if (buffer[at + 1] === '?') {
          state = 'instruction'
          return at + 2
        }
        if (COMMENT.startsWith(buffer.slice(at, at + COMMENT.length))) {
          held = buffer.slice(at)
          return -1
        }
        nesting++
      } else if (char === '[') nesting++
      else if (char === ']') nesting--
      else if (char === '>' && --nesting <= 0) {
        nesting = 0
        state = 'content'
        return at + 1
      }
    }
    return -1
  }
  const readMarkup = (buffer: string, at: number): number => {
    const next = buffer[at + 1]
    if (next === undefined) return hold(buffer, at)
    if (next === '?') {
      state = 'instruction'
      return at + 2
    }
    if (next === '!') {
      if (buffer.startsWith(COMMENT, at)) {
        state = 'comment'
        return at + COMMENT.length
      }
      if (buffer.startsWith('<![CDATA[', at)) {
        state = 'cdata'
        return at + 9
      }
      if (buffer.length - at < 9) return hold(buffer, at)
      state = 'doctype'
      hasDoctype = true
      quote = ''
      nesting = 1
      return at + 2
    }
    const end = endOfTag(buffer, at + 1)
    if (end === -1) return hold(buffer, at)
    emitTag(buffer, at, end)
    return end + 1
  }
  const emitTag = (buffer: string, at: number, end: number): void => {
    if (buffer[at + 1] === '/') {
      innermost = ''
      handler.closeTag(buffer.slice(at + 2, end).trim())
      return
    }
    const isEmpty = buffer[end - 1] === '/' && end - 1 > at + 1
    const innerEnd = isEmpty ? end - 1 : end
    const nameEnd = endOfName(buffer, at + 1, innerEnd)
    const name = buffer.slice(at + 1, nameEnd)
    if (name === '') return
    const attributes = nameEnd === innerEnd ? '' : buffer.slice(nameEnd, innerEnd)
    handler.openTag(name, hasDoctype ? withoutEntities(attributes) : attributes)
    innermost = isEmpty ? '' : name
    if (isEmpty) handler.closeTag(name)
  }
  const hold = (buffer: string, at: number): number => {
    held = buffer.slice(at)
    if (held.length > MAX_TAG_CHARS) state = 'broken'
    return -1
  }
  const emitText = (text: string): void =>
    handler.text(decodeReferences(hasDoctype && text.includes('&') ? withoutEntities(text) : text))
  const readContent = (buffer: string, start: number): number => {
    const markup = buffer.indexOf('<', start)
    if (markup !== -1) {
      if (markup > start) emitText(buffer.slice(start, markup))
      return readMarkup(buffer, markup)
    }
    // A reference that may go on in the next piece waits for it.
    const ampersand = buffer.lastIndexOf('&')
    const isOpen =
      ampersand >= start && buffer.length - ampersand < MAX_REFERENCE_CHARS && !buffer.includes(';', ampersand)
    const end = isOpen ? ampersand : buffer.length
    if (end > start) emitText(buffer.slice(start, end))
    held = buffer.slice(end)
    return -1
  }
  const read = (buffer: string, at: number): number => {
    switch (state) {
      case 'content':
        return readContent(buffer, at)
      case 'comment':
        return readSection(buffer, at, '-->', false)
      case 'cdata':
        return readSection(buffer, at, ']]>', true)
      case 'instruction':
        return readSection(buffer, at, '?>', false)
      case 'doctype':
        return readDoctype(buffer, at)
      case 'broken':
        return -1
      default:
        return state satisfies never
    }
  }
  return {
    write(piece) {
      const buffer = held === '' ? piece : held + piece
      held = ''
      for (let at = 0; at !== -1 && at < buffer.length;) at = read(buffer, at)
    },
    end() {
      if (state === 'content' && held !== '') {
        // Text before an end tag is whole, even where the file is cut off inside that tag.
        if (held.startsWith('</') && innermost.startsWith(held.slice(2))) handler.closeTag(innermost)
        else if (!held.startsWith('<')) emitText(held)
      }
      held = ''
    },
  }
}

/** The `>` that ends the tag: one inside quotes is part of an attribute. */
function endOfTag(buffer: string, start: number): number {
  const plain = buffer.indexOf('>', start)
  if (plain === -1) return -1
  let quote = 0
  for (let at = start; at < buffer.length; at++) {
    const code = buffer.charCodeAt(at)
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (code === GREATER) return at
    else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) quote = code
  }
  return -1
}

/** White space or a slash; `limit` if there is none before it. */
function endOfName(buffer: string, start: number, limit: number): number {
  for (let at = start; at < limit; at++) {
    const code = buffer.charCodeAt(at)
    if (code === SLASH || ((code <= SPACE || code >= 0x80) && /\s/.test(buffer[at] as string))) return at
  }
  return limit
}

/** One attribute of a tag, by its full name; undefined if it has none. */
export function xmlAttribute(attributes: string, name: string): string | undefined {
  let at = 0
  for (;;) {
    const equals = attributes.indexOf('=', at)
    if (equals === -1) return undefined
    const open = skipSpace(attributes, equals + 1)
    const quote = attributes[open]
    if (quote !== '"' && quote !== "'") {
      at = equals + 1
      continue
    }
    const close = attributes.indexOf(quote, open + 1)
    if (close === -1) return undefined
    if (attributes.slice(at, equals).trim() === name) return decodeReferences(attributes.slice(open + 1, close))
    at = close + 1
  }
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** As long as `MAX_REFERENCE_CHARS` at the most. */
const ENTITY = /&([\p{L}_:][\p{L}\p{N}_:.-]{0,61});/gu

/** Takes out references to entities that a DOCTYPE may have declared. */
function withoutEntities(text: string): string {
  return text.replaceAll(ENTITY, (whole, name: string) => (PREDEFINED.has(name) ? whole : ''))
}

/** Unknown references stay as they are written. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:([a-z]{2,4})|#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8})));/g, (whole, name, hex, decimal) => {
    if (typeof name === 'string') return PREDEFINED.get(name) ?? whole
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
  })
}
