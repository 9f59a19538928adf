import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOrderWindow } from './order-window.ts'
import type { Pair } from './ordered-pairs.ts'

const inOrder = (a: Pair, b: Pair): number => a.key - b.key || a.id - b.id
const pairsOf = (rows: ReadonlyMap<number, number>): Pair[] => [...rows].map(([id, key]) => ({ id, key })).sort(inOrder)

describe('the window on an order', () => {
  test('answers like the whole order, whatever changes, is written to the table, or does not fit', () => {
    const id = fc.integer({ min: 1, max: 40 })
    const key = fc.integer({ min: 0, max: 60 })
    const count = fc.integer({ min: 1, max: 50 })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), id, key: fc.option(key) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('store' as const), id }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('first' as const), key, count }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('after' as const), key, count }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('at' as const), key, id }) },
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(id, key)), fc.array(step, { maxLength: 200 }), (stored, steps) => {
        const table = new Map(stored)
        const now = new Map(stored)
        const changed = new Set<number>()
        const window = createOrderWindow(
          {
            read: (behind, most) =>
              pairsOf(table)
                .filter((pair) => inOrder(pair, behind) > 0)
                .slice(0, most),
            isChanged: (each) => changed.has(each),
          },
          { portion: 3, longest: 10 },
        )
        for (const move of steps) {
          if (move.kind === 'set') {
            changed.add(move.id)
            if (move.key === null) now.delete(move.id)
            else now.set(move.id, move.key)
            window.set(move.id, move.key)
          } else if (move.kind === 'store' && changed.delete(move.id)) {
            const value = now.get(move.id)
            if (value === undefined) table.delete(move.id)
            else table.set(move.id, value)
            window.stored(move.id)
          } else if (move.kind === 'first') {
            const expected = pairsOf(now).filter((pair) => pair.key <= move.key)
            expect(window.first(move.count, move.key)).toEqual(expected.slice(0, move.count))
            const odd = expected.filter((pair) => pair.id % 2 === 1)
            expect(window.first(move.count, move.key, (each) => each % 2 === 1)).toEqual(odd.slice(0, move.count))
          } else if (move.kind === 'after') {
            const expected = pairsOf(now).filter((pair) => pair.key > move.key)
            expect(window.after(move.count, move.key)).toEqual(expected.slice(0, move.count))
          } else if (move.kind === 'at') {
            const pending = pairsOf(now).filter((pair) => changed.has(pair.id))
            const expected = pending.filter((pair) => pair.key === move.key && pair.id > move.id)
            expect(window.idsAt(move.key, move.id)).toEqual(expect.arrayContaining(expected.map((pair) => pair.id)))
          }
        }
      }),
    )
  })
})
