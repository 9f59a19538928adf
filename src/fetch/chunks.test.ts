import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chunks } from './chunks.ts'

const parts = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 900, size: 'max' })

test('parts come out as they went in, however many there are, and only once', () => {
  fc.assert(
    fc.property(parts, (given) => {
      const chunks = new Chunks()
      for (const part of given) chunks.add(part)
      expect(chunks.bytes).toBe(given.reduce((sum, part) => sum + part.length, 0))
      expect(Buffer.compare(chunks.take(), Buffer.concat(given))).toBe(0)
      expect(chunks.bytes).toBe(0)
      expect(chunks.take()).toHaveLength(0)
    }),
    { numRuns: 50 },
  )
})

test('no more is taken than there is room for, and what did not fit is said', () => {
  fc.assert(
    fc.property(parts, fc.nat(2000), (given, maxBytes) => {
      const chunks = new Chunks()
      const whole = Buffer.concat(given)
      const fitted = given.map((part) => chunks.addUpTo(maxBytes, part))
      expect(fitted.every(Boolean)).toBe(whole.length <= maxBytes)
      expect(Buffer.compare(chunks.take(), whole.subarray(0, maxBytes))).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('large parts are kept as they are', () => {
  const chunks = new Chunks()
  const part = Buffer.alloc(10_000, 1)
  for (let count = 0; count < 300; count++) chunks.add(part)
  expect(chunks.take()).toHaveLength(3_000_000)
})
