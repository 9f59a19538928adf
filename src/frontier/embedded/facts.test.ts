import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createRng } from '../../base/index.ts'
import { prepareLayout } from './database.ts'
import { createFacts, type Facts } from './facts.ts'

const open = (): DatabaseSync => {
  const db = new DatabaseSync(':memory:')
  prepareLayout(db, 'test')
  return db
}
/** Of two thousand URLs in a row, three blocks. */
const URLS = 2_000

describe('the facts of known URLs', () => {
  test('are the same when most of them do not fit into memory', () => {
    const db = open()
    const facts = createFacts(db, 1)
    const rng = createRng(7)
    const counts = new Map<number, number>()
    for (let id = 1; id <= URLS; id++) facts.born(id, id % 9)
    for (let n = 0; n < 5_000; n++) {
      const id = 1 + rng.int(URLS)
      counts.set(id, (counts.get(id) ?? 1) + 1)
      expect(facts.count(id)).toBe(counts.get(id))
    }
    const check = (of: Facts): void => {
      for (let id = 1; id <= URLS; id++) expect([of.depth(id), of.referrers(id)]).toEqual([id % 9, counts.get(id) ?? 1])
    }
    check(facts)
    facts.flush()
    check(createFacts(db))
  })

  test('count up to 65,535 and stay there', () => {
    const facts = createFacts(open())
    facts.born(1, 0)
    for (let n = 0; n < 70_000; n++) facts.count(1)
    expect(facts.referrers(1)).toBe(65_535)
    expect(facts.count(1)).toBe(65_535)
    expect(facts.depth(1)).toBe(0)
    expect(facts.referrers(2)).toBe(1)
  })

  test('admit that they do not know a depth that was never written, or is too large to write', () => {
    const db = open()
    const facts = createFacts(db)
    facts.born(1, 3)
    facts.born(2_000, 70_000)
    expect([facts.depth(1), facts.depth(2), facts.depth(2_000)]).toEqual([3, undefined, undefined])
    facts.write(facts.blockOf(2_000))
    const again = createFacts(db)
    expect([again.depth(1), again.depth(2_000)]).toEqual([undefined, undefined])
    again.setDepth(1, 2)
    again.write(again.blockOf(1))
    expect(createFacts(db).depth(1)).toBe(2)
  })

  test('have new counts written after a while, without being told', () => {
    const db = open()
    const facts = createFacts(db)
    for (let n = 0; n < 2 ** 19; n++) facts.count(1 + (n % URLS))
    const logged = (): unknown => db.prepare('SELECT count(*) AS n FROM named').get()
    facts.work()
    facts.work()
    facts.work()
    expect(logged()).toEqual({ n: 0 })
    expect(createFacts(db).referrers(5)).toBe(facts.referrers(5))
  })

  test('have every count that was committed, whenever they are opened again', () => {
    const db = open()
    const rng = createRng(11)
    const counts = new Map<number, number>()
    for (let opening = 0; opening < 30; opening++) {
      // With few blocks in memory some are written in the middle of it all, with many none is.
      const facts = createFacts(db, opening < 15 ? 1 + rng.int(3) : 100)
      for (const [id, count] of counts) expect(facts.referrers(id)).toBe(count)
      for (let commit = 0; commit < 5; commit++) {
        for (let n = 0; n < 50; n++) {
          const id = 1 + rng.int(3 * URLS)
          counts.set(id, (counts.get(id) ?? 1) + 1)
          facts.count(id)
        }
        facts.work()
      }
      if (opening % 7 === 0) facts.flush()
    }
  })
})
