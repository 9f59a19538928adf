import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { allowAll, page } from '../../../test/conformance/harness.ts'
import { sharedCluster, sharedRedis } from '../../../test/support/redis/shared.ts'
import { createRng, createSystemClock, createVirtualClock, type VirtualClock } from '../../base/index.ts'
import type { HostKey, NormalizedUrl, Task } from '../../model/index.ts'
import type { Lease } from '../contract.ts'
import { DEFAULT_QUOTAS, DEFAULT_RECRAWL, DEFAULT_SCORE } from '../defaults.ts'
import { connectRedis } from './connection.ts'
import { createRedisFrontier, type FleetFrontier } from './frontier.ts'
import { createInspector, type FleetInspector } from './inspector.ts'
import type { ScriptSettings } from './options.ts'
import { openMovingStore } from './transfer-store.ts'

const SETTINGS: ScriptSettings = {
  policyOf: () => ({ delayMs: 1_000, concurrency: 1 }),
  crawlDelayMs: (askedMs) => askedMs,
  latency: { factor: 0, maxDelayMs: 0 },
  groups: { domainDelayMs: 0, addressDelayMs: 0 },
  maxPages: undefined,
  maxDepth: 1,
  maxPagesPerHost: undefined,
  leaseMs: 60_000,
  quotas: DEFAULT_QUOTAS,
  score: DEFAULT_SCORE,
  recrawl: DEFAULT_RECRAWL,
  traps: false,
  quietMs: 0,
  stream: false,
}

const closing: { close(): Promise<void> }[] = []
afterAll(async () => {
  for (const each of closing) await each.close()
})

async function open(
  url: string,
): Promise<{ clock: VirtualClock; fleet: FleetFrontier; look(): Promise<FleetInspector> }> {
  const clock = createVirtualClock()
  const crawl = `i-${randomUUID()}`
  const connect = () => connectRedis(url, { clock: createSystemClock(), rng: createRng(1) })
  const { quietMs: _quietMs, ...settings } = SETTINGS
  const options = { ...settings, crawl, worker: 'w1', partitions: 3, isTimeTold: true }
  const fleet = createRedisFrontier(options, { link: connect(), clock })
  closing.push(fleet)
  return {
    clock,
    fleet,
    async look() {
      const link = connect()
      const store = await openMovingStore({ crawl, settings: SETTINGS, isTimeTold: true }, { link, clock })
      const inspector = await createInspector(store, clock, () => link.close())
      closing.push(inspector)
      return inspector
    },
  }
}

/** Leases what is due and answers every robots.txt; pages stay leased. */
async function passRobots(fleet: FleetFrontier, clock: VirtualClock): Promise<void> {
  const { leases } = await fleet.lease({ worker: 'w1', want: 10 })
  for (const lease of leases) {
    const task = lease.tasks[0] as Task
    const robots = allowAll(task, clock.now())
    await fleet.settle([{ lease, task, outcome: { kind: 'done' }, answeredAt: clock.now(), robots }])
  }
  await clock.advance(1_000)
}

const listOf = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

for (const [kind, server] of [
  ['one server', sharedRedis],
  ['a cluster', sharedCluster],
] as const) {
  test(`on ${kind}, every URL is found where it stands, and all are counted`, async () => {
    const { clock, fleet, look } = await open(await server())
    const sitemap = { ...page('https://c.test/sitemap.xml', 1), kind: 'sitemap', via: 'sitemap' } as const
    await fleet.add([
      page('https://a.test/one'),
      page('https://a.test/two'),
      page('https://b.test/'),
      page('https://b.test/deep', 2),
      sitemap,
    ])
    await passRobots(fleet, clock)
    const { leases } = await fleet.lease({ worker: 'w1', want: 10 })
    const of = (host: string): Lease => leases.find((lease) => lease.host === host) as Lease
    const end = { lease: of('b.test'), task: of('b.test').tasks[0] as Task, answeredAt: clock.now() }
    const notBefore = clock.now() + 60_000
    await fleet.settle([{ ...end, outcome: { kind: 'retry', notBefore, counts: true } }])
    const read = { lease: of('c.test'), task: of('c.test').tasks[0] as Task, answeredAt: clock.now() }
    await fleet.settle([{ ...read, outcome: { kind: 'done' } }])

    const inspector = await look()
    expect(await inspector.tally()).toMatchObject({
      queued: { pages: 1, sitemaps: 0 },
      leased: { pages: 1, sitemaps: 0 },
      waiting: { pages: 1, sitemaps: 0 },
      held: 1,
      aside: 0,
      open: 4,
      final: 1,
      hosts: 3,
      wrongLists: [],
    })
    expect(await inspector.counters()).toMatchObject({
      discovered: 4,
      open: 4,
      leased: 1,
      waiting: 1,
      held: 1,
      hosts: 3,
    })
    const [lease] = await listOf(inspector.leases())
    expect(lease).toMatchObject({ host: 'a.test', worker: 'w1', until: of('a.test').expiresAt, isParked: false })
    expect(await listOf(inspector.waiting())).toMatchObject([
      { row: { url: 'https://b.test/', attempts: 1 }, at: notBefore },
    ])
    const host = await inspector.host('b.test' as HostKey)
    expect(host).toMatchObject({
      key: 'b.test',
      answeredAt: clock.now(),
      held: 1,
      lanes: [{ robots: { version: 'none' } }],
    })
    if (host === undefined) throw new Error('the host is not there')
    expect(await listOf(inspector.parkedOf(host, 'held'))).toMatchObject([{ url: 'https://b.test/deep', depth: 2 }])
    const urls = ['https://a.test/two', 'https://c.test/sitemap.xml', 'https://nobody.test/'] as NormalizedUrl[]
    const standings = await inspector.standing([
      { kind: 'page', url: urls[0] as NormalizedUrl },
      { kind: 'sitemap', url: urls[1] as NormalizedUrl },
      { kind: 'page', url: urls[2] as NormalizedUrl },
    ])
    expect(standings.map(({ state }) => state)).toEqual(['open', 'final', 'unknown'])
  })
}

test('a URL that was found a better place counts once', async () => {
  const { fleet, look } = await open(await sharedRedis())
  await fleet.add([page('https://a.test/', 0), page('https://a.test/far', 1), page('https://b.test/', 0)])
  await fleet.add([page('https://a.test/far', 0)])
  const inspector = await look()
  expect(await inspector.tally()).toMatchObject({ queued: { pages: 3, sitemaps: 0 }, open: 3, wrongLists: [] })
  const host = await inspector.host('a.test' as HostKey)
  if (host === undefined) throw new Error('the host is not there')
  expect(host.lists.reduce((sum, { entries }) => sum + entries, 0)).toBe(3)
  const rows = (await listOf(inspector.rowsOf(host))).map(({ url, depth }): [string, number] => [url, depth])
  expect(new Map(rows)).toEqual(
    new Map([
      ['https://a.test/', 0],
      ['https://a.test/far', 0],
    ]),
  )
  expect(rows).toHaveLength(2)
})

test('a crawl that is not there is not made by looking', async () => {
  const link = connectRedis(await sharedRedis(), { clock: createSystemClock(), rng: createRng(1) })
  closing.push(link)
  const clock = createSystemClock()
  const asked = { crawl: `i-${randomUUID()}`, settings: SETTINGS }
  await expect(openMovingStore(asked, { link, clock })).rejects.toThrow('there is no crawl')
  await expect(openMovingStore(asked, { link, clock })).rejects.toThrow('there is no crawl')
})
