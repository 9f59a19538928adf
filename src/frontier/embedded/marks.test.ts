import fc from 'fast-check'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createMarks } from './marks.ts'
import { TABLES } from './tables.ts'

describe('marks of URLs', () => {
  test('are what was set last, each by itself, and the same when they are read again', () => {
    const id = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 50_000 }))
    const step = fc.record({ id, mark: fc.constantFrom('changed' as const, 'gone' as const, 'back' as const) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const db = new DatabaseSync(':memory:')
        db.exec(TABLES)
        const marks = createMarks(db)
        const changed = new Set<number>()
        const gone = new Set<number>()
        for (const { id: each, mark } of steps) {
          if (mark === 'changed') marks.setChanged(each)
          else marks.setGone(each, mark === 'gone')
          if (mark === 'changed') changed.add(each)
          else if (mark === 'gone') gone.add(each)
          else gone.delete(each)
        }
        for (const block of marks.unstored()) marks.store(block)
        expect(marks.unstored()).toEqual([])
        for (const known of [marks, createMarks(db)]) {
          for (const { id: each } of steps) {
            for (const near of [each - 1, each, each + 1]) {
              expect(known.isChanged(near)).toBe(changed.has(near))
              expect(known.isGone(near)).toBe(gone.has(near))
            }
          }
        }
        db.close()
      }),
    )
  })

  test('of URLs that were never marked are not set', () => {
    const db = new DatabaseSync(':memory:')
    db.exec(TABLES)
    const marks = createMarks(db)
    expect([marks.isChanged(1), marks.isGone(100_000_000)]).toEqual([false, false])
    db.close()
  })
})
