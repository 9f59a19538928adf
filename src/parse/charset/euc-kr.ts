/**
 * The Encoding Standard's EUC-KR decoder (§12.1.1). Node's own knows only KS X 1001 and turns the 8,822 further
 * syllables of windows-949, which Korean pages use, into control characters. The tables are derived, not stored:
 * the extension holds, in Unicode order, exactly the Hangul syllables that KS X 1001 lacks.
 */

const LEAD_FIRST = 0x81
const LEAD_LAST = 0xfe
const TRAIL_FIRST = 0x41
const ROW = 190
const REPLACEMENT = 0xfffd
const HANGUL_FIRST = 0xac00
const HANGUL_LAST = 0xd7a3

/** Code units by pointer; 0 where nothing is assigned. Built on first use: few crawls meet a page that needs it. */
let index: Uint16Array | undefined

function buildIndex(): Uint16Array {
  const built = new Uint16Array((LEAD_LAST - LEAD_FIRST + 1) * ROW)
  const taken = new Set<number>()
  const native = new TextDecoder('euc-kr')
  for (let lead = 0xa1; lead <= 0xfe; lead++) {
    for (let trail = 0xa1; trail <= 0xfe; trail++) {
      const text = native.decode(Uint8Array.of(lead, trail))
      const code = text.charCodeAt(0)
      // User-defined rows 0xC9 and 0xFE come out as private use or as a replacement: the standard leaves them empty.
      if (text.length !== 1 || code === REPLACEMENT || (code >= 0xe000 && code <= 0xf8ff)) continue
      built[(lead - LEAD_FIRST) * ROW + trail - TRAIL_FIRST] = code
      taken.add(code)
    }
  }
  // Windows added these two to the symbols after KS X 1001 was fixed.
  built[(0xa2 - LEAD_FIRST) * ROW + 0xe6 - TRAIL_FIRST] = 0x20ac
  built[(0xa2 - LEAD_FIRST) * ROW + 0xe7 - TRAIL_FIRST] = 0xae
  let syllable = HANGUL_FIRST
  for (let lead = LEAD_FIRST; lead <= 0xc6; lead++) {
    for (let trail = TRAIL_FIRST; trail <= 0xfe; trail++) {
      const isLetter = (trail >= 0x41 && trail <= 0x5a) || (trail >= 0x61 && trail <= 0x7a)
      if (!isLetter && !(trail >= 0x81 && (lead < 0xa1 || trail <= 0xa0))) continue
      while (syllable <= HANGUL_LAST && taken.has(syllable)) syllable++
      if (syllable > HANGUL_LAST) return built
      built[(lead - LEAD_FIRST) * ROW + trail - TRAIL_FIRST] = syllable++
    }
  }
  return built
}

export function decodeEucKr(bytes: Uint8Array): string {
  index ??= buildIndex()
  const units = new Uint16Array(bytes.length)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number
    if (lead < 0x80) {
      units[size++] = lead
      continue
    }
    const trail = bytes[at + 1]
    const isPair = lead >= LEAD_FIRST && lead <= LEAD_LAST && trail !== undefined
    const code =
      isPair && trail >= TRAIL_FIRST && trail <= 0xfe ? index[(lead - LEAD_FIRST) * ROW + trail - TRAIL_FIRST] : 0
    if (code !== undefined && code !== 0) {
      units[size++] = code
      at++
      continue
    }
    units[size++] = REPLACEMENT
    // An ASCII byte is never swallowed by a broken pair, so markup survives it.
    if (isPair && trail >= 0x80) at++
  }
  return Buffer.from(units.buffer, 0, size * 2).toString('utf16le')
}
