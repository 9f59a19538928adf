import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Slot } from '../storage.ts'
import { BEFORE_ALL, BEHIND_ALL, type Pair } from './ordered-pairs.ts'
import { createQueueLines, type QueueTable } from './queue-lines.ts'

const inOrder = (a: Pair, b: Pair): number => a.key - b.key || a.id - b.id
const LIMITS = { lines: 2, entries: 12, firstPortion: 2, lastPortion: 4, longest: 6, gone: 2 }

/** Entries of a few lanes: what is so, and what the table has of it. */
function createModel() {
  type Rows = Map<number, { lane: number; rank: number }>
  const table: Rows = new Map()
  const now: Rows = new Map()
  const changed = new Set<number>()
  /** Those that the table still has, and that do not count. */
  const gone = new Set<number>()
  const forgotten: Pair[] = []
  const entries = (rows: Rows, lane: number): Pair[] =>
    [...rows].flatMap(([id, row]) => (row.lane === lane ? [{ id, key: row.rank }] : [])).sort(inOrder)
  let reads = 0
  const port: QueueTable = {
    first: (lane, slot) => port.read(lane, slot, BEFORE_ALL, LIMITS.firstPortion),
    read(lane, _slot, behind, count) {
      reads += 1
      return entries(table, lane)
        .filter((pair) => inOrder(pair, behind) > 0)
        .slice(0, count)
    },
    isChanged: (id) => changed.has(id),
    isNew: () => false,
    isGone: (id) => gone.has(id),
    forget(_lane, _slot, pairs) {
      forgotten.push(...pairs)
      for (const { id } of pairs) table.delete(id)
    },
  }
  return { table, now, changed, gone, forgotten, entries, port, reads: () => reads }
}

describe('the heads of queues', () => {
  const slot: Slot = 'auto'

  test('are those of the whole queue, whatever changes, is written, is forgotten or does not fit', () => {
    const id = fc.integer({ min: 1, max: 40 })
    const lane = fc.integer({ min: 1, max: 4 })
    const rank = fc.integer({ min: 0, max: 9 })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), id, lane, rank }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), id }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('store' as const), id }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('head' as const), lane, count: rank, skipped: id }) },
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(id, lane, rank)), fc.array(step, { maxLength: 200 }), (stored, steps) => {
        const { table, now, changed, gone, entries, port } = createModel()
        for (const [each, of, at] of stored) {
          table.set(each, { lane: of, rank: at })
          now.set(each, { lane: of, rank: at })
        }
        const lines = createQueueLines(port, LIMITS)
        for (const move of steps) {
          if (move.kind === 'move' || move.kind === 'leave') {
            const before = now.get(move.id)
            if (before !== undefined) lines.leave(before.lane, slot, before.rank, move.id)
            changed.add(move.id)
            now.delete(move.id)
            if (move.kind === 'leave') continue
            now.set(move.id, { lane: move.lane, rank: move.rank })
            lines.enter(move.lane, slot, move.rank, move.id)
          } else if (move.kind === 'store' && changed.delete(move.id)) {
            const row = now.get(move.id)
            // Of those that left, some are let stand.
            if (row === undefined && move.id % 2 === 0) gone.add(move.id)
            else if (row === undefined) table.delete(move.id)
            else {
              gone.delete(move.id)
              table.set(move.id, row)
              lines.stored(row.lane, slot, row.rank, move.id)
            }
          } else if (move.kind === 'head') {
            const expected = entries(now, move.lane).filter((pair) => pair.id !== move.skipped)
            expect(lines.head(move.lane, slot, move.count, new Set([move.skipped]))).toEqual(
              expected.slice(0, move.count).map((pair) => ({ id: pair.id, rank: pair.key })),
            )
          }
        }
      }),
    )
  })

  test('pass once over what the table has not deleted yet', () => {
    const { table, changed, port, reads } = createModel()
    for (let id = 1; id <= 1_000; id++) table.set(id, { lane: 1, rank: id })
    for (let id = 1; id <= 900; id++) changed.add(id)
    const lines = createQueueLines(port, { ...LIMITS, lastPortion: 64 })
    expect(lines.head(1, slot, 1, new Set())).toEqual([{ id: 901, rank: 901 }])
    const before = reads()
    for (let look = 0; look < 100; look++) lines.head(1, slot, 1, new Set())
    expect(reads()).toBe(before)
  })

  test('let entries that are gone be deleted when several were read together', () => {
    const { table, gone, forgotten, port } = createModel()
    for (let id = 1; id <= 9; id++) table.set(id, { lane: id < 4 ? 1 : 2, rank: id })
    gone.add(1)
    for (const id of [4, 5, 7]) gone.add(id)
    const lines = createQueueLines(port, LIMITS)
    expect(lines.head(1, slot, 1, new Set())).toEqual([{ id: 2, rank: 2 }])
    expect(forgotten).toEqual([])
    expect(lines.head(2, slot, 1, new Set())).toEqual([{ id: 6, rank: 6 }])
    expect(forgotten).toEqual([
      { id: 4, key: 4 },
      { id: 5, key: 5 },
    ])
  })

  test('tell what is new in a lane, in every part of it', () => {
    const { port } = createModel()
    const lines = createQueueLines(port, LIMITS)
    lines.enter(1, 'high', 5, 11)
    lines.enter(1, 'auto', 4, 12)
    lines.enter(1, 'auto', BEHIND_ALL.key, 13)
    lines.enter(2, 'auto', 1, 12)
    expect(lines.entries(1, 10, 12)).toEqual([
      { id: 11, rank: 5, slot: 'high' },
      { id: 12, rank: 4, slot: 'auto' },
    ])
  })
})
