import { inflateRawSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_TEXT_BYTES, startDeflater, theDeflater, type Deflater } from './deflater.ts'

function deflated(text: Uint8Array, deflater: Deflater = theDeflater()): Uint8Array {
  deflater.room.set(text)
  return deflater.deflate(0, text.length)
}

/** Bytes made from numbers below 1 that look like chance. */
function noise(count: number, byteFrom: (random: number) => number, seed = 1): Uint8Array {
  let state = seed
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return byteFrom(state / 2 ** 32)
  })
}

/** Bytes in no order, the first of them the most frequent by so much. */
const bytes = fc
  .record({
    symbols: fc.integer({ min: 1, max: 256 }),
    skew: fc.double({ min: 1, max: 12, noNaN: true }),
    count: fc.integer({ min: 0, max: 20_000 }),
    seed: fc.integer({ min: 1 }),
  })
  .map(({ symbols, skew, count, seed }) => noise(count, (random) => symbols * random ** skew, seed))

describe('the deflater', () => {
  test('makes what is inflated to the same, however many bytes there are and however rare some', () => {
    fc.assert(
      fc.property(bytes, (text) => {
        expect(inflateRawSync(deflated(text)).equals(text)).toBe(true)
      }),
    )
  })

  test('codes bytes that do not repeat themselves as shortly as any code can', () => {
    const text = noise(30_000, (random) => 128 * random)
    expect(deflated(text).length).toBeLessThan((text.length * 7.1) / 8)
  })

  test('takes as much as its room has, in the worst case too', () => {
    const text = noise(MAX_TEXT_BYTES, (random) => 256 * random)
    expect(inflateRawSync(deflated(text)).equals(text)).toBe(true)
  })

  test('looks at nothing that stands before the text or behind it', () => {
    const { room, deflate } = theDeflater()
    const text = Buffer.alloc(70_000, 'over and over again, and once more ')
    const alone = Buffer.from(deflated(text))
    for (const start of [1, 70_000, 140_000]) {
      for (let place = start % 70_000; place <= 210_000; place += text.length) room.set(text, place)
      expect(deflate(start, start + text.length)).toEqual(alone)
    }
  })

  test('is zlib where there is no WebAssembly', () => {
    const text = Buffer.alloc(MAX_TEXT_BYTES, 'over and over again ')
    expect(inflateRawSync(deflated(text, startDeflater(undefined))).equals(text)).toBe(true)
  })
})
