import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint } from './index.ts'

const key = { a: 0x12345678, b: 0x9abcdef0 | 0 }
const hex = (text: string, used = key): string => {
  const { hi, lo } = fingerprint(text, used, { hi: 0, lo: 0 })
  return hi.toString(16).padStart(8, '0') + lo.toString(16).padStart(8, '0')
}

describe('fingerprint', () => {
  test('a million similar URLs have a million fingerprints', () => {
    const seen = new Set<string>()
    for (let n = 0; n < 1_000_000; n++) seen.add(hex(`https://example.com/page/${n}?id=${n % 7}`))
    expect(seen.size).toBe(1_000_000)
  })

  test('each half is spread evenly by itself', () => {
    const halves = [new Set<number>(), new Set<number>()] as const
    const count = 100_000
    for (let n = 0; n < count; n++) {
      const { hi, lo } = fingerprint(`https://a.test/${n}`, key, { hi: 0, lo: 0 })
      halves[0].add(hi)
      halves[1].add(lo)
    }
    // 100,000 draws from 2^32 are expected to collide 1.2 times.
    for (const half of halves) expect(count - half.size).toBeLessThan(12)
  })

  test('one changed character changes about half of the bits', () => {
    let flipped = 0
    const runs = 2_000
    for (let n = 0; n < runs; n++) {
      const a = fingerprint(`https://a.test/${n}/a`, key, { hi: 0, lo: 0 })
      const b = fingerprint(`https://a.test/${n}/b`, key, { hi: 0, lo: 0 })
      for (let bits = (a.hi ^ b.hi) >>> 0; bits !== 0; bits &= bits - 1) flipped += 1
      for (let bits = (a.lo ^ b.lo) >>> 0; bits !== 0; bits &= bits - 1) flipped += 1
    }
    expect(flipped / runs).toBeGreaterThan(30)
    expect(flipped / runs).toBeLessThan(34)
  })

  test('depends on the key and on nothing else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(hex(text)).toBe(hex(text))
        expect(hex(text)).not.toBe(hex(text, { a: 1, b: 2 }))
      }),
    )
  })
})
