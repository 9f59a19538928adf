/**
 * A text as an array of its UTF-16 code units. A loop over an array reads a unit in a third of the time that
 * `charCodeAt` takes, since it need not ask again at each step how the string is stored; the copy costs next to nothing.
 */
import { endianness } from 'node:os'

/** Texts up to this long share one array; a longer one, which is rare, gets its own. */
export const SHARED_LENGTH = 128 * 1024

const shared = new Uint16Array(SHARED_LENGTH + 1)
const sharedBytes = Buffer.from(shared.buffer)
const LITTLE_ENDIAN = endianness() === 'LE'

/** The first `text.length` elements are the text's, the next one is 0. They last until the next call. */
export function codeUnitsOf(text: string): Uint16Array {
  if (text.length <= SHARED_LENGTH) {
    copyUnits(text, sharedBytes)
    shared[text.length] = 0
    return shared
  }
  const units = new Uint16Array(text.length + 1)
  copyUnits(text, Buffer.from(units.buffer))
  return units
}

function copyUnits(text: string, bytes: Buffer): void {
  const length = bytes.write(text, 'utf16le')
  if (!LITTLE_ENDIAN) bytes.subarray(0, length).swap16()
}

/** The first `length` units as a string. */
export function textOfUnits(units: Uint16Array, length: number): string {
  const bytes = Buffer.from(units.buffer, units.byteOffset, length * 2)
  return (LITTLE_ENDIAN ? bytes : Buffer.from(bytes).swap16()).toString('utf16le')
}
