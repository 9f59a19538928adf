/**
 * Inputs made worse at random, but the same from the same seed: bytes changed, pieces cut, moved, doubled and repeated,
 * phrases of the language put where they do not belong. Half of all changes begin where a word of the language does.
 */
import type { Rng } from '../../src/base/index.ts'

/** Words in a row that mean nothing together. */
const MAX_SOUP_WORDS = 64

export function mutate(
  inputs: readonly Uint8Array[],
  words: readonly string[],
  maxBytes: number,
  rng: Rng,
): Uint8Array {
  const pick = <T>(list: readonly T[]): T => list[rng.int(list.length)] as T
  const phrase = (count: number): string => Array.from({ length: count }, () => pick(words)).join('')
  const pieceOf = (bytes: Uint8Array, most: number): Uint8Array => {
    const start = rng.int(bytes.length + 1)
    return bytes.subarray(start, start + rng.int(most))
  }
  let bytes: Uint8Array = rng.int(50) === 0 ? Buffer.from(phrase(1 + rng.int(MAX_SOUP_WORDS)), 'latin1') : pick(inputs)
  for (let left = 1 + rng.int(6); left > 0; left--) {
    const anywhere = rng.int(bytes.length + 1)
    const at = rng.int(2) === 0 ? anywhere : placeOf(pick(words), bytes, anywhere)
    const length = rng.int(Math.min(bytes.length - at, rng.int(4) === 0 ? 4_096 : 32) + 1)
    const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)]
    const insert = (part: Uint8Array | string): Buffer =>
      Buffer.concat([before, typeof part === 'string' ? Buffer.from(part, 'latin1') : part, piece, after])
    const replace = (part: Uint8Array): Buffer => Buffer.concat([before, part, after])
    switch (rng.int(14)) {
      case 0:
        bytes = replace(Buffer.alloc(0))
        break
      case 1:
        bytes = replace(Uint8Array.of(rng.int(256)))
        break
      case 2:
        bytes = insert(pick(words))
        break
      case 3:
        bytes = insert(piece)
        break
      // What is repeated finds whatever is more than linear.
      case 4:
        bytes = replace(repeated(piece, 1 + rng.int(maxBytes)))
        break
      case 5:
      case 6:
        bytes = insert(repeated(Buffer.from(phrase(1 + rng.int(3)), 'latin1'), 1 + rng.int(maxBytes)))
        break
      // So does what is never the same twice: names that are looked up, values that are kept.
      case 7:
        bytes = insert(numbered(() => pick(words), 1 + rng.int(maxBytes)))
        break
      case 8:
        bytes = insert(pieceOf(pick(inputs), 8_192))
        break
      case 9:
        bytes = replace(pieceOf(pick(inputs), 8_192))
        break
      case 10:
        bytes = insert(phrase(1 + rng.int(MAX_SOUP_WORDS)))
        break
      case 11:
        bytes = replace(piece.map((byte) => (isLetter(byte) ? byte ^ 0x20 : byte)))
        break
      case 12:
        bytes = replace(piece.map((byte, index) => (index === 0 ? byte ^ (1 << rng.int(8)) : byte)))
        break
      default:
        bytes = replace(Buffer.from(Array.from({ length: rng.int(16) }, () => rng.int(256))))
    }
    if (bytes.length > maxBytes) bytes = bytes.subarray(0, maxBytes)
  }
  return bytes
}

/** Where the word stands next, before or after which something may be put; `from` where it does not. */
function placeOf(word: string, bytes: Uint8Array, from: number): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = view.indexOf(word.slice(0, 8), from, 'latin1')
  return found === -1 ? from : found + (from % 2 === 0 ? 0 : Math.min(word.length, 8))
}

function repeated(piece: Uint8Array, bytes: number): Uint8Array {
  return piece.length === 0 ? piece : Buffer.alloc(bytes, piece)
}

/** A phrase of up to three words again and again, with a number after each word. */
function numbered(word: () => string, bytes: number): string {
  const words = [word(), word(), word()]
  const parts: string[] = []
  for (let size = 0, count = 0; size < bytes; count++) {
    const part = words.map((each) => `${each}${count}`).join('')
    parts.push(part)
    size += part.length
  }
  return parts.join('')
}

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
