import { mkdtempSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createLoopbackWeb, generatedSite, type LoopbackWeb, type WebRequest } from '../../test/support/loopback-web.ts'
import { createSystemClock, createSystemDisk, type Disk } from '../base/index.ts'
import { settingsFromLibrary, type CrawlerOptions } from '../config/index.ts'
import { createFrontier } from '../frontier/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { openCrawl } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-engine-'))
let web: LoopbackWeb | undefined
afterEach(() => web?.close())
afterAll(() => rmSync(root, { recursive: true }))

const settings = (options: CrawlerOptions = {}) =>
  settingsFromLibrary(
    { delay: 0, allowAddress: ['127.0.0.0/8'], resolve: web?.resolveFlags() ?? [], ...options },
    '0.0.0',
  )

/** A disk without room for another record. */
function fullDisk(): Disk {
  const disk = createSystemDisk()
  const write = (): never => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  return { ...disk, openGrowing: (path) => ({ ...disk.openGrowing(path), write }) }
}

describe('a crawl', () => {
  test('that cannot be opened lets go of its store', async () => {
    let closed = 0
    const opening = openCrawl({
      settings: settings(),
      seeds: [],
      store: 'memory',
      openFrontier: (options) => ({
        ...createFrontier({ ...options, store: 'memory', clock: createSystemClock() }),
        stats: () => Promise.reject(new Error('no answer')),
        close: async () => void (closed += 1),
      }),
    })
    await expect(opening).rejects.toThrow('no answer')
    expect(closed).toBe(1)
  })

  test('whose output can no longer be written stops with the reason, and goes on when it can', async () => {
    web = await createLoopbackWeb({ 'a.test': generatedSite({ pages: 60, linksPerPage: 10, seed: 1 }) })
    const folder = mkdtempSync(join(root, 'full-'))
    const seeds = [web.url('a.test', '/') as NormalizedUrl]
    const options = { settings: settings({ perHost: 4 }), seeds, store: join(folder, 'state'), outputFolder: folder }
    const full = await openCrawl({ ...options, disk: fullDisk() })
    await expect(full.run()).rejects.toMatchObject({ code: 'output', hint: expect.stringContaining('disk is full') })
    await full.close()
    const roomy = await openCrawl(options)
    expect(await roomy.run()).toBe('finished')
    expect(await roomy.stats()).toMatchObject({ discovered: 60, done: 60, queued: 0 })
    await roomy.close()
    const urls = readFileSync(join(folder, 'pages.jsonl'), 'utf8').trimEnd().split('\n')
    expect(new Set(urls.map((line) => (JSON.parse(line) as { url: string }).url)).size).toBe(60)
  })

  test('of a host that answers 503 leaves it alone as long as it asks, and fails none of its URLs for it', async () => {
    let refusals = 0
    web = await createLoopbackWeb({
      'busy.test': ({ path }) => {
        if (path === '/robots.txt' || path === '/sitemap.xml') return { status: 404 }
        if (refusals < 2) {
          refusals += 1
          return { status: 503, headers: { 'retry-after': '1' } }
        }
        return { headers: { 'content-type': 'text/html' }, body: '<title>open again</title>' }
      },
    })
    const seeds = [web.url('busy.test', '/') as NormalizedUrl]
    const crawl = await openCrawl({ settings: settings({ attempts: 1 }), seeds, store: 'memory' })
    const blocked: string[] = []
    crawl.events.on('blocked', ({ reason }) => blocked.push(reason))
    expect(await crawl.run()).toBe('finished')
    expect(await crawl.stats()).toMatchObject({ done: 1, failed: 0 })
    expect(blocked).toEqual(['HTTP 503, Retry-After 1s', 'HTTP 503, Retry-After 1s'])
    await crawl.close()
    const asked = web.log.filter(({ path }) => path === '/')
    for (const [index, entry] of asked.entries()) {
      const before = asked[index - 1]
      if (before !== undefined) expect(entry.arrivedAt - (before.answeredAt ?? 0)).toBeGreaterThanOrEqual(1_000)
    }
  })

  test('loses no page of a host to one URL that always answers 503', async () => {
    const next = (path: string): string => `/${Number(path.slice(1)) + 1}`
    web = await createLoopbackWeb({
      'ill.test': ({ path }) => {
        if (path === '/robots.txt' || path === '/sitemap.xml') return { status: 404 }
        if (path === '/bad') return { status: 503, headers: { 'retry-after': '0' } }
        const body = path === '/' ? '<a href=/bad>b</a><a href=/1>1</a>' : `<a href="${next(path)}">n</a>`
        return { headers: { 'content-type': 'text/html' }, body: path === '/400' ? 'x' : body }
      },
    })
    const seeds = [web.url('ill.test', '/') as NormalizedUrl]
    const crawl = await openCrawl({ settings: settings({ patience: 2_000 }), seeds, store: 'memory' })
    expect(await crawl.run()).toBe('finished')
    expect(await crawl.stats()).toMatchObject({ done: 401, failed: 1, queued: 0, skipped: {} })
    await crawl.close()
  })

  test('leaves each host alone for as long as its own Retry-After says, whatever its form', async () => {
    const clock = createSystemClock()
    const soon = new Date(Math.ceil(clock.now() / 1_000) * 1_000 + 2_000)
    const forms: Readonly<Record<string, string>> = {
      'seconds.test': '1',
      'date.test': soon.toUTCString(),
      'past.test': 'Thu, 01 Jan 1970 00:00:00 GMT',
      'none.test': '0',
    }
    const refusedThenOpen = (retryAfter: string) => (request: WebRequest) => {
      if (request.path !== '/') return { status: 404 }
      return request.n === 1 ? { status: 429, headers: { 'retry-after': retryAfter } } : { body: 'open' }
    }
    const hosts = Object.entries(forms).map(([host, form]) => [host, refusedThenOpen(form)] as const)
    web = await createLoopbackWeb(Object.fromEntries(hosts), { clock })
    const { url } = web
    const seeds = Object.keys(forms).map((host) => url(host, '/') as NormalizedUrl)
    const crawl = await openCrawl({ settings: settings({ scope: 'host' }), seeds, store: 'memory', clock })
    expect(await crawl.run()).toBe('finished')
    expect(await crawl.stats()).toMatchObject({ done: 4, failed: 0 })
    await crawl.close()
    const [first, second] = web.log.filter(({ host, path }) => host === 'seconds.test' && path === '/')
    expect((second?.arrivedAt ?? 0) - (first?.answeredAt ?? 0)).toBeGreaterThanOrEqual(1_000)
    const dated = web.log.findLast(({ host }) => host === 'date.test')
    expect(dated?.arrivedAt).toBeGreaterThanOrEqual(soon.getTime())
  })

  test('leaves a host alone with every slot at once, for the longest pause that it asks for', async () => {
    web = await createLoopbackWeb({
      'busy.test': ({ path, n }) => {
        if (path === '/robots.txt' || path === '/sitemap.xml') return { status: 404 }
        if (path === '/x' && n === 1) return { status: 429, headers: { 'retry-after': '2' } }
        if (path === '/y' && n === 1) return { status: 503, headers: { 'retry-after': '0' }, delayMs: 50 }
        const links = ['x', 'y', ...Array.from({ length: 20 }, (_, index) => String(index))]
        const body = path === '/' ? links.map((link) => `<a href="/${link}">${link}</a>`).join('') : 'page'
        return { headers: { 'content-type': 'text/html' }, body, delayMs: 20 }
      },
    })
    const seeds = [web.url('busy.test', '/') as NormalizedUrl]
    const crawl = await openCrawl({ settings: settings({ perHost: 2 }), seeds, store: 'memory' })
    expect(await crawl.run()).toBe('finished')
    expect(await crawl.stats()).toMatchObject({ done: 23, failed: 0 })
    await crawl.close()
    const refusal = web.log.find(({ path }) => path === '/x')
    const after = web.log.filter(({ arrivedAt }) => arrivedAt > (refusal?.answeredAt ?? 0))
    // One more may have been on its way when the answer came.
    const early = after.filter(({ arrivedAt }) => arrivedAt < (refusal?.answeredAt ?? 0) + 2_000)
    expect(early.length).toBeLessThanOrEqual(1)
  })

  test('whose store is gone is refused before its records are touched', async () => {
    web = await createLoopbackWeb({ 'a.test': generatedSite({ pages: 3, linksPerPage: 2, seed: 1 }) })
    const folder = mkdtempSync(join(root, 'lost-'))
    const seeds = [web.url('a.test', '/') as NormalizedUrl]
    const options = { settings: settings(), seeds, store: join(folder, 'state'), outputFolder: folder }
    const first = await openCrawl(options)
    await first.run()
    await first.close()
    const records = readFileSync(join(folder, 'pages.jsonl'), 'utf8')
    rmSync(join(folder, 'state'), { recursive: true })
    await expect(openCrawl(options)).rejects.toMatchObject({ code: 'store' })
    expect(readFileSync(join(folder, 'pages.jsonl'), 'utf8')).toBe(records)
  })

  test('whose records are removed under it stops and says so', async () => {
    web = await createLoopbackWeb({ 'a.test': generatedSite({ pages: 200, linksPerPage: 5, seed: 1 }) })
    const folder = mkdtempSync(join(root, 'removed-'))
    const seeds = [web.url('a.test', '/') as NormalizedUrl]
    const crawl = await openCrawl({ settings: settings(), seeds, store: join(folder, 'state'), outputFolder: folder })
    let removed = false
    crawl.events.on('page', () => {
      if (!removed) unlinkSync(join(folder, 'pages.jsonl'))
      removed = true
    })
    await expect(crawl.run()).rejects.toMatchObject({ code: 'output', message: expect.stringContaining('was removed') })
    await crawl.close()
  })

  test('on a machine without a network stops, and leaves everything queued', async () => {
    const lookup = async (): Promise<never> => {
      throw Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' })
    }
    const seeds = ['https://a.test/', 'https://b.test/'] as NormalizedUrl[]
    const offline = settingsFromLibrary({ attempts: 2, delay: 0, retryDelay: 10 }, '0.0.0')
    const crawl = await openCrawl({ settings: offline, seeds, store: 'memory', lookup })
    await expect(crawl.run()).rejects.toMatchObject({ code: 'network' })
    expect(await crawl.stats()).toMatchObject({ queued: 2, failed: 0, skipped: {} })
    await crawl.close()
  })
})
