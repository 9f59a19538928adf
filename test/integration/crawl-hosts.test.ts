/** Many hosts at once, some of them dead, slow or odd: each keeps its own pace, and none waits for another. */
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../src/base/index.ts'
import { crawl } from '../support/crawl.ts'
import { endings, readOutput } from '../support/crawl-output.ts'
import {
  createLoopbackWeb,
  maxInFlight,
  robotsFirstAndOnce,
  smallestGapMs,
  type Answer,
  type HostBehaviour,
  type LoopbackWeb,
} from '../support/loopback-web.ts'
import { reach, runTiptoe, temporaryFolder, type Ending } from '../support/program.ts'

const DELAY_MS = 150
const PLAIN_HOSTS = 120
const PAGES_EACH = 4
const SLOW_HOSTS = 15
const CRAWL_DELAY_MS = 1_500

const page = (...links: readonly string[]): Answer => ({
  body: `<!doctype html><title>A page</title><p>Words.</p>${links.map((link) => `<a href="${link}">on</a>`).join('')}`,
})
const redirect = (location: string, status = 302): Answer => ({ status, headers: { location } })

/** A port of the loopback address on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a crawl of many hosts', () => {
  const plain = Array.from({ length: PLAIN_HOSTS }, (_, index) => `plain-${index}.test`)
  const slow = Array.from({ length: SLOW_HOSTS }, (_, index) => `slow-${index}.test`)
  const folder = temporaryFolder()
  let web: LoopbackWeb
  let deadPort: number
  let ending: Ending
  let ended: Map<string, string>

  beforeAll(async () => {
    let plainRequests = 0
    let openGate = (): void => {}
    const gate = new Promise<void>((resolve) => {
      openGate = resolve
    })
    const plainSite: HostBehaviour = ({ path }) => {
      plainRequests += 1
      if (plainRequests === PLAIN_HOSTS * (PAGES_EACH + 1)) openGate()
      if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /private/\n' }
      return path === '/' ? page('/1', '/2', '/3', '/private/x') : page('/', '/1', '/2', '/3')
    }
    // They answer nothing until every page of every plain host was asked for, so a wait for them would never end.
    const slowSite: HostBehaviour = async ({ path }) => {
      await gate
      return path === '/robots.txt' ? { status: 404 } : page()
    }
    web = await createLoopbackWeb({
      ...Object.fromEntries(plain.map((host) => [host, plainSite])),
      ...Object.fromEntries(slow.map((host) => [host, slowSite])),
      'broken.test': () => ({ destroy: true }),
      'patient.test': {
        '/robots.txt': { body: `User-agent: *\nCrawl-delay: ${CRAWL_DELAY_MS / 1_000}\n` },
        '/': page('/1', '/2'),
        '/1': page(),
        '/2': page(),
      },
      'sick.test': { '/robots.txt': { status: 500 }, '/': page('/1') },
      'bare.test': { '/': page('/1'), '/1': page() },
      'maze.test': {
        '/robots.txt': redirect('/r1'),
        ...Object.fromEntries(Array.from({ length: 6 }, (_, hop) => [`/r${hop + 1}`, redirect(`/r${hop + 2}`)])),
        '/r7': { body: 'User-agent: *\nDisallow: /\n' },
        '/': page('/1'),
        '/1': page(),
      },
      'short-maze.test': {
        '/robots.txt': redirect('/r1'),
        ...Object.fromEntries(Array.from({ length: 4 }, (_, hop) => [`/r${hop + 1}`, redirect(`/r${hop + 2}`)])),
        '/r5': { body: 'User-agent: *\nDisallow: /1\n' },
        '/': page('/1', '/2'),
        '/1': page(),
        '/2': page(),
      },
      'mover.test': {
        '/robots.txt': { status: 404 },
        '/': redirect('/new', 301),
        '/new': page('/loop-a', '/far', '/nowhere'),
        '/loop-a': redirect('/loop-b'),
        '/loop-b': redirect('/loop-a'),
        '/far': redirect('http://elsewhere.test/'),
        '/nowhere': { status: 302 },
      },
      'guest.test': ({ path, url }) =>
        path === '/robots.txt' ? redirect(url('hub.test', '/robots-of-guests.txt')) : page('/ok', '/private'),
      'hub.test': {
        '/robots.txt': { body: 'User-agent: *\nDisallow: /robots-of-guests.txt\n' },
        '/robots-of-guests.txt': { body: 'User-agent: *\nDisallow: /private\n' },
        '/': page('/1'),
        '/1': page(),
      },
      'stranded.test': ({ path, url }) =>
        path === '/robots.txt' ? redirect(url('broken.test', '/their-robots.txt')) : page(),
      'closed.test': { '/robots.txt': { body: 'User-agent: *\nDisallow: /\n' }, '/': page() },
    })
    deadPort = await closedPort()
    const odd = 'broken patient sick bare maze short-maze mover guest hub stranded closed'.split(' ')
    const seeds = [
      `http://dead.test:${deadPort}/`,
      ...slow.map((host) => web.url(host)),
      ...odd.map((name) => web.url(`${name}.test`)),
      ...plain.map((host) => web.url(host)),
    ]
    const words = ['-i', '-', '-o', folder.path, '--delay', `${DELAY_MS}ms`, '--no-sitemaps', ...reach(web)]
    ending = await runTiptoe([...words, '--resolve', `dead.test:${deadPort}:127.0.0.1`], {
      input: seeds.join('\n'),
      env: { TIPTOE_RETRY_DELAY: '100ms' },
    })
    ended = endings(readOutput(folder.path))
  }, 60_000)

  afterAll(async () => {
    await web.close()
    folder.remove()
  })

  const at = (host: string, path = '/'): string | undefined => ended.get(web.url(host, path))
  const asked = (host: string): string[] => web.log.filter((entry) => entry.host === host).map(({ path }) => path)

  it('ends as done: few of its URLs could not be had', () => {
    expect(ending).toMatchObject({ code: 0, signal: null, stdout: '' })
  })

  it('asks every host for robots.txt first and once, then each page once', () => {
    for (const host of [...plain, ...slow, 'patient.test', 'bare.test', 'mover.test', 'closed.test']) {
      expect(robotsFirstAndOnce(web.log, host), host).toBe(true)
      expect(new Set(asked(host)).size, host).toBe(asked(host).length)
    }
    for (const host of plain) expect(asked(host), host).toHaveLength(PAGES_EACH + 1)
  })

  it('never asks a host before its delay has passed since its answer, nor twice at a time', () => {
    for (const host of new Set(web.log.map((entry) => entry.host))) {
      expect(smallestGapMs(web.log, host), host).toBeGreaterThanOrEqual(DELAY_MS)
      expect(maxInFlight(web.log, host), host).toBe(1)
    }
  })

  it('keeps a Crawl-delay from the moment at which it was read', () => {
    expect(asked('patient.test')).toEqual(['/robots.txt', '/', '/1', '/2'])
    expect(smallestGapMs(web.log, 'patient.test')).toBeGreaterThanOrEqual(CRAWL_DELAY_MS)
  })

  it('is done with the plain hosts before the slow ones answer, and before the patient one is', () => {
    const lastPlain = web.log.findLastIndex((entry) => entry.host.startsWith('plain-'))
    const firstSlowAnswer = Math.min(
      ...web.log.flatMap((entry) => (entry.host.startsWith('slow-') ? [entry.answeredAt as number] : [])),
    )
    expect(web.log[lastPlain]?.arrivedAt).toBeLessThanOrEqual(firstSlowAnswer)
    expect(lastPlain).toBeLessThan(web.log.findLastIndex((entry) => entry.host === 'patient.test'))
    for (const host of slow) expect(at(host), host).toBe('page')
  })

  it('records every URL once, with its reason', () => {
    for (const host of plain) {
      for (const path of ['/', '/1', '/2', '/3']) expect(at(host, path), host + path).toBe('page')
      expect(at(host, '/private/x')).toBe('robots')
    }
    expect(ended.get(`http://dead.test:${deadPort}/`)).toBe('robots-unreachable')
    expect(at('broken.test')).toBe('robots-unreachable')
    expect(at('sick.test')).toBe('robots-unreachable')
    expect(at('stranded.test')).toBe('robots-unreachable')
    expect(at('closed.test')).toBe('robots')
    expect([at('bare.test'), at('bare.test', '/1')]).toEqual(['page', 'page'])
    expect([at('hub.test'), at('hub.test', '/1')]).toEqual(['page', 'page'])
    const urls = PLAIN_HOSTS * (PAGES_EACH + 1) + SLOW_HOSTS + 5 + 3 + 2 + 2 + 2 + 3 + 6 + 3
    expect(ended.size).toBe(urls)
  })

  it('never asks a host for a page when its robots.txt could not be had or forbids it', () => {
    expect(new Set(asked('sick.test'))).toEqual(new Set(['/robots.txt']))
    expect(new Set(asked('broken.test'))).toEqual(new Set(['/robots.txt', '/their-robots.txt']))
    expect(asked('closed.test')).toEqual(['/robots.txt'])
  })

  it('follows five redirects of a robots.txt, and after the sixth takes it for missing', () => {
    expect(asked('short-maze.test').slice(0, 6)).toEqual(['/robots.txt', '/r1', '/r2', '/r3', '/r4', '/r5'])
    expect([at('short-maze.test', '/1'), at('short-maze.test', '/2')]).toEqual(['robots', 'page'])
    expect(asked('maze.test')).toEqual(['/robots.txt', '/r1', '/r2', '/r3', '/r4', '/r5', '/', '/1'])
    expect([at('maze.test'), at('maze.test', '/1')]).toEqual(['page', 'page'])
  })

  it('follows a robots.txt to another host, at that host’s pace, and applies it to the first', () => {
    expect(asked('hub.test')).toContain('/robots-of-guests.txt')
    expect(asked('guest.test')).toEqual(['/robots.txt', '/', '/ok'])
    expect(at('guest.test', '/private')).toBe('robots')
  })

  it('follows redirects of pages as URLs of their own, ends loops, and stays in scope', () => {
    const paths = ['/', '/new', '/loop-a', '/loop-b', '/far', '/nowhere']
    expect(paths.map((path) => at('mover.test', path))).toEqual([
      'redirect',
      'page',
      'redirect',
      'redirect',
      'redirect-scope',
      'redirect',
    ])
    expect(web.log.some((entry) => entry.host === 'elsewhere.test')).toBe(false)
  })
})

describe('the pace of one host', () => {
  it('is shared by its ports, while each has a robots.txt of its own', async () => {
    const clock = createSystemClock()
    const site: HostBehaviour = { '/robots.txt': { status: 404 }, '/': page('/1'), '/1': page() }
    const webs = [
      await createLoopbackWeb({ 'ports.test': site }, { clock }),
      await createLoopbackWeb({ 'ports.test': site }, { clock }),
    ] as const
    const words = [...webs.map((one) => one.url('ports.test')), '--delay', '60ms', '--no-sitemaps']
    const { pages } = await crawl(webs, words)
    expect(pages).toHaveLength(4)
    for (const one of webs) expect(robotsFirstAndOnce(one.log, 'ports.test')).toBe(true)
    const log = webs.flatMap((one) => one.log).sort((a, b) => a.arrivedAt - b.arrivedAt)
    expect(log).toHaveLength(6)
    expect(smallestGapMs(log, 'ports.test')).toBeGreaterThanOrEqual(60)
    await Promise.all(webs.map((one) => one.close()))
  })

  it('does not depend on how long an answer takes to arrive in full', async () => {
    const web = await createLoopbackWeb({
      'long.test': ({ path }) =>
        path === '/'
          ? page('/1', '/2', '/3')
          : { body: 'x'.repeat(3_000_000), headers: { 'content-type': 'text/plain' } },
    })
    const { pages } = await crawl(web, [
      web.url('long.test'),
      '--delay',
      '5ms',
      '--no-sitemaps',
      '--max-body-size',
      '9MB',
    ])
    expect(pages).toHaveLength(4)
    expect(smallestGapMs(web.log, 'long.test')).toBeGreaterThanOrEqual(5)
    expect(maxInFlight(web.log, 'long.test')).toBe(1)
    await web.close()
  })

  it('has no more requests in flight than permitted', async () => {
    const web = await createLoopbackWeb({
      'wide.test': ({ path }) => {
        if (path === '/robots.txt') return { status: 404 }
        return path === '/' ? page(...'123456789'.split('').map((name) => `/${name}`)) : { ...page(), delayMs: 60 }
      },
    })
    const words = [web.url('wide.test'), '--delay', '5ms', '--per-host', '3', '--no-sitemaps']
    const { pages } = await crawl(web, words)
    expect(pages).toHaveLength(10)
    expect(maxInFlight(web.log, 'wide.test')).toBe(3)
    expect(robotsFirstAndOnce(web.log, 'wide.test')).toBe(true)
    await web.close()
  })
})
