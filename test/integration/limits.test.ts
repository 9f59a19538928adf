/**
 * Every limit of the table is met by a server that goes beyond it, through the whole crawler. What is cut is recorded as
 * cut by that limit; what is refused is not among the pages. A limit that is added to the table needs a case here.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../src/base/index.ts'
import { LIMITS, type LimitName } from '../../src/model/index.ts'
import { createReader } from '../../src/reading/index.ts'
import { resolveSettings } from '../../src/config/index.ts'
import { crawl, type CrawlOutcome } from '../support/crawl.ts'
import type { Answer, HostBehaviour } from '../support/loopback-web.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const { webOf } = sideBySide()
const QUICK = ['--delay', '0s', '--attempts', '1']
const HTML = { 'content-type': 'text/html' }

/** Crawls a host that answers so; `words` come besides the usual ones. */
async function crawlOf(host: HostBehaviour, words: readonly string[] = []): Promise<CrawlOutcome> {
  const web = await webOf({ 'a.test': host })
  return crawl(web, [web.url('a.test'), ...QUICK, ...words])
}

const servers: { close(): void }[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

/** Crawls a host whose every answer is these bytes, written by hand; robots.txt is a 404. */
async function crawlRaw(answer: (socket: Socket) => void, words: readonly string[] = []): Promise<CrawlOutcome> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (request) => {
      if (String(request).startsWith('GET /robots.txt')) socket.write('HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n')
      else answer(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  const { port } = server.address() as AddressInfo
  return crawl([], [`http://127.0.0.1:${port}/`, '--allow-address', '127.0.0.1', ...QUICK, ...words])
}

const cutBy =
  (name: LimitName) =>
  ({ pages }: CrawlOutcome): void =>
    expect(pages[0]).toMatchObject({ truncated: true, limits: expect.arrayContaining([name]) as unknown })
const failedWith =
  (words: RegExp) =>
  ({ pages, failed }: CrawlOutcome): void => {
    expect(pages).toEqual([])
    expect(failed.map(({ detail }) => detail)).toEqual([expect.stringMatching(words)])
  }
const urlsOf = ({ pages }: CrawlOutcome): string[] => pages.map(({ url }) => new URL(url).pathname)

const many = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join('')
const zeros = (bytes: number): Buffer => Buffer.alloc(bytes, '<p>lorem ipsum</p>')

/** Writes this for as long as it is taken. */
function pour(socket: Socket, bytes: Uint8Array): void {
  while (!socket.destroyed && socket.write(bytes));
  if (!socket.destroyed) socket.once('drain', () => pour(socket, bytes))
}

/** Crawls a page that is read by a module which does what its path says. */
async function crawlTricky(
  path: string,
  limits: { readonly deadlineMs?: number; readonly memoryMb?: number },
): Promise<CrawlOutcome> {
  const module = new URL('../../src/reading/test-support/reading-tricks.ts', import.meta.url)
  const reader = createReader({ threads: 1, module, ...limits }, { clock: createSystemClock() })
  const web = await webOf({ 'a.test': { [path]: page() } })
  return crawl(web, [web.url('a.test', path), ...QUICK, '--no-sitemaps'], { reader })
}

const sitemapOf = (locs: readonly string[], of: 'url' | 'sitemap' = 'url'): string => {
  const root = of === 'url' ? 'urlset' : 'sitemapindex'
  return `<${root}>${locs.map((loc) => `<${of}><loc>${loc}</loc></${of}>`).join('')}</${root}>`
}
const robotsNaming = (...sitemaps: readonly string[]): Answer => ({
  body: sitemaps.map((path) => `Sitemap: ${path}\n`).join(''),
})

const CASES: Record<LimitName, () => Promise<void>> = {
  'body-size': async () =>
    cutBy('body-size')(await crawlOf({ '/': { body: zeros(40_000), headers: HTML } }, ['--max-body-size', '20KB'])),
  'wire-size': async () => {
    // Compressed, and nothing comes of it: blocks of no length, one after the other.
    const nothing = Buffer.alloc(5 * 20_000, Buffer.from([0, 0, 0, 0xff, 0xff]))
    const endless = (socket: Socket): void => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\n\r\n')
      socket.write(gzipSync('').subarray(0, 10))
      pour(socket, nothing)
    }
    const { pages, failed } = await crawlRaw(endless)
    expect(pages).toEqual([])
    expect(failed).toMatchObject([{ error: 'too-large' }])
  },
  ratio: async () => {
    const body = brotliCompressSync(Buffer.alloc(8_000_000, 'a'))
    cutBy('ratio')(await crawlOf({ '/': { body, headers: { ...HTML, 'content-encoding': 'br' } } }))
  },
  codings: async () =>
    failedWith(/coding/)(
      await crawlOf({ '/': { body: 'x', headers: { ...HTML, 'content-encoding': 'gzip, '.repeat(6) + 'gzip' } } }),
    ),
  windows: async () => {
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
    const twice = brotliCompressSync(brotliCompressSync('<p>x</p>', { params }), { params })
    failedWith(/takes too much memory/)(
      await crawlOf({ '/': { body: twice, headers: { ...HTML, 'content-encoding': 'br, br' } } }),
    )
  },
  'header-size': async () =>
    failedWith(/header/)(await crawlOf({ '/': { body: 'x', headers: { ...HTML, 'x-long': 'x'.repeat(70_000) } } })),
  'header-count': async () => {
    const fields = many(300, (i) => `x${i}: 1\r\n`)
    failedWith(/header/)(
      await crawlRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\n${fields}content-length: 0\r\n\r\n`)),
    )
  },
  'interim-answers': async () =>
    failedWith(/interim|1xx/i)(await crawlRaw((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40)))),
  redirects: async () => {
    const next = (path: string): string => `/${Number(path.slice(1) || 0) + 1}`
    const { pages, skipped } = await crawlOf(
      ({ path }) => (path.endsWith('t') ? { status: 404 } : { status: 302, headers: { location: next(path) } }),
      ['--no-sitemaps'],
    )
    expect(pages).toEqual([])
    expect(skipped).toHaveLength(LIMITS.redirects.value + 1)
    expect(skipped.at(-1)).toMatchObject({ reason: 'redirect-limit' })
  },
  'total-time': async () => {
    const drip = (socket: Socket): void => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'.repeat(100)), 20)
      socket.on('close', () => clearInterval(timer))
    }
    failedWith(/not done after 400 ms/)(await crawlRaw(drip, ['--timeout', '400ms', '--no-sitemaps']))
  },
  'read-time': async () =>
    failedWith(/after 200 ms/)(
      await crawlOf({ '/robots.txt': { status: 404 }, '/': { hang: true } }, [
        '--read-timeout',
        '200ms',
        '--no-sitemaps',
      ]),
    ),
  'min-rate': async () => {
    // Slow by a clock that is moved by hand in src/fetch/limits.test.ts; here, that what is asked for reaches there.
    const { settings } = resolveSettings({ version: '0', environment: { TIPTOE_MIN_RATE: '5KB' } })
    expect(settings.minRateBytes).toBe(5_000)
    expect(resolveSettings({ version: '0' }).settings.minRateBytes).toBe(LIMITS['min-rate'].value)
  },
  links: async () => {
    const body = many(30_000, (i) => `<a href="/x?${i}">`)
    const outcome = await crawlOf({ '/': { body, headers: HTML } }, ['--max-depth', '0', '--no-sitemaps'])
    cutBy('links')(outcome)
    expect(outcome.pages[0]?.links).toBe(LIMITS.links.value)
  },
  'links-size': async () => {
    const folder = `/${'x'.repeat(4_000)}/`
    const body = `<base href="${folder}">${many(2_000, (i) => `<a href=${1_000 + i}>`)}`
    const outcome = await crawlOf({ '/': { body, headers: HTML } }, ['--max-depth', '0', '--no-sitemaps'])
    cutBy('links-size')(outcome)
    const length = `${new URL(outcome.pages[0]?.url ?? '').origin}${folder}1000`.length
    expect(outcome.pages[0]?.links).toBe(Math.floor(LIMITS['links-size'].value / length))
  },
  'url-length': async () => {
    const outcome = await crawlOf({ '/': page(`/${'x'.repeat(9_000)}`, '/short'), '/short': page() })
    expect(urlsOf(outcome)).toEqual(['/', '/short'])
    cutBy('url-length')(outcome)
  },
  nesting: async () =>
    cutBy('nesting')(await crawlOf({ '/': { body: `${'<div>'.repeat(100_000)}deep`, headers: HTML } })),
  tags: async () => cutBy('tags')(await crawlOf({ '/': { body: '<p>a'.repeat(1_200_000), headers: HTML } })),
  'markdown-size': async () => {
    const body = `<p>${'lorem ipsum '.repeat(800_000)}</p>`
    cutBy('markdown-size')(await crawlOf({ '/': { body, headers: HTML } }))
  },
  'read-page-time': async () => failedWith(/longer than 0.5 s/)(await crawlTricky('/loop', { deadlineMs: 500 })),
  'read-page-memory': async () => failedWith(/64 MB/)(await crawlTricky('/heap', { memoryMb: 64 })),
  'feed-entries': async () => {
    const items = many(LIMITS['feed-entries'].value + 10, (i) => `<item><link>/p${i}</link></item>`)
    const body = `<rss version="2.0"><channel>${items}</channel></rss>`
    const host: HostBehaviour = { '/': { body, headers: { 'content-type': 'application/rss+xml' } } }
    cutBy('feed-entries')(await crawlOf(host, ['--max-depth', '0', '--no-sitemaps']))
  },
  'sitemap-entries': async () => {
    const most = LIMITS['sitemap-entries'].value
    const locs = Array.from({ length: most + 10 }, (_, i) => `/p${i}`)
    const host: HostBehaviour = {
      '/robots.txt': robotsNaming('/s.xml'),
      '/s.xml': { body: sitemapOf(locs) },
      '/': page(),
    }
    const { stats } = await crawlOf(host, ['--max-depth', '0'])
    expect(stats.discovered).toBe(most + 1)
  },
  'sitemap-size': async () => {
    const body = gzipSync(
      `${sitemapOf(['/first']).replace('</urlset>', '')}${' '.repeat(52 * 1024 ** 2)}${sitemapOf(['/late']).replace('<urlset>', '')}`,
    )
    const host: HostBehaviour = {
      '/robots.txt': robotsNaming('/s.xml.gz'),
      '/s.xml.gz': { body, headers: { 'content-type': 'application/gzip' } },
      '/': page(),
      '/first': page(),
      '/late': page(),
    }
    expect(urlsOf(await crawlOf(host)).toSorted()).toEqual(['/', '/first'])
  },
  'sitemap-nesting': async () => {
    const host: HostBehaviour = ({ path }) => {
      if (path === '/robots.txt') return robotsNaming('/s0.xml')
      const level = /^\/s(\d+)\.xml$/.exec(path)?.[1]
      if (level === undefined) return page()
      return { body: sitemapOf([`/s${Number(level) + 1}.xml`], 'sitemap') }
    }
    const web = await webOf({ 'a.test': host })
    await crawl(web, [web.url('a.test'), ...QUICK])
    const asked = web.log.filter(({ path }) => /^\/s\d/.test(path))
    expect(asked).toHaveLength(LIMITS['sitemap-nesting'].value + 1)
  },
  'robots-size': async () => {
    const robots = `User-agent: *\n${'# x\n'.repeat(150_000)}Disallow: /\n`
    expect(urlsOf(await crawlOf({ '/robots.txt': { body: robots }, '/': page() }))).toEqual(['/'])
  },
  'robots-redirects': async () => {
    const host: HostBehaviour = ({ path }) => {
      if (path === '/') return page()
      const step = Number(/^\/r(\d+)$/.exec(path)?.[1] ?? 0)
      return { status: 301, headers: { location: `/r${step + 1}` } }
    }
    const web = await webOf({ 'a.test': host })
    await crawl(web, [web.url('a.test'), ...QUICK, '--no-sitemaps'])
    expect(web.log.filter(({ path }) => path !== '/')).toHaveLength(LIMITS['robots-redirects'].value + 1)
  },
  'robots-sitemaps': async () => {
    const named = Array.from({ length: 250 }, (_, i) => `/s${i}.xml`)
    const web = await webOf({ 'a.test': { '/robots.txt': robotsNaming(...named), '/': page() } })
    await crawl(web, [web.url('a.test'), ...QUICK])
    const asked = web.log.filter(({ path }) => /^\/s\d/.test(path))
    expect(asked).toHaveLength(LIMITS['robots-sitemaps'].value)
  },
}

describe.concurrent('a server that goes beyond a limit', () => {
  it.each(Object.entries(CASES))('meets %s', { timeout: 40_000 }, (_name, meet) => meet())
})
