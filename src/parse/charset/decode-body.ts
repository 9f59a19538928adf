/**
 * The encoding of a body, and its text, as a browser reads them (HTML Standard §13.2.3.2, Encoding Standard). It never throws: what cannot be
 * decoded becomes U+FFFD. The order is: byte order mark, HTTP header, declaration in the document, what the bytes
 * look like, windows-1252.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { decodeText } from './decoders.ts'
import {
  encodingMeantByMeta,
  encodingOfBom,
  encodingOfContentType,
  encodingOfMetaContent,
  encodingOfPrescan,
  encodingOfUtf16Declaration,
  encodingOfXmlDeclaration,
} from './encoding-sniff.ts'
import { encodingOfLabel } from './encoding-label.ts'
import { END, HtmlScanner, OPEN_TAG } from '../html/html-scanner.ts'
import { CHARSET, CONTENT, HTML_VOCABULARY, HTTP_EQUIV } from '../html/html-vocabulary.ts'
import { sourceOfBytes } from '../html/page-source.ts'
import { mediaTypeOf } from '../media/media-type.ts'

export interface DecodedBody {
  readonly text: string
  /** The encoding's name in the Encoding Standard, in lower case. */
  readonly charset: string
}

export function decodeBody(bytes: Uint8Array, contentType: string | null): DecodedBody {
  const charset = encodingOfBody(bytes, contentType)
  return { text: decodeText(bytes, charset), charset }
}

export function encodingOfBody(bytes: Uint8Array, contentType: string | null): string {
  const certain = encodingOfBom(bytes) ?? encodingOfContentType(contentType)
  if (certain !== null) return certain
  const kind = kindOf(mediaTypeOf(contentType)?.essence ?? null)
  if (kind === 'xml') {
    return encodingOfUtf16Declaration(bytes) ?? encodingOfXmlDeclaration(bytes) ?? encodingOfPrescan(bytes) ?? 'utf-8'
  }
  if (kind === 'other') return encodingByLook(bytes)
  const declared = encodingOfPrescan(bytes)
  if (declared !== null) return declared
  const guessed = encodingByLook(bytes)
  return encodingOfLateMeta(bytes, guessed) ?? guessed
}

function kindOf(mediaType: string | null): 'html' | 'xml' | 'other' {
  if (mediaType === null || mediaType === 'text/html') return 'html'
  if (mediaType.endsWith('+xml') || mediaType === 'application/xml' || mediaType === 'text/xml') return 'xml'
  // A server that does not know its files may still be sending HTML.
  return mediaType === 'application/octet-stream' ? 'html' : 'other'
}

/**
 * Bytes that are valid UTF-8 and not plain ASCII are UTF-8: hardly any other text has that form. Plain ASCII proves
 * nothing and gets the standard's default, which reads it the same.
 */
function encodingByLook(bytes: Uint8Array): string {
  const whole = withoutBrokenEnd(bytes)
  return !isAscii(whole) && isUtf8(whole) ? 'utf-8' : 'windows-1252'
}

/** A body that was cut at its size limit may end inside a character, and is UTF-8 all the same. */
function withoutBrokenEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** A `<meta>` past the prescan still decides, as when a browser's parser meets it and starts over (§13.2.3.5). */
function encodingOfLateMeta(bytes: Uint8Array, guessed: string): string | null {
  const scanner = new HtmlScanner(sourceOfBytes(bytes, guessed), HTML_VOCABULARY)
  let found: string | null = null
  while (found === null) {
    const token = scanner.next(false, false)
    if (token === END) return null
    if (token !== OPEN_TAG) continue
    scanner.readAsText()
    if (scanner.name !== 'meta') continue
    const charset = scanner.get(CHARSET)
    if (charset !== undefined) found = encodingOfLabel(charset)
    const isContentType = scanner.get(HTTP_EQUIV)?.toLowerCase() === 'content-type'
    if (found === null && isContentType) found = encodingOfMetaContent(scanner.get(CONTENT) ?? '')
  }
  return encodingMeantByMeta(found)
}
