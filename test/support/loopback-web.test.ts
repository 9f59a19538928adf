import { Agent, request, type RequestOptions } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createVirtualClock } from '../../src/base/index.ts'
import {
  createLoopbackWeb,
  generatedSite,
  maxInFlight,
  robotsFirstAndOnce,
  smallestGapMs,
  type Answer,
  type HostBehaviour,
  type LogEntry,
  type LoopbackWeb,
  type LoopbackWebOptions,
  type WebRequest,
} from './loopback-web.ts'

const open: LoopbackWeb[] = []
const agent = new Agent({ keepAlive: true })

async function web(
  hosts: Readonly<Record<string, HostBehaviour>>,
  options: LoopbackWebOptions = {},
): Promise<LoopbackWeb> {
  const made = await createLoopbackWeb(hosts, options)
  open.push(made)
  return made
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((made) => made.close()))
})

interface Got {
  status: number
  headers: Record<string, unknown>
  body: string
}

function get(from: LoopbackWeb, host: string, path: string, options: RequestOptions = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = { host: `${host}:${from.port}`, 'user-agent': 'Visitor/1' }
    const sent = request({ agent, host: '127.0.0.1', port: from.port, path, headers, ...options }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('a loopback web', () => {
  it('tells its hosts apart by the Host header, whatever its case', async () => {
    const made = await web({ 'a.test': { '/': { body: 'A' } }, 'b.test': { '/': { body: 'B' } } })
    expect((await get(made, 'a.test', '/')).body).toBe('A')
    expect((await get(made, 'B.TEST', '/')).body).toBe('B')
    expect((await get(made, 'c.test', '/')).status).toBe(421)
    expect(made.log.map((entry) => entry.host)).toEqual(['a.test', 'b.test', 'c.test'])
  })

  it('answers from a table by path and query, then by path, then with 404', async () => {
    const made = await web({ 'a.test': { '/x': { body: 'x' }, '/x?y=1': { body: 'y', status: 201 } } })
    expect(await get(made, 'a.test', '/x?y=1')).toMatchObject({ status: 201, body: 'y' })
    expect(await get(made, 'a.test', '/x?y=2')).toMatchObject({ status: 200, body: 'x' })
    expect((await get(made, 'a.test', '/toString')).status).toBe(404)
  })

  it('tells a function what was asked and how often', async () => {
    const seen: Partial<WebRequest>[] = []
    const made = await web({
      'a.test': async ({ method, host, path, query, n, url }) => {
        seen.push({ method, host, path, query, n })
        return { status: n === 1 ? 500 : 200, headers: { location: url('b.test', '/there') } }
      },
    })
    const first = await get(made, 'a.test', '/p?q=1')
    const second = await get(made, 'a.test', '/p?q=1')
    await get(made, 'a.test', '/p')
    expect([first.status, second.status]).toEqual([500, 200])
    expect(first.headers['location']).toBe(`http://b.test:${made.port}/there`)
    expect(seen).toEqual([
      { method: 'GET', host: 'a.test', path: '/p', query: '?q=1', n: 1 },
      { method: 'GET', host: 'a.test', path: '/p', query: '?q=1', n: 2 },
      { method: 'GET', host: 'a.test', path: '/p', query: '', n: 1 },
    ])
  })

  it('answers 500 with the reason when a behaviour throws', async () => {
    const made = await web({
      'a.test': () => {
        throw new Error('early')
      },
      'b.test': () => Promise.reject(new Error('late')),
    })
    expect(await get(made, 'a.test', '/')).toMatchObject({ status: 500, body: 'Error: early' })
    expect(await get(made, 'b.test', '/')).toMatchObject({ status: 500, body: 'Error: late' })
  })

  it('sends a body as it is, with its length, and guesses only a missing content type', async () => {
    const table: Record<string, Answer> = {
      '/': { body: Buffer.from('hé') },
      '/robots.txt': { body: 'x' },
      '/map.xml': { body: '<x/>' },
      '/own': { body: 'x', headers: { 'content-type': 'a/b', 'x-two': ['1', '2'] } },
      '/empty': { status: 204 },
    }
    const made = await web({ 'a.test': table })
    expect((await get(made, 'a.test', '/')).headers).toMatchObject({
      'content-length': '3',
      'content-type': 'text/html; charset=utf-8',
    })
    expect((await get(made, 'a.test', '/robots.txt')).headers['content-type']).toBe('text/plain; charset=utf-8')
    expect((await get(made, 'a.test', '/map.xml')).headers['content-type']).toBe('application/xml; charset=utf-8')
    expect((await get(made, 'a.test', '/own')).headers).toMatchObject({ 'content-type': 'a/b', 'x-two': '1, 2' })
    expect((await get(made, 'a.test', '/empty')).headers['content-type']).toBeUndefined()
  })

  it('logs when a request arrived, was answered and ended, and by whom it was sent', async () => {
    const clock = createVirtualClock(1000)
    const made = await web({ 'a.test': { '/': { body: 'late', delayMs: 1500 } } }, { clock })
    const answer = get(made, 'a.test', '/?q')
    await until(() => clock.nextTimer() !== undefined)
    expect(made.log[0]).toMatchObject({ arrivedAt: 1000, answeredAt: null, endedAt: null, status: null })
    await clock.advance(1500)
    expect((await answer).body).toBe('late')
    await until(() => made.log[0]?.endedAt !== null)
    expect(made.log).toEqual([
      {
        host: 'a.test',
        method: 'GET',
        path: '/',
        query: '?q',
        userAgent: 'Visitor/1',
        arrivedAt: 1000,
        answeredAt: 2500,
        endedAt: 2500,
        status: 200,
      },
    ])
  })

  it('breaks a connection when told to', async () => {
    const made = await web({ 'a.test': { '/': { destroy: true } } })
    await expect(get(made, 'a.test', '/')).rejects.toThrow(/socket hang up|ECONNRESET/)
    await until(() => made.log[0]?.endedAt !== null)
    expect(made.log[0]?.answeredAt).not.toBeNull()
    expect(made.log[0]?.status).toBeNull()
  })

  it('logs a client that leaves a hanging or a slow request, and has no answer for it', async () => {
    const clock = createVirtualClock()
    const made = await web({ 'a.test': { '/hang': { hang: true }, '/slow': { delayMs: 9000, body: 'x' } } }, { clock })
    for (const path of ['/hang', '/slow']) {
      const leave = new AbortController()
      const left = get(made, 'a.test', path, { signal: leave.signal })
      await until(() => made.log.at(-1)?.path === path)
      leave.abort()
      await expect(left).rejects.toThrow(/abort/)
      await until(() => made.log.at(-1)?.endedAt !== null)
      expect(made.log.at(-1)?.answeredAt).toBeNull()
    }
    expect(clock.nextTimer()).toBeUndefined()
  })

  it('refuses what its log has no room for', async () => {
    const made = await web({ 'a.test': { '/': { body: 'x' } } }, { logLimit: 1 })
    expect((await get(made, 'a.test', '/')).status).toBe(200)
    expect((await get(made, 'a.test', '/')).status).toBe(507)
    expect(made.log).toHaveLength(1)
  })

  it('names its addresses as URLs and as resolve flags', async () => {
    const made = await web({ 'A.test': {}, 'b.test': {} })
    expect(made.url('a.test')).toBe(`http://a.test:${made.port}/`)
    expect(made.url('a.test', '/x?y')).toBe(`http://a.test:${made.port}/x?y`)
    expect(made.resolveFlags()).toEqual([`a.test:${made.port}:127.0.0.1`, `b.test:${made.port}:127.0.0.1`])
  })

  it('closes although requests hang and connections are kept', async () => {
    const made = await web({ 'a.test': { '/': { hang: true }, '/ok': { body: 'x' } } })
    await get(made, 'a.test', '/ok')
    const hanging = get(made, 'a.test', '/')
    hanging.catch(() => {})
    await until(() => made.log.length === 2)
    await made.close()
    await expect(hanging).rejects.toThrow(/socket hang up|ECONNRESET/)
  })
})

function entry(
  path: string,
  arrivedAt: number,
  answeredAt: number | null,
  endedAt: number | null = answeredAt,
): LogEntry {
  return { host: 'a', method: 'GET', path, query: '', userAgent: null, status: 200, arrivedAt, answeredAt, endedAt }
}
const foreign = { ...entry('/', 5, 6), host: 'b' }

describe('the log of a web', () => {
  it('gives the shortest time from an answer to the next arrival at the same host', () => {
    expect(smallestGapMs([entry('/', 0, 1), foreign, entry('/', 11, 12), entry('/', 20, 21)], 'a')).toBe(8)
    expect(smallestGapMs([entry('/', 0, 1)], 'a')).toBe(Infinity)
  })

  it('gives a negative time when requests overlap', () => {
    expect(smallestGapMs([entry('/', 0, 30), entry('/', 10, 12), entry('/', 40, 50)], 'a')).toBe(-20)
  })

  it('counts a request that was never answered from its arrival', () => {
    expect(smallestGapMs([entry('/', 0, null, 9), entry('/', 10, 12)], 'a')).toBe(10)
  })

  it('tells whether robots.txt came first and only once', () => {
    const robots = entry('/robots.txt', 0, 1)
    expect(robotsFirstAndOnce([foreign, robots, entry('/', 2, 3)], 'a')).toBe(true)
    expect(robotsFirstAndOnce([entry('/', 2, 3), robots], 'a')).toBe(false)
    expect(robotsFirstAndOnce([robots, entry('/', 2, 3), robots], 'a')).toBe(false)
    expect(robotsFirstAndOnce([entry('/', 2, 3)], 'a')).toBe(false)
  })

  it('counts what is in flight until the last byte', () => {
    expect(maxInFlight([], 'a')).toBe(0)
    expect(maxInFlight([entry('/', 0, 1), entry('/', 1, 2)], 'a')).toBe(1)
    expect(maxInFlight([entry('/', 0, 1, 9), entry('/', 2, 3, 4), foreign], 'a')).toBe(2)
    expect(maxInFlight([entry('/', 0, null), entry('/', 5, null), entry('/', 6, 7)], 'a')).toBe(3)
  })
})

describe('a generated site', () => {
  const ask = (site: HostBehaviour, path: string): { status: number; body: string } => {
    if (typeof site !== 'function') throw new Error('a generated site is a function')
    const answer = site({ method: 'GET', host: 'x', path, query: '', headers: {}, n: 1, url: () => '' }) as Answer
    return { status: answer.status ?? 200, body: String(answer.body) }
  }
  const linksIn = (body: string): string[] => [...body.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1] ?? '')

  it.each([
    { pages: 1, linksPerPage: 5 },
    { pages: 2, linksPerPage: 1 },
    { pages: 500, linksPerPage: 1 },
    { pages: 500, linksPerPage: 2 },
    { pages: 1234, linksPerPage: 20 },
    { pages: 300, linksPerPage: 110 },
  ])('reaches all of $pages pages from / with $linksPerPage links on each', ({ pages, linksPerPage }) => {
    const site = generatedSite({ pages, linksPerPage, bytesPerPage: 0, seed: 7 })
    const known = new Set(['/'])
    for (const path of known) {
      const { status, body } = ask(site, path)
      expect(status).toBe(200)
      const links = linksIn(body)
      expect(new Set(links).size).toBe(Math.min(linksPerPage, pages))
      expect(links).toHaveLength(Math.min(linksPerPage, pages))
      for (const link of links) known.add(link)
    }
    expect(known.size).toBe(pages)
  })

  it('is the same for the same seed, another for another, and every page differs', () => {
    const options = { pages: 1_000_000, linksPerPage: 30 }
    const last = '/docs/9999/page-999999.html'
    const once = ask(generatedSite({ ...options, seed: 1 }), last).body
    expect(ask(generatedSite({ ...options, seed: 1 }), last).body).toBe(once)
    expect(ask(generatedSite({ ...options, seed: -2 }), last).body).not.toBe(once)
    expect(ask(generatedSite({ ...options, seed: 1 }), '/docs/9999/page-999998.html').body).not.toBe(once)
  })

  it('is about as long as asked and holds what a page holds', () => {
    const { body } = ask(generatedSite({ pages: 1000, linksPerPage: 30, bytesPerPage: 9000, seed: 1 }), '/')
    expect(body.length).toBeGreaterThanOrEqual(9000)
    expect(body.length).toBeLessThan(9200)
    for (const part of ['<title>', '<meta name="description"', '<nav>', '<main>', '<pre><code', '<table>']) {
      expect(body).toContain(part)
    }
  })

  it('knows no page beyond its last, and none under another name', () => {
    const site = generatedSite({ pages: 10, linksPerPage: 3, seed: 1 })
    for (const path of [
      '/docs/0/page-10.html',
      '/docs/1/page-1.html',
      '/docs/0/page-01.html',
      '/x',
      '/docs/0/page-.html',
    ]) {
      expect(ask(site, path).status).toBe(404)
    }
    expect(ask(site, '/robots.txt').body).toContain('User-agent: *')
  })
})
