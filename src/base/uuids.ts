/** Random UUIDs (RFC 9562 §5.4). Node's own puts each together from twenty pieces, all of them the collector's to find. */
import { randomFillSync } from 'node:crypto'

const UUID_BYTES = 16
/** So many are drawn at once. */
const DRAWN = 128
const DIGITS = Buffer.from('0123456789abcdef')

/** Of what a UUID begins as: dashes, the version 4, and `8` for the variant, to which two bits of chance are added. */
const FORM = '00000000-0000-4000-8000-000000000000'

export function createUuids(): () => string {
  const drawn = Buffer.alloc(DRAWN * UUID_BYTES)
  let used = drawn.length
  const text = Buffer.from(FORM)
  return () => {
    if (used === drawn.length) {
      randomFillSync(drawn)
      used = 0
    }
    for (let byte = 0; byte < UUID_BYTES; byte++) {
      const value = drawn[used++]!
      const place = PLACES[byte]!
      if (byte === 6) text[place + 1] = DIGITS[value & 15]!
      else {
        text[place] = DIGITS[byte === 8 ? 8 | ((value >> 4) & 3) : value >> 4]!
        text[place + 1] = DIGITS[value & 15]!
      }
    }
    return text.toString('latin1')
  }
}

/** Where the two digits of each byte stand. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
