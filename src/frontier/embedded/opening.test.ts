import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { HostKey, NormalizedUrl, Origin } from '../../model/index.ts'
import type { Storage, VisitRow } from '../storage.ts'
import { prepareLayout } from './database.ts'
import { recordOpening } from './opening.ts'
import { createMemoryRunFiles } from './seen/index.ts'
import { createEmbeddedStorage } from './storage.ts'

const NOON = 2_000_000_000_000
const HOUR_MS = 3_600_000
const GROUPS = { domainDelayMs: 0, addressDelayMs: 0 }
const OTHER_GROUPS = { domainDelayMs: 1, addressDelayMs: 0 }

/** A crawl with one URL that waits an hour, was visited at noon and is due tomorrow; all of it only in the log. */
function createCrawl(): { open(now: number, groups?: typeof GROUPS): Storage } {
  const db = new DatabaseSync(':memory:')
  const files = createMemoryRunFiles()
  let created = prepareLayout(db, 'test')
  const open = (now: number, groups = GROUPS): Storage => {
    recordOpening(db, { created, now, groups })
    created = false
    const clock = createVirtualClock(now)
    const bloom = { capacity: 1_000, falsePositiveRate: 0.01 }
    return createEmbeddedStorage(db, { folder: 'test', files, bloom, clock, onClose() {} })
  }
  const storage = open(NOON)
  storage.transaction(NOON, () => {
    const host = storage.insertHost('a.test' as HostKey)
    const lane = storage.insertLane(host.id, 'https://a.test' as Origin)
    storage.updateHost({ ...host, due: NOON + HOUR_MS, answeredAt: NOON })
    storage.updateLane({ ...lane, robotsNotBefore: NOON + 5 })
    const url = 'https://a.test/' as NormalizedUrl
    const fixed = { kind: 'page', url, lane: lane.id, via: 'seed', referrer: 0, redirects: 0, nesting: 0 } as const
    const rest = { foundAt: NOON, slot: 'auto', depth: 0, rank: 1, attempts: 1, reason: null } as const
    const id = storage.insert({ ...fixed, ...rest, state: 'waiting', at: NOON + HOUR_MS })
    storage.saveVisit({ ...VISIT, id })
  })
  return { open }
}

const VISIT: Omit<VisitRow, 'id'> = {
  visits: 1,
  changes: 0,
  misses: 0,
  firstAt: NOON,
  checkedAt: NOON,
  changedAt: NOON,
  changeShape: 1,
  changeTimeMs: 1,
  intervalMs: 24 * HOUR_MS,
  dueAt: NOON + 24 * HOUR_MS,
  hash: null,
  etag: null,
  lastModified: null,
}

describe('opening a crawl', () => {
  test('leaves every time as it was when the clock went on', () => {
    const storage = createCrawl().open(NOON + HOUR_MS)
    expect(storage.url(1)).toMatchObject({ state: 'waiting', at: NOON + HOUR_MS })
    expect(storage.visit(1)).toEqual({ ...VISIT, id: 1 })
    expect(storage.hostById(1)).toMatchObject({ due: NOON + HOUR_MS, answeredAt: NOON })
  })

  test('moves every time when the clock was set back, also of what only the log has', () => {
    const crawl = createCrawl()
    const back = NOON - 10 * HOUR_MS
    for (const storage of [crawl.open(back), crawl.open(back)]) {
      expect(storage.url(1)).toMatchObject({ state: 'waiting', at: back + HOUR_MS })
      expect(storage.nextWaiting()).toBe(back + HOUR_MS)
      const moved = { firstAt: back, checkedAt: back, changedAt: back, dueAt: back + 24 * HOUR_MS }
      expect(storage.visit(1)).toEqual({ ...VISIT, id: 1, ...moved })
      expect(storage.nextVisit()).toBe(back + 24 * HOUR_MS)
      expect(storage.hostById(1)).toMatchObject({ due: back + HOUR_MS, answeredAt: back })
      expect(storage.lanesOf(1)).toMatchObject([{ robotsNotBefore: back + 5 }])
    }
  })

  test('lets hosts be looked at anew when they are paced in other groups, also those that only the log has', () => {
    const storage = createCrawl().open(NOON, OTHER_GROUPS)
    expect(storage.hostById(1).due).toBe(NOON)
    expect(storage.dueHosts(0, NOON, 1)).toEqual([{ id: 1, due: NOON }])
  })
})
