/**
 * The body of a robots.txt as a string of octets: every character stands for one byte, 0 to 255. RFC 9309 compares
 * octets, so a byte that is not valid UTF-8 keeps its value instead of becoming U+FFFD, and a broken line harms no other.
 * Keeps true: at most ROBOTS_MAX_BYTES come out, ending at the end of a line, without a byte order mark.
 */
import { LIMITS } from '../model/index.ts'

/** RFC 9309 §2.5 asks for at least 500 KiB; what is beyond is not read, and a line cut there is dropped whole. */
export const ROBOTS_MAX_BYTES = LIMITS['robots-size'].value

export function octetsOf(body: string | Uint8Array): string {
  const bytes = typeof body === 'string' ? encode(body) : body
  const utf16 = utf16Label(bytes)
  if (utf16 !== undefined) {
    // RFC 9309 §2.3 wants UTF-8. A byte order mark followed by a zero octet leaves no doubt about what was meant.
    return wholeLines(encode(new TextDecoder(utf16).decode(bytes.subarray(0, 2 * ROBOTS_MAX_BYTES + 4))))
  }
  return wholeLines(bytes)
}

/** Turns octets back into text for people to read. */
export function textOf(octets: string): string {
  return /[\u0080-\u00ff]/.test(octets) ? Buffer.from(octets, 'latin1').toString('utf8') : octets
}

/** The octets of a URL or a name. A lone surrogate becomes U+FFFD, as in the URL Standard. */
export function octetsOfText(text: string): string {
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

function encode(text: string): Uint8Array {
  // Each character is a byte or more, so this many characters hold all the bytes that are read, and one to see the cut.
  const head = text.slice(0, ROBOTS_MAX_BYTES + 1)
  // A lone surrogate is no character. As U+FFFF it equals nothing that a URL can hold, where U+FFFD would.
  return Buffer.from(head.isWellFormed() ? head : head.replace(/\p{Surrogate}/gu, '\uffff'), 'utf8')
}

function utf16Label(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes[3] === 0) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes[2] === 0) return 'utf-16be'
  return undefined
}

function wholeLines(bytes: Uint8Array): string {
  const start = byteOrderMarkLength(bytes)
  let end = bytes.length
  if (end > ROBOTS_MAX_BYTES) {
    end = ROBOTS_MAX_BYTES
    while (end > start && !isLineEnd(bytes[end]) && !isLineEnd(bytes[end - 1])) end--
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}

/** The UTF-8 mark, or as much of its beginning as is there: Google's parser forgives a torn one too. */
function byteOrderMarkLength(bytes: Uint8Array): number {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return 2
  if (bytes[0] !== 0xef) return 0
  if (bytes[1] !== 0xbb) return 1
  return bytes[2] === 0xbf ? 3 : 2
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d
}
