import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRng, createSystemClock } from '../../base/index.ts'
import { settingsFromLibrary } from '../../config/index.ts'
import { contentHash } from '../../content/index.ts'
import type { Fetcher } from '../../fetch/index.ts'
import {
  UNKNOWN_HEALTH,
  type FoundUrl,
  type HostHealth,
  type LastVisit,
  type NormalizedUrl,
  type Task,
} from '../../model/index.ts'
import { createInlineReader } from '../../reading/index.ts'
import { createParameterStripper, createScope } from '../../url/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { createFetcherOf } from '../fetcher.ts'
import { createAdmission } from './admission.ts'
import { createSampling } from './sampling.ts'
import { runPageTask } from './page-task.ts'
import { runSitemapTask } from './sitemap-task.ts'

const DAY = 86_400_000
const DATE = 'Sun, 01 Feb 2026 10:00:00 GMT'
const TEXT = { 'content-type': 'text/plain; charset=utf-8' }
const HTML = { 'content-type': 'text/html' }

interface Reply {
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

let reply: Reply
let asked: IncomingHttpHeaders[]
const server = createServer((request, response) => {
  asked.push(request.headers)
  response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body)
})
let origin: string
const clock = createSystemClock()
const settings = settingsFromLibrary(
  { delay: 0, allowAddress: ['127.0.0.0/8'], attempts: 2, patience: 60_000 },
  '0.0.0',
)
let fetcher: Fetcher

beforeAll(async () => {
  fetcher = createFetcherOf(settings, { clock })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await fetcher.close()
  server.close()
})
beforeEach(() => {
  asked = []
})

const before: LastVisit = {
  at: clock.now() - DAY,
  visits: 2,
  misses: 0,
  hash: contentHash('These are the words of the page.\n'),
  etag: '"one"',
  lastModified: DATE,
}

interface Setting {
  readonly task?: Partial<Task>
  readonly health?: HostHealth
  readonly verdict?: { allowed: boolean; reason?: string; detail: string }
}

const urlOf = (path: string): NormalizedUrl => `${origin}${path}` as NormalizedUrl
let early: FoundUrl[]

async function run(kind: 'page' | 'sitemap', answer: Reply, setting: Setting = {}): Promise<TaskResult> {
  reply = answer
  early = []
  const rules = {
    scope: createScope({ mode: 'host', seeds: [urlOf('/')], include: [], exclude: [] }),
    tierOf: () => undefined,
    strip: createParameterStripper(['utm_*']),
  }
  const context = {
    ...rules,
    admission: createAdmission(rules),
    wantsSample: createSampling(settings),
    settings,
    clock,
    rng: createRng(1),
    fetcher,
    reader: createInlineReader(),
    repetitions: { judge: () => ({}) },
    registry: { verdict: async () => setting.verdict ?? { allowed: true, detail: '' } },
    productToken: 'Tiptoe',
    addEarly: async (found: readonly FoundUrl[]) => void early.push(...found),
    connection: () => 'up',
    lease: { delayMs: 0, health: setting.health ?? UNKNOWN_HEALTH, address: null, robotsVersion: null },
    signal: new AbortController().signal,
  } as unknown as TaskContext
  const known = { id: 1, kind, depth: 1, via: 'link', tier: 'medium', attempts: 0, redirects: 0, nesting: 0 } as const
  const task = { ...known, url: urlOf('/x'), ...setting.task } as Task
  return kind === 'page' ? runPageTask(task, context) : runSitemapTask(task, context)
}
const again = (answer: Reply, last: Partial<LastVisit> = {}, setting: Setting = {}): Promise<TaskResult> =>
  run('page', answer, { ...setting, task: { ...setting.task, last: { ...before, ...last } } })
const { hash, etag, lastModified } = before
const kept = { hash, etag, lastModified }

describe('a page that is fetched for the first time', () => {
  test('is asked for without a condition, and leaves what the next visit should know', async () => {
    const body = 'These are the words of the page.\n'
    const result = await run('page', { headers: { ...TEXT, etag: 'W/"one"', 'last-modified': DATE }, body })
    expect(asked[0]).not.toHaveProperty('if-none-match')
    expect(asked[0]).not.toHaveProperty('if-modified-since')
    expect(result).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'new', hash, etag: 'W/"one"', lastModified: DATE },
      record: { kind: 'page', record: { change: 'new', visit: 1 } },
    })
    expect(result.sample).toMatchObject({ exact: expect.stringMatching(/^[0-9a-f]{16}$/), near: expect.any(String) })
  })

  test('and has no text teaches nothing', async () => {
    expect((await run('page', { headers: TEXT, body: ' \n' })).sample).toBeUndefined()
    expect((await run('page', { headers: { 'content-type': 'image/png' }, body: 'x' })).sample).toBeUndefined()
  })

  test('fails when it is not there, or is answered by a 304', async () => {
    for (const status of [404, 410, 304])
      expect((await run('page', { status })).record).toMatchObject({ kind: 'fail', record: { error: 'http', status } })
  })

  test('is skipped without being asked for when it was set aside', async () => {
    const aside = { reason: 'trap', detail: 'the path repeats itself' } as const
    const result = await run('page', {}, { task: { aside, depth: 1_000 } })
    expect(result).toMatchObject({ outcome: { kind: 'skipped', reason: 'trap' }, record: { record: aside } })
    expect(asked).toEqual([])
  })
})

describe('a page that was fetched before', () => {
  test('is asked for under the conditions that its host gave', async () => {
    await again({ status: 304 }, { etag: 'W/"x, y"' })
    expect(asked).toMatchObject([{ 'if-none-match': 'W/"x, y"', 'if-modified-since': DATE }])
  })

  test('and is answered by a 304 is unchanged, with nothing read', async () => {
    const result = await again({ status: 304 })
    expect(result).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'unchanged', ...kept },
      host: { health: { streak: 1 } },
      answeredAt: expect.any(Number),
      record: {
        kind: 'revisit',
        record: {
          url: urlOf('/x'),
          change: 'unchanged',
          visit: 3,
          status: 304,
          fetchedAt: expect.any(String),
          answerMs: expect.any(Number),
          durationMs: expect.any(Number),
          depth: 1,
          tier: 'medium',
        },
      },
    })
    for (const field of ['found', 'bytes', 'tokens', 'sample']) expect(result).not.toHaveProperty(field)
  })

  test('takes the validators of a 304 that brings new ones', async () => {
    expect((await again({ status: 304, headers: { etag: '"two"' } })).visit).toEqual({
      change: 'unchanged',
      ...kept,
      etag: '"two"',
    })
  })

  test('is missed when a 304 answers what nobody asked', async () => {
    const { visit, record } = await again({ status: 304 }, { etag: null, lastModified: null })
    expect(visit?.change).toBe('missed')
    expect(record).toMatchObject({ kind: 'revisit', record: { change: 'missed', status: 304, detail: 'HTTP 304' } })
  })

  test('and says the same is unchanged; what it names is handed over', async () => {
    const body = '<main><p>Hello</p><a href="/y?utm_source=x&b=1">y</a><a href="/y?b=1">again</a></main>'
    const first = await run('page', { headers: HTML, body })
    const bytes = Buffer.byteLength(body)
    const result = await again({ headers: { ...HTML, etag: '"two"' }, body }, { hash: first.visit?.hash ?? null })
    expect(result).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'unchanged', hash: first.visit?.hash, etag: '"two"', lastModified: null },
      bytes,
      record: { kind: 'revisit', record: { change: 'unchanged', status: 200, bytes } },
    })
    expect(result.links).toEqual([urlOf('/y?b=1')])
    expect(result.sample).toBeUndefined()
    expect(result.tokens).toBeUndefined()
  })

  test('and says something else has changed: a whole record, with its Markdown', async () => {
    const body = 'These are other words.\n'
    const result = await again({ headers: TEXT, body })
    expect(result).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'changed', hash: contentHash(body), etag: null, lastModified: null },
      record: { kind: 'page', record: { change: 'changed', visit: 3, contentHash: contentHash(body) }, markdown: body },
    })
    expect(result.sample).toBeUndefined()
  })

  test('is gone when it is not there, and comes back; after the third time it does not', async () => {
    for (const misses of [0, 1]) {
      const result = await again({ status: 404 }, { misses })
      expect(result).toMatchObject({ outcome: { kind: 'done' }, visit: { change: 'gone', ...kept } })
      expect(result.record).toMatchObject({ record: { change: 'gone', status: 404, detail: 'HTTP 404', visit: 3 } })
      expect(result.record).not.toHaveProperty('record.retired')
    }
    expect(await again({ status: 404 }, { misses: 2 })).toMatchObject({
      outcome: { kind: 'skipped', reason: 'gone' },
      visit: { change: 'gone' },
      record: { kind: 'revisit', record: { change: 'gone', retired: true } },
    })
  })

  test('is gone for good when its host says so', async () => {
    expect(await again({ status: 410 })).toMatchObject({
      outcome: { kind: 'skipped', reason: 'gone' },
      record: { kind: 'revisit', record: { retired: true, status: 410 } },
    })
  })

  test('is tried again when its host fails, and then missed: what was had stands', async () => {
    expect((await again({ status: 500 })).outcome.kind).toBe('retry')
    const last = await again({ status: 500 }, {}, { task: { attempts: 1 } })
    expect(last).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'missed', ...kept },
      host: { health: { streak: 1 } },
      record: { kind: 'revisit', record: { change: 'missed', status: 500, detail: 'HTTP 500', visit: 3 } },
    })
    expect(await again({ status: 403 })).toMatchObject({ outcome: { kind: 'done' }, visit: { change: 'missed' } })
  })

  test('is missed when there is no answer, with the reason', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/` as NormalizedUrl
    await new Promise((resolve) => closed.close(resolve))
    expect(await again({}, {}, { task: { url, attempts: 1 } })).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'missed', ...kept },
      host: { health: { streak: -1 } },
      record: { kind: 'revisit', record: { url, change: 'missed', detail: expect.stringContaining('refused') } },
    })
  })

  test('is skipped like a new one when it is a redirect, or robots.txt forbids it', async () => {
    expect(await again({ status: 301, headers: { location: '/z?utm_source=x' } })).toMatchObject({
      outcome: { kind: 'skipped', reason: 'redirect' },
      record: { kind: 'skip', record: { reason: 'redirect', location: urlOf('/z') } },
      found: [{ url: urlOf('/z'), via: 'redirect' }],
    })
    const verdict = { allowed: false, reason: 'robots', detail: 'line 2' }
    expect((await again({}, {}, { verdict })).outcome).toEqual({ kind: 'skipped', reason: 'robots' })
  })

  test('is missed while its robots.txt cannot be had', async () => {
    const verdict = { allowed: false, reason: 'robots-unreachable', detail: 'HTTP 500' }
    const result = await again({}, {}, { verdict })
    expect(result).toMatchObject({ outcome: { kind: 'done' }, visit: { change: 'missed', ...kept } })
    expect(result.record).toMatchObject({ record: { change: 'missed', detail: 'HTTP 500' } })
    expect(asked).toEqual([])
  })

  test('of a host that was given up is missed without being asked for, and asked for again two days later', async () => {
    const since = (agoMs: number): HostHealth => ({
      ...UNKNOWN_HEALTH,
      streak: -5,
      streakSince: clock.now() - 9 * DAY,
      blockedAt: clock.now() - agoMs,
    })
    expect((await again({}, {}, { health: since(DAY) })).visit?.change).toBe('missed')
    expect(asked).toEqual([])
    expect((await again({ status: 304 }, {}, { health: since(2 * DAY) })).visit?.change).toBe('unchanged')
    expect((await run('page', {}, { health: since(2 * DAY) })).outcome).toMatchObject({ reason: 'host-unavailable' })
  })
})

describe('a redirect that only adds what is stripped', () => {
  test('leads where it says, and not back to its own page', async () => {
    const location = '/x?utm_source=x'
    const result = await run('page', { status: 302, headers: { location } })
    expect(result.found).toMatchObject([{ url: urlOf(location) }])
  })
})

describe('a sitemap', () => {
  const entry = (path: string, lastmod: string): string =>
    `<url><loc>${urlOf(path)}</loc><lastmod>${lastmod}</lastmod></url>`
  const sitemap = (...entries: string[]): string => `<urlset>${entries.join('')}</urlset>`
  const reread = (answer: Reply, last: Partial<LastVisit> = {}, task: Partial<Task> = {}): Promise<TaskResult> =>
    run('sitemap', answer, { task: { ...task, last: { ...before, ...last } } })

  test('hands over when each page was changed, and leaves what the next visit should know', async () => {
    const body = sitemap(
      entry('/a?utm_source=x', '2026-01-02'),
      entry('/b', '2026-01-02T10:00:00+02:00'),
      entry('/c', 'soon'),
      entry('/d', '2016-12-31T23:59:60Z'),
    )
    const result = await run('sitemap', { headers: { etag: '"one"' }, body })
    expect(result.visit).toEqual({ change: 'new', hash: contentHash(body), etag: '"one"', lastModified: null })
    const common = { kind: 'page', depth: 1, via: 'sitemap' }
    expect(result.found).toEqual([
      { ...common, url: urlOf('/a'), modifiedAt: Date.UTC(2026, 0, 2) },
      { ...common, url: urlOf('/b'), modifiedAt: Date.UTC(2026, 0, 2, 8) },
      { ...common, url: urlOf('/c') },
      { ...common, url: urlOf('/d') },
    ])
  })

  test('that names others hands over when those were changed', async () => {
    const body = `<sitemapindex><sitemap><loc>${urlOf('/s.xml')}</loc><lastmod>2026</lastmod></sitemap></sitemapindex>`
    expect((await run('sitemap', { body })).found).toMatchObject([{ kind: 'sitemap', modifiedAt: Date.UTC(2026, 0) }])
  })

  test('is asked for under a condition, and not read when it is the same', async () => {
    const same = await reread({ status: 304 })
    expect(asked).toMatchObject([{ 'if-none-match': '"one"', 'if-modified-since': DATE }])
    expect(same).toMatchObject({ outcome: { kind: 'done' }, visit: { change: 'unchanged', ...kept } })
    const body = sitemap(entry('/a', '2026'))
    const sent = await reread({ body }, { hash: contentHash(body) })
    expect(sent.visit).toMatchObject({ change: 'unchanged', hash: contentHash(body) })
    for (const result of [same, sent]) {
      expect(result.found).toBeUndefined()
      expect(result.record).toBeUndefined()
    }
  })

  test('that has changed is read again', async () => {
    const result = await reread({ body: sitemap(entry('/new', '2026')) })
    expect(result.visit?.change).toBe('changed')
    expect(result.found).toMatchObject([{ url: urlOf('/new') }])
  })

  test('that is not there is looked for again, without a condition', async () => {
    const none = { hash: null, etag: null, lastModified: null }
    const headers = { etag: '"error page"' }
    expect((await run('sitemap', { status: 404, headers })).visit).toEqual({ change: 'new', ...none })
    expect((await reread({ status: 404, headers }, none)).visit).toEqual({ change: 'unchanged', ...none })
    const gone = await reread({ status: 410, headers }, { misses: 9 })
    expect(gone).toMatchObject({ outcome: { kind: 'done' }, visit: { change: 'changed', ...none } })
  })

  test('that cannot be had is missed, and comes back', async () => {
    expect(await reread({ status: 500 }, {}, { attempts: 1 })).toMatchObject({
      outcome: { kind: 'done' },
      visit: { change: 'missed', ...kept },
    })
  })
})
