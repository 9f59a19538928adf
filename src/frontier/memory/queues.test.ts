import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createQueues } from './queues.ts'

test('each lane behaves like a sorted list of pairs, short or long', () => {
  const step = fc.record({
    add: fc.boolean(),
    lane: fc.integer({ min: 1, max: 3 }),
    rank: fc.integer({ min: 0, max: 5 }),
    id: fc.integer({ min: 1, max: 20 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const queues = createQueues()
      const model = new Map<string, { lane: number; rank: number; id: number }>()
      for (const { add, lane, rank, id } of steps) {
        const name = `${lane} ${rank} ${id}`
        if (add) {
          queues.add(lane, rank, id)
          model.set(name, { lane, rank, id })
        } else {
          queues.delete(lane, rank, id)
          model.delete(name)
        }
      }
      for (const lane of [1, 2, 3]) {
        const expected = [...model.values()]
          .filter((entry) => entry.lane === lane)
          .sort((a, b) => a.rank - b.rank || a.id - b.id)
          .map((entry) => entry.id)
        expect(queues.first(lane, Infinity, () => true)).toEqual(expected)
        const odd = expected.filter((id) => id % 2 === 1)
        expect(queues.first(lane, 3, (id) => id % 2 === 1)).toEqual(odd.slice(0, 3))
      }
    }),
  )
})
