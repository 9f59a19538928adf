/**
 * The beginnings by which media types are known, from the MIME Sniffing Standard §6 and §7.1. Bytes in, a media type or
 * nothing out; which of the tables may be asked is decided in `sniff-media-type.ts`.
 */

/** `pattern` in hex, two digits a byte; `..` for a byte that may be anything. */
interface Signature {
  readonly pattern: readonly (number | undefined)[]
  readonly essence: string
}

const signature = (hex: string, essence: string): Signature => ({
  pattern: hex.split(' ').map((byte) => (byte === '..' ? undefined : Number.parseInt(byte, 16))),
  essence,
})

const ascii = (text: string): string =>
  Array.from(text, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join(' ')

/** Tags that begin an HTML page, after white space and in any case, when a space or `>` follows. */
const HTML_TAGS = '!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P|!--'
  .toLowerCase()
  .split('|')
const LONGEST_HTML_TAG = Math.max(...HTML_TAGS.map((tag) => tag.length))

const DOCUMENTS = [signature(ascii('%PDF-'), 'application/pdf')]
const PLAIN = [
  signature(ascii('%!PS-Adobe-'), 'application/postscript'),
  signature('fe ff .. ..', 'text/plain'),
  signature('ff fe .. ..', 'text/plain'),
  signature('ef bb bf ..', 'text/plain'),
]
const IMAGES = [
  signature('00 00 01 00', 'image/x-icon'),
  signature('00 00 02 00', 'image/x-icon'),
  signature(ascii('BM'), 'image/bmp'),
  signature(ascii('GIF87a'), 'image/gif'),
  signature(ascii('GIF89a'), 'image/gif'),
  signature(`${ascii('RIFF')} .. .. .. .. ${ascii('WEBPVP')}`, 'image/webp'),
  signature('89 50 4e 47 0d 0a 1a 0a', 'image/png'),
  signature('ff d8 ff', 'image/jpeg'),
]
const AUDIO_AND_VIDEO = [
  signature(`${ascii('FORM')} .. .. .. .. ${ascii('AIFF')}`, 'audio/aiff'),
  signature(ascii('ID3'), 'audio/mpeg'),
  signature('4f 67 67 53 00', 'application/ogg'),
  signature('4d 54 68 64 00 00 00 06', 'audio/midi'),
  signature(`${ascii('RIFF')} .. .. .. .. ${ascii('AVI ')}`, 'video/avi'),
  signature(`${ascii('RIFF')} .. .. .. .. ${ascii('WAVE')}`, 'audio/wave'),
]
const ARCHIVES = [
  signature('1f 8b 08', 'application/x-gzip'),
  signature('50 4b 03 04', 'application/zip'),
  signature('52 61 72 21 1a 07 00', 'application/x-rar-compressed'),
]

/** Types by which a browser would run scripts: HTML, XML and PDF. */
export function scriptableTypeOf(bytes: Uint8Array): string | undefined {
  const start = skipWhitespace(bytes)
  if (bytes[start] === 0x3c) {
    const text = latin1(bytes, start + 1, start + 1 + LONGEST_HTML_TAG + 1)
    const lower = text.toLowerCase()
    const isTag = (tag: string): boolean =>
      lower.startsWith(tag) && (lower[tag.length] === ' ' || lower[tag.length] === '>')
    if (HTML_TAGS.some(isTag)) return 'text/html'
    if (text.startsWith('?xml')) return 'text/xml'
  }
  return match(DOCUMENTS, bytes)
}

/** PostScript, and text that a byte order mark announces. */
export function plainTypeOf(bytes: Uint8Array): string | undefined {
  return match(PLAIN, bytes)
}

export function imageTypeOf(bytes: Uint8Array): string | undefined {
  return match(IMAGES, bytes)
}

export function audioOrVideoTypeOf(bytes: Uint8Array): string | undefined {
  return match(AUDIO_AND_VIDEO, bytes) ?? (isMp4(bytes) ? 'video/mp4' : isWebm(bytes) ? 'video/webm' : undefined)
}

export function archiveTypeOf(bytes: Uint8Array): string | undefined {
  return match(ARCHIVES, bytes)
}

/** Bytes that no text has (§3, "binary data byte"): controls other than tab, line feed, form feed, return and escape. */
export function hasBinaryBytes(bytes: Uint8Array): boolean {
  return bytes.some(
    (byte) => byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f),
  )
}

function match(signatures: readonly Signature[], bytes: Uint8Array): string | undefined {
  return signatures.find(({ pattern }) => startsWith(bytes, pattern))?.essence
}

function startsWith(bytes: Uint8Array, pattern: readonly (number | undefined)[]): boolean {
  return bytes.length >= pattern.length && pattern.every((byte, at) => byte === undefined || byte === bytes[at])
}

/** §6.2.1: the size of a box, `ftyp`, and `mp4` among the brands, which begin at 8 and, after the version, at 16. */
function isMp4(bytes: Uint8Array): boolean {
  if (bytes.length < 12) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const boxBytes = view.getUint32(0)
  if (bytes.length < boxBytes || boxBytes % 4 !== 0 || latin1(bytes, 4, 8) !== 'ftyp') return false
  if (latin1(bytes, 8, 11) === 'mp4') return true
  for (let at = 16; at < boxBytes; at += 4) if (latin1(bytes, at, at + 3) === 'mp4') return true
  return false
}

/** §6.2.2: an EBML header that names `webm` as its document type, near its beginning. */
function isWebm(bytes: Uint8Array): boolean {
  if (latin1(bytes, 0, 4) !== '\x1aE\xdf\xa3') return false
  for (let at = 4; at + 1 < bytes.length && at < 38; at++) {
    if (bytes[at] !== 0x42 || bytes[at + 1] !== 0x82) continue
    let start = at + 3
    while (bytes[start] === 0) start++
    return latin1(bytes, start, start + 4) === 'webm'
  }
  return false
}

function skipWhitespace(bytes: Uint8Array): number {
  const isWhite = (byte: number): boolean =>
    byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0c || byte === 0x0d
  const start = bytes.findIndex((byte) => !isWhite(byte))
  return start === -1 ? bytes.length : start
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', start, end)
}
