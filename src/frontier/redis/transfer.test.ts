import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { page } from '../../../test/conformance/harness.ts'
import { PLAIN_FRONTIER } from '../../../test/support/plain-frontier.ts'
import { sharedCluster, sharedRedis } from '../../../test/support/redis/shared.ts'
import { createRng, createSystemClock, createVirtualClock, type VirtualClock } from '../../base/index.ts'
import { openEmbeddedSource } from '../embedded/index.ts'
import { createFrontier, type Frontier } from '../index.ts'
import { workOff } from '../test-support/work-off.ts'
import { countsOf, differenceOf } from '../transfer.ts'
import { connectRedis, type RedisConnection } from './connection.ts'
import { createRedisFrontier } from './frontier.ts'
import { createInspector, type FleetInspector } from './inspector.ts'
import type { ScriptSettings } from './options.ts'
import { moveIn } from './transfer-in.ts'
import { openMovingStore, type MovingStore } from './transfer-store.ts'
import { barPartitions } from './transfer-target.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-move-'))
const links: RedisConnection[] = []
let serial = 0
afterAll(async () => {
  for (const link of links) await link.close()
  rmSync(root, { recursive: true })
})

const SETTINGS: ScriptSettings = {
  ...PLAIN_FRONTIER,
  policyOf: () => ({ delayMs: 1_000, concurrency: 1 }),
  maxPages: 100,
  maxDepth: 1,
  quietMs: 0,
  stream: false,
}

async function crawlWithEveryState(clock: VirtualClock): Promise<string> {
  const folder = join(root, String(serial++))
  const frontier = createFrontier({ store: folder, clock, maxDepth: 1, maxPages: 3 })
  await frontier.add([
    page('https://a.test/'),
    page('https://a.test/fails'),
    page('https://a.test/later'),
    page('https://a.test/skipped'),
    page('https://a.test/more'),
    page('https://b.test/'),
    page('https://b.test/too/deep', 2),
    { ...page('https://b.test/sitemap.xml', 1), kind: 'sitemap', via: 'sitemap' },
    ...Array.from({ length: 40 }, (_, index) => page(`https://h${index}.test/`)),
  ])
  await workOff(frontier, clock, ({ url }) => {
    if (url.endsWith('fails')) return { kind: 'failed', code: 'timeout' }
    if (url.endsWith('later')) return { kind: 'retry', notBefore: clock.now() + 3_600_000, counts: true }
    if (url.endsWith('skipped')) return { kind: 'skipped', reason: 'robots' }
    return { kind: 'done' }
  })
  await frontier.close()
  return folder
}

async function openTarget(
  clock: VirtualClock,
  crawl: string,
  server: () => Promise<string> = sharedRedis,
): Promise<MovingStore & { inspect(): Promise<FleetInspector> }> {
  const link = connectRedis(await server(), { clock: createSystemClock(), rng: createRng(1) })
  links.push(link)
  const generation = randomUUID().replaceAll('-', '')
  const make = { generation, partitions: 4, set: { barred: 'half of it is here' } }
  const store = await openMovingStore({ crawl, settings: SETTINGS, make, isTimeTold: true }, { link, clock })
  return { ...store, inspect: () => createInspector(store, clock, async () => undefined) }
}

async function openFleet(clock: VirtualClock, crawl: string): Promise<Frontier> {
  const link = connectRedis(await sharedRedis(), { clock: createSystemClock(), rng: createRng(1) })
  const { quietMs: _quietMs, ...settings } = SETTINGS
  const options = { ...settings, crawl, worker: 'w', partitions: 4, isTimeTold: true }
  return createRedisFrontier(options, { link, clock })
}

test.for([
  ['one server', sharedRedis],
  ['a cluster', sharedCluster],
] as const)('a crawl that is carried to %s has the same counts there, and each of its rows', async ([, server]) => {
  const clock = createVirtualClock()
  const source = openEmbeddedSource(await crawlWithEveryState(clock))
  const store = await openTarget(clock, `t-${randomUUID()}`, server)
  await moveIn(source, store, () => undefined)
  source.close()
  const inspector = await store.inspect()
  const counters = await inspector.counters()
  expect(differenceOf(countsOf(source.counters), countsOf(counters))).toEqual([])
  expect(counters).toMatchObject({
    bytes: source.counters.bytes,
    requests: source.counters.requests,
    tiers: source.counters.tiers,
  })
  const tally = await inspector.tally()
  expect(tally.wrongLists).toEqual([])
  expect(tally.open).toBe(counters.open + counters.sitemapsOpen)
  expect(tally.queued.pages + tally.waiting.pages + tally.held + tally.aside).toBe(counters.open)
  expect(tally.open + tally.final).toBe(source.urlCount)
  expect(tally.hosts).toBe(counters.hosts)
})

test('a move that was cut short goes on where it stopped, and the crawl is refused meanwhile', async () => {
  const clock = createVirtualClock()
  const source = openEmbeddedSource(await crawlWithEveryState(clock))
  const crawl = `t-${randomUUID()}`
  const store = await openTarget(clock, crawl)
  let portions = 0
  const cut = {
    ...store,
    note: async (...args: Parameters<MovingStore['note']>) => {
      portions += 1
      if (portions === 4) throw new Error('cut')
      return store.note(...args)
    },
  }
  await expect(moveIn(source, cut, () => undefined)).rejects.toThrow('cut')
  await expect((await openFleet(clock, crawl)).stats()).rejects.toThrow('half of it is here')
  await moveIn(source, await openTarget(clock, crawl), () => undefined)
  source.close()
  const counters = await (await store.inspect()).counters()
  expect(differenceOf(countsOf(source.counters), countsOf(counters))).toEqual([])
})

test('the fleet asks for what was open, nothing twice, and no host before its delay', async () => {
  const clock = createVirtualClock()
  const source = openEmbeddedSource(await crawlWithEveryState(clock))
  const crawl = `t-${randomUUID()}`
  const store = await openTarget(clock, crawl)
  await moveIn(source, store, () => undefined)
  await store.note({ unset: ['barred'] })
  source.close()
  const answeredAt = new Map<string, number>()
  for await (const host of (await store.inspect()).hosts()) {
    if (host.answeredAt !== null) answeredAt.set(host.key, host.answeredAt)
  }
  await clock.advance(3_600_000)
  const fleet = await openFleet(clock, crawl)
  const asked = await workOff(fleet, clock, ({ url }) =>
    url.endsWith('deep') ? { kind: 'skipped', reason: 'depth' } : { kind: 'done' },
  )
  const { discovered, queued, leased, done, failed, skipped } = await fleet.stats()
  await fleet.close()
  const before = source.counters
  expect({ discovered, queued, leased, failed }).toEqual({
    discovered: before.discovered,
    queued: 0,
    leased: 0,
    failed: before.failed,
  })
  expect(done + Object.values(skipped).reduce((sum, count) => sum + count, 0) + failed).toBe(discovered)
  const urls = asked.map(({ url }) => url)
  expect(new Set(urls).size).toBe(urls.length)
  expect(urls).toContain('https://a.test/later')
  for (const { url, at } of asked) {
    const last = answeredAt.get(new URL(url).hostname)
    if (last !== undefined) expect(at).toBeGreaterThanOrEqual(last + 1_000)
  }
})

test('a crawl that is barred refuses who has it open, and opens again', async () => {
  const clock = createVirtualClock()
  const crawl = `t-${randomUUID()}`
  const fleet = await openFleet(clock, crawl)
  await fleet.add([page('https://a.test/')])
  const store = await openTarget(clock, crawl)
  await barPartitions(store, { bar: 'it went elsewhere' })
  await expect(fleet.lease({ worker: 'w', want: 1 })).rejects.toThrow('it went elsewhere')
  await barPartitions(store, { lift: true })
  expect((await fleet.lease({ worker: 'w', want: 1 })).leases).toHaveLength(1)
  await fleet.close()
})
