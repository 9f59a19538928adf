/**
 * Text to Shift_JIS, the reverse of what the platform offers: its decoder is asked once for every pair of bytes, and
 * the answers are kept the other way round.
 */

let table: ReadonlyMap<string, readonly [number, number]> | undefined

/** Throws for a character that the encoding lacks: the demo's texts are ours, so that is a bug. */
export function encodeShiftJis(text: string): Buffer {
  table ??= invertDecoder()
  const bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (code < 0x80) {
      bytes.push(code)
      continue
    }
    const pair = table.get(character)
    if (pair === undefined) throw new Error(`Shift_JIS has no ${character}`)
    bytes.push(...pair)
  }
  return Buffer.from(bytes)
}

function invertDecoder(): ReadonlyMap<string, readonly [number, number]> {
  const decoder = new TextDecoder('shift_jis')
  const pairs = new Map<string, readonly [number, number]>()
  const bytes = new Uint8Array(2)
  for (let lead = 0x81; lead <= 0xfc; lead++) {
    // 0xA0 to 0xDF are characters of one byte.
    if (lead >= 0xa0 && lead <= 0xdf) continue
    for (let trail = 0x40; trail <= 0xfc; trail++) {
      bytes[0] = lead
      bytes[1] = trail
      const character = decoder.decode(bytes)
      const isOne = character.length === 1 && character !== '\ufffd'
      // Some characters have two codes; the first is the one to write.
      if (isOne && !pairs.has(character)) pairs.set(character, [lead, trail])
    }
  }
  return pairs
}
