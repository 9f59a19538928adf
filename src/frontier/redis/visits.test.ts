import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { VisitRow } from '../storage.ts'
import { readVisit, writeVisit } from './visits.ts'

const text = fc.option(fc.string(), { nil: null })
const count = fc.nat()
const time = fc.integer({ min: 1, max: 4e12 })
const rate = fc.double({ min: 1e-12, max: 1e12, noNaN: true })
const visit: fc.Arbitrary<VisitRow> = fc.record({
  id: count,
  visits: count,
  changes: count,
  misses: count,
  firstAt: time,
  checkedAt: time,
  changedAt: time,
  changeShape: rate,
  changeTimeMs: rate,
  intervalMs: rate,
  dueAt: fc.constant(null),
  hash: text,
  etag: text,
  lastModified: text,
})

test('what is kept of a visit comes back as it was, with its row', () => {
  fc.assert(
    fc.property(visit, time, fc.string(), (kept, settledAt, row) => {
      expect(readVisit(writeVisit(kept, settledAt, `${row}\nrest`), kept.id)).toEqual({
        visit: kept,
        row: `${row}\nrest`,
      })
    }),
  )
})
