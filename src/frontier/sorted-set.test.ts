import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSortedSet } from './sorted-set.ts'

test('behaves like a sorted list of pairs', () => {
  const step = fc.record({
    add: fc.boolean(),
    rank: fc.integer({ min: 0, max: 20 }),
    id: fc.integer({ min: 0, max: 300 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000 }), fc.integer({ min: 0, max: 20 }), (steps, rank) => {
      const set = createSortedSet()
      const model = new Map<string, [number, number]>()
      for (const { add, rank, id } of steps) {
        if (add) {
          set.add(rank, id)
          model.set(`${rank} ${id}`, [rank, id])
        } else {
          set.delete(rank, id)
          model.delete(`${rank} ${id}`)
        }
      }
      const sorted = [...model.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])
      expect(set.first(Infinity, Infinity)).toEqual(sorted.map(([, id]) => id))
      expect(set.first(5, rank)).toEqual(
        sorted
          .filter((pair) => pair[0] <= rank)
          .slice(0, 5)
          .map(([, id]) => id),
      )
      expect(set.after(5, rank)).toEqual(
        sorted
          .filter((pair) => pair[0] > rank)
          .slice(0, 5)
          .map(([, id]) => id),
      )
      expect(set.smallest()).toBe(sorted[0]?.[0])
    }),
    { numRuns: 60 },
  )
})

test('grows to many blocks and back', () => {
  const set = createSortedSet()
  for (let id = 0; id < 5_000; id++) set.add((id * 7_919) % 5_000, id)
  expect(set.first(5_000, Infinity)).toHaveLength(5_000)
  for (let id = 0; id < 5_000; id++) set.delete((id * 7_919) % 5_000, id)
  expect(set.first(1, Infinity)).toEqual([])
})
