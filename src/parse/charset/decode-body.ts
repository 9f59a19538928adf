/**
 * Bytes to text as a browser reads them (HTML Standard §13.2.3.2, Encoding Standard). It never throws: what cannot be
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
import { readTokens } from '../html/html-tokens.ts'
import { mediaTypeOf } from '../media/media-type.ts'

export interface DecodedBody {
  readonly text: string
  /** The encoding's name in the Encoding Standard, in lower case. */
  readonly charset: string
}

export function decodeBody(bytes: Uint8Array, contentType: string | null): DecodedBody {
  const certain = encodingOfBom(bytes) ?? encodingOfContentType(contentType)
  if (certain !== null) return decodeAs(bytes, certain)
  const kind = kindOf(mediaTypeOf(contentType)?.essence ?? null)
  if (kind === 'xml') {
    const declared = encodingOfUtf16Declaration(bytes) ?? encodingOfXmlDeclaration(bytes) ?? encodingOfPrescan(bytes)
    return decodeAs(bytes, declared ?? 'utf-8')
  }
  if (kind === 'other') return decodeAs(bytes, encodingByLook(bytes))
  const declared = encodingOfPrescan(bytes)
  if (declared !== null) return decodeAs(bytes, declared)
  const guessed = decodeAs(bytes, encodingByLook(bytes))
  const late = encodingOfLateMeta(guessed.text)
  return late === null || late === guessed.charset ? guessed : decodeAs(bytes, late)
}

function decodeAs(bytes: Uint8Array, charset: string): DecodedBody {
  return { text: decodeText(bytes, charset), charset }
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
function encodingOfLateMeta(text: string): string | null {
  if (!/charset/i.test(text)) return null
  let found: string | null = null
  readTokens(text, {
    wantsAttributes: (name) => name === 'meta',
    isForeign: () => false,
    openTag(name, attributes) {
      if (name !== 'meta') return true
      const charset = attributes.get('charset')
      if (charset !== undefined) found = encodingOfLabel(charset)
      const isContentType = attributes.get('http-equiv')?.toLowerCase() === 'content-type'
      if (found === null && isContentType) found = encodingOfMetaContent(attributes.get('content') ?? '')
      return found === null
    },
    closeTag() {},
    text() {},
  })
  return found === null ? null : encodingMeantByMeta(found)
}
