import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DueHost } from '../storage.ts'
import { createDueWindow } from './due-window.ts'

const inOrder = (a: DueHost, b: DueHost): number => a.due - b.due || a.id - b.id

describe('the window on the due order', () => {
  test('answers like the whole order, whatever changes, is lent, or does not fit', () => {
    const id = fc.integer({ min: 1, max: 40 })
    const due = fc.integer({ min: 0, max: 60 })
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), id, due: fc.option(due) }),
      fc.record({ kind: fc.constant('lend' as const), id }),
      fc.record({ kind: fc.constant('giveBack' as const), id }),
      fc.record({ kind: fc.constant('first' as const), due, count: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ kind: fc.constant('after' as const), due, count: fc.integer({ min: 1, max: 50 }) }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(id, due)), fc.array(step, { maxLength: 200 }), (stored, steps) => {
        const table = new Map<number, number>(stored)
        const lent = new Set<number>()
        const whole = (): DueHost[] => [...table].map(([host, at]) => ({ id: host, due: at })).sort(inOrder)
        const read = (behind: DueHost, count: number): DueHost[] =>
          whole()
            .filter((host) => inOrder(host, behind) > 0)
            .slice(0, count)
        const window = createDueWindow(read, { portion: 3, longest: 10 })
        const offered = (): DueHost[] => whole().filter((host) => !lent.has(host.id))
        for (const move of steps) {
          if (move.kind === 'set') {
            if (move.due === null) table.delete(move.id)
            else table.set(move.id, move.due)
            window.set(move.id, move.due)
          } else if (move.kind === 'lend' && !lent.has(move.id)) {
            lent.add(move.id)
            window.lend(move.id)
          } else if (move.kind === 'giveBack' && lent.delete(move.id)) window.giveBack(move.id)
          else if (move.kind === 'first') {
            const expected = offered().filter((host) => host.due <= move.due)
            expect(window.first(move.count, move.due)).toEqual(expected.slice(0, move.count))
          } else if (move.kind === 'after') {
            const expected = offered().filter((host) => host.due > move.due)
            expect(window.after(move.count, move.due)).toEqual(expected.slice(0, move.count))
          }
        }
      }),
    )
  })
})
