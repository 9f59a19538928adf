/** Inputs made worse at random, but the same from the same seed: bytes changed, pieces cut, moved, doubled and repeated. */
import type { Rng } from '../../src/base/index.ts'

export function mutate(
  inputs: readonly Uint8Array[],
  words: readonly string[],
  maxBytes: number,
  rng: Rng,
): Uint8Array {
  const pick = <T>(list: readonly T[]): T => list[rng.int(list.length)] as T
  let bytes: Uint8Array = pick(inputs)
  for (let left = 1 + rng.int(6); left > 0; left--) {
    const at = rng.int(bytes.length + 1)
    const length = rng.int(Math.min(bytes.length - at, rng.int(4) === 0 ? 4_096 : 32) + 1)
    const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)]
    switch (rng.int(9)) {
      case 0:
        bytes = Buffer.concat([before, after])
        break
      case 1:
        bytes = Buffer.concat([before, Uint8Array.of(rng.int(256)), after])
        break
      case 2:
        bytes = Buffer.concat([before, Buffer.from(pick(words), 'latin1'), piece, after])
        break
      case 3:
        bytes = Buffer.concat([before, piece, piece, after])
        break
      // What is repeated finds whatever is more than linear.
      case 4:
        bytes = Buffer.concat([before, repeated(piece, 1 + rng.int(maxBytes)), after])
        break
      case 5:
      case 6: {
        const phrase = Array.from({ length: 1 + rng.int(3) }, () => pick(words)).join('')
        bytes = Buffer.concat([before, repeated(Buffer.from(phrase, 'latin1'), 1 + rng.int(maxBytes)), piece, after])
        break
      }
      case 7: {
        const other = pick(inputs)
        const start = rng.int(other.length + 1)
        bytes = Buffer.concat([before, other.subarray(start, start + rng.int(8_192)), after])
        break
      }
      default:
        bytes = Buffer.concat([before, Buffer.from(Array.from({ length: rng.int(16) }, () => rng.int(256))), after])
    }
    if (bytes.length > maxBytes) bytes = bytes.subarray(0, maxBytes)
  }
  return bytes
}

function repeated(piece: Uint8Array, bytes: number): Uint8Array {
  return piece.length === 0 ? piece : Buffer.alloc(bytes, piece)
}
