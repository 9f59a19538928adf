import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { allowAll, conserved, page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createSystemClock, createVirtualClock } from '../../base/index.ts'
import { TiptoeError, type Task } from '../../model/index.ts'
import type { FrontierOptions, Lease, Settlement } from '../contract.ts'
import { DEFAULT_QUOTAS, DEFAULT_RECRAWL, DEFAULT_SCORE } from '../defaults.ts'
import { createFrontier, FLEET_LEASE_MS } from '../index.ts'
import type { FleetFrontier } from './frontier.ts'
import { LAYOUT } from './options.ts'
import { createSabotage } from './test-support/sabotage.ts'
import { createTestFrontiers, type TestFrontierOptions, type TestFrontiers } from './test-support/test-frontiers.ts'

const LEASE_MS = 30_000
const OPTIONS: FrontierOptions = {
  policyOf: () => ({ delayMs: 1_000, concurrency: 1 }),
  crawlDelayMs: (askedMs) => askedMs,
  latency: { factor: 0, maxDelayMs: 0 },
  groups: { domainDelayMs: 0, addressDelayMs: 0 },
  maxPages: undefined,
  maxDepth: undefined,
  maxPagesPerHost: undefined,
  leaseMs: LEASE_MS,
  quotas: DEFAULT_QUOTAS,
  score: DEFAULT_SCORE,
  recrawl: DEFAULT_RECRAWL,
  traps: false,
}

let store: string
let frontiers: TestFrontiers
beforeAll(async () => {
  store = await sharedRedis()
  frontiers = createTestFrontiers(store)
  return () => frontiers.close()
})

const setup = (options: Partial<TestFrontierOptions> = {}) => {
  const clock = createVirtualClock()
  const crawl = `fleet-${randomUUID()}`
  const open = (worker: string): FleetFrontier =>
    frontiers.open({ ...OPTIONS, partitions: 1, ...options, crawl, worker }, clock)
  const one = async (frontier: FleetFrontier): Promise<Lease> => {
    const { leases } = await frontier.lease({ worker: 'w', want: 1 })
    expect(leases).toHaveLength(1)
    return leases[0] as Lease
  }
  const end = (held: Lease, more: Partial<Settlement> = {}): Settlement => ({
    lease: held,
    task: held.tasks[0] as Task,
    outcome: { kind: 'done' },
    answeredAt: clock.now(),
    ...more,
  })
  const passRobots = async (frontier: FleetFrontier): Promise<void> => {
    const held = await one(frontier)
    await frontier.settle([end(held, { robots: allowAll(held.tasks[0] as Task, clock.now()) })])
  }
  return { clock, crawl, open, one, end, passRobots, sabotage: createSabotage(frontiers.link, crawl) }
}

describe('processes that share a crawl', () => {
  test('never hold the same host, and see what the others found, settled and returned', async () => {
    const { clock, open, one, end, passRobots } = setup({ partitions: 16 })
    const [a, b] = [open('a'), open('b')]
    await a.add([page('https://a.test/1'), page('https://a.test/2')])
    await passRobots(b)
    await clock.advance(1_000)
    const held = await one(a)
    expect(await b.lease({ worker: 'b', want: 5 })).toMatchObject({ leases: [], state: 'open' })
    await a.settle([end(held, { found: [page('https://b.test/', 1)] })])
    expect((await one(b)).host).toBe('b.test')
    await clock.advance(1_000)
    expect((await one(b)).tasks).toMatchObject([{ url: 'https://a.test/2' }])
    expect(await a.lease({ worker: 'a', want: 5 })).toMatchObject({ leases: [] })
    await b.close()
    const { leases } = await a.lease({ worker: 'a', want: 5 })
    expect(leases.map((lease) => lease.host).sort()).toEqual(['a.test', 'b.test'])
    expect(conserved(await a.stats())).toBe(true)
  })

  test('fetch exactly as many pages as they may, together', async () => {
    const maxPages = 23
    const { clock, open, end } = setup({
      partitions: 16,
      maxPages,
      policyOf: () => ({ delayMs: 0, concurrency: 4 }),
    })
    const workers = Array.from({ length: 5 }, (_, index) => open(`w${index}`))
    await workers[0]?.add(Array.from({ length: 200 }, (_, index) => page(`https://h${index % 40}.test/${index}`)))
    const work = async (frontier: FleetFrontier, number: number): Promise<string> => {
      for (let turn = 0; ; turn++) {
        const { leases, state } = await frontier.lease({ worker: `w${number}`, want: 3 })
        if (state !== 'open') return state
        for (const held of leases) {
          await frontier.settle(
            held.tasks.map((task, index) => ({
              ...end(held),
              task,
              outcome:
                task.kind === 'page' && (turn + index) % 3 === 0 ? { kind: 'failed', code: 'http' } : { kind: 'done' },
              ...(task.kind === 'robots' ? { robots: allowAll(task, clock.now()) } : {}),
            })),
          )
        }
      }
    }
    const states = await Promise.all(workers.map(work))
    expect(new Set(states)).toEqual(new Set(['limit']))
    const stats = await (workers[0] as FleetFrontier).stats()
    expect(stats.done).toBe(maxPages)
    expect(conserved(stats)).toBe(true)
  })

  test('take back what one that died had leased, whoever asks first', async () => {
    const { clock, open, one, passRobots } = setup({ partitions: 4 })
    const [dead, alive] = [open('dead'), open('alive')]
    await dead.add([page('https://a.test/1')])
    await passRobots(dead)
    await clock.advance(1_000)
    const lost = await one(dead)
    await clock.advance(LEASE_MS)
    await alive.tend([0, 1, 2, 3])
    expect((await alive.stats()).leased).toBe(0)
    await clock.advance(999)
    expect((await alive.lease({ worker: 'w', want: 1 })).leases).toEqual([])
    await clock.advance(1)
    expect((await one(alive)).tasks).toEqual(lost.tasks)
  })

  test('have back soon what one that died had leased, when it comes again under its name', async () => {
    const { clock, open, passRobots } = setup({ partitions: 16 })
    const [dead, other] = [open('a'), open('b')]
    await dead.add([page('https://a.test/1'), page('https://b.test/1')])
    await passRobots(dead)
    await passRobots(dead)
    await clock.advance(1_000)
    const lost = (await dead.lease({ worker: 'a', want: 1 })).leases
    const kept = (await other.lease({ worker: 'b', want: 1 })).leases
    expect([lost.length, kept.length]).toEqual([1, 1])
    await clock.advance(5_000)
    const again = open('a')
    await again.disown()
    await clock.advance(3_999)
    expect((await again.lease({ worker: 'a', want: 5 })).leases).toEqual([])
    await clock.advance(1)
    const { leases } = await again.lease({ worker: 'a', want: 5 })
    expect(leases.map(({ host, tasks }) => [host, tasks[0]?.url])).toEqual([[lost[0]?.host, lost[0]?.tasks[0]?.url]])
  })

  test('ask the partitions that they prefer first, and the others before they are idle', async () => {
    const { open } = setup({ partitions: 4 })
    const frontier = open('w')
    await frontier.add(Array.from({ length: 40 }, (_, index) => page(`https://h${index}.test/`)))
    frontier.prefer([2])
    const first = await frontier.lease({ worker: 'w', want: 40 })
    expect(first.leases.length).toBeGreaterThan(0)
    expect(first.leases.length).toBeLessThan(40)
    const rest = await frontier.lease({ worker: 'w', want: 40 })
    expect(first.leases.length + rest.leases.length).toBe(40)
  })
})

describe('a crawl on the time of its servers', () => {
  test('is opened by its address, and speaks of times as the worker has them', async () => {
    const clock = createSystemClock()
    const open = () =>
      createFrontier({
        store,
        crawl: `own-time-${randomUUID()}`,
        worker: 'w',
        clock,
        policyOf: () => ({ delayMs: 3_600_000, concurrency: 1 }),
      }) as FleetFrontier
    const frontier = open()
    const asked = clock.now()
    expect(await frontier.add([page('https://a.test/1')])).toEqual({ added: 1, known: 0 })
    const [held] = (await frontier.lease({ worker: 'w', want: 1 })).leases
    if (held === undefined) throw new Error('nothing was leased')
    expect(held.expiresAt - held.grantedAt).toBe(FLEET_LEASE_MS)
    expect(held.expiresAt).toBeLessThanOrEqual(clock.now() + FLEET_LEASE_MS)
    expect(held.grantedAt).toBeGreaterThan(asked - 1_000)
    const answeredAt = clock.now()
    const robots = allowAll(held.tasks[0] as Task, answeredAt)
    await frontier.settle([{ lease: held, task: held.tasks[0] as Task, outcome: { kind: 'done' }, answeredAt, robots }])
    const record = await frontier.host(held.host)
    expect(Math.abs((record?.answeredAt ?? 0) - answeredAt)).toBeLessThan(1_000)
    const { leases, nextAt } = await frontier.lease({ worker: 'w', want: 1 })
    expect(leases).toEqual([])
    expect(Math.abs((nextAt ?? 0) - answeredAt - 3_600_000)).toBeLessThan(1_000)
    await frontier.close()
  })

  test('has a name that fits into its keys, and as many partitions as its pace permits', () => {
    expect(() => createFrontier({ store, crawl: 'a:b' })).toThrow('cannot be the name of a crawl')
    expect(() => createFrontier({ store, partitions: 2_000 })).toThrow('1 to 1024 partitions')
    const groups = { domainDelayMs: 1_000, addressDelayMs: 0 }
    expect((createFrontier({ store, groups }) as FleetFrontier).partitions).toBe(1)
  })
})

describe('state that is lost', () => {
  test('is told, whichever key of a crawl at work is gone, and never taken for a finished crawl', async () => {
    const world = async () => {
      const all = setup({ partitions: 1, maxDepth: 1 })
      const frontier = all.open('w')
      await frontier.add([
        page('https://a.test/1'),
        page('https://a.test/2'),
        page('https://b.test/'),
        page('https://c.test/', 5),
      ])
      await all.passRobots(frontier)
      await all.passRobots(frontier)
      await all.clock.advance(1_000)
      await frontier.settle([
        end2(await all.one(frontier), { outcome: { kind: 'retry', notBefore: all.clock.now() + 9_000, counts: true } }),
      ])
      const held = await all.one(frontier)
      return { ...all, frontier, held }
    }
    const end2 = (held: Lease, more: Partial<Settlement>): Settlement => ({
      lease: held,
      task: held.tasks[0] as Task,
      outcome: { kind: 'done' },
      ...more,
    })
    const { sabotage } = await world()
    const names = await sabotage.names()
    expect(names).toEqual(expect.arrayContaining(['expiry', 'hosts', 'leases', 'meta', 'waiting']))
    for (const name of names) {
      const { frontier, clock, sabotage: here } = await world()
      await here.delete(name)
      let told: unknown
      for (let turn = 0; turn < 60 && told === undefined; turn++) {
        try {
          const { leases, state } = await frontier.lease({ worker: 'w', want: 3 })
          expect(state).toBe('open')
          await frontier.settle(
            leases.flatMap((held) =>
              held.tasks.map((task) => ({
                lease: held,
                task,
                outcome: task.depth > 1 ? ({ kind: 'skipped', reason: 'depth' } as const) : ({ kind: 'done' } as const),
                ...(task.kind === 'robots' ? { robots: allowAll(task, clock.now()) } : {}),
              })),
            ),
          )
          await clock.advance(1_000)
        } catch (error) {
          told = error
        }
      }
      expect([name, told]).toEqual([name, expect.any(TiptoeError)])
      expect([name, (told as Error).message]).toEqual([name, expect.stringContaining('lost')])
    }
  })

  test('of the whole crawl is told too, while it is open and when it is opened', async () => {
    const { clock, open, crawl } = setup()
    const frontier = open('w')
    await frontier.add([page('https://a.test/')])
    const whole = createSabotage(frontiers.link, crawl)
    for (const name of await whole.names()) await whole.delete(name)
    await expect(frontier.lease({ worker: 'w', want: 1 })).rejects.toThrow('is lost')
    await expect(open('other').lease({ worker: 'w', want: 1 })).rejects.toThrow('is lost')
    await clock.advance(10_000)
    await expect(frontier.stats()).rejects.toThrow('is lost')
  })

  test('a layout of another version is refused', async () => {
    const { open, sabotage } = setup()
    await open('w').add([page('https://a.test/')])
    await sabotage.set('layout', '99')
    await expect(open('other').lease({ worker: 'w', want: 1 })).rejects.toThrow('has layout 99')
  })

  test('workers of two layouts never share a crawl, whichever came first', async () => {
    const { open, crawl, sabotage } = setup()
    const frontier = open('w')
    await frontier.add([page('https://a.test/')])
    // What a worker of an earlier layout says of itself is what it looks for.
    const earlier = String(LAYOUT - 1)
    await sabotage.set('layout', earlier)
    await expect(frontier.lease({ worker: 'w', want: 1 })).rejects.toThrow(`has layout ${earlier} on the store`)
    await createSabotage(frontiers.link, crawl, 'crawl').set('layout', earlier)
    const opening = open('other').lease({ worker: 'w', want: 1 })
    await expect(opening).rejects.toThrow(`has layout ${earlier} on the store, not ${LAYOUT}`)
    await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining('another version of tiptoe') })
  })
})

describe('a server that takes over without the newest writes', () => {
  test('grants nothing until no lease of before can be in use, and then each host waits its delay', async () => {
    const { clock, open, one, passRobots, sabotage } = setup()
    const [a, b] = [open('a'), open('b')]
    await a.add([page('https://a.test/1'), page('https://b.test/')])
    await passRobots(a)
    await passRobots(a)
    await clock.advance(1_000)
    await sabotage.remember()
    const held = await one(a)
    await sabotage.restore()
    const told = clock.now()
    // Both hosts are due, and the lease of the first is forgotten.
    expect((await b.lease({ worker: 'b', want: 5 })).leases).toEqual([])
    let granted: readonly Lease[] = []
    while (granted.length === 0) {
      await clock.advance(500)
      granted = (await b.lease({ worker: 'b', want: 5 })).leases
    }
    expect(clock.now() - told).toBeGreaterThanOrEqual(LEASE_MS + 1_000)
    expect(clock.now()).toBeGreaterThanOrEqual(held.expiresAt + 1_000)
    expect(granted.map(({ host }) => host).sort()).toEqual(['a.test', 'b.test'])
    for (const lease of granted) expect(lease.fence).toBeGreaterThan(held.fence)
  })

  test('does the same when its clock was set back, since what it wrote down is ahead of it', async () => {
    const { clock, open, passRobots, sabotage } = setup()
    const frontier = open('a')
    await frontier.add([page('https://a.test/1')])
    await passRobots(frontier)
    await clock.advance(1_000)
    await sabotage.set('latest', String(clock.now() + 60_000))
    const told = clock.now()
    let granted: readonly Lease[] = []
    while (granted.length === 0) {
      granted = (await frontier.lease({ worker: 'a', want: 1 })).leases
      if (granted.length === 0) await clock.advance(500)
    }
    expect(clock.now() - told).toBeGreaterThanOrEqual(LEASE_MS + 1_000)
  })

  test('never takes a crawl for finished before it could be told what it lost', async () => {
    const { clock, open, passRobots, sabotage } = setup()
    const [a, b] = [open('a'), open('b')]
    expect((await b.lease({ worker: 'b', want: 1 })).state).toBe('finished')
    await sabotage.remember()
    await a.add([page('https://a.test/1')])
    await passRobots(a)
    await sabotage.restore()
    for (let second = 0; second < 30; second++) {
      expect((await b.lease({ worker: 'b', want: 1 })).state).toBe('open')
      await clock.advance(1_000)
    }
    await a.lease({ worker: 'a', want: 1 })
    expect(await b.stats()).toMatchObject({ discovered: 1, queued: 1 })
  })

  test('is told of the leases that are held and what was settled; nothing is lost or done twice', async () => {
    const { clock, open, one, end, passRobots, sabotage } = setup()
    const [a, b] = [open('a'), open('b')]
    await a.add([page('https://a.test/1'), page('https://b.test/1'), page('https://c.test/1')])
    for (let host = 0; host < 3; host++) await passRobots(a)
    await clock.advance(1_000)
    await sabotage.remember()
    const settled = await one(a)
    const held = await one(a)
    await a.settle([end(settled, { found: [page('https://a.test/2', 1)] })])
    await sabotage.restore()
    await b.lease({ worker: 'b', want: 5 })
    await a.lease({ worker: 'a', want: 5 })
    expect(await a.extend(held)).toBe(true)
    expect(await b.stats()).toMatchObject({ done: 1, leased: 1, queued: 2, discovered: 4 })
    expect((await a.settle([end(held)])).results).toEqual(['settled'])
    const urls: string[] = []
    for (let turn = 0; turn < 100; turn++) {
      const { leases, state } = await b.lease({ worker: 'b', want: 5 })
      if (state === 'finished') break
      for (const lease of leases) {
        urls.push(...lease.tasks.map(({ url }) => url))
        await b.settle([end(lease)])
      }
      await clock.advance(1_000)
    }
    expect(urls.sort()).toEqual(['https://a.test/2', 'https://c.test/1'])
    const stats = await b.stats()
    expect(stats).toMatchObject({ done: 4, queued: 0, leased: 0, discovered: 4 })
    expect(conserved(stats)).toBe(true)
  })

  test('does not take a place that no longer counts for the row of a lease that it is told of', async () => {
    const { clock, open, one, end, passRobots, sabotage } = setup()
    const [a, b] = [open('a'), open('b')]
    await a.add([page('https://a.test/1', 5)])
    await passRobots(a)
    await clock.advance(1_000)
    await sabotage.remember()
    const held = await one(a)
    await sabotage.restore()
    // It stands in its queue again, and is found by a shorter path: now it counts elsewhere.
    await b.lease({ worker: 'b', want: 1 })
    await b.add([page('https://a.test/1', 1)])
    expect(await a.extend(held)).toBe(false)
    const urls: string[] = []
    for (let turn = 0; turn < 100; turn++) {
      const { leases, state } = await b.lease({ worker: 'b', want: 5 })
      if (state === 'finished') break
      for (const lease of leases) {
        urls.push(...lease.tasks.map(({ url, depth }) => `${url} at ${depth}`))
        await b.settle([end(lease)])
      }
      await clock.advance(1_000)
    }
    expect(urls).toEqual(['https://a.test/1 at 1'])
    const stats = await b.stats()
    expect(stats).toMatchObject({ done: 1, queued: 0, leased: 0, discovered: 1 })
    expect(conserved(stats)).toBe(true)
  })
})
