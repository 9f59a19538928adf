/**
 * The query of a link in the page's own encoding. A browser sends `?q=é` of a windows-1252 page as `%E9`, and the server
 * behind such a page expects that (URL Standard §5.2, "percent-encode after encoding"); paths are UTF-8 everywhere.
 * The encoders are the decoders turned round. ISO-2022-JP, whose bytes depend on those before them, is left out: the
 * queries of its pages are UTF-8.
 */
import { decodeText } from './decoders.ts'

/** Encodings whose queries are UTF-8, by the standard ("get an output encoding") or by the limits of this file. */
const UTF8_OUTPUT = new Set(['utf-8', 'utf-16le', 'utf-16be', 'replacement', 'iso-2022-jp'])

const DOUBLE_BYTE = new Set(['big5', 'euc-jp', 'euc-kr', 'gb18030', 'gbk', 'shift_jis'])

/** Big5 has these twice, and the second place is the one to write. */
const BIG5_LATER = new Set('═╞╡╪十卅')

/** In Japan the yen sign and the overline took the place of two ASCII characters, and the minus sign is a wide one. */
const JAPANESE_EXTRAS: readonly (readonly [string, string])[] = [
  ['¥', '\\'],
  ['‾', '~'],
]

/** Percent-encoded bytes by character. One table for each encoding that was met; the standard has some forty. */
const tables = new Map<string, ReadonlyMap<string, string>>()

/** The same reference with every character of its query in ASCII; undefined where the URL parser's UTF-8 is right. */
export function queryEncoderOf(charset: string): ((reference: string) => string) | undefined {
  if (UTF8_OUTPUT.has(charset)) return undefined
  return (reference) => {
    const query = reference.indexOf('?')
    if (query === -1 || isAsciiText(reference)) return reference
    const hash = reference.indexOf('#')
    if (hash !== -1 && hash < query) return reference
    const end = hash === -1 ? reference.length : hash
    let table = tables.get(charset)
    if (table === undefined) {
      table = buildTable(charset)
      tables.set(charset, table)
    }
    let encoded = reference.slice(0, query)
    for (const character of reference.slice(query, end).toWellFormed()) {
      if (character <= '\x7f') encoded += character
      else encoded += table.get(character) ?? fourBytes(charset, character) ?? numericReference(character)
    }
    return encoded + reference.slice(end)
  }
}

function isAsciiText(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- ASCII is meant, with its control characters.
  return /^[\0-\x7f]*$/.test(text)
}

/** What the encoding lacks is sent as the text `&#…;`, with its marks percent-encoded. */
function numericReference(character: string): string {
  return `%26%23${character.codePointAt(0)}%3B`
}

function buildTable(charset: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>()
  const add = (character: string, bytes: Uint8Array): void => {
    const code = character.codePointAt(0) ?? 0
    const isOne = character.length === (code > 0xffff ? 2 : 1) && character !== '\ufffd'
    if (!isOne || code < 0x80) return
    if (!table.has(character) || (charset === 'big5' && BIG5_LATER.has(character))) {
      table.set(character, percentEncode(bytes))
    }
  }
  // Of gb18030's single bytes only the euro sign is not ASCII, and that is for GBK alone to write.
  const firstByte = charset === 'gb18030' ? 0x81 : 0x80
  for (let byte = firstByte; byte <= 0xff; byte++) {
    const bytes = Uint8Array.of(byte)
    add(decodeText(bytes, charset), bytes)
  }
  if (!DOUBLE_BYTE.has(charset)) return table
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    if (isReadOnlyLead(charset, lead)) continue
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      const bytes = Uint8Array.of(lead, trail)
      add(decodeText(bytes, charset), bytes)
    }
  }
  if (charset === 'shift_jis' || charset === 'euc-jp') {
    for (const [character, ascii] of JAPANESE_EXTRAS) table.set(character, ascii)
    table.set('−', table.get('－') as string)
  }
  return table
}

/** Rows that are read but never written: Big5's Hong Kong supplement, Shift_JIS's second copy and private use. */
function isReadOnlyLead(charset: string, lead: number): boolean {
  if (charset === 'big5') return lead < 0xa1
  return charset === 'shift_jis' && (lead === 0xed || lead === 0xee || (lead >= 0xf0 && lead <= 0xf9))
}

/** Pointers of gb18030's four-byte sequences: the last for the basic plane, and the first for the others. */
const FOUR_BYTE_LAST = 39_419
const FOUR_BYTE_ASTRAL = 189_000
/** This pointer stands for a character of private use, out of order. */
const FOUR_BYTE_ODD = 7457
const FOUR_BYTE_ODD_CHARACTER = '\ue7c7'

/** gb18030 writes all of Unicode: what has no pair has four bytes, in the order of the code points. */
function fourBytes(charset: string, character: string): string | undefined {
  if (charset !== 'gb18030') return undefined
  if (character === FOUR_BYTE_ODD_CHARACTER) return percentEncode(fourBytesOf(FOUR_BYTE_ODD))
  const code = character.codePointAt(0) as number
  if (code > 0xffff) return percentEncode(fourBytesOf(FOUR_BYTE_ASTRAL + code - 0x10000))
  let low = 0
  let high = FOUR_BYTE_LAST
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const probe = middle === FOUR_BYTE_ODD ? middle + 1 : middle
    if (decodeText(fourBytesOf(probe), charset) > character) high = middle - 1
    else low = middle
  }
  const bytes = fourBytesOf(low)
  return decodeText(bytes, charset) === character ? percentEncode(bytes) : undefined
}

function fourBytesOf(pointer: number): Uint8Array {
  return Uint8Array.of(
    0x81 + Math.floor(pointer / 12_600),
    0x30 + (Math.floor(pointer / 1260) % 10),
    0x81 + (Math.floor(pointer / 10) % 126),
    0x30 + (pointer % 10),
  )
}

/** The second byte of a pair may be an ASCII letter, digit or mark that a query holds as it is. */
function percentEncode(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) {
    text += byte > 0x7e ? `%${byte.toString(16).toUpperCase()}` : String.fromCharCode(byte)
  }
  return text
}
