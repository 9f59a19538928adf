/**
 * A page as it is scanned: bytes in which every ASCII byte is that character, and pieces of which are decoded when they
 * are wanted. UTF-8 and most other encodings are such bytes as they come. In a few, the byte of a `<` or a letter may
 * be half of another character: a page in one of these is decoded as a whole, and scanned as UTF-8.
 */
import { decodeText } from '../charset/decoders.ts'
import { searchIn, type PageSearch } from './page-search.ts'

export interface PageSource {
  readonly bytes: Buffer
  readonly search: PageSearch
  /** Where the page begins, behind a byte order mark. */
  readonly start: number
  /** A piece of the page as text, between two places at which there are ASCII characters. */
  decode(start: number, end: number): string
}

/** Encodings in which bytes below 0x80 may be part of other characters, or stand for others. */
const ASCII_UNSAFE = new Set([
  'big5',
  'euc-kr',
  'gb18030',
  'gbk',
  'iso-2022-jp',
  'replacement',
  'shift_jis',
  'utf-16be',
  'utf-16le',
])

/** @param charset a name of the Encoding Standard in lower case */
export function sourceOfBytes(body: Uint8Array, charset: string): PageSource {
  if (ASCII_UNSAFE.has(charset)) return sourceOfText(decodeText(body, charset))
  const bytes = asBuffer(body)
  const hasMark = charset === 'utf-8' && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const decode =
    charset === 'utf-8'
      ? (start: number, end: number) => bytes.toString('utf8', start, end)
      : (start: number, end: number) => decodeText(bytes.subarray(start, end), charset)
  return createSource(bytes, hasMark ? 3 : 0, decode)
}

export function sourceOfText(text: string): PageSource {
  const bytes = Buffer.from(text, 'utf8')
  return createSource(bytes, 0, (start, end) => bytes.toString('utf8', start, end))
}

function createSource(bytes: Buffer, start: number, decode: (start: number, end: number) => string): PageSource {
  return { bytes, search: searchIn(bytes), start, decode }
}

/** The same object where it can be: the page machine knows a page that it holds by it. */
function asBuffer(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
