import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TIERS, type HostKey } from '../../model/index.ts'
import { SLOTS } from '../storage.ts'
import { createGeneration, nothingTouched, type Generation } from './generation.ts'
import { createEntryWriter, readEntry } from './log-entry.ts'
import { STATES } from './rows.ts'

const id = fc.integer({ min: 1, max: 2 ** 32 - 1 })
const number = fc.double({ noNaN: true })
/** Moved by an offset and back they are the same. */
const time = fc.oneof(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), fc.constantFrom(Infinity, -Infinity))
const text = fc.option(fc.string({ unit: 'binary' }))

const url = fc.record({
  id,
  lane: id,
  slot: fc.constantFrom(...SLOTS),
  depth: fc.nat(),
  state: fc.constantFrom(...STATES),
  rank: id,
  attempts: fc.nat(),
  reason: text,
  at: number,
})
const visit = fc.record({
  id,
  visits: fc.nat(),
  changes: fc.nat(),
  misses: fc.nat(),
  firstAt: time,
  checkedAt: time,
  changedAt: time,
  changeShape: number,
  changeTimeMs: number,
  intervalMs: number,
  dueAt: fc.option(time),
  hash: text,
  etag: text,
  lastModified: text,
})
const host = fc.record({
  id,
  key: fc.string({ unit: 'binary' }).map((name) => name as HostKey),
  due: fc.option(number),
  order: fc.nat({ max: 15 }),
  tier: fc.constantFrom(...TIERS),
  pages: fc.nat(),
  cash: number,
  credit: number,
  depth: fc.nat(),
  changePages: number,
  changeRate: number,
  revisitRate: number,
  answeredAt: fc.option(number),
  blockedUntil: number,
  blockedReason: text,
  health: fc.record({ strikes: fc.nat(), streak: fc.nat(), streakSince: number, blockedAt: number, latencyMs: number }),
  address: text,
  closestMs: fc.option(number),
})
const lane = fc.record({
  id,
  queued: fc.record({ high: fc.nat(), medium: fc.nat(), low: fc.nat(), auto: fc.nat() }),
  robotsNotBefore: number,
  robotsAttempts: fc.nat(),
  robotsMoved: fc.boolean(),
})
const rows = <T extends { id: number }>(row: fc.Arbitrary<T>): fc.Arbitrary<Map<number, T>> =>
  fc.array(row, { maxLength: 6 }).map((list) => new Map(list.map((each) => [each.id, each])))
const changes = fc.record({ urls: rows(url), visits: rows(visit), hosts: rows(host), lanes: rows(lane) })

test('an entry of the log gives back every row as it was, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.array(changes, { maxLength: 4 }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      (list, offsetMs) => {
        const writer = createEntryWriter(offsetMs)
        for (const each of list) {
          const from: Generation = { ...createGeneration(), ...each }
          const touched = {
            urls: { ids: [...each.urls.keys()] },
            visits: { ids: [...each.visits.keys()] },
            hosts: { ids: [...each.hosts.keys()] },
            lanes: { ids: [...each.lanes.keys()] },
          }
          const into = createGeneration()
          readEntry(writer.write(touched, from), into, offsetMs)
          expect(into).toEqual({ ...createGeneration(), ...each })
        }
      },
    ),
  )
})

test('only what was touched is in an entry', () => {
  const [one, two] = fc.sample(url, { numRuns: 2, seed: 1 })
  const from = createGeneration()
  for (const row of [one, two]) if (row !== undefined) from.urls.set(row.id, row)
  const touched = { ...nothingTouched(), urls: { ids: [two?.id ?? 0] } }
  const into = createGeneration()
  readEntry(createEntryWriter(0).write(touched, from), into, 0)
  expect([...into.urls.keys()]).toEqual([two?.id])
})
