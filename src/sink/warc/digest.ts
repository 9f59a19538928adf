/** Digests as web archives write them: SHA-1 in Base32 (RFC 4648 §6). */
import { hash } from 'node:crypto'

const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')
const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 32; digit++) DIGITS[ALPHABET[digit]!] = digit

/** The SHA-1 of these bytes. */
export const sha1 = (bytes: Uint8Array): string => base32(hash('sha1', bytes, 'binary'))

/** Where the digits of a SHA-1 are put together: it has twenty bytes, and there are some of them for each page. */
const digits = Buffer.alloc(32)

/** `bytes` are the characters of Latin-1, a multiple of five and at most twenty of them. */
export function base32(bytes: string): string {
  let bits = 0
  let value = 0
  let at = 0
  for (let index = 0; index < bytes.length; index++) {
    value = (value << 8) | bytes.charCodeAt(index)
    for (bits += 8; bits >= 5; bits -= 5) digits[at++] = ALPHABET[(value >>> (bits - 5)) & 31]!
    value &= 0xf
  }
  return digits.toString('latin1', 0, at)
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
