import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import type { HostKey, NormalizedUrl, Origin, UrlKey } from '../../model/index.ts'
import { createMemoryStorage } from '../memory/storage.ts'
import { HOST_ORDERS, SLOTS, type Slot, type Storage, type UrlRow, type UrlState, type VisitRow } from '../storage.ts'
import { openDatabase, prepareLayout } from './database.ts'
import { openInspector, type Inspector } from './inspector.ts'
import { createFolderRunFiles, createMemoryRunFiles, type RunFiles } from './seen/index.ts'
import { createEmbeddedStorage } from './storage.ts'

const HOSTS = 4
const NOTHING = new Set<number>()
const STATES: readonly UrlState[] = ['queued', 'waiting', 'held', 'aside', 'done', 'failed', 'skipped']

/** So small that everything which is put off comes to pass. */
const openSmall = (db: DatabaseSync, files: RunFiles, onClose: () => void): Storage =>
  createEmbeddedStorage(db, {
    folder: 'test',
    files,
    bloom: { capacity: 1_000, falsePositiveRate: 0.01 },
    clock: createVirtualClock(),
    rng: createRng(1),
    limits: {
      recentUrls: 4,
      memtable: 8,
      writing: { changes: 12, newUrls: 8, steps: 1 },
      orders: {
        windows: { portion: 2, longest: 4 },
        queues: { lines: 4, entries: 12, firstPortion: 1, lastPortion: 2, longest: 4, gone: 2 },
      },
    },
    onClose,
  })

/** The embedded storage on a database in memory, which can be killed and opened again. */
function createHome() {
  const address = `file:${crypto.randomUUID()}?mode=memory&cache=shared`
  const keeper = new DatabaseSync(address)
  prepareLayout(keeper, 'test')
  const files = createMemoryRunFiles()
  let db: DatabaseSync | undefined
  return {
    open(): Storage {
      if (db?.isOpen === true) db.close()
      const opened = new DatabaseSync(address)
      db = opened
      return openSmall(opened, files, () => opened.close())
    },
    close() {
      if (db?.isOpen === true) db.close()
      keeper.close()
    },
  }
}

type Home = ReturnType<typeof createHome>

const index = fc.nat({ max: 60 })
const state = fc.constantFrom(...STATES)
const slot = fc.constantFrom<Slot>(...SLOTS)
const rank = fc.oneof(fc.nat({ max: 5 }), fc.constant(2 ** 32 - 1))
const time = fc.nat({ max: 20 })
const operation = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('insert' as const), state, slot, rank, lane: index, time }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('update' as const), index, state, slot, rank, depth: index, time }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('touch' as const), index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('visit' as const), index, dueAt: fc.option(time) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('host' as const),
      index,
      due: fc.option(time),
      order: fc.nat({ max: HOST_ORDERS - 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lane' as const), index, queued: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lend' as const), index, order: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('referrer' as const), index }) },
)
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('commit' as const), operations: fc.array(operation, { maxLength: 12 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), operations: fc.array(operation, { maxLength: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Numbers of what both storages have, so that an operation means the same on each. */
interface World {
  urls: number
  readonly lent: Set<number>
}

const urlOf = (id: number): NormalizedUrl => `https://h.test/${id}` as NormalizedUrl
const keyOf = (id: number): UrlKey => urlOf(id) as string as UrlKey

function apply(storage: Storage, operation: Operation, world: World): void {
  const id = 'index' in operation ? (operation.index % Math.max(1, world.urls)) + 1 : 0
  const host = 'index' in operation ? (operation.index % HOSTS) + 1 : 0
  switch (operation.kind) {
    case 'insert': {
      const { state, slot, rank, time } = operation
      const next = world.urls + 1
      const at = state === 'queued' || state === 'held' ? 0 : time
      const row: Omit<UrlRow, 'id'> = {
        kind: next % 5 === 0 ? 'sitemap' : 'page',
        url: urlOf(next),
        lane: (operation.lane % HOSTS) + 1,
        via: 'link',
        referrer: world.urls,
        redirects: 1,
        nesting: 2,
        foundAt: 1_000.5,
        slot,
        depth: time,
        state,
        rank,
        attempts: 0,
        reason: state === 'skipped' ? 'robots' : null,
        at,
      }
      expect(storage.find(row.kind, urlOf(next))).toBe(0)
      expect(storage.insert(row)).toBe(next)
      world.urls = next
      return
    }
    case 'update': {
      if (world.urls === 0) return
      const { state, slot, rank, depth, time } = operation
      const attempts = storage.url(id).attempts + 1
      storage.update({ ...storage.url(id), state, slot, rank, depth, at: time, attempts })
      return
    }
    case 'touch':
      if (world.urls > 0) storage.update({ ...storage.url(id), attempts: storage.url(id).attempts + 1 })
      return
    case 'visit': {
      if (world.urls === 0) return
      const before = storage.visit(id)
      const visit: VisitRow = {
        id,
        visits: (before?.visits ?? 0) + 1,
        changes: 1,
        misses: 0,
        firstAt: 5.25,
        checkedAt: 6,
        changedAt: 7,
        changeShape: Infinity,
        changeTimeMs: 8.5,
        intervalMs: 9,
        dueAt: operation.dueAt,
        hash: id % 2 === 0 ? 'ab01' : 'no hex',
        etag: '"e"',
        lastModified: null,
      }
      storage.saveVisit(visit)
      return
    }
    case 'host':
      storage.updateHost({
        ...storage.hostById(host),
        due: operation.due,
        order: operation.order,
        pages: storage.hostById(host).pages + 1,
        health: { strikes: 1, streak: 2, streakSince: 3, blockedAt: 4, latencyMs: 5.5 },
      })
      return
    case 'lane': {
      const lane = storage.lanesOf(host)[0]
      if (lane === undefined) throw new Error('no lane')
      lane.queued.low = operation.queued
      lane.robotsAttempts += 1
      storage.updateLane(lane)
      return
    }
    case 'lend':
      if (world.lent.delete(host)) storage.giveBack(host)
      else {
        world.lent.add(host)
        storage.lend(host)
      }
      return
    case 'referrer':
      if (world.urls > 0) storage.countReferrer(id)
  }
}

/** The heads of all orders: what a crawl looks at, without reading the rest into memory. */
function heads(storage: Storage): unknown {
  return {
    queues: Array.from({ length: HOSTS }, (_, lane) =>
      SLOTS.map((slot) => storage.head(lane + 1, slot, 1 + (lane % 2), NOTHING)),
    ),
    waiting: storage.waitingUntil(10, 1),
    due: storage.visitsUntil(10, 1),
    hosts: Array.from({ length: HOST_ORDERS }, (_, of) => [
      storage.dueHosts(of, 3, 1),
      storage.upcomingHosts(of, 9, 1),
    ]),
  }
}

/** Everything that the port can be asked. */
function contents(storage: Storage, urls: number): unknown {
  const lanes = Array.from({ length: HOSTS }, (_, index) => index + 1)
  const ids = Array.from({ length: urls }, (_, index) => index + 1)
  const all = 1_000
  const parked = (state: 'held' | 'aside'): number[] => {
    const found = new Set<number>()
    for (let more = [0]; more.length > 0;) {
      more = storage.parkedOfOneHost(state, 3, found)
      expect(new Set(more.map((id) => storage.hostOfLane(storage.url(id).lane))).size).toBeLessThanOrEqual(1)
      for (const id of more) found.add(id)
    }
    return [...found].sort((a, b) => a - b)
  }
  return {
    rows: ids.map((id) => storage.url(id)),
    found: ids.map((id) => storage.find(id % 5 === 0 ? 'sitemap' : 'page', urlOf(id))),
    depths: ids.map((id) => storage.depth(id)),
    ended: ids.map((id) => storage.isEnded(id)),
    visits: ids.map((id) => storage.visit(id)),
    queues: lanes.flatMap((lane) =>
      SLOTS.map((slot) => [
        storage.head(lane, slot, 1, NOTHING),
        storage.head(lane, slot, 4, { has: (id) => id % 3 === 0 }),
        storage.head(lane, slot, all, NOTHING),
      ]),
    ),
    waiting: [storage.waitingUntil(10, 2), storage.waitingUntil(15, all), storage.nextWaiting()],
    parked: [parked('held'), parked('aside'), lanes.map((host) => storage.asideOf(host, 3, 4))],
    due: [storage.visitsUntil(5, 2), storage.visitsUntil(30, all), storage.nextVisit()],
    hosts: lanes.map((host) => [storage.hostById(host), storage.lanesOf(host)]),
    orders: Array.from({ length: HOST_ORDERS }, (_, of) => [
      storage.dueHosts(of, 10, all),
      storage.upcomingHosts(of, 10, all),
      storage.upcomingHosts(of, 3, 1),
    ]),
  }
}

function prepare(storage: Storage): void {
  storage.transaction(0, () => {
    for (let host = 1; host <= HOSTS; host++) {
      const key = `h${host}.test` as HostKey
      expect(storage.insertHost(key).id).toBe(host)
      expect(storage.insertLane(host, `https://${key}` as Origin).id).toBe(host)
    }
  })
}

/** In one transaction; one in seven is held. */
function insertPages(storage: Storage, count: number): void {
  storage.transaction(0, () => {
    for (let id = 1; id <= count; id++)
      storage.insert({
        kind: 'page',
        url: urlOf(id),
        lane: 2,
        via: 'link',
        referrer: 0,
        redirects: 0,
        nesting: 0,
        foundAt: 0,
        slot: 'auto',
        depth: 1,
        state: id % 7 === 0 ? 'held' : 'queued',
        rank: id % 97,
        attempts: 0,
        reason: null,
        at: 0,
      })
  })
}

describe('the embedded storage', () => {
  test('answers like the memory storage, whatever is put off, killed, rolled back or closed in between', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const home = createHome()
        try {
          check(home, steps)
        } finally {
          home.close()
        }
      }),
      { numRuns: 300 },
    )
  })

  function check(home: Home, steps: readonly Step[]): void {
    let storage = home.open()
    const model = createMemoryStorage()
    prepare(storage)
    prepare(model)
    let world: World = { urls: 0, lent: new Set() }
    let isExact = true
    for (const move of steps) {
      if (move.kind === 'commit') {
        const before = structuredClone(world)
        storage.transaction(0, () => {
          for (const operation of move.operations) apply(storage, operation, world)
        })
        for (const operation of move.operations) apply(model, operation, before)
      } else if (move.kind !== 'look') {
        if (move.kind === 'fail') {
          const lost = structuredClone(world)
          const fail = (): never => {
            for (const operation of move.operations) apply(storage, operation, lost)
            throw new Error('broken')
          }
          expect(() => storage.transaction(0, fail)).toThrow('broken')
        }
        if (move.kind === 'close') storage.close(true)
        else isExact = false
        for (const host of world.lent) model.giveBack(host)
        world = { urls: world.urls, lent: new Set() }
        storage = home.open()
      }
      expect(heads(storage)).toEqual(heads(model))
      if (move.kind !== 'look') continue
      expect(contents(storage, world.urls)).toEqual(contents(model, world.urls))
      if (isExact) for (let id = 1; id <= world.urls; id++) expect(storage.referrers(id)).toBe(model.referrers(id))
    }
    for (const host of world.lent) model.giveBack(host)
    expect(contents(home.open(), world.urls)).toEqual(contents(model, world.urls))
  }

  test('takes a URL out of every order that it was in, also one that had been done and waited again', () => {
    const home = createHome()
    const place = { slot: 'medium', rank: 5, time: 0 } as const
    const update = { kind: 'update', index: 0, depth: 0, ...place } as const
    const changes: Operation[] = [
      { kind: 'insert', state: 'queued', lane: 0, ...place },
      { ...update, state: 'skipped' },
      { ...update, state: 'waiting' },
      { ...update, state: 'queued', slot: 'high' },
    ]
    // Enough new URLs that each change comes to the tables before the next.
    const others: Operation[] = Array.from({ length: 8 }, () => ({
      kind: 'insert',
      state: 'queued',
      lane: 1,
      ...place,
    }))
    const written = Array.from({ length: 4 }, (): Step => ({ kind: 'commit', operations: others }))
    check(
      home,
      changes.flatMap((change): Step[] => [{ kind: 'commit', operations: [change] }, ...written]),
    )
    home.close()
  })

  test('keeps what was put off through a long transaction', () => {
    const home = createHome()
    const storage = home.open()
    prepare(storage)
    const urls = 9_000
    insertPages(storage, urls)
    const queued = (from: Storage): number => from.head(2, 'auto', 30_000, NOTHING).length
    const expected = urls - Math.floor(urls / 7)
    expect(queued(storage)).toBe(expected)
    const again = home.open()
    expect(queued(again)).toBe(expected)
    expect([again.find('page', urlOf(8_999)), again.depth(8_999)]).toEqual([8_999, 1])
    expect(again.find('page', urlOf(9_001))).toBe(0)
    home.close()
  })

  test('does none of what was put off for a transaction that changes nothing', () => {
    const db = new DatabaseSync(':memory:')
    prepareLayout(db, 'test')
    const storage = openSmall(db, createMemoryRunFiles(), () => db.close())
    prepare(storage)
    const urls = 9_000
    insertPages(storage, urls)
    const count = (times: number): void =>
      storage.transaction(0, () => {
        for (let at = 0; at < times; at++) storage.countReferrer((at % urls) + 1)
      })
    const changes = (): unknown => db.prepare('SELECT total_changes()').get()
    // With the last of these counts blocks are due to be written, and a few of them are.
    count(2 ** 19 - 1)
    count(1)
    const before = changes()
    storage.transaction(0, () => storage.depth(1))
    expect(changes()).toEqual(before)
    storage.close(true)
  })
})

describe('an inspector', () => {
  test('sees what the storage has at that moment, whatever of it is put off', () => {
    const commits = fc.array(fc.array(operation, { minLength: 5, maxLength: 12 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(commits, (lists) => {
        const folder = mkdtempSync(join(tmpdir(), 'tiptoe-inspector-'))
        const { db, close } = openDatabase(folder)
        db.exec('PRAGMA synchronous = OFF')
        const storage = openSmall(db, createFolderRunFiles(join(folder, 'seen')), close)
        const world: World = { urls: 0, lent: new Set() }
        const commit = (operations: readonly Operation[]): void =>
          storage.transaction(0, () => operations.forEach((each) => apply(storage, each, world)))
        try {
          prepare(storage)
          for (const operations of lists) commit(operations)
          const inspector = openInspector(folder)
          const [seen, urls] = [look(storage, world.urls), world.urls]
          expect(inspect(inspector, urls)).toEqual(seen)
          // Later commits, which may merge and remove files of the set, are not seen.
          for (const operations of lists) commit(operations)
          expect(inspect(inspector, urls)).toEqual(seen)
          if (world.urls > urls) expect(inspector.find(kindOf(urls + 1), keyOf(urls + 1))).toBeUndefined()
          inspector.close()
        } finally {
          storage.close(true)
          rmSync(folder, { recursive: true })
        }
      }),
      { numRuns: 40 },
    )
  })

  const kindOf = (id: number): UrlRow['kind'] => (id % 5 === 0 ? 'sitemap' : 'page')
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
  const states = (rows: readonly UrlRow[]): Record<string, number> =>
    Object.fromEntries(
      (['queued', 'waiting', 'held', 'aside'] as const).map((state) => [
        state,
        rows.filter((row) => row.state === state).length,
      ]),
    )

  function look(storage: Storage, urls: number): unknown {
    const rows = numbers(urls).map((id) => storage.url(id))
    const hosts = numbers(HOSTS).map((host) => ({ ...storage.hostById(host), lanes: storage.lanesOf(host) }))
    return {
      rows,
      found: numbers(urls),
      visits: numbers(urls).map((id) => storage.visit(id)),
      nextVisit: storage.nextVisit(),
      hosts,
      lines: states(rows),
      ahead: rows.filter(({ state }) => state === 'queued').map((row) => placeInQueue(storage, row)),
    }
  }

  function inspect(inspector: Inspector, urls: number): unknown {
    const rows = numbers(urls).map((id) => {
      const { host: _host, origin: _origin, referrerUrl: _url, referrers: _referrers, ...row } = viewOf(inspector, id)
      return row
    })
    const { lines } = inspector.tally()
    for (const line of Object.values(lines)) expect(line.rightful).toBe(line.entries)
    return {
      rows,
      found: numbers(urls).map((id) => inspector.find(kindOf(id), keyOf(id))?.id),
      visits: numbers(urls).map((id) => inspector.visit(id)),
      nextVisit: inspector.nextVisit(),
      hosts: [...inspector.hosts()].sort((a, b) => a.id - b.id),
      lines: Object.fromEntries(Object.entries(lines).map(([state, { entries }]) => [state, entries])),
      ahead: rows.filter(({ state }) => state === 'queued').map((row) => inspector.countAhead(row)),
    }
  }

  const viewOf = (inspector: Inspector, id: number): NonNullable<ReturnType<Inspector['byId']>> => {
    const view = inspector.byId(id)
    if (view === undefined) throw new Error(`no row ${id}`)
    return view
  }

  /** All hosts are of the tier medium. */
  function placeInQueue(storage: Storage, row: UrlRow): number {
    const slots: readonly Slot[] = row.slot === 'auto' || row.slot === 'medium' ? ['auto', 'medium'] : [row.slot]
    return slots
      .flatMap((slot) => storage.head(row.lane, slot, 1_000, NOTHING))
      .filter(({ id, rank }) => rank < row.rank || (rank === row.rank && id < row.id)).length
  }
})
