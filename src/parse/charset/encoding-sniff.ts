/**
 * Which encoding do these bytes declare themselves to be in? Byte order mark, the HTTP header's charset, the HTML
 * Standard's prescan of the first bytes for `<meta>` (§13.2.3.2), and the XML declaration. It only reads declarations:
 * guessing from the text itself, and decoding, are left to `decode-body.ts`.
 */
import { encodingOfLabel, isAsciiWhitespace } from './encoding-label.ts'
import { mediaTypeOf } from '../media/media-type.ts'

/** How far a declaration is looked for, as the HTML Standard suggests. */
const PRESCAN_BYTES = 1024

export function encodingOfBom(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return null
}

/** The encoding that a Content-Type header's charset stands for. */
export function encodingOfContentType(contentType: string | null): string | null {
  const charset = mediaTypeOf(contentType)?.charset ?? null
  return charset === null ? null : encodingOfLabel(charset)
}

/** "Extracting a character encoding from a meta element" (HTML Standard §2.5.1): the charset in `content`. */
export function encodingOfMetaContent(content: string): string | null {
  const lower = content.toLowerCase()
  let at = 0
  for (;;) {
    at = lower.indexOf('charset', at)
    if (at === -1) return null
    at = skipWhitespace(content, at + 7)
    if (content[at] === '=') break
  }
  at = skipWhitespace(content, at + 1)
  const quote = content[at]
  if (quote === '"' || quote === "'") {
    const end = content.indexOf(quote, at + 1)
    return end === -1 ? null : encodingOfLabel(content.slice(at + 1, end))
  }
  let end = at
  while (end < content.length && content[end] !== ';' && !isAsciiWhitespace(content.charCodeAt(end))) end++
  return encodingOfLabel(content.slice(at, end))
}

/** An encoding that a `<meta>` may not mean: the page could not have been read as far as the `<meta>` in it. */
export function encodingMeantByMeta(encoding: string): string {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return 'utf-8'
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding
}

/** "Prescan a byte stream to determine its encoding": a `<meta>` in the first 1024 bytes, else an XML declaration. */
export function encodingOfPrescan(bytes: Uint8Array): string | null {
  return encodingOfUtf16Declaration(bytes) ?? encodingOfMetaPrescan(bytes) ?? encodingOfXmlDeclaration(bytes)
}

/** `<?x` in UTF-16 without a byte order mark. */
export function encodingOfUtf16Declaration(bytes: Uint8Array): string | null {
  const [a, b, c, d, e, f] = bytes
  if (a === 0x3c && b === 0 && c === 0x3f && d === 0 && e === 0x78 && f === 0) return 'utf-16le'
  if (a === 0 && b === 0x3c && c === 0 && d === 0x3f && e === 0 && f === 0x78) return 'utf-16be'
  return null
}

/** "Get an XML encoding" (HTML Standard §13.2.3.2): the encoding pseudo-attribute of `<?xml …?>`. */
export function encodingOfXmlDeclaration(bytes: Uint8Array): string | null {
  const head = latin1(bytes)
  if (!head.startsWith('<?xml')) return null
  const end = head.indexOf('>')
  if (end === -1) return null
  let at = head.indexOf('encoding')
  if (at === -1 || at > end) return null
  at = skipControls(head, at + 8)
  if (head[at] !== '=') return null
  at = skipControls(head, at + 1)
  const quote = head[at]
  if (quote !== '"' && quote !== "'") return null
  const close = head.indexOf(quote, at + 1)
  if (close === -1 || close > end) return null
  const label = head.slice(at + 1, close)
  // The standard refuses a label with a space in it here, and reads UTF-16 as a mistake for UTF-8.
  if (/[\0- ]/.test(label)) return null
  const encoding = encodingOfLabel(label)
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? 'utf-8' : encoding
}

function encodingOfMetaPrescan(bytes: Uint8Array): string | null {
  const head = latin1(bytes)
  const size = head.length
  for (let at = 0; at < size; at++) {
    if (head.charCodeAt(at) !== 0x3c) continue
    if (head.startsWith('<!--', at)) {
      // The dashes of the opening may be those of the end: `<!-->` is a comment.
      const end = head.indexOf('-->', at + 2)
      if (end === -1) return null
      at = end + 2
      continue
    }
    const next = head.charCodeAt(at + 1)
    if (isMetaTag(head, at)) {
      const reading = readMeta(head, at + 5)
      if (reading === undefined) return null
      if (reading.encoding !== null) return encodingMeantByMeta(reading.encoding)
      at = reading.end
      continue
    }
    const letter = next === 0x2f ? head.charCodeAt(at + 2) : next
    if (isAsciiLetter(letter)) {
      let end = at + 1
      while (end < size && head.charCodeAt(end) !== 0x3e && !isAsciiWhitespace(head.charCodeAt(end))) end++
      for (;;) {
        const attribute = readAttribute(head, end)
        if (attribute === undefined) return null
        end = attribute.end
        if (attribute.name === '') break
      }
      at = end
    } else if (next === 0x21 || next === 0x2f || next === 0x3f) {
      const end = head.indexOf('>', at + 1)
      if (end === -1) return null
      at = end
    }
  }
  return null
}

function isMetaTag(head: string, at: number): boolean {
  if (head.slice(at + 1, at + 5).toLowerCase() !== 'meta') return false
  const after = head.charCodeAt(at + 5)
  return after === 0x2f || isAsciiWhitespace(after)
}

/** The encoding that one `<meta` declares, and where its attributes end; undefined where the bytes end first. */
function readMeta(head: string, start: number): { encoding: string | null; end: number } | undefined {
  const seen = new Set<string>()
  let isContentType = false
  let needsContentType: boolean | undefined
  let encoding: string | null = null
  let at = start
  for (;;) {
    const attribute = readAttribute(head, at)
    if (attribute === undefined) return undefined
    at = attribute.end
    if (attribute.name === '') break
    if (seen.has(attribute.name)) continue
    seen.add(attribute.name)
    if (attribute.name === 'http-equiv') {
      if (attribute.value === 'content-type') isContentType = true
    } else if (attribute.name === 'content') {
      const found = encodingOfMetaContent(attribute.value)
      if (found !== null && encoding === null) {
        encoding = found
        needsContentType = true
      }
    } else if (attribute.name === 'charset') {
      encoding = encodingOfLabel(attribute.value)
      needsContentType = false
    }
  }
  const counts = needsContentType !== undefined && (!needsContentType || isContentType)
  return { encoding: counts ? encoding : null, end: at }
}

/** "Get an attribute", in lower case: an empty name where the tag ends, undefined where the bytes end first. */
function readAttribute(head: string, start: number): { name: string; value: string; end: number } | undefined {
  const size = head.length
  let at = start
  while (at < size && (head.charCodeAt(at) === 0x2f || isAsciiWhitespace(head.charCodeAt(at)))) at++
  if (at >= size) return undefined
  if (head[at] === '>') return { name: '', value: '', end: at }
  const nameStart = at
  let name: string
  for (;;) {
    if (at >= size) return undefined
    const char = head[at]
    if (char === '=' && at > nameStart) {
      name = head.slice(nameStart, at).toLowerCase()
      at++
      break
    }
    if (char === '/' || char === '>') return { name: head.slice(nameStart, at).toLowerCase(), value: '', end: at }
    if (isAsciiWhitespace(head.charCodeAt(at))) {
      name = head.slice(nameStart, at).toLowerCase()
      at = skipWhitespace(head, at)
      if (at >= size) return undefined
      if (head[at] !== '=') return { name, value: '', end: at }
      at++
      break
    }
    at++
  }
  at = skipWhitespace(head, at)
  if (at >= size) return undefined
  const quote = head[at]
  if (quote === '"' || quote === "'") {
    const end = head.indexOf(quote, at + 1)
    return end === -1 ? undefined : { name, value: head.slice(at + 1, end).toLowerCase(), end: end + 1 }
  }
  const valueStart = at
  while (at < size && head[at] !== '>' && !isAsciiWhitespace(head.charCodeAt(at))) at++
  return at >= size ? undefined : { name, value: head.slice(valueStart, at).toLowerCase(), end: at }
}

function skipWhitespace(text: string, start: number): number {
  let at = start
  while (at < text.length && isAsciiWhitespace(text.charCodeAt(at))) at++
  return at
}

/** The XML declaration may be spaced with any byte up to the space (HTML Standard, "get an XML encoding"). */
function skipControls(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

/** The first bytes, one character each: declarations are ASCII in every encoding that can be declared this way. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PRESCAN_BYTES)).toString('latin1')
}

/** `<` and another ASCII character in UTF-16, without a byte order mark or a declaration. */
export function encodingOfUtf16Markup(head: Uint8Array): string | null {
  if (head[0] === 0x3c && head[1] === 0 && head[3] === 0) return 'utf-16le'
  return head[0] === 0 && head[1] === 0x3c && head[2] === 0 ? 'utf-16be' : null
}
