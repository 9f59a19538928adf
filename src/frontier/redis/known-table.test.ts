import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NormalizedUrl } from '../../model/index.ts'
import { createFingerprints } from './fingerprints.ts'
import { createKnownTable } from './known-table.ts'

const prints = createFingerprints({ a: 1, b: 2 })
const url = (n: number) => prints.ofUrl('page', `https://a.test/${n}` as NormalizedUrl)

test('the first, fourth, sixteenth and sixty-fourth sightings are told, with all that came between', () => {
  const table = createKnownTable(1_000)
  const told = Array.from({ length: 100 }, () => table.see(url(1), 3))
  expect(told.flatMap((each, index) => (each === undefined ? [] : [[index + 1, each.times]]))).toEqual([
    [1, 1],
    [4, 3],
    [16, 12],
    [64, 48],
  ])
})

test('a smaller depth is told once', () => {
  const table = createKnownTable(1_000)
  expect([5, 5, 3, 4, 3, 2].map((depth) => table.see(url(1), depth)?.times)).toEqual([1, undefined, 0, 3, undefined, 0])
})

test('whatever it forgets, every URL is told at least once, and never one more often than it was seen', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { maxLength: 400 }), (seen) => {
      const table = createKnownTable(16)
      const told = new Map<number, number>()
      for (const n of seen) {
        const answer = table.see(url(n), 1)
        if (answer !== undefined) told.set(n, (told.get(n) ?? 0) + answer.times)
      }
      for (const n of new Set(seen)) {
        expect(told.get(n)).toBeGreaterThanOrEqual(1)
        expect(told.get(n)).toBeLessThanOrEqual(seen.filter((each) => each === n).length)
      }
    }),
  )
})

test('when it is cleared, everything is new', () => {
  const table = createKnownTable(1_000)
  for (let n = 0; n < 500; n++) table.see(url(n), 1)
  table.clear()
  for (let n = 0; n < 500; n++) expect(table.see(url(n), 1)).toEqual({ times: 1 })
})
