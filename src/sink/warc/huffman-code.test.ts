import { describe, expect, test } from 'vitest'
import { codesOf } from './huffman-code.ts'

describe('a code', () => {
  test('is the one that the standard makes of its lengths, the first bit lowest', () => {
    // The example of RFC 1951 §3.2.2: 010, 011, 100, 101, 110, 00, 1110, 1111.
    const codes = codesOf(Uint8Array.of(3, 3, 3, 3, 3, 2, 4, 4))
    expect([...codes]).toEqual([0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111])
  })
})
