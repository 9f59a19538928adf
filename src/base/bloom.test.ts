import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bloomShape, bloomWords, createBloomFilter, createRng, type BloomFilter } from './index.ts'

const unsigned = fc.integer({ min: 0, max: 0xffffffff })

const empty = (keys: number, rate: number): BloomFilter => {
  const shape = bloomShape(rate)
  return createBloomFilter(new Int32Array(bloomWords(keys, shape)), shape.probes)
}

/** How often a filter with so many random keys is wrong about others. */
function measure(keys: number, rate: number, questions: number): number {
  const filter = empty(keys, rate)
  const rng = createRng(7)
  for (let key = 0; key < keys; key++) filter.add(rng.int(2 ** 32), rng.int(2 ** 32))
  let perhaps = 0
  for (let asked = 0; asked < questions; asked++) {
    if (filter.has(rng.int(2 ** 32), rng.int(2 ** 32))) perhaps += 1
  }
  return perhaps / questions
}

describe('a blocked Bloom filter', () => {
  test('never denies a key that was added, also after it was halved and stored', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(unsigned, unsigned), { maxLength: 200 }), fc.nat(3), (keys, halvings) => {
        let filter = empty(keys.length, 0.01)
        for (const [hi, lo] of keys) filter.add(hi, lo)
        for (let n = 0; n < halvings; n++) filter = filter.halved() as BloomFilter
        const stored = createBloomFilter(filter.words.slice(), filter.probes)
        for (const [hi, lo] of keys) expect(stored.has(hi, lo)).toBe(true)
      }),
    )
  })

  test('an empty one has nothing', () => {
    fc.assert(fc.property(unsigned, unsigned, (hi, lo) => !empty(100, 0.01).has(hi, lo)))
  })

  // Three standard deviations of a million questions: 3 % of the rate at 1 %, and 17 % at 1 in 3,200.
  test.each([
    [0.01, 0.03],
    [0.0075, 0.035],
    [1 / 3_200, 0.17],
  ])('is wrong as often as it was asked to be, or a little less: %d', (rate, deviation) => {
    const measured = measure(200_000, rate, 1_000_000)
    expect(measured / rate).toBeLessThan(1 + deviation)
    expect(measured / rate).toBeGreaterThan(0.93 - deviation)
  })

  test('takes 10 bits for a key at 1 %, where an unblocked one would take 9.6', () => {
    expect(bloomShape(0.01).bitsPerKey).toBeCloseTo(10, 1)
    expect((bloomWords(1_000_000, bloomShape(0.01)) * 32) / 1_000_000).toBeCloseTo(10, 1)
  })

  test('is no larger than its limit, and then wrong more often', () => {
    const shape = bloomShape(0.01)
    expect(bloomWords(1_000_000, shape, 1_280)).toBe(1_280)
    expect(bloomWords(1_000_000, shape, 1)).toBeGreaterThan(0)
  })

  test('refuses words and probes that no filter has', () => {
    expect(() => createBloomFilter(new Int32Array(15), 6)).toThrow(RangeError)
    expect(() => createBloomFilter(new Int32Array(0), 6)).toThrow(RangeError)
    expect(() => createBloomFilter(new Int32Array(16), 17)).toThrow(RangeError)
  })
})
