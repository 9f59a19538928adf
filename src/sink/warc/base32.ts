/** Base32 (RFC 4648 §6) of whole groups of five bytes, in which web archives write their digests. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 32; digit++) DIGITS[ALPHABET.charCodeAt(digit)] = digit

/** `bytes` has a multiple of five: a SHA-1 has twenty. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 5) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at, at + 5)
    const upper = (a << 12) | (b << 4) | (c >>> 4)
    const lower = ((c & 15) << 16) | (d << 8) | e
    for (const twenty of [upper, lower]) {
      for (let shift = 15; shift >= 0; shift -= 5) text += ALPHABET.charAt((twenty >>> shift) & 31)
    }
  }
  return text
}

/** The way back, for text that `base32` made. */
export function fromBase32(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length / 8) * 5)
  let bits = 0
  let value = 0
  let at = 0
  for (let index = 0; index < text.length; index++) {
    value = ((value << 5) | DIGITS[text.charCodeAt(index)]!) & 0xfff
    bits += 5
    if (bits >= 8) bytes[at++] = (value >>> (bits -= 8)) & 0xff
  }
  return bytes
}
