import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyMemory } from './body-memory.ts'
import { Chunks } from './chunks.ts'

const parts = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 900, size: 'max' })

const copyOf = (chunks: Chunks): Buffer => Buffer.from(chunks.take().bytes)

test('parts come out as they went in, however many there are, whatever was expected, and only once', () => {
  fc.assert(
    fc.property(parts, fc.nat(20_000), (given, expectedBytes) => {
      const chunks = new Chunks(new BodyMemory(), expectedBytes)
      for (const part of given) chunks.add(part)
      expect(chunks.bytes).toBe(given.reduce((sum, part) => sum + part.length, 0))
      expect(Buffer.compare(copyOf(chunks), Buffer.concat(given))).toBe(0)
      expect(chunks.bytes).toBe(0)
      expect(chunks.take().bytes).toHaveLength(0)
    }),
    { numRuns: 50 },
  )
})

test('no more is taken than there is room for, and what did not fit is said', () => {
  fc.assert(
    fc.property(parts, fc.nat(2000), (given, maxBytes) => {
      const chunks = new Chunks(new BodyMemory())
      const whole = Buffer.concat(given)
      const fitted = given.map((part) => chunks.addUpTo(maxBytes, part))
      expect(fitted.every(Boolean)).toBe(whole.length <= maxBytes)
      expect(Buffer.compare(copyOf(chunks), whole.subarray(0, maxBytes))).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('parts that are only lent are copied', () => {
  const chunks = new Chunks(new BodyMemory())
  const lent = Buffer.alloc(10_000)
  for (let count = 0; count < 300; count++) chunks.add(lent.fill(count))
  lent.fill(0)
  const { bytes } = chunks.take()
  expect(bytes).toHaveLength(3_000_000)
  for (let count = 0; count < 300; count++) expect(bytes[count * 10_000]).toBe(count & 255)
})

test('what was given back is used again, and what was not is never touched', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ size: fc.nat(40_000), isKept: fc.boolean() })), (bodies) => {
      const memory = new BodyMemory()
      const kept: { readonly bytes: Uint8Array; readonly mark: number }[] = []
      for (const [mark, { size, isKept }] of bodies.entries()) {
        const chunks = new Chunks(memory)
        for (let left = size; left > 0; left -= 7000) chunks.add(Buffer.alloc(Math.min(left, 7000), mark))
        const { bytes, block } = chunks.take()
        if (isKept) kept.push({ bytes, mark: mark & 255 })
        else memory.give(block)
      }
      for (const { bytes, mark } of kept) expect(bytes.every((byte) => byte === mark)).toBe(true)
    }),
    { numRuns: 50 },
  )
  const memory = new BodyMemory()
  const block = memory.take(30_000)
  memory.give(block)
  expect(memory.take(29_000)).toBe(block)
  expect(memory.take(29_000)).not.toBe(block)
})

test('unused memory is kept up to a limit', () => {
  const memory = new BodyMemory()
  const blocks = Array.from({ length: 100 }, () => memory.take(250_000))
  for (const block of blocks) memory.give(block)
  const again = Array.from({ length: 100 }, () => memory.take(250_000))
  const kept = again.filter((block) => blocks.includes(block)).length
  expect(kept).toBeGreaterThan(0)
  expect(kept * 250_000).toBeLessThanOrEqual(8 * 1024 * 1024)
})
