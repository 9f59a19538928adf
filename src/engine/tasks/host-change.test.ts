import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import { settingsFromLibrary, type CrawlerOptions } from '../../config/index.ts'
import type { Fetcher, FetchOutcome } from '../../fetch/index.ts'
import { createFrontier, type Frontier } from '../../frontier/index.ts'
import type { HostKey, HostRecord, ImpoliteRequest, NormalizedUrl } from '../../model/index.ts'
import { createInlineReader } from '../../reading/index.ts'
import { openCrawl } from '../index.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const HOST = 'a.test' as HostKey

/** What the only host of this web does with a request. */
interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly latencyMs?: number
  /** No connection, in these words. */
  readonly unreachable?: string
}
interface Asked {
  readonly path: string
  readonly at: number
}
interface Story {
  readonly asked: readonly Asked[]
  /** Pauses in the order in which they were imposed, each from the last answer. */
  readonly blocked: readonly { readonly forMs: number; readonly until: number; readonly reason: string }[]
  readonly skipped: readonly { readonly url: string; readonly reason: string; readonly detail: string | null }[]
  readonly impolite: readonly ImpoliteRequest[]
  readonly stats: Awaited<ReturnType<Frontier['stats']>>
  readonly host: HostRecord | undefined
  readonly endedAfterMs: number
}

/** Crawls one host on a virtual clock to the end. `n` counts requests for the path, this one included. */
async function crawlHost(
  answerTo: (path: string, n: number, now: number) => Answer,
  options: CrawlerOptions = {},
): Promise<Story> {
  const clock = createVirtualClock(1_767_225_600_000)
  const start = clock.now()
  const asked: Asked[] = []
  let lastAnswer = 0
  const times = new Map<string, number>()
  const fetcher: Fetcher = {
    async fetch({ url, onAnswer }): Promise<FetchOutcome> {
      const startedAt = clock.now()
      const { pathname: path } = new URL(url)
      const n = (times.get(path) ?? 0) + 1
      times.set(path, n)
      asked.push({ path, at: startedAt - start })
      const {
        status = 200,
        headers = {},
        body = '',
        latencyMs = 10,
        unreachable,
      } = answerTo(path, n, startedAt - start)
      await clock.sleepUntil(startedAt + latencyMs)
      const answeredAt = clock.now()
      lastAnswer = answeredAt
      onAnswer?.(answeredAt)
      if (unreachable !== undefined) {
        const failure = { code: 'connect', detail: unreachable, retryable: true, offline: false, sent: true } as const
        return { kind: 'error', ...failure, startedAt, answeredAt }
      }
      const fields: Record<string, string> = { 'content-type': 'text/html', ...headers }
      return {
        kind: 'response',
        status,
        headers: { get: (name) => fields[name] ?? null, all: (name) => [fields[name] ?? []].flat() },
        body: Buffer.from(body),
        wireBytes: body.length,
        truncated: false,
        limits: [],
        startedAt,
        answeredAt,
        endedAt: answeredAt,
        address: '192.0.2.1',
        protocol: 'http/1.1',
      }
    },
    resolve: async () => '192.0.2.1',
    close: async () => {},
    stats: { openOrigins: 0 },
  }
  let frontier: Frontier | undefined
  const crawl = await openCrawl({
    settings: settingsFromLibrary({ sitemaps: false, delay: 1_000, ...options }, '0.0.0'),
    seeds: [`https://${HOST}/` as NormalizedUrl],
    store: 'memory',
    clock,
    rng: createRng(7),
    fetcher,
    reader: createInlineReader(),
    openFrontier: (wanted) => (frontier = createFrontier({ ...wanted, store: 'memory', clock })),
  })
  const blocked: { forMs: number; until: number; reason: string }[] = []
  const skipped: { url: string; reason: string; detail: string | null }[] = []
  const impolite: ImpoliteRequest[] = []
  crawl.events.on('blocked', ({ until, reason }) =>
    blocked.push({ forMs: until - lastAnswer, until: until - start, reason }),
  )
  crawl.events.on('skip', ({ url, reason, detail }) => skipped.push({ url, reason, detail: detail ?? null }))
  crawl.events.on('impolite', (request) => impolite.push(request))
  const progress = { over: false }
  const ended = crawl.run().finally(() => {
    progress.over = true
  })
  for (let steps = 0; !progress.over && steps < 20_000; steps++)
    await clock.advance(Math.max(0, (clock.nextTimer() ?? 0) - clock.now()))
  await ended
  const story = {
    asked,
    blocked,
    skipped,
    impolite,
    stats: await crawl.stats(),
    host: await frontier?.host(HOST),
    endedAfterMs: clock.now() - start,
  }
  await crawl.close()
  return story
}

const links = (...paths: string[]): string => paths.map((path) => `<a href="${path}">${path}</a>`).join(' ')
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `/${index + 1}`)
/** A site whose front page links to all others. */
const site = (count: number, path: string): Answer => {
  if (path === '/robots.txt') return { status: 404 }
  return { body: path === '/' ? links(...numbered(count)) : 'text' }
}
/** The time from the first request for the path to the second. */
const secondAfter = ({ asked }: Story, path: string): number => {
  const [first, second] = asked.filter((entry) => entry.path === path)
  return (second?.at ?? NaN) - (first?.at ?? NaN)
}

describe('a host that refuses', () => {
  const refuseOnce =
    (status: number, retryAfter?: string) =>
    (path: string, n: number): Answer =>
      path === '/' && n === 1
        ? { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } }
        : site(0, path)

  test.each([
    ['90', 90_000],
    ['86400', DAY],
    ['999999999', DAY],
    ['Fri, 31 Dec 9999 23:59:59 GMT', DAY],
  ])('with Retry-After %s is left alone for exactly %d ms', async (retryAfter, pauseMs) => {
    const story = await crawlHost(refuseOnce(429, retryAfter))
    expect(story.stats).toMatchObject({ done: 1, failed: 0 })
    expect(story.blocked).toMatchObject([{ forMs: pauseMs }])
    expect(secondAfter(story, '/')).toBeGreaterThanOrEqual(10 + pauseMs)
  })

  test.each(['Thu, 01 Jan 2026 00:05:00 GMT', 'Thursday, 01-Jan-26 00:05:00 GMT', 'Thu Jan  1 00:05:00 2026'])(
    'with Retry-After %s is left alone until then',
    async (retryAfter) => {
      const story = await crawlHost(refuseOnce(503, retryAfter))
      expect(story.stats).toMatchObject({ done: 1, failed: 0 })
      expect(story.blocked).toMatchObject([{ until: 5 * MINUTE }])
      expect(story.asked.at(-1)?.at).toBeGreaterThanOrEqual(5 * MINUTE)
    },
  )

  test.each(['0', 'Wed, 31 Dec 2025 00:00:00 GMT'])(
    'with Retry-After %s is asked again at its usual pace',
    async (retryAfter) => {
      const story = await crawlHost(refuseOnce(429, retryAfter))
      expect(story.stats).toMatchObject({ done: 1, failed: 0 })
      expect(secondAfter(story, '/')).toBeGreaterThanOrEqual(1_010)
      expect(secondAfter(story, '/')).toBeLessThan(1_200)
    },
  )

  test.each([undefined, 'soon', '-5', '1.5', '', '2026-01-01'])(
    'with Retry-After %s is left alone for a minute and a little more',
    async (retryAfter) => {
      for (const status of [429, 503]) {
        const story = await crawlHost(refuseOnce(status, retryAfter))
        expect(story.stats).toMatchObject({ done: 1, failed: 0 })
        expect(story.blocked).toMatchObject([{ reason: `HTTP ${status}` }])
        expect(story.blocked[0]?.forMs).toBeGreaterThanOrEqual(MINUTE)
        expect(story.blocked[0]?.forMs).toBeLessThan(1.1 * MINUTE)
        expect(secondAfter(story, '/')).toBeGreaterThanOrEqual(MINUTE)
      }
    },
  )

  test('every second request with 429 loses no page', async () => {
    let requests = 0
    const story = await crawlHost((path) => {
      if (path === '/robots.txt') return { status: 404 }
      requests += 1
      return requests % 2 === 1 ? { status: 429, headers: { 'retry-after': '2' } } : site(30, path)
    })
    expect(story.stats).toMatchObject({ discovered: 31, done: 31, failed: 0, skipped: {}, queued: 0 })
    expect(story.asked).toHaveLength(63)
    expect(story.impolite).toEqual([])
  })

  test('again and again is left alone for twice as long each time', async () => {
    const story = await crawlHost((path, n) => (path === '/' && n <= 4 ? { status: 503 } : site(0, path)))
    expect(story.stats).toMatchObject({ done: 1, failed: 0 })
    const minutes = story.blocked.map(({ forMs }) => forMs / MINUTE)
    for (const [index, length] of minutes.entries()) {
      expect(length).toBeGreaterThanOrEqual(2 ** index)
      expect(length).toBeLessThan(1.1 * 2 ** index)
    }
    expect(minutes).toHaveLength(4)
  })

  test('is forgiven after ten quiet minutes', async () => {
    const refusals = new Set(['/2', '/4', '/17'])
    const story = await crawlHost((path, n) => (refusals.has(path) && n === 1 ? { status: 429 } : site(20, path)), {
      delay: MINUTE,
    })
    expect(story.stats).toMatchObject({ done: 21, failed: 0 })
    const minutes = story.blocked.map(({ forMs }) => Math.floor(forMs / MINUTE))
    expect(minutes).toEqual([1, 2, 1])
  })

  test('several requests that were under way together is paused once', async () => {
    const story = await crawlHost(
      (path, n, now) => {
        if (path === '/' || path === '/robots.txt') return site(12, path)
        return n === 1 && now < 5_000 ? { status: 503, latencyMs: 100 + Number(path.slice(1)) } : site(12, path)
      },
      { delay: 0, perHost: 4 },
    )
    expect(story.stats).toMatchObject({ done: 13, failed: 0 })
    expect(story.host?.health.strikes).toBe(1)
    const early = story.asked.filter(({ at }) => at < MINUTE)
    expect(early.length).toBeLessThanOrEqual(6)
    for (const { until } of story.blocked) expect(until).toBeLessThan(1.2 * MINUTE)
  })

  test('everything is given up when patience is over, and its URLs are skipped without being asked', async () => {
    const story = await crawlHost(
      (path) =>
        path === '/' || path === '/robots.txt' ? site(8, path) : { status: 429, headers: { 'retry-after': '60' } },
      { patience: 10 * MINUTE },
    )
    expect(story.stats).toMatchObject({ done: 1, failed: 0, skipped: { 'host-unavailable': 8 }, queued: 0 })
    expect(story.asked.at(-1)?.at).toBeLessThan(12 * MINUTE)
    expect(story.asked.length).toBeGreaterThan(10)
  })

  test('and has no end of it is asked for ever when patience has no end', async () => {
    const story = await crawlHost(
      (path, n) => (path === '/' && n <= 30 ? { status: 429, headers: { 'retry-after': '600' } } : site(0, path)),
      { patience: 'none' },
    )
    expect(story.stats).toMatchObject({ done: 1, failed: 0, skipped: {} })
  })

  test('one URL alone, again and again, loses that URL and no other', async () => {
    const story = await crawlHost((path) =>
      path === '/3' ? { status: 503, headers: { 'retry-after': '1' } } : site(40, path),
    )
    expect(story.stats).toMatchObject({ done: 40, failed: 1, skipped: {}, queued: 0 })
    expect(story.asked.filter(({ path }) => path === '/3')).toHaveLength(3)
  })

  test('its robots.txt is left alone too', async () => {
    const story = await crawlHost((path, n) => (path === '/robots.txt' && n === 1 ? { status: 503 } : site(2, path)))
    expect(story.blocked).toMatchObject([{ reason: 'HTTP 503' }])
    expect(secondAfter(story, '/robots.txt')).toBeGreaterThanOrEqual(MINUTE)
    expect(story.stats).toMatchObject({ done: 3, failed: 0, skipped: {} })
  })
})

describe('a host that cannot be reached', () => {
  test('is kept away from for longer each time, with the reason and the time of the next try', async () => {
    const story = await crawlHost(
      (path, n) => (path === '/' && n <= 4 ? { unreachable: 'the connection was refused' } : site(1, path)),
      { attempts: 5 },
    )
    expect(story.stats).toMatchObject({ done: 2, failed: 0 })
    expect(story.blocked.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 4 }, () => 'the connection was refused'),
    )
    const seconds = story.blocked.map(({ forMs }) => Math.floor(forMs / 1_000))
    expect(seconds).toEqual([1, 2, 4, 8])
    expect(story.host).toMatchObject({ blockedReason: null, health: { strikes: 0, streak: 2 } })
  })

  test('keeps every URL of it waiting, not only the one that failed', async () => {
    const story = await crawlHost((path, n) => (path === '/1' && n === 1 ? { unreachable: 'reset' } : site(5, path)), {
      retryDelay: 30_000,
    })
    const failure = story.asked.find(({ path }) => path === '/1')
    const next = story.asked.find(({ at }) => at > (failure?.at ?? 0))
    expect((next?.at ?? 0) - (failure?.at ?? 0)).toBeGreaterThanOrEqual(30_000)
    expect(story.stats).toMatchObject({ done: 6, failed: 0 })
  })

  test('for good loses each URL after its attempts, with the reason of the connection', async () => {
    const story = await crawlHost((path) => (path === '/1' ? { unreachable: 'refused' } : site(3, path)), {
      attempts: 2,
    })
    expect(story.stats).toMatchObject({ done: 3, failed: 1 })
  })
})

describe('a host whose answers slow down', () => {
  test('is asked less often, by a factor of its latency', async () => {
    const story = await crawlHost((path) => ({ ...site(30, path), latencyMs: 2_000 }), {
      latencyFactor: 5,
      latencyMaxDelay: MINUTE,
    })
    const gaps = story.asked.slice(1).map(({ at }, index) => at - (story.asked[index]?.at ?? 0))
    // From the answer, ten seconds.
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(12_000)
    expect(Math.max(...gaps)).toBeLessThan(12_100)
    expect(story.host?.delayMs).toBe(10_000)
  })

  test('is asked less often up to a bound', async () => {
    const story = await crawlHost((path) => ({ ...site(5, path), latencyMs: 2_000 }), {
      latencyFactor: 100,
      latencyMaxDelay: 7_000,
    })
    const gaps = story.asked.slice(1).map(({ at }, index) => at - (story.asked[index]?.at ?? 0))
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(9_000)
    expect(Math.max(...gaps)).toBeLessThan(9_100)
  })
})

describe('a robots.txt that changes in mid-crawl', () => {
  test('turns queued URLs away, with the line that does it', async () => {
    const story = await crawlHost(
      (path, n) => {
        if (path !== '/robots.txt') return site(20, path)
        return { body: n === 1 ? 'User-agent: *\nDisallow: /none\n' : '# new\nUser-agent: *\nAllow: /$\nDisallow: /\n' }
      },
      { robotsMaxAge: 10_000 },
    )
    const { done, skipped, failed } = story.stats
    expect(done).toBeGreaterThan(5)
    expect(failed).toBe(0)
    expect(skipped).toEqual({ robots: 21 - done })
    const [version] = new Set(story.skipped.map(({ detail }) => /version ([0-9a-f]{8})/.exec(detail ?? '')?.[1]))
    for (const { reason, detail } of story.skipped) {
      expect({ reason, detail }).toEqual({
        reason: 'robots',
        detail: `robots.txt line 4: Disallow: / (version ${version})`,
      })
    }
    const changed = story.asked.findLastIndex(({ path }) => path === '/robots.txt')
    expect(changed).toBe(story.asked.length - 1)
  })

  test('keeps its last good copy while the origin is in trouble, and no page waits or is lost', async () => {
    const story = await crawlHost(
      (path, n) =>
        path === '/robots.txt'
          ? n === 1
            ? { body: 'User-agent: *\nDisallow: /3\n' }
            : { status: 500 }
          : site(20, path),
      { robotsMaxAge: 5_000 },
    )
    expect(story.stats).toMatchObject({ done: 20, failed: 0, skipped: { robots: 1 } })
    expect(story.host?.robots).toMatchObject([
      { state: 'rules', status: 200, staleSince: expect.any(Number) as number },
    ])
    expect(story.endedAfterMs).toBeLessThan(MINUTE)
  })
})

test('nothing here is ever impolite', async () => {
  const story = await crawlHost(
    (path, n) => {
      const kind = (Number(path.slice(1)) || 0) % 4
      if (kind === 1 && n === 1) return { status: 429, headers: { 'retry-after': '3' } }
      if (kind === 2 && n === 1) return { unreachable: 'reset' }
      return { ...site(40, path), latencyMs: 10 * kind }
    },
    { delay: 250 },
  )
  expect(story.stats).toMatchObject({ done: 41, failed: 0 })
  expect(story.impolite).toEqual([])
})
