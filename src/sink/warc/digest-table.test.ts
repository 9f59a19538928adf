import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDigestTable } from './digest-table.ts'

const digest = (text: string | number): Uint8Array => createHash('sha1').update(String(text)).digest()

describe('the table of digests', () => {
  test('has what was put into it, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(500), fc.nat()), { maxLength: 3000 }), (pairs) => {
        const table = createDigestTable(1_000_000)
        const model = new Map<number, number>()
        for (const [key, value] of pairs) {
          table.set(digest(key), value)
          if (!model.has(key)) model.set(key, value)
        }
        expect(table.size).toBe(model.size)
        for (let key = 0; key <= 501; key++) expect(table.get(digest(key))).toBe(model.get(key))
      }),
      { numRuns: 30 },
    )
  })

  test('never holds more than its maximum, and always the younger half of it', () => {
    for (const maximum of [1, 2, 7, 1024, 1500]) {
      const table = createDigestTable(maximum)
      for (let key = 0; key < 5000; key++) {
        table.set(digest(key), key)
        expect(table.size).toBeLessThanOrEqual(maximum)
      }
      for (let key = 5000 - Math.ceil(maximum / 2); key < 5000; key++) expect(table.get(digest(key))).toBe(key)
      expect(table.get(digest(0))).toBeUndefined()
    }
  })

  test('with a maximum of nothing has nothing', () => {
    const table = createDigestTable(0)
    table.set(digest(1), 1)
    expect(table.get(digest(1))).toBeUndefined()
  })

  test('gives up on digests that were made to collide, and stays right about the others', () => {
    const table = createDigestTable(10_000)
    const collision = (key: number): Uint8Array => {
      const bytes = digest(key)
      bytes.fill(7, 0, 4)
      return bytes
    }
    for (let key = 0; key < 2000; key++) table.set(collision(key), key)
    for (let key = 0; key < 2000; key++) expect([key, undefined]).toContain(table.get(collision(key)))
    expect(table.size).toBeLessThan(100)
    table.set(digest('other'), 5)
    expect(table.get(digest('other'))).toBe(5)
  })
})
