import { getEventListeners } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLoopbackWeb, generatedSite, type HostBehaviour, type LoopbackWeb } from '../test/support/loopback-web.ts'
import { createCrawler, PAGES_AHEAD, TiptoeError, type CrawlerOptions, type Page } from './index.ts'

const HOST = 'docs.example'
/** The most tasks that one lease carries. */
const LEASE_TASKS = 16

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tiptoe-library-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Bench {
  readonly web: LoopbackWeb
  readonly seed: string
  /** What lets a crawler reach the web, at no pace, for tests that are not about pace. */
  readonly reach: CrawlerOptions
  /** Page requests that the server has seen. */
  readonly asked: () => number
}

async function bench(site: HostBehaviour = smallSite(5)): Promise<Bench> {
  const web = await createLoopbackWeb({ [HOST]: site })
  cleanUps.push(() => web.close())
  return {
    web,
    seed: web.url(HOST),
    reach: { resolve: web.resolveFlags(), allowAddress: ['127.0.0.0/8'], delay: 0, retryDelay: 1, sitemaps: false },
    asked: () => web.log.filter(({ path }) => path !== '/robots.txt').length,
  }
}

function smallSite(pages: number): HostBehaviour {
  return generatedSite({ pages, linksPerPage: 4, bytesPerPage: 600, seed: 7 })
}

async function collect(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = []
  for await (const page of pages) all.push(page)
  return all
}

function lines(folder: string, file: string): { url: string }[] {
  const text = readFileSync(join(folder, file), 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { url: string })
}

describe('iterating over a crawl', () => {
  it('hands out every page once, with its record and its Markdown', async () => {
    const { reach, seed } = await bench(smallSite(30))
    const pages = await collect(createCrawler(reach).run([seed]))
    expect(new Set(pages.map(({ url }) => url)).size).toBe(30)
    expect(pages).toHaveLength(30)
    expect(pages[0]).toMatchObject({ url: seed, status: 200, depth: 0, title: expect.stringContaining('Page 0') })
    expect(pages[0]?.markdown).toMatch(/^# The /)
  })

  it('returns why it ended, as does the crawler', async () => {
    const { reach, seed } = await bench()
    const crawler = createCrawler(reach)
    expect(crawler.end).toBeUndefined()
    const pages = crawler.run([seed])
    let step = await pages.next()
    expect(crawler.end).toBeUndefined()
    while (step.done !== true) step = await pages.next()
    expect(step.value).toBe('finished')
    expect(crawler.end).toBe('finished')
  })

  it('ends at the page limit, exactly', async () => {
    const { reach, seed, asked } = await bench(smallSite(50))
    const crawler = createCrawler({ ...reach, maxPages: 7 })
    expect(await collect(crawler.run(seed))).toHaveLength(7)
    expect(crawler.end).toBe('limit')
    expect(asked()).toBe(7)
  })

  it('writes no file, and names none, without an output folder', async () => {
    const folder = temporaryFolder()
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
    const { reach, seed } = await bench()
    const pages = await collect(createCrawler(reach).run(seed))
    cwd.mockRestore()
    expect(pages.every((page) => !('markdownPath' in page))).toBe(true)
    expect(readdirSync(folder)).toEqual([])
  })

  it('opens nothing before the first page is asked for', async () => {
    const { reach, seed, web } = await bench()
    const out = join(temporaryFolder(), 'crawl')
    const pages = createCrawler({ ...reach, out }).run(seed)
    expect(await pages.return('stopped')).toEqual({ done: true, value: 'stopped' })
    expect(existsSync(out)).toBe(false)
    expect(web.log).toHaveLength(0)
  })

  it('takes no new work while too many pages wait to be read', async () => {
    const { reach, seed, web } = await bench(smallSite(400))
    const crawler = createCrawler({ ...reach, concurrency: 1 })
    let saved = 0
    let ranAhead = (): void => {}
    const isAhead = new Promise<void>((resolve) => {
      ranAhead = resolve
    })
    crawler.on('page', () => {
      saved += 1
      if (saved > PAGES_AHEAD) ranAhead()
    })
    let read = 0
    let furthest = 0
    for await (const _page of crawler.run(seed)) {
      read += 1
      if (read === 1) {
        await isAhead
        // Work for the same event loop and the same server, in which an unbounded crawl would go on.
        for (let request = 0; request < 100; request++) await fetch(`http://127.0.0.1:${web.port}/`)
      }
      furthest = Math.max(furthest, saved - read)
    }
    expect(read).toBe(400)
    expect(furthest).toBeGreaterThanOrEqual(PAGES_AHEAD)
    // Beside those that wait, what is being fetched and what is being committed.
    expect(furthest).toBeLessThanOrEqual(PAGES_AHEAD + 4 * LEASE_TASKS)
  })

  it('takes one seed or many, as text or as URLs, and those of the options', async () => {
    const { reach, seed, web } = await bench()
    const options = { ...reach, maxDepth: 0 }
    const other = web.url(HOST, '/docs/0/page-1.html')
    const urls = async (crawler: ReturnType<typeof createCrawler>, seeds?: Parameters<typeof crawler.run>[0]) =>
      (await collect(crawler.run(seeds))).map(({ url }) => url).sort()
    expect(await urls(createCrawler(options), new URL(seed))).toEqual([seed])
    expect(await urls(createCrawler(options), new Set([seed, new URL(other), `${seed}#top`]))).toEqual([seed, other])
    expect(await urls(createCrawler({ ...options, seeds: [seed] }))).toEqual([seed])
    expect(await urls(createCrawler({ ...options, seeds: [seed] }), [other])).toEqual([seed, other])
    const input = join(temporaryFolder(), 'seeds.txt')
    writeFileSync(input, `# two\n${seed}\n\n${other}\n`)
    expect(await urls(createCrawler({ ...options, input }))).toEqual([seed, other])
  })
})

describe('ending early', () => {
  it('a break stops the crawl, and the crawler can run again', async () => {
    const { reach, seed, asked } = await bench(smallSite(200))
    const crawler = createCrawler({ ...reach, concurrency: 1 })
    for await (const _page of crawler.run(seed)) break
    expect(crawler.end).toBe('stopped')
    const before = asked()
    expect(before).toBeLessThanOrEqual(1 + LEASE_TASKS)
    expect((await crawler.stats()).end).toBe('stopped')
    expect(await collect(crawler.run(seed))).toHaveLength(200)
    expect(asked()).toBe(before + 200)
    expect(crawler.end).toBe('finished')
  })

  it('a return while a page is awaited does not wait for the page', async () => {
    const { reach, seed } = await bench({ '/robots.txt': { status: 404 }, '/': { hang: true } })
    const crawler = createCrawler({ ...reach, drain: 0 })
    const pages = crawler.run(seed)
    const first = pages.next()
    expect(await pages.return('stopped')).toEqual({ done: true, value: 'stopped' })
    expect(await first).toEqual({ done: true, value: 'stopped' })
    expect(crawler.end).toBe('stopped')
  })

  it('stop ends the iteration with the pages that there are', async () => {
    const { reach, seed, asked } = await bench(smallSite(200))
    const crawler = createCrawler({ ...reach, concurrency: 1 })
    crawler.stop()
    let read = 0
    for await (const _page of crawler.run(seed)) {
      read += 1
      if (read === 3) crawler.stop()
    }
    expect(crawler.end).toBe('stopped')
    expect(read).toBe(asked())
    expect(read).toBeLessThan(200)
  })

  it('an aborted signal stops the crawl, and nothing listens to it afterwards', async () => {
    const { reach, seed, asked } = await bench(smallSite(200))
    const controller = new AbortController()
    const crawler = createCrawler({ ...reach, concurrency: 1, signal: controller.signal })
    let read = 0
    for await (const _page of crawler.run(seed)) {
      read += 1
      if (read === 3) controller.abort()
    }
    expect(crawler.end).toBe('stopped')
    expect(read).toBe(asked())
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('a signal that is aborted before the start lets nothing start', async () => {
    const { reach, seed, web } = await bench()
    const out = join(temporaryFolder(), 'crawl')
    const crawler = createCrawler({ ...reach, out, signal: AbortSignal.abort() })
    expect(await collect(crawler.run(seed))).toEqual([])
    expect(crawler.end).toBe('stopped')
    expect(web.log).toHaveLength(0)
    expect(existsSync(out)).toBe(false)
  })

  it('an error in the body of the loop is the loop’s error, and everything is closed', async () => {
    const { reach, seed } = await bench(smallSite(100))
    const out = join(temporaryFolder(), 'crawl')
    const crawler = createCrawler({ ...reach, out })
    const reading = async (): Promise<void> => {
      for await (const page of crawler.run(seed)) throw new RangeError(page.url)
    }
    await expect(reading()).rejects.toThrow(new RangeError(seed))
    // The store is locked while it is open.
    expect(await crawler.runToEnd(seed)).toBe('finished')
  })
})

describe('onPage and events', () => {
  it('onPage has each page before the iteration does, and the next waits for its promise', async () => {
    const { reach, seed } = await bench(smallSite(20))
    const story: string[] = []
    let inside = 0
    const crawler = createCrawler({
      ...reach,
      async onPage(page) {
        inside += 1
        expect(inside).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        story.push(`onPage ${page.url}`)
        inside -= 1
      },
    })
    for await (const page of crawler.run(seed)) story.push(`run ${page.url}`)
    expect(story).toHaveLength(40)
    for (let at = 0; at < 40; at += 2) expect(story[at + 1]).toBe(story[at]?.replace('onPage', 'run'))
  })

  it('runToEnd gives the pages to onPage alone', async () => {
    const { reach, seed } = await bench(smallSite(20))
    const urls: string[] = []
    const crawler = createCrawler({ ...reach, onPage: ({ url }) => void urls.push(url) })
    expect(await crawler.runToEnd(seed)).toBe('finished')
    expect(new Set(urls).size).toBe(20)
  })

  it('an error in onPage ends the run with that error', async () => {
    const { reach, seed, asked } = await bench(smallSite(200))
    const onPage = vi.fn().mockRejectedValue(new RangeError('no room'))
    const crawler = createCrawler({ ...reach, concurrency: 1, onPage })
    await expect(crawler.runToEnd(seed)).rejects.toThrow(new RangeError('no room'))
    expect(onPage).toHaveBeenCalledTimes(1)
    expect(asked()).toBeLessThanOrEqual(1 + LEASE_TASKS)
    expect(crawler.end).toBeUndefined()
  })

  it.each([
    [
      'throws',
      (): never => {
        throw new RangeError('no room')
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('no room'))],
  ])('a listener that %s ends the run with its error', async (_how, listener) => {
    const { reach, seed } = await bench(smallSite(200))
    const crawler = createCrawler({ ...reach, concurrency: 1 })
    crawler.on('page', listener)
    await expect(collect(crawler.run(seed))).rejects.toThrow(new RangeError('no room'))
    expect((await crawler.stats()).saved).toBeLessThan(200)
  })

  it('tells of pages, skips, failures, retries and blocked hosts, until told to stop', async () => {
    const { reach, seed, web } = await bench(({ path, n }) => {
      if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /private' }
      if (path === '/')
        return { body: '<a href=/private>1</a><a href=/gone>2</a><a href=/flaky>3</a><a href=/busy>4</a>' }
      if (path === '/flaky') return n === 1 ? { status: 500 } : { body: '<p>Better now' }
      if (path === '/busy') return n === 1 ? { status: 503, headers: { 'retry-after': '0' } } : { body: '<p>Calm' }
      return { status: 404 }
    })
    const crawler = createCrawler(reach)
    const told: string[] = []
    const tell = (name: string, url: string): void => void told.push(`${name} ${url.replace(seed, '/')}`)
    crawler.on('page', ({ url }) => tell('page', url))
    crawler.on('skip', ({ url, reason }) => tell(`skip ${reason}`, url))
    crawler.on('fail', ({ url, error }) => tell(`fail ${error}`, url))
    crawler.on('retry', ({ url }) => tell('retry', url))
    crawler.on('blocked', ({ host, reason }) => tell(`blocked ${reason}`, host))
    const ignored = vi.fn()
    crawler.on('page', ignored)()
    await crawler.runToEnd(seed)
    expect(new Set(told)).toEqual(
      new Set([
        'page /',
        'skip robots /private',
        'fail http /gone',
        'retry /flaky',
        'page /flaky',
        'blocked HTTP 503, Retry-After 0s docs.example',
        'retry /busy',
        'page /busy',
      ]),
    )
    expect(ignored).not.toHaveBeenCalled()
    expect(web.log.some(({ path }) => path === '/private')).toBe(false)
  })

  it('stats are those of the run under way, then of the last one', async () => {
    const { reach, seed } = await bench(smallSite(20))
    const crawler = createCrawler(reach)
    expect(await crawler.stats()).toMatchObject({ saved: 0, discovered: 0, seconds: 0 })
    for await (const _page of crawler.run(seed)) {
      const { saved, end } = await crawler.stats()
      expect(saved).toBeGreaterThan(0)
      expect(end).toBeUndefined()
    }
    expect(await crawler.stats()).toMatchObject({ end: 'finished', saved: 20, queued: 0, failed: 0, hosts: 1 })
  })
})

describe('several runs', () => {
  it('one crawler does not run twice at once, and its run is not disturbed by the attempt', async () => {
    const { reach, seed } = await bench(smallSite(20))
    const crawler = createCrawler(reach)
    const first = crawler.run(seed)
    await first.next()
    const second = crawler.run(seed)
    await expect(second.next()).rejects.toThrow(expect.objectContaining({ code: 'usage' }))
    await second.return('stopped')
    expect(await collect(first)).toHaveLength(19)
    expect(crawler.end).toBe('finished')
  })

  it('one crawler runs twice in a row, each time from the start', async () => {
    const { reach, seed } = await bench()
    const crawler = createCrawler(reach)
    expect(await collect(crawler.run(seed))).toHaveLength(5)
    expect(await collect(crawler.run(seed))).toHaveLength(5)
  })

  it('two crawlers in one process do not know of each other', async () => {
    const { reach, seed } = await bench(smallSite(20))
    const [all, few] = [createCrawler(reach), createCrawler({ ...reach, maxPages: 3 })]
    const [everything, something] = await Promise.all([collect(all.run(seed)), collect(few.run(seed))])
    expect(everything).toHaveLength(20)
    expect(something).toHaveLength(3)
    expect([all.end, few.end]).toEqual(['finished', 'limit'])
  })

  it('an output folder is resumed: every page is recorded once, and the rest is handed out', async () => {
    const { reach, seed, asked } = await bench(smallSite(40))
    const out = join(temporaryFolder(), 'crawl')
    const options = { ...reach, out, concurrency: 1 }
    let read = 0
    for await (const page of createCrawler(options).run(seed)) {
      expect(page.markdownPath).toMatch(/^content\//)
      read += 1
      if (read === 5) break
    }
    const before = lines(out, 'pages.jsonl').length
    expect(before).toBeLessThan(40)
    expect(JSON.parse(readFileSync(join(out, 'stats.json'), 'utf8'))).toMatchObject({ end: 'stopped', saved: before })
    // The seeds are those of the folder.
    const rest = await collect(createCrawler(options).run())
    expect(rest).toHaveLength(40 - before)
    expect(new Set(lines(out, 'pages.jsonl').map(({ url }) => url)).size).toBe(40)
    expect(lines(out, 'pages.jsonl')).toHaveLength(40)
    expect(asked()).toBe(40)
    expect(existsSync(join(out, rest[0]?.markdownPath ?? 'nowhere'))).toBe(true)
    expect(JSON.parse(readFileSync(join(out, 'stats.json'), 'utf8'))).toMatchObject({ end: 'finished', saved: 40 })
  })

  it('an output folder with another crawl, and one that is in use, are refused', async () => {
    const { reach, seed } = await bench(smallSite(40))
    const out = join(temporaryFolder(), 'crawl')
    const reading = createCrawler({ ...reach, out }).run(seed)
    await reading.next()
    await expect(createCrawler({ ...reach, out }).runToEnd(seed)).rejects.toMatchObject({ code: 'busy' })
    await reading.return('stopped')
    const other = createCrawler({ ...reach, out, scope: 'domain' })
    await expect(other.runToEnd(seed)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('another scope'),
    })
    expect(other.end).toBeUndefined()
  })

  it('a store without output remembers what is done', async () => {
    const { reach, seed, asked } = await bench(smallSite(40))
    const crawler = createCrawler({ ...reach, store: join(temporaryFolder(), 'state'), concurrency: 1 })
    for await (const _page of crawler.run(seed)) break
    const before = asked()
    expect(await collect(crawler.run(seed))).toHaveLength(40 - before)
    expect(await collect(crawler.run(seed))).toEqual([])
    expect(asked()).toBe(40)
  })
})

describe('wrong use', () => {
  const usage = (message: RegExp): unknown =>
    expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) })

  it.each<[string, unknown, RegExp]>([
    ['a misspelt option', { maxPage: 3 }, /unknown option maxPage/],
    ['a bad value', { delay: 'soon' }, /delay/],
    ['no object', 'https://docs.example/', /must be an object/],
    ['null', null, /must be an object/],
    ['a store that is no path', { store: 7 }, /store/],
    ['a store that is no folder', { store: 'redis://docs.example' }, /store/],
    ['a store and an output folder', { store: 'a', out: 'b' }, /cannot be given together/],
    ['a crawl that ends and goes on', { once: true, recrawl: true }, /cannot be given together/],
    ['once that is neither true nor false', { once: 'yes' }, /once: true or false is expected/],
    ['a signal that is none', { signal: true }, /signal/],
    ['an onPage that is no function', { onPage: 'print' }, /onPage/],
  ])('%s is refused when the crawler is made', (_what, options, message) => {
    expect(() => createCrawler(options as CrawlerOptions)).toThrow(TiptoeError)
    expect(() => createCrawler(options as CrawlerOptions)).toThrow(usage(message))
  })

  it.each<[string, unknown, RegExp]>([
    ['no seeds', [], /no URL/],
    ['a seed that is no URL', ['ftp://docs.example/'], /not a URL/],
    ['a seed that is no text', [7], /not 7/],
    ['seeds that are no list', 7, /list of URLs/],
  ])('%s are refused when the run is made', (_what, seeds, message) => {
    const crawler = createCrawler()
    expect(() => crawler.run(seeds as string[])).toThrow(usage(message))
  })

  it('there is no listening to events that do not exist', () => {
    const crawler = createCrawler()
    expect(() => crawler.on('pages' as 'page', () => {})).toThrow(usage(/no event "pages"/))
    expect(() => crawler.on('page', 'print' as never)).toThrow(usage(/function/))
  })
})
