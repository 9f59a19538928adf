/**
 * The Encoding Standard's Big5 decoder (§13.1.1). Node's own lacks the 5,000 characters of the Hong Kong supplement
 * and swallows the ASCII half of a pair that means nothing. The common part is read out of it; the rest is a table.
 */
import { BIG5_RANGES } from './big5-table.ts'

const LEAD_FIRST = 0x81
const LEAD_LAST = 0xfe
const ROW = 157
const REPLACEMENT = 0xfffd

/** The C0 control pictures and that of DEL, which Node leaves out. */
const PICTURES_POINTER = 5432
const PICTURES = '␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡'

/** Four pointers stand for a letter and a combining accent. */
const ACCENTED: ReadonlyMap<number, readonly [number, number]> = new Map([
  [1133, [0xca, 0x304]],
  [1135, [0xca, 0x30c]],
  [1164, [0xea, 0x304]],
  [1166, [0xea, 0x30c]],
])

/** Code points by pointer; 0 where nothing is assigned. Built on first use: few crawls meet a page that needs it. */
let index: Uint32Array | undefined

function buildIndex(): Uint32Array {
  const built = new Uint32Array((LEAD_LAST - LEAD_FIRST + 1) * ROW)
  const native = new TextDecoder('big5')
  for (let pointer = 0; pointer < built.length; pointer++) {
    const cell = pointer % ROW
    const lead = Math.floor(pointer / ROW) + LEAD_FIRST
    const text = native.decode(Uint8Array.of(lead, cell + (cell < 0x3f ? 0x40 : 0x62)))
    const code = text.charCodeAt(0)
    // Private use stands for what Node does not know.
    if (text.length === 1 && code !== REPLACEMENT && !(code >= 0xe000 && code <= 0xf8ff)) built[pointer] = code
  }
  for (const [first, lines] of [[PICTURES_POINTER, [PICTURES]] as const, ...BIG5_RANGES]) {
    let pointer = first
    for (const character of lines.join('')) {
      built[pointer++] = character === '-' ? 0 : (character.codePointAt(0) as number)
    }
  }
  return built
}

export function decodeBig5(bytes: Uint8Array): string {
  index ??= buildIndex()
  // No pair of bytes is more than two code units.
  const units = new Uint16Array(bytes.length)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number
    if (lead < 0x80) {
      units[size++] = lead
      continue
    }
    const trail = bytes[at + 1]
    const isLead = lead >= LEAD_FIRST && lead <= LEAD_LAST && trail !== undefined
    const isPair = isLead && ((trail >= 0x40 && trail <= 0x7e) || (trail >= 0xa1 && trail <= 0xfe))
    const pointer = isPair ? (lead - LEAD_FIRST) * ROW + trail - (trail < 0x7f ? 0x40 : 0x62) : 0
    const accented = isPair ? ACCENTED.get(pointer) : undefined
    const code = isPair ? (index[pointer] as number) : 0
    if (accented !== undefined) {
      units[size++] = accented[0]
      units[size++] = accented[1]
    } else if (code > 0xffff) {
      units[size++] = 0xd800 + ((code - 0x10000) >> 10)
      units[size++] = 0xdc00 + ((code - 0x10000) & 0x3ff)
    } else units[size++] = code === 0 ? REPLACEMENT : code
    // An ASCII byte is never swallowed by a broken pair, so markup survives it.
    if (accented !== undefined || code !== 0 || (isLead && trail >= 0x80)) at++
  }
  return Buffer.from(units.buffer, 0, size * 2).toString('utf16le')
}
