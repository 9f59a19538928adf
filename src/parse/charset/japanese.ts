/**
 * The Encoding Standard's decoders for Shift_JIS, EUC-JP and ISO-2022-JP (§12). Node's own know the same characters,
 * but they swallow the ASCII half of a pair that means nothing, and with it markup; they move control characters
 * about and let C1 bytes through. So the tables are read out of them once, and the decoding is done here.
 */

const REPLACEMENT = 0xfffd
const KATAKANA_FIRST = 0xff61

/** Cells in one row of JIS X 0208 and 0212; a row of Shift_JIS holds two of them. */
const ROW = 94
const SHIFT_JIS_ROW = 2 * ROW
const SHIFT_JIS_ROWS = 60

/** Pointers that Shift_JIS sets aside for private use, and the first code point that they stand for. */
const PRIVATE_FIRST = 8836
const PRIVATE_LAST = 10715
const PRIVATE_CODE = 0xe000

/** JIS X 0212 ends with this lead byte; what Node has after it is not in the standard. */
const JIS0212_LAST_LEAD = 0xed

/** Code units by pointer, 0 where nothing is assigned. Built on first use: few crawls meet a page that needs them. */
let jis0208: Uint16Array | undefined
let jis0212: Uint16Array | undefined

function buildJis0208(): Uint16Array {
  const built = new Uint16Array(SHIFT_JIS_ROW * SHIFT_JIS_ROWS)
  const native = new TextDecoder('shift_jis')
  for (let pointer = 0; pointer < built.length; pointer++) {
    if (pointer >= PRIVATE_FIRST && pointer <= PRIVATE_LAST) continue
    const row = Math.floor(pointer / SHIFT_JIS_ROW)
    const cell = pointer % SHIFT_JIS_ROW
    const text = native.decode(Uint8Array.of(row + (row < 0x1f ? 0x81 : 0xc1), cell + (cell < 0x3f ? 0x40 : 0x41)))
    built[pointer] = singleUnit(text)
  }
  return built
}

function buildJis0212(): Uint16Array {
  const built = new Uint16Array(ROW * ROW)
  const native = new TextDecoder('euc-jp')
  for (let lead = 0xa1; lead <= JIS0212_LAST_LEAD; lead++) {
    for (let trail = 0xa1; trail <= 0xfe; trail++) {
      built[(lead - 0xa1) * ROW + trail - 0xa1] = singleUnit(native.decode(Uint8Array.of(0x8f, lead, trail)))
    }
  }
  return built
}

function singleUnit(text: string): number {
  return text.length === 1 && text !== '\ufffd' ? text.charCodeAt(0) : 0
}

export function decodeShiftJis(bytes: Uint8Array): string {
  const index = (jis0208 ??= buildJis0208())
  const units = new Uint16Array(bytes.length)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte <= 0x80) units[size++] = byte
    else if (byte >= 0xa1 && byte <= 0xdf) units[size++] = KATAKANA_FIRST - 0xa1 + byte
    else {
      const trail = bytes[at + 1]
      const isLead = byte !== 0xa0 && byte <= 0xfc
      const code = isLead && trail !== undefined ? shiftJisCode(index, byte, trail) : 0
      units[size++] = code === 0 ? REPLACEMENT : code
      if (code !== 0 || (isLead && trail !== undefined && trail >= 0x80)) at++
    }
  }
  return textOfUnits(units, size)
}

function shiftJisCode(index: Uint16Array, lead: number, trail: number): number {
  if (trail < 0x40 || trail === 0x7f || trail > 0xfc) return 0
  const pointer = (lead - (lead < 0xa0 ? 0x81 : 0xc1)) * SHIFT_JIS_ROW + trail - (trail < 0x7f ? 0x40 : 0x41)
  const isPrivate = pointer >= PRIVATE_FIRST && pointer <= PRIVATE_LAST
  return isPrivate ? PRIVATE_CODE + pointer - PRIVATE_FIRST : (index[pointer] ?? 0)
}

export function decodeEucJp(bytes: Uint8Array): string {
  const index = (jis0208 ??= buildJis0208())
  const units = new Uint16Array(bytes.length)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < 0x80) {
      units[size++] = byte
      continue
    }
    // 0x8F goes before a pair of JIS X 0212, and is spent once the pair has begun.
    const isLong = byte === 0x8f && isEucByte(bytes[at + 1])
    if (isLong) at++
    const lead = bytes[at] as number
    const trail = bytes[at + 1]
    let code = 0
    if (lead === 0x8e && trail !== undefined && trail >= 0xa1 && trail <= 0xdf) code = KATAKANA_FIRST - 0xa1 + trail
    else if (isEucByte(lead) && isEucByte(trail)) {
      const table = isLong ? (jis0212 ??= buildJis0212()) : index
      code = table[(lead - 0xa1) * ROW + trail - 0xa1] ?? 0
    }
    units[size++] = code === 0 ? REPLACEMENT : code
    const isLead = isLong || lead === 0x8e || lead === 0x8f || isEucByte(lead)
    if (code !== 0 || (isLead && trail !== undefined && trail >= 0x80)) at++
  }
  return textOfUnits(units, size)
}

function isEucByte(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0xa1 && byte <= 0xfe
}

type Iso2022JpMode = 'ascii' | 'roman' | 'katakana' | 'double'

/** What an escape sequence switches to, by its two bytes after ESC. */
const ISO_2022_JP_MODES: ReadonlyMap<string, Iso2022JpMode> = new Map([
  ['(B', 'ascii'],
  ['(J', 'roman'],
  ['(I', 'katakana'],
  ['$@', 'double'],
  ['$B', 'double'],
])

const ESC = 0x1b

export function decodeIso2022Jp(bytes: Uint8Array): string {
  const index = (jis0208 ??= buildJis0208())
  const units = new Uint16Array(bytes.length)
  let size = 0
  let mode: Iso2022JpMode = 'ascii'
  /** Nothing has come since the last escape sequence: another one right behind it could hide text from a filter. */
  let isFreshMode = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === ESC) {
      const next = ISO_2022_JP_MODES.get(String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0))
      if (next === undefined || isFreshMode) units[size++] = REPLACEMENT
      isFreshMode = next !== undefined
      if (next !== undefined) {
        mode = next
        at += 2
      }
      continue
    }
    isFreshMode = false
    if (mode !== 'double') {
      units[size++] = iso2022JpSingle(mode, byte)
      continue
    }
    const trail = bytes[at + 1]
    const isLead = byte >= 0x21 && byte <= 0x7e
    const isPair = isLead && trail !== undefined && trail >= 0x21 && trail <= 0x7e
    const code = isPair ? index[(byte - 0x21) * ROW + trail - 0x21] : 0
    units[size++] = code === undefined || code === 0 ? REPLACEMENT : code
    if (isLead && trail !== undefined && trail !== ESC) at++
  }
  return textOfUnits(units, size)
}

function iso2022JpSingle(mode: 'ascii' | 'roman' | 'katakana', byte: number): number {
  if (mode === 'katakana') return byte >= 0x21 && byte <= 0x5f ? KATAKANA_FIRST - 0x21 + byte : REPLACEMENT
  if (mode === 'roman' && byte === 0x5c) return 0xa5
  if (mode === 'roman' && byte === 0x7e) return 0x203e
  return byte >= 0x80 || byte === 0x0e || byte === 0x0f ? REPLACEMENT : byte
}

function textOfUnits(units: Uint16Array, size: number): string {
  return Buffer.from(units.buffer, 0, size * 2).toString('utf16le')
}
