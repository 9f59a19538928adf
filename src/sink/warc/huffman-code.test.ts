import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codesOf, findCodeLengths } from './huffman-code.ts'

const frequencies = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })), {
    minLength: 2,
    maxLength: 286,
  })
  .map((all) => Uint32Array.from(all))

function lengthsOf(all: Uint32Array, maxBits: number): Uint8Array {
  const lengths = new Uint8Array(all.length)
  findCodeLengths(all, maxBits, lengths)
  return lengths
}

describe('a code', () => {
  test('has room for exactly the symbols that come, none with more bits than allowed', () => {
    fc.assert(
      fc.property(frequencies, fc.integer({ min: 9, max: 15 }), (all, maxBits) => {
        const lengths = lengthsOf(all, maxBits)
        const used = [...lengths].filter((length) => length > 0)
        expect([...lengths].map((length) => length > 0)).toEqual([...all].map((frequency) => frequency > 0))
        expect(Math.max(0, ...used)).toBeLessThanOrEqual(maxBits)
        const room = used.reduce((sum, length) => sum + 2 ** -length, 0)
        if (used.length > 1) expect(room).toBe(1)
      }),
    )
  })

  test('gives no symbol more bits than a rarer one has', () => {
    fc.assert(
      fc.property(frequencies, (all) => {
        const lengths = lengthsOf(all, 11)
        const rising = [...all.keys()].filter((symbol) => (all[symbol] ?? 0) > 0)
        rising.sort((one, other) => (all[one] ?? 0) - (all[other] ?? 0) || (lengths[other] ?? 0) - (lengths[one] ?? 0))
        for (const [index, symbol] of rising.entries()) {
          expect(lengths[symbol]).toBeLessThanOrEqual(lengths[rising[index - 1] ?? symbol] ?? 0)
        }
      }),
    )
  })

  test('is as short as any can be', () => {
    expect(lengthsOf(Uint32Array.of(5, 9, 12, 13, 16, 45), 15)).toEqual(Uint8Array.of(4, 4, 3, 3, 3, 1))
  })

  test('of a single symbol has one bit, and one of none is empty', () => {
    expect(lengthsOf(Uint32Array.of(0, 7, 0), 15)).toEqual(Uint8Array.of(0, 1, 0))
    expect(lengthsOf(new Uint32Array(3), 15)).toEqual(new Uint8Array(3))
  })

  test('says up to which symbol it goes', () => {
    expect(findCodeLengths(Uint32Array.of(1, 0, 2, 0), 15, new Uint8Array(4))).toBe(3)
    expect(findCodeLengths(new Uint32Array(4), 15, new Uint8Array(4))).toBe(0)
  })

  test('is the one that the standard makes of its lengths, the first bit lowest', () => {
    // The example of RFC 1951 §3.2.2: 010, 011, 100, 101, 110, 00, 1110, 1111.
    const codes = codesOf(Uint8Array.of(3, 3, 3, 3, 3, 2, 4, 4))
    expect([...codes]).toEqual([0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111])
  })
})
