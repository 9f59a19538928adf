import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createReader, createWriter } from './codec.ts'
import { createHashTable } from './hash-table.ts'
import { createKnownSet } from './known-set.ts'

/** Large and small, near to each other and far apart. */
const hash = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.integer({ min: 0, max: 3_000 }),
  fc.integer({ min: 2 ** 31, max: 2 ** 31 + 3_000 }),
)
const hashes = fc.array(hash, { maxLength: 400 })
/** Well spread numbers. */
const spread = (n: number): number => Math.imul(n ^ (n >>> 7), 0x9e3779b1) >>> 0

test('what was added to a set is in it, and a set of few is exact', () => {
  fc.assert(
    fc.property(hashes, hashes, (added, others) => {
      const set = createKnownSet()
      for (const hash of added) set.add(hash)
      const exact = new Set(added)
      for (const hash of [...added, ...others]) expect(set.has(hash)).toBe(exact.has(hash))
    }),
  )
})

test('a set of two thousand is exact, also when it is read again', () => {
  const set = createKnownSet()
  for (let n = 0; n < 2_048; n++) set.add(spread(n))
  const writer = createWriter()
  set.write(writer)
  const again = createKnownSet()
  again.read(createReader(writer.text()))
  for (const each of [set, again]) {
    for (let n = 0; n < 2_048; n++) expect(each.has(spread(n))).toBe(true)
    for (let n = 2_048; n < 100_000; n++) expect(each.has(spread(n))).toBe(false)
    expect(each.hasForgotten).toBe(false)
  }
})

test('a set of any hashes takes 6 KB at most when it is written down', () => {
  fc.assert(
    fc.property(fc.array(hash, { minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 16 }), (some, times) => {
      const set = createKnownSet()
      for (let time = 0; time < times; time++) for (const each of some) set.add(Math.imul(each, 2 * time + 1))
      const writer = createWriter()
      set.write(writer)
      expect(Buffer.from(writer.text(), 'base64').length).toBeLessThanOrEqual(6 * 1024 + 16)
    }),
  )
})

test('a full set knows the latest two thousand, and is wrong about few others', () => {
  const set = createKnownSet()
  for (let n = 0; n < 10_000; n++) set.add(spread(n))
  for (let n = 8_000; n < 10_000; n++) expect(set.has(spread(n))).toBe(true)
  let wrong = 0
  for (let n = 20_000; n < 30_000; n++) wrong += Number(set.has(spread(n)))
  expect(wrong).toBeLessThan(60)
  expect(set.hasForgotten).toBe(true)
})

test('a table keeps the latest entries, and of the others some that depend on their hash alone', () => {
  const table = createHashTable({ recent: 50, sampled: 40, bytes: 1 })
  const again = createHashTable({ recent: 50, sampled: 40, bytes: 1 })
  for (let n = 0; n < 2_000; n++) {
    table.set(spread(n), n & 255)
    again.set(spread(1_999 - n), (1_999 - n) & 255)
  }
  for (let n = 1_950; n < 2_000; n++) expect(table.get(spread(n))).toBe(n & 255)
  const kept = Array.from({ length: 1_900 }, (_, n) => n + 50).filter((n) => table.get(spread(n)) !== undefined)
  const middle = kept.filter((n) => n < 1_950)
  expect(middle.length).toBeGreaterThan(10)
  expect(middle.length).toBeLessThanOrEqual(40)
  for (const n of middle) expect(again.get(spread(n))).toBe(n & 255)
})

test('both are the same when they are read again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5_000 }), (count) => {
      const set = createKnownSet()
      const table = createHashTable({ recent: 20, sampled: 30, bytes: 3 })
      for (let n = 0; n < count; n++) {
        set.add(spread(n))
        table.set(spread(n), spread(n) & 0xffffff)
      }
      const write = (known: typeof set, entries: typeof table): string => {
        const writer = createWriter()
        known.write(writer)
        entries.write(writer)
        return writer.text()
      }
      const text = write(set, table)
      const reader = createReader(text)
      const readSet = createKnownSet()
      const readTable = createHashTable({ recent: 20, sampled: 30, bytes: 3 })
      readSet.read(reader)
      readTable.read(reader)
      expect(reader.isWhole).toBe(true)
      expect(write(readSet, readTable)).toBe(text)
    }),
    { numRuns: 30 },
  )
})
