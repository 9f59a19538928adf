import { cpSync, mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { allowAll, answering, page } from '../../../test/conformance/harness.ts'
import { createVirtualClock } from '../../base/index.ts'
import { contentSample } from '../../content/index.ts'
import type { NormalizedUrl, Task } from '../../model/index.ts'
import { createFrontier, openInspector, type Frontier, type Lease } from '../index.ts'
import { READS } from './orders.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-frontier-'))
let serial = 0
const folder = (): string => join(root, String(serial++))
afterAll(() => rmSync(root, { recursive: true }))

describeFrontier('embedded', (options, clock) => createFrontier({ store: folder(), clock, ...options }))

describe('an embedded crawl that is opened again', () => {
  const seed = { url: 'https://a.test/' as NormalizedUrl, kind: 'page', depth: 0, via: 'seed' } as const
  const one = async (frontier: Frontier): Promise<Lease | undefined> =>
    (await frontier.lease({ worker: 'w', want: 1 })).leases[0]
  /** What a kill leaves behind: the committed file, and no word of good-bye. */
  const kill = (store: string): string => {
    const copy = folder()
    mkdirSync(copy)
    const db = new DatabaseSync(join(store, 'crawl.db'))
    db.exec(`VACUUM INTO '${join(copy, 'crawl.db')}'`)
    db.close()
    cpSync(join(store, 'seen'), join(copy, 'seen'), { recursive: true })
    return copy
  }
  const settleRobots = async (frontier: Frontier, now: number): Promise<void> => {
    const lease = (await one(frontier)) as Lease
    const task = lease.tasks[0] as Task
    const settlement = { lease, task, outcome: { kind: 'done' } as const, answeredAt: now, robots: allowAll(task, now) }
    await frontier.settle([settlement])
  }

  test('knows its URLs, its counters, its robots records and when each host answered', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    const host = await first.host('a.test' as never)
    await first.close()
    const second = createFrontier({ store, clock })
    expect(await second.stats()).toMatchObject({ discovered: 1, queued: 1, requests: { robots: 1 } })
    expect(await second.host('a.test' as never)).toEqual(host)
    expect(await one(second)).toBeUndefined()
    await clock.advance(1_000)
    expect((await one(second))?.tasks).toMatchObject([{ kind: 'page', url: seed.url }])
  })

  test('has learned from every page that was read, if it was closed', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock, traps: true })
    const urls = Array.from({ length: 21 }, (_, n) => `https://a.test/${n}` as NormalizedUrl)
    await first.add(urls.map((url) => ({ ...seed, url })))
    await settleRobots(first, clock.now())
    for (const _url of urls) {
      await clock.advance(1_000)
      const lease = (await one(first)) as Lease
      const task = lease.tasks[0] as Task
      const sample = contentSample(`What ${task.url} says.`, task.url, '')
      await first.settle([{ lease, task, outcome: { kind: 'done' }, answeredAt: clock.now(), sample }])
    }
    await first.close()
    const db = new DatabaseSync(join(store, 'crawl.db'), { readOnly: true })
    const { learned } = db.prepare('SELECT learned FROM trap').get() as { learned: string }
    db.close()
    // The number of pages stands behind the version of the format.
    expect(Buffer.from(learned, 'base64').readUInt32LE(1)).toBe(urls.length)
  })

  test('is not written to by who only looks for work', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const frontier = createFrontier({ store, clock })
    await frontier.add([seed])
    await settleRobots(frontier, clock.now())
    const other = new DatabaseSync(join(store, 'crawl.db'), { readOnly: true })
    const version = (): unknown => other.prepare('PRAGMA data_version').get()
    const before = version()
    expect(await one(frontier)).toBeUndefined()
    expect(version()).toEqual(before)
    await clock.advance(1_000)
    expect(await one(frontier)).toBeDefined()
    expect(version()).toEqual(before)
    await frontier.add([{ ...seed, url: 'https://a.test/b' as NormalizedUrl }])
    expect(version()).not.toEqual(before)
    other.close()
  })

  test('after a kill has what was leased in its queue, and lets every host wait its delay once', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await clock.advance(1_000)
    expect(await one(first)).toBeDefined()
    await clock.advance(5_000)
    const second = createFrontier({ store: kill(store), clock })
    expect(await second.stats()).toMatchObject({ queued: 1, leased: 0 })
    expect(await one(second)).toBeUndefined()
    await clock.advance(999)
    expect(await one(second)).toBeUndefined()
    await clock.advance(1)
    expect(await one(second)).toBeDefined()
  })

  test('waits that delay also when it was closed in order in between', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await clock.advance(1_000)
    expect(await one(first)).toBeDefined()
    await clock.advance(5_000)
    const killed = kill(store)
    await createFrontier({ store: killed, clock }).close()
    await clock.advance(100)
    const third = createFrontier({ store: killed, clock })
    await third.add([{ ...seed, url: 'https://a.test/more' as NormalizedUrl, depth: 1 }])
    expect(await one(third)).toBeUndefined()
    await clock.advance(899)
    expect(await one(third)).toBeUndefined()
    await clock.advance(1)
    expect(await one(third)).toBeDefined()
  })

  test('obeys a shorter delay, and a clock that was put right', async () => {
    const clock = createVirtualClock()
    const ahead = createVirtualClock(clock.now() + 86_400_000)
    const store = folder()
    const first = createFrontier({ store, clock: ahead, policyOf: () => ({ delayMs: 3_600_000, concurrency: 1 }) })
    await first.add([seed])
    await settleRobots(first, ahead.now())
    await first.close()
    const second = createFrontier({ store, clock })
    await one(second)
    await clock.advance(1_000)
    expect((await one(second))?.tasks).toMatchObject([{ url: seed.url }])
  })

  test('obeys a longer delay that the configuration asks for since', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await first.close()
    const slow = createFrontier({ store, clock, policyOf: () => ({ delayMs: 10_000, concurrency: 1 }) })
    await clock.advance(9_999)
    expect(await one(slow)).toBeUndefined()
    await clock.advance(1)
    expect(await one(slow)).toBeDefined()
  })

  test('gives out fences that grow, whatever the clock does', async () => {
    const store = folder()
    const ahead = createVirtualClock(2_000_000_000_000)
    const first = createFrontier({ store, clock: ahead })
    await first.add([seed])
    const before = (await one(first)) as Lease
    await first.close()
    const second = createFrontier({ store, clock: createVirtualClock() })
    expect((await one(second))?.fence).toBeGreaterThan(before.fence)
    await second.close()
  })

  test('after the clock was set back lets nothing wait longer than it had left to wait', async () => {
    const store = folder()
    const ahead = createVirtualClock(2_000_000_000_000)
    const behind = createVirtualClock()
    const first = createFrontier({ store, clock: ahead })
    // More hosts than are reviewed one by one, a block, a retry, a robots.txt that is to wait, and one that expires.
    const names = Array.from({ length: 1_500 }, (_, n) => `h${n}.test`)
    await first.add([...names, 'blocked.test', 'retry.test', 'robots.test'].map((name) => page(`https://${name}/`)))
    const { leases } = await first.lease({ worker: 'w', want: 2_000 })
    const now = ahead.now()
    await first.settle(
      leases.map((held) => {
        const task = held.tasks[0] as Task
        const robots = allowAll(task, now, { staleSince: now, expiresAt: now + 50_000 })
        const base = { lease: held, task, answeredAt: now }
        if (held.host === 'robots.test')
          return { ...base, outcome: { kind: 'retry', notBefore: now + 30_000, counts: true } }
        const health = answering(-1, { blockedAt: now, streakSince: now })
        const block = { blockedUntil: now + 20_000, blockedReason: 'HTTP 429', health }
        return { ...base, outcome: { kind: 'done' }, robots, ...(held.host === 'blocked.test' ? { host: block } : {}) }
      }),
    )
    await ahead.advance(1_000)
    const due = (await first.lease({ worker: 'w', want: 2_000 })).leases
    expect(due).toHaveLength(1_501)
    const later = { kind: 'retry', notBefore: ahead.now() + 10_000, counts: true } as const
    await first.settle(
      due.map((held) => ({
        lease: held,
        task: held.tasks[0] as Task,
        outcome: held.host === 'retry.test' ? later : { kind: 'returned' },
        answeredAt: ahead.now(),
      })),
    )
    await first.close()

    const second = createFrontier({ store, clock: behind })
    const start = behind.now()
    expect(await second.host('blocked.test' as never)).toMatchObject({
      blockedUntil: start + 19_000,
      health: { blockedAt: start - 1_000, streakSince: start - 1_000 },
    })
    expect((await second.host('h0.test' as never))?.robots).toMatchObject([
      { expiresAt: start + 49_000, fetchedAt: start - 1_000, staleSince: start - 1_000 },
    ])
    const leased = async (): Promise<string[]> =>
      (await second.lease({ worker: 'w', want: 2_000 })).leases.map((held) => held.host)
    await behind.advance(999)
    expect(await leased()).toEqual([])
    await behind.advance(1)
    expect(await leased()).toHaveLength(1_500)
    await behind.advance(9_000)
    expect(await leased()).toEqual(['retry.test'])
    // And the grain of the clock.
    await behind.advance(9_002)
    expect(await leased()).toEqual(['blocked.test'])
    await behind.advance(9_998)
    expect(await leased()).toEqual(['robots.test'])
    await second.close()
  })

  test('lets each group wait its delay once, and forgets the places of groups that are no more', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const groups = { domainDelayMs: 60_000, addressDelayMs: 0 }
    const first = createFrontier({ store, clock, groups })
    await first.add(['www', 'api', 'docs'].map((name) => page(`https://${name}.example.com/`)))
    expect((await first.lease({ worker: 'w', want: 9 })).leases).toHaveLength(1)
    await first.close()
    const second = createFrontier({ store, clock, groups })
    expect((await second.lease({ worker: 'w', want: 9 })).leases).toEqual([])
    await clock.advance(60_000)
    expect((await second.lease({ worker: 'w', want: 9 })).leases).toHaveLength(1)
    await second.close()
    const third = createFrontier({ store, clock })
    expect((await third.lease({ worker: 'w', want: 9 })).leases).toHaveLength(3)
    await third.close()
  })

  test('shows health, address, version and closest call of a host to those who look', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const frontier = createFrontier({ store, clock })
    await frontier.add([seed])
    const lease = (await one(frontier)) as Lease
    const task = lease.tasks[0] as Task
    const health = answering(3, { latencyMs: 25.5 })
    await frontier.settle([
      {
        lease,
        task,
        outcome: { kind: 'done' },
        answeredAt: clock.now(),
        spareMs: 4.5,
        robots: allowAll(task, clock.now(), { version: 'abc', staleSince: 7 }),
        host: { health, address: '192.0.2.1' },
      },
    ])
    const inspector = openInspector(store)
    expect(inspector.hostByKey('a.test' as never)).toMatchObject({
      health,
      address: '192.0.2.1',
      closestMs: 4.5,
      lanes: [{ robots: { version: 'abc', staleSince: 7 } }],
    })
    expect(inspector.nextHosts(5)).toMatchObject([{ key: 'a.test' }])
    expect(inspector.hostTally(clock.now())).toMatchObject({ known: 1, due: 0, pausing: 1 })
    expect(inspector.counters()).toMatchObject({ impolite: 0, closest: { host: 'a.test', spareMs: 4.5 } })
    inspector.close()
    await frontier.close()
  })

  test('reads every order by an index, however long it is', async () => {
    const store = folder()
    const frontier = createFrontier({ store, clock: createVirtualClock() })
    const db = new DatabaseSync(join(store, 'crawl.db'), { readOnly: true })
    for (const sql of Object.values(READS)) {
      // Node 22 binds nothing to `?1` by position.
      expect(sql).not.toMatch(/\?\d/)
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      expect(plan).toMatchObject([{ detail: expect.stringMatching(/^SEARCH \w+ USING (PRIMARY KEY|COVERING INDEX)/) }])
    }
    db.close()
    await frontier.close()
  })

  test('can be looked at while it is worked on, and worked on by one process only', async () => {
    const store = folder()
    const clock = createVirtualClock()
    const frontier = createFrontier({ store, clock })
    await frontier.add([seed])
    const inspector = openInspector(store)
    expect(inspector.find('page', seed.url as never)).toMatchObject({ url: seed.url, host: 'a.test', state: 'queued' })
    expect(inspector.counters().discovered).toBe(1)
    expect([...inspector.pages()]).toHaveLength(1)
    const queued = { high: 0, medium: 0, low: 0, auto: 1 }
    expect([...inspector.hosts()]).toMatchObject([{ key: 'a.test', lanes: [{ origin: 'https://a.test', queued }] }])
    expect(inspector.tally()).toMatchObject({
      seen: 1,
      highestId: 1,
      laneQueued: 1,
      lines: { queued: { rightful: 1 } },
    })
    inspector.close()
    expect(() => createFrontier({ store, clock })).toThrow('another process is working')
    await frontier.close()
  })

  test('is refused with a reason when its layout or its file is not ours', async () => {
    const store = folder()
    await createFrontier({ store }).close()
    const db = new DatabaseSync(join(store, 'crawl.db'))
    db.exec("UPDATE meta SET value = 99 WHERE key = 'layout'")
    db.close()
    expect(() => createFrontier({ store })).toThrow('layout 99')
    const damaged = folder()
    mkdirSync(damaged)
    writeFileSync(join(damaged, 'crawl.db'), 'not a database, but long enough to be read as one'.repeat(100))
    expect(() => createFrontier({ store: damaged })).toThrow(/cannot be kept/)
  })
})
