import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIdList, createIdSet } from './id-set.ts'

test('has what was added and not deleted since, however large', () => {
  const id = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 3_000_000 }))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), id), { maxLength: 100 }), (steps) => {
      const ids = createIdSet()
      const model = new Set<number>()
      for (const [isAdded, each] of steps) {
        if (isAdded) {
          ids.add(each)
          model.add(each)
        } else {
          ids.delete(each)
          model.delete(each)
        }
      }
      for (const [, each] of steps) {
        for (const near of [each - 1, each, each + 1, each + 32]) expect(ids.has(near)).toBe(model.has(near))
      }
    }),
  )
})

test('a list has each id once, in the order in which they came, and none when it was cleared', () => {
  const id = fc.integer({ min: 1, max: 40_000 })
  fc.assert(
    fc.property(fc.array(fc.array(id, { maxLength: 30 }), { maxLength: 4 }), (rounds) => {
      const list = createIdList()
      for (const round of rounds) {
        for (const each of round) list.add(each)
        expect(list.ids).toEqual([...new Set(round)])
        list.clear()
        expect(list.ids).toEqual([])
      }
    }),
  )
})
