import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../base/index.ts'
import { settingsFromLibrary, type CrawlerOptions } from '../../config/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { createInlineReader } from '../../reading/index.ts'
import { openCrawl, type Crawl, type CrawlOptions } from '../index.ts'
import { createMemoryFleet } from '../test-support/memory-fleet.ts'
import { createVirtualWeb, linksTo } from '../test-support/virtual-web.ts'

const HOME = 'https://a.test/'
const page = (n: number): string => `https://a.test/${n}`
/** A site of so many pages, all named on the first. */
const site = (pages: number): Record<string, string> => ({
  [HOME]: linksTo(...Array.from({ length: pages - 1 }, (_, n) => page(n))),
  ...Object.fromEntries(Array.from({ length: pages - 1 }, (_, n) => [page(n), `<title>${n}</title>`])),
})

function setup(
  pages: Record<string, string> = site(8),
  { takesMs, ...options }: CrawlerOptions & { takesMs?: (url: string) => number } = {},
) {
  const clock = createVirtualClock()
  const fleet = createMemoryFleet(clock)
  const web = createVirtualWeb(clock, pages, takesMs)
  const settings = settingsFromLibrary({ delay: '1s', sitemaps: false, traps: false, ...options }, '0.0.0')
  const open = (worker: string, more: Partial<CrawlOptions> = {}, keep = false): Promise<Crawl> =>
    openCrawl({
      settings,
      seeds: [],
      store: 'memory',
      clock,
      fetcher: web.fetcher,
      reader: createInlineReader(),
      fleet: {
        login: { store: 'redis://x', crawl: 'c', worker, partitions: 4, stream: false },
        machine: 'here',
        pid: 1,
        keep,
        connect: fleet.connect,
      },
      ...more,
    })
  return { clock, fleet, web, open }
}

const seeds = [HOME as NormalizedUrl]

/** Lets time pass until the promise is settled. */
async function inTime<T>(clock: VirtualClock, promise: Promise<T>, mostMs = 600_000): Promise<T> {
  const state = { isOver: false }
  const over = promise.finally(() => (state.isOver = true))
  over.catch(() => {})
  for (let ms = 0; !state.isOver && ms < mostMs; ms += 250) await clock.advance(250)
  if (!state.isOver) throw new Error(`not over after ${mostMs} ms`)
  return over
}

test('workers of one crawl fetch each page once, and their host at its pace', async () => {
  const { clock, web, open } = setup()
  const crawls = [await open('one', { seeds }), await open('two'), await open('three')]
  const ends = await inTime(clock, Promise.all(crawls.map((crawl) => crawl.run())))
  expect(ends).toEqual(['finished', 'finished', 'finished'])
  expect(await crawls[0]?.stats()).toMatchObject({ discovered: 8, done: 8, impolite: 0 })
  const urls = web.requests.map(({ url }) => url)
  expect(new Set(urls).size).toBe(urls.length)
  const gaps = web.requests.slice(1).map(({ at }, index) => at - (web.requests[index]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
})

test('a request that takes longer than a lease keeps its lease, and is made once', async () => {
  const { clock, web, open } = setup(site(1), { timeout: '60s', takesMs: () => 55_000 })
  const crawl = await open('one', { seeds })
  const idle = await open('two', {}, true)
  void idle.run()
  expect(await inTime(clock, crawl.run())).toBe('finished')
  idle.stop()
  await clock.advance(10_000)
  expect(web.requests.map(({ url, outcome }) => [url, outcome])).toEqual([
    ['https://a.test/robots.txt', 'answered'],
    [HOME, 'answered'],
  ])
})

test('a request whose lease cannot be extended is aborted before the lease ends, and made again later', async () => {
  const { clock, fleet, web, open } = setup(site(1), { timeout: '60s', takesMs: (url) => (url === HOME ? 40_000 : 0) })
  const crawl = await open('one', { seeds })
  const ran = crawl.run()
  await clock.advance(5_000)
  fleet.lose()
  await clock.advance(30_000)
  expect(web.requests.at(-1)).toMatchObject({ url: HOME, outcome: 'aborted' })
  fleet.find()
  expect(await inTime(clock, ran)).toBe('finished')
  expect(web.requests.filter(({ url }) => url === HOME).map(({ outcome }) => outcome)).toEqual(['aborted', 'answered'])
})

test('nothing is begun while the store is out of reach, and work goes on when it is back', async () => {
  const { clock, fleet, web, open } = setup()
  const crawl = await open('one', { seeds })
  const ran = crawl.run()
  await clock.advance(3_500)
  const before = web.requests.length
  fleet.lose()
  await clock.advance(120_000)
  expect([web.requests.length, crawl.isStoreInReach]).toEqual([before, false])
  fleet.find()
  expect(await inTime(clock, ran)).toBe('finished')
  expect(await crawl.stats()).toMatchObject({ done: 8, failed: 0, impolite: 0 })
})

test('a stop does not wait for ever for a store that is out of reach', async () => {
  const { clock, fleet, open } = setup(site(8), { takesMs: () => 2_000 })
  const crawl = await open('one', { seeds })
  const ran = crawl.run()
  const outcome = ran.then(
    (end) => end,
    (error: { code: string }) => error.code,
  )
  await clock.advance(1_000)
  fleet.lose()
  crawl.stop()
  expect(await inTime(clock, outcome, 15_000)).toBe('store')
})

test('a crawl that is ended for all ends every worker', async () => {
  const { clock, fleet, open } = setup(site(500))
  const crawls = [await open('one', { seeds }), await open('two')]
  const ran = Promise.all(crawls.map((crawl) => crawl.run()))
  await clock.advance(5_000)
  await fleet.crawl.halt('bytes')
  expect(await inTime(clock, ran, 20_000)).toEqual(['halted', 'halted'])
  expect(crawls.map(({ haltedBecause }) => haltedBecause)).toEqual(['bytes', 'bytes'])
})

test('a limit of bytes is kept by the workers themselves while nobody coordinates', async () => {
  const { clock, fleet, open } = setup(site(500), { maxBytes: 100 })
  expect(await inTime(clock, (await open('one', { seeds })).run(), 60_000)).toBe('halted')
  expect(await fleet.crawl.halted()).toBe('bytes')
})

test('what comes on top of a limit of bytes is what was under way when it was passed', async () => {
  const hosts = Array.from({ length: 300 }, (_, n) => `https://h${n}.test/`)
  const text = 'x'.repeat(10_000)
  const pages = Object.fromEntries(hosts.map((url) => [url, text]))
  const { clock, fleet, open } = setup(pages, {
    maxBytes: 200_000,
    scope: 'any',
    workers: 1,
    concurrency: 4,
    takesMs: (url) => 100 + (url.length % 3) * 10,
  })
  const crawls = [await open('one', { seeds: hosts as NormalizedUrl[] }), await open('two'), await open('three')]
  const ends = await inTime(clock, Promise.all(crawls.map((crawl) => crawl.run())))
  expect([ends, await fleet.crawl.halted()]).toEqual([['halted', 'halted', 'halted'], 'bytes'])
  const { bytes = 0 } = (await crawls[0]?.stats()) ?? {}
  expect(bytes).toBeGreaterThanOrEqual(200_000)
  expect(bytes).toBeLessThanOrEqual(200_000 + crawls.length * 4 * text.length)
})

test('a worker that comes before the seeds waits for them, and knows what belongs to them', async () => {
  const { clock, fleet, open } = setup()
  const early = await open('early')
  const ran = early.run()
  await clock.advance(30_000)
  await fleet.crawl.addSeeds(seeds)
  const seeder = fleet.connect({ store: '', crawl: 'c', worker: 's', partitions: 4, stream: false }, {}, { clock })
  await seeder.add([{ url: HOME as NormalizedUrl, kind: 'page', depth: 0, via: 'seed' }])
  expect(await inTime(clock, ran)).toBe('finished')
  expect(await early.stats()).toMatchObject({ discovered: 8, done: 8 })
})

test('a worker that is to stay fetches what is added after the end', async () => {
  const { clock, fleet, web, open } = setup({ ...site(2), 'https://b.test/': '<title>b</title>' })
  const crawl = await open('one', { seeds }, true)
  const ran = crawl.run()
  await clock.advance(30_000)
  const seeder = fleet.connect({ store: '', crawl: 'c', worker: 's', partitions: 4, stream: false }, {}, { clock })
  await fleet.crawl.addSeeds(['https://b.test/'])
  await seeder.add([{ url: 'https://b.test/' as NormalizedUrl, kind: 'page', depth: 0, via: 'seed' }])
  await clock.advance(10_000)
  expect(web.requests.map(({ url }) => url)).toContain('https://b.test/')
  crawl.stop()
  expect(await inTime(clock, ran)).toBe('stopped')
})

test('a rate for all workers bounds the requests of each second', async () => {
  const hosts = Array.from({ length: 60 }, (_, n) => `https://h${n}.test/`)
  const pages = Object.fromEntries(hosts.map((url) => [url, '<title>x</title>']))
  const { clock, web, open } = setup(pages, { maxRate: 10, scope: 'any' })
  const crawls = [await open('one', { seeds: hosts as NormalizedUrl[] }), await open('two')]
  expect(await inTime(clock, Promise.all(crawls.map((crawl) => crawl.run())))).toEqual(['finished', 'finished'])
  expect(web.requests.length).toBe(120)
  const began = web.requests[0]?.at ?? 0
  for (const [index, { at }] of web.requests.entries()) {
    const within = web.requests.slice(index).filter((other) => other.at < at + 1_000).length
    expect(within).toBeLessThanOrEqual(10)
  }
  const tookMs = (web.requests.at(-1)?.at ?? 0) - began
  expect(tookMs).toBeGreaterThanOrEqual(11_000)
  // Nor is it kept by standing still.
  expect(tookMs).toBeLessThan(16_000)
})

test('a rate is kept by a crawl without a store for many as well', async () => {
  const hosts = Array.from({ length: 30 }, (_, n) => `https://h${n}.test/`)
  const clock = createVirtualClock()
  const web = createVirtualWeb(clock, Object.fromEntries(hosts.map((url) => [url, '<title>x</title>'])))
  const options = { delay: '1s', sitemaps: false, traps: false, maxRate: 10, scope: 'any' } as const
  const settings = settingsFromLibrary(options, '0.0.0')
  const crawl = await openCrawl({
    settings,
    seeds: hosts as NormalizedUrl[],
    store: 'memory',
    clock,
    fetcher: web.fetcher,
    reader: createInlineReader(),
  })
  expect(await inTime(clock, crawl.run())).toBe('finished')
  const times = web.requests.map(({ at }) => at)
  expect(times.length).toBe(60)
  const gaps = times.slice(10).map((at, index) => at - (times[index] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
})

test('each worker has its own output, which says how far it is committed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tiptoe-fleet-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const { clock, open } = setup()
  const folders = ['one', 'two'].map((name) => join(root, name))
  const crawls = [
    await open('one', { seeds, outputFolder: folders[0] as string }),
    await open('two', { outputFolder: folders[1] as string }),
  ]
  await inTime(clock, Promise.all(crawls.map((crawl) => crawl.run())))
  const urls: string[] = []
  for (const [index, crawl] of crawls.entries()) {
    const folder = folders[index] as string
    const { output } = await crawl.stats()
    await crawl.close()
    expect(JSON.parse(readFileSync(join(folder, 'state/committed.json'), 'utf8'))).toEqual(output)
    const lines = readFileSync(join(folder, 'pages.jsonl'), 'utf8').split('\n').filter(Boolean)
    urls.push(...lines.map((line) => (JSON.parse(line) as { url: string }).url))
  }
  expect(urls.length).toBe(8)
  expect(new Set(urls).size).toBe(8)
})

test('a folder whose committed records the store has never heard of is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-fleet-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const first = setup()
  const crawl = await first.open('one', { seeds, outputFolder: folder })
  await inTime(first.clock, crawl.run())
  await crawl.close()
  await expect(setup().open('one', { seeds, outputFolder: folder })).rejects.toMatchObject({ code: 'store' })
})
