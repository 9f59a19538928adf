import { createServer, type AddressInfo, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRng, createSystemClock, createVirtualClock, type Clock } from '../../base/index.ts'
import { settingsFromLibrary } from '../../config/index.ts'
import type { Fetcher, FetchOutcome } from '../../fetch/index.ts'
import type { Lease } from '../../frontier/index.ts'
import {
  UNKNOWN_HEALTH,
  type HostKey,
  type HostRecord,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type Task,
} from '../../model/index.ts'
import { createHostRegistry, type HostRegistry } from '../../politeness/index.ts'
import { hostKey } from '../../url/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { createFetcherOf } from '../fetcher.ts'
import { runRobotsTask } from './robots-task.ts'

/** What a server sends, byte for byte, and how it goes on from there. */
interface Script {
  readonly bytes: string | Buffer
  readonly ends: 'end' | 'reset' | 'hang'
}

const RULES = 'User-agent: *\nDisallow: /private\n'
const CUT = 512_000

const head = (status: number, headers: Readonly<Record<string, string | number>>): string =>
  [`HTTP/1.1 ${status} X`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')

const answer = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Script => {
  const bytes = Buffer.from(body)
  const bodiless = status === 204 || status === 304
  const fields = { connection: 'close', ...(bodiless ? {} : { 'content-length': bytes.length }), ...headers }
  return { bytes: Buffer.concat([Buffer.from(head(status, fields)), bytes]), ends: 'end' }
}
const moved = (status: number, location: string): Script => answer(status, '', { location })

interface Case {
  readonly what: string
  /** By host and path; the case's own host is `{n}.test`. */
  readonly script: Script | ((host: string, path: string) => Script)
  readonly expected: 'rules' | 'allowed' | 'forbidden' | 'address'
  /** What becomes of the host that answered. */
  readonly host?: 'answered' | 'paused' | 'circuit'
}

const filler = (bytes: number): string => '#'.repeat(bytes - 1) + '\n'

const CASES: readonly Case[] = [
  { what: '200 with rules', script: answer(200, RULES), expected: 'rules' },
  { what: '200 and nothing in it', script: answer(200), expected: 'allowed' },
  { what: '200 and blanks', script: answer(200, ' \r\n\t\r\n'), expected: 'allowed' },
  {
    what: '200 with rules as text/html',
    script: answer(200, RULES, { 'content-type': 'text/html' }),
    expected: 'rules',
  },
  {
    what: '200 with an HTML page',
    script: answer(200, '<!doctype html>\n<title>Oops</title>\nDisallow: /\n<p>Disallow: /</p>\n'),
    expected: 'allowed',
  },
  { what: '200 with rules in an HTML page', script: answer(200, `<html><pre>\n${RULES}</pre>`), expected: 'rules' },
  {
    what: '200 with bytes at random',
    script: answer(200, Buffer.from([0, 255, 7, 10, 254, 58, 0])),
    expected: 'allowed',
  },
  {
    what: '200, gzip-coded',
    script: answer(200, gzipSync(RULES), { 'content-encoding': 'gzip' }),
    expected: 'rules',
  },
  { what: '200 with a byte order mark', script: answer(200, `\ufeff${RULES}`), expected: 'rules' },
  {
    what: '200 in UTF-16',
    script: answer(200, Buffer.from(`\ufeff${RULES}`, 'utf16le')),
    expected: 'rules',
  },
  {
    what: '200 with rules beside octets that are no UTF-8',
    script: answer(200, Buffer.from(`# caf\u00e9\n${RULES}`, 'latin1')),
    expected: 'rules',
  },
  {
    what: '200 with CR alone at the end of lines',
    script: answer(200, RULES.replaceAll('\n', '\r')),
    expected: 'rules',
  },
  { what: '200 with rules and 600 KB behind them', script: answer(200, RULES + filler(600_000)), expected: 'rules' },
  {
    what: '200 with a rule beyond 500 KiB',
    script: answer(200, `User-agent: *\n${filler(CUT)}Disallow: /\n`),
    expected: 'allowed',
  },
  {
    what: '200 with a rule that is cut in two at 500 KiB',
    script: answer(200, `${RULES}${filler(CUT - RULES.length - 11)}Disallow: /only/this`),
    expected: 'rules',
  },
  { what: '203 with rules', script: answer(203, RULES), expected: 'rules' },
  { what: '204', script: answer(204), expected: 'allowed' },
  { what: '206 with all of it', script: answer(206, RULES), expected: 'rules' },
  {
    what: '206 with a part of it',
    script: answer(206, RULES, { 'content-range': 'bytes 0-33/9000' }),
    expected: 'forbidden',
  },
  {
    what: '301 to another path',
    script: (_, path) => (path === '/robots.txt' ? moved(301, '/rules.txt') : answer(200, RULES)),
    expected: 'rules',
  },
  ...[302, 303, 307, 308].map((status): Case => ({
    what: `${status} to another host`,
    script: (host) => (host === 'other.test' ? answer(200, RULES) : moved(status, 'http://other.test:PORT/robots.txt')),
    expected: 'rules',
  })),
  {
    what: 'five redirects and rules',
    script: (_, path) => (path === '/5' ? answer(200, RULES) : moved(302, `/${Number(path.slice(1)) + 1 || 1}`)),
    expected: 'rules',
  },
  {
    what: 'six redirects',
    script: (_, path) => (path === '/6' ? answer(200, RULES) : moved(302, `/${Number(path.slice(1)) + 1 || 1}`)),
    expected: 'allowed',
  },
  { what: 'a redirect to itself', script: moved(301, '/robots.txt'), expected: 'allowed' },
  { what: 'a redirect without a Location', script: answer(302), expected: 'allowed' },
  { what: 'a redirect to ftp', script: moved(302, 'ftp://other.test/robots.txt'), expected: 'allowed' },
  { what: '300 without a Location', script: answer(300, RULES), expected: 'allowed' },
  { what: '304 that nobody asked for', script: answer(304), expected: 'allowed' },
  { what: 'a redirect to a private address', script: moved(302, 'http://10.0.0.1/robots.txt'), expected: 'address' },
  {
    what: 'a redirect to a host in trouble',
    script: (host) => (host === 'other.test' ? answer(500) : moved(302, 'http://other.test:PORT/robots.txt')),
    expected: 'forbidden',
  },
  {
    what: 'a redirect to a host that refuses',
    script: (host) => (host === 'other.test' ? answer(429) : moved(302, 'http://other.test:PORT/robots.txt')),
    expected: 'forbidden',
    host: 'paused',
  },
  ...[400, 401, 403, 404, 410, 418, 451, 499].map((status): Case => ({
    what: String(status),
    script: answer(status, RULES),
    expected: 'allowed',
  })),
  { what: '429', script: answer(429, RULES), expected: 'forbidden', host: 'paused' },
  {
    what: '429 with Retry-After',
    script: answer(429, '', { 'retry-after': '3600' }),
    expected: 'forbidden',
    host: 'paused',
  },
  { what: '503', script: answer(503), expected: 'forbidden', host: 'paused' },
  {
    what: '503 whose body breaks off',
    script: { bytes: `${head(503, { 'content-length': 900 })}busy`, ends: 'reset' },
    expected: 'forbidden',
    host: 'paused',
  },
  ...[500, 501, 502, 504, 599, 999].map((status): Case => ({
    what: String(status),
    script: answer(status, RULES),
    expected: 'forbidden',
  })),
  {
    what: '200 that ends before its Content-Length',
    script: { bytes: `${head(200, { 'content-length': 900 })}${RULES}`, ends: 'end' },
    expected: 'forbidden',
  },
  {
    what: '200 that breaks off between two chunks',
    script: { bytes: `${head(200, { 'transfer-encoding': 'chunked' })}2\r\n# \r\n`, ends: 'reset' },
    expected: 'forbidden',
  },
  {
    what: '200 whose gzip stops short',
    script: answer(200, gzipSync(RULES).subarray(0, 30), { 'content-encoding': 'gzip' }),
    expected: 'forbidden',
  },
  {
    what: '200 in an unknown coding',
    script: answer(200, RULES, { 'content-encoding': 'x-own' }),
    expected: 'forbidden',
  },
  {
    what: '200 whose body stops in the middle',
    script: { bytes: `${head(200, { 'content-length': 900 })}${RULES}`, ends: 'hang' },
    expected: 'forbidden',
  },
  { what: 'no answer', script: { bytes: '', ends: 'hang' }, expected: 'forbidden', host: 'circuit' },
  { what: 'a connection that is closed', script: { bytes: '', ends: 'end' }, expected: 'forbidden', host: 'circuit' },
  { what: 'a connection that is reset', script: { bytes: '', ends: 'reset' }, expected: 'forbidden', host: 'circuit' },
  {
    what: 'something else than HTTP',
    script: { bytes: 'SSH-2.0-x\r\n\r\n', ends: 'end' },
    expected: 'forbidden',
    host: 'circuit',
  },
]

let server: Server
let port: number
let fetcher: Fetcher
const clock = createSystemClock()
const hostOf = (index: number): string => `${index}.test`

beforeAll(async () => {
  server = createServer((socket) => {
    let received = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      const path = /^GET (\S+)/.exec(received)?.[1] ?? ''
      const via = /^host: ([^:\r]+)/im.exec(received)?.[1] ?? ''
      // The host that several cases redirect to answers for the one under way.
      const known = CASES[Number(via.split('.')[0])] ?? current
      if (known === undefined) return socket.destroy()
      const script = typeof known.script === 'function' ? known.script(via, path) : known.script
      const bytes = Buffer.from(Buffer.from(script.bytes).toString('latin1').replaceAll('PORT', String(port)), 'latin1')
      if (script.ends === 'end') return socket.end(bytes)
      socket.write(bytes, () => (script.ends === 'reset' ? socket.resetAndDestroy() : undefined))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  fetcher = createFetcherOf(settingsOf(), { clock })
})
afterAll(async () => {
  await fetcher.close()
  server.close()
})

/** The case under way. */
let current: Case | undefined

const settingsOf = (more: Parameters<typeof settingsFromLibrary>[0] = {}) => {
  const names = [...CASES.keys()].map(hostOf)
  const resolve = [...names, 'other.test'].map((name) => `${name}:${port}:127.0.0.1`)
  return settingsFromLibrary(
    { attempts: 1, delay: 0, readTimeout: 500, allowAddress: ['127.0.0.0/8'], resolve, ...more },
    '0.0.0',
  )
}

const robotsTask = (origin: Origin, url: string, redirects: number, attempts = 0): Task => {
  const host = hostKey(url as NormalizedUrl)
  const known = { id: 0, depth: 0, via: 'link', tier: 'medium', nesting: 0 } as const
  return { ...known, kind: 'robots', url: url as NormalizedUrl, host, origin, redirects, attempts }
}

const lease: Lease = {
  host: 'a.test' as HostKey,
  fence: 1,
  tasks: [],
  delayMs: 0,
  grantedAt: 0,
  notBefore: 0,
  expiresAt: Infinity,
  health: UNKNOWN_HEALTH,
  address: null,
  robotsVersion: null,
}

const contextOf = (
  deps: { clock: Clock; fetcher: Pick<Fetcher, 'fetch'> },
  more: Parameters<typeof settingsFromLibrary>[0] = {},
) => {
  // What was learnt counts as stored.
  const kept = new Map<Origin, RobotsRecord>()
  const cache = createHostRegistry({
    defaultPolicy: { delayMs: 0, concurrency: 1 },
    productToken: 'Tiptoe',
    load: async () => ({ robots: [...kept.values()] }) as unknown as HostRecord,
  })
  const registry: HostRegistry = {
    ...cache,
    learn(record) {
      kept.set(record.origin, record)
      cache.learn(record)
    },
  }
  const context = {
    settings: settingsOf(more),
    rng: createRng(1),
    registry,
    productToken: 'Tiptoe',
    isOurs: () => false,
    connection: () => 'up',
    lease,
    signal: new AbortController().signal,
    ...deps,
  } as unknown as TaskContext
  return { registry, context }
}

describe('a robots.txt that is answered with', () => {
  test.each(CASES.map((entry, index) => [entry.what, index, entry] as const))('%s', async (_, index, entry) => {
    current = entry
    const origin = `http://${hostOf(index)}:${port}` as Origin
    const { registry, context } = contextOf({ clock, fetcher })
    let task = robotsTask(origin, `${origin}/robots.txt`, 0)
    let result: TaskResult
    for (;;) {
      result = await runRobotsTask(task, context)
      if (result.outcome.kind !== 'moved') break
      task = robotsTask(origin, result.outcome.url, task.redirects + 1)
    }
    expect(result.outcome).toEqual({ kind: 'done' })
    expect(result.robots?.version).toMatch(/^[0-9a-f]{8}$/)
    const secret = await registry.verdict(`${origin}/private/x` as NormalizedUrl)
    const open = await registry.verdict(`${origin}/public` as NormalizedUrl)
    if (entry.expected === 'rules') {
      expect(secret).toMatchObject({ allowed: false, reason: 'robots' })
      expect(open).toMatchObject({ allowed: true })
    } else if (entry.expected === 'allowed') {
      expect([secret, open]).toMatchObject([{ allowed: true }, { allowed: true }])
    } else {
      const reason = entry.expected === 'address' ? 'address' : 'robots-unreachable'
      expect([secret, open]).toMatchObject([
        { allowed: false, reason },
        { allowed: false, reason },
      ])
    }
    if (entry.expected === 'address') {
      expect(result.host).toBeUndefined()
      expect(result.answeredAt).toBeUndefined()
      return
    }
    const { health, ...block } = result.host ?? {}
    if (entry.host === 'paused') {
      expect(health).toMatchObject({ streak: -1, strikes: 1 })
      expect(block.blockedReason).toMatch(/^HTTP (?:429|503)/)
      expect(block.blockedUntil).toBeGreaterThanOrEqual((result.answeredAt ?? 0) + 60_000)
    } else if (entry.host === 'circuit') {
      expect(health).toMatchObject({ streak: -1, strikes: 0 })
      expect(block.blockedUntil).toBeGreaterThanOrEqual((result.answeredAt ?? 0) + 1_000)
      expect(block.blockedReason).not.toBe('')
    } else {
      expect(health).toMatchObject({ streak: 1, strikes: 0 })
      expect(block).toEqual({})
    }
  })
})

describe('the life of a robots record', () => {
  const DAY = 86_400_000
  const origin = 'https://a.test' as Origin
  const response = (status: number, body = '', headers: Record<string, string> = {}): FetchOutcome =>
    ({
      kind: 'response',
      status,
      headers: {
        get: (name: string) => headers[name] ?? null,
        all: (name: string) => (headers[name] === undefined ? [] : [headers[name]]),
      },
      body: Buffer.from(body),
      truncated: false,
      startedAt: virtual.now(),
      answeredAt: virtual.now(),
      endedAt: virtual.now(),
    }) as unknown as FetchOutcome
  const refusedConnection = (offline = false): FetchOutcome => ({
    kind: 'error',
    code: 'connect',
    detail: 'the connection was refused',
    retryable: true,
    offline,
    sent: !offline,
    startedAt: virtual.now(),
    answeredAt: virtual.now(),
  })
  let virtual = createVirtualClock()
  const setUp = (more: Parameters<typeof settingsFromLibrary>[0] = {}) => {
    virtual = createVirtualClock()
    let next: FetchOutcome
    const { registry, context } = contextOf({ clock: virtual, fetcher: { fetch: async () => next } }, more)
    const ask = (outcome: FetchOutcome, attempts = 0, part: Partial<TaskContext> = {}): Promise<TaskResult> => {
      next = outcome
      return runRobotsTask(robotsTask(origin, `${origin}/robots.txt`, 0, attempts), { ...context, ...part })
    }
    return { registry, ask }
  }

  test('is in force for as long as robots.txt files may be used, a day unless told otherwise', async () => {
    const usual = await setUp().ask(response(200, RULES))
    expect(usual.robots?.expiresAt).toBe(virtual.now() + DAY)
    const short = await setUp({ robotsMaxAge: 60_000 }).ask(response(404))
    expect(short.robots?.expiresAt).toBe(virtual.now() + 60_000)
  })

  test('has a version that changes with what it says, and with nothing else', async () => {
    const { ask } = setUp()
    const first = await ask(response(200, RULES))
    await virtual.advance(5)
    const same = await ask(response(203, RULES))
    const other = await ask(response(200, `${RULES}Disallow: /x\n`))
    const none = await ask(response(404))
    expect(same.robots?.version).toBe(first.robots?.version)
    expect(new Set([first, other, none].map(({ robots }) => robots?.version)).size).toBe(3)
  })

  test.each([
    ['503', () => response(503)],
    ['429', () => response(429)],
    ['500', () => response(500)],
    ['no connection', () => refusedConnection()],
  ])('keeps the last good copy in force when a newer one is answered with %s', async (_, trouble) => {
    const { registry, ask } = setUp({ attempts: 3 })
    const good = await ask(response(200, RULES))
    await virtual.advance(DAY)
    const since = virtual.now()
    const kept = await ask(trouble())
    expect(kept.outcome).toEqual({ kind: 'done' })
    expect(kept.robots).toMatchObject({
      state: 'rules',
      version: good.robots?.version,
      fetchedAt: good.robots?.fetchedAt,
      staleSince: since,
      expiresAt: since + 3_600_000,
      body: RULES,
    })
    expect(kept.robots?.detail).toMatch(/^HTTP 200, 33 characters; kept, since a newer one could not be had: /)
    expect(await registry.verdict(`${origin}/public` as NormalizedUrl)).toMatchObject({ allowed: true })
    await virtual.advance(3_600_000)
    const again = await ask(response(502))
    expect(again.robots?.detail).toBe(
      'HTTP 200, 33 characters; kept, since a newer one could not be had: robots.txt answered HTTP 502',
    )
    expect(again.robots?.staleSince).toBe(since)
    const back = await ask(response(200, ''))
    expect(back.robots).toMatchObject({ staleSince: null, body: '', fetchedAt: virtual.now() })
  })

  test.each([[304], [300], [302]])(
    'keeps the last good copy when a newer one is answered with a bare %d',
    async (status) => {
      const { ask } = setUp()
      await ask(response(200, RULES))
      expect((await ask(response(status))).robots).toMatchObject({ state: 'rules', staleSince: virtual.now() })
    },
  )

  test('keeps a copy that says there is no file', async () => {
    const { ask } = setUp()
    await ask(response(404))
    expect((await ask(response(500))).robots).toMatchObject({ state: 'allow-all', staleSince: virtual.now() })
  })

  test('ends after thirty days without a newer one: then nothing may be asked', async () => {
    const { ask } = setUp()
    await ask(response(200, RULES))
    expect((await ask(response(500))).robots?.state).toBe('rules')
    await virtual.advance(30 * DAY - 1)
    expect((await ask(response(500))).robots?.state).toBe('rules')
    await virtual.advance(1)
    expect((await ask(response(500))).robots).toMatchObject({
      state: 'disallow-all',
      refusal: 'robots-unreachable',
      expiresAt: virtual.now() + 3_600_000,
    })
  })

  test('begins with as many tries as there are attempts when no copy was ever had', async () => {
    const { ask } = setUp({ attempts: 3 })
    for (const attempts of [0, 1]) {
      const result = await ask(response(500), attempts)
      expect(result).toMatchObject({ outcome: { kind: 'retry', counts: true }, host: { health: { streak: 1 } } })
      expect(result.robots).toBeUndefined()
    }
    expect((await ask(response(500), 2)).robots?.state).toBe('disallow-all')
  })

  test('is asked for again when the pause is over that came instead of it', async () => {
    const { ask } = setUp({ attempts: 3 })
    const { outcome, host } = await ask(response(429, '', { 'retry-after': '600' }))
    expect(host).toMatchObject({
      blockedUntil: virtual.now() + 600_000,
      blockedReason: 'HTTP 429, Retry-After 10m 00s',
    })
    expect(outcome).toEqual({ kind: 'retry', notBefore: virtual.now() + 600_000, counts: true })
  })

  test('says nothing of the host when this machine has no network', async () => {
    const { ask } = setUp({ attempts: 2 })
    const down = { connection: () => 'down' as const }
    expect(await ask(refusedConnection(true), 0, down)).toMatchObject({ outcome: { kind: 'retry' } })
    const last = await ask(refusedConnection(true), 1, down)
    expect(last).toEqual({ outcome: { kind: 'returned' }, offline: 'the connection was refused' })
  })

  test('waits for the next lease when the host has moved to another address', async () => {
    const { ask } = setUp()
    const result = await ask({ kind: 'elsewhere', address: '192.0.2.7' })
    expect(result).toEqual({ outcome: { kind: 'returned' }, host: { address: '192.0.2.7' } })
  })

  test('keeps rules with octets that are no UTF-8 as strict as they were', async () => {
    const { registry, ask } = setUp()
    const latin1 = Buffer.from('User-agent: *\nDisallow: /caf\u00e9\n', 'latin1')
    await ask({ ...(response(200) as FetchOutcome & { kind: 'response' }), body: latin1 })
    expect(await registry.verdict(`${origin}/caf%E9` as NormalizedUrl)).toMatchObject({ allowed: false })
    expect(await registry.verdict(`${origin}/caf%C3%A9` as NormalizedUrl)).toMatchObject({ allowed: true })
  })
})
