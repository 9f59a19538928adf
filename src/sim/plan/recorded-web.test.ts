import { expect, test } from 'vitest'
import { resolveSettings } from '../../config/index.ts'
import type { HostView } from '../../frontier/index.ts'
import { UNKNOWN_HEALTH, type NormalizedUrl } from '../../model/index.ts'
import {
  boundOf,
  longestChains,
  longestGroup,
  recordWeb,
  runPlan,
  USUAL_COSTS,
  type RecordedCrawl,
  type RecordedUrl,
  type Plan,
} from './index.ts'

const A = 'https://a.test'
const B = 'https://b.test'
const url = (text: string): NormalizedUrl => text as NormalizedUrl

interface Lane {
  readonly origin: string
  readonly crawlDelayMs?: number
  readonly unreachable?: { readonly status: number | null }
}

const host = (id: number, { origin, crawlDelayMs = 0, unreachable }: Lane, more: Partial<HostView> = {}): HostView =>
  ({
    id,
    key: origin.slice('https://'.length),
    blockedUntil: 0,
    blockedReason: null,
    health: UNKNOWN_HEALTH,
    address: null,
    lanes: [
      {
        origin,
        robots: {
          crawlDelayMs,
          refusal: unreachable === undefined ? null : 'robots-unreachable',
          status: unreachable?.status ?? 200,
        },
      },
    ],
    ...more,
  }) as unknown as HostView

const row = (
  id: number,
  address: string,
  state: RecordedUrl['state'],
  more: Partial<RecordedUrl> = {},
): RecordedUrl => ({ id, url: url(address), referrer: 0, via: 'seed', state, reason: null, ...more })

const saved = (address: string, answerMs: number, attempts = 1) => ({
  url: address,
  fetchedAt: '2026-01-01T00:00:00.000Z',
  answerMs,
  durationMs: answerMs + 10,
  bytes: 2_000,
  attempts,
})

const crawlOf = (parts: Partial<{ [K in keyof RecordedCrawl]: ReturnType<RecordedCrawl[K]> }>): RecordedCrawl => ({
  hosts: () => parts.hosts ?? [],
  urls: () => parts.urls ?? [],
  pages: () => parts.pages ?? [],
  failures: () => parts.failures ?? [],
  skips: () => parts.skips ?? [],
})

const { settings } = resolveSettings({ version: '0.0.0', flags: { latencyFactor: 0 } })
const whole = (crawl: RecordedCrawl): ReturnType<typeof recordWeb> =>
  recordWeb(crawl, { part: 'whole', now: 0, wasBusy: false })
const planned = (crawl: RecordedCrawl, part: 'rest' | 'whole' = 'whole'): Promise<Plan> => {
  const web = recordWeb(crawl, { part, now: 0, wasBusy: false })
  return runPlan({ settings, web, costs: USUAL_COSTS, slots: 20 })
}

const SMALL = crawlOf({
  hosts: [host(1, { origin: A, crawlDelayMs: 3_000 }), host(2, { origin: B })],
  urls: [
    row(1, `${A}/`, 'done'),
    row(2, `${A}/one`, 'done', { referrer: 1, via: 'link' }),
    row(3, `${A}/gone`, 'failed', { referrer: 1, via: 'link' }),
    row(4, `${A}/old`, 'skipped', { referrer: 1, via: 'link', reason: 'redirect' }),
    row(5, `${B}/new`, 'done', { referrer: 4, via: 'redirect' }),
    row(6, `${A}/private`, 'skipped', { referrer: 1, via: 'link', reason: 'robots' }),
    row(7, `${B}/mapped`, 'queued', { via: 'sitemap' }),
  ],
  pages: [saved(`${A}/`, 100), saved(`${A}/one`, 200, 2), saved(`${B}/new`, 40)],
  failures: [{ url: `${A}/gone`, error: 'http', detail: 'HTTP 410', status: 410 }],
  skips: [{ url: `${A}/old`, reason: 'redirect', location: `${B}/new` }],
})

test('a page answers as it did, with the links that it was the first to name', () => {
  const web = whole(SMALL)
  expect(web.seeds).toEqual([`${A}/`])
  expect(web.answer(url(`${A}/`), 'page', 1)).toEqual({
    kind: 'response',
    status: 200,
    answerMs: 100,
    transferMs: 10,
    bytes: 2_000,
    links: [`${A}/one`, `${A}/gone`, `${A}/old`],
  })
  expect(web.answer(url(`${A}/gone`), 'page', 1)).toMatchObject({ status: 410, answerMs: 150 })
  expect(web.answer(url(`${A}/old`), 'page', 1)).toMatchObject({ status: 302, location: `${B}/new` })
})

test('a page that was had at the second attempt is an error first', () => {
  const web = whole(SMALL)
  expect(web.answer(url(`${A}/one`), 'page', 1)).toMatchObject({ status: 500 })
  expect(web.answer(url(`${A}/one`), 'page', 2)).toMatchObject({ status: 200, answerMs: 200 })
})

test('robots.txt asks for the Crawl-delay that it asked for, and the sitemap names what it named', () => {
  const web = whole(SMALL)
  expect(web.answer(url(`${A}/robots.txt`), 'robots', 1)).toMatchObject({ status: 200, crawlDelayMs: 3_000 })
  expect(web.answer(url(`${B}/sitemap.xml`), 'sitemap', 1)).toMatchObject({ links: [`${B}/mapped`] })
  expect(web.answer(url(`${A}/sitemap.xml`), 'sitemap', 1)).toMatchObject({ status: 404 })
})

test('the whole crawl is planned with every URL that was asked for, and none that was not', async () => {
  const plan = await planned(SMALL)
  expect(plan).toMatchObject({ end: 'finished', pages: 4, failed: 1 })
  // robots.txt, sitemap, the home page, the one that took two attempts, the one that is gone, the one that moved.
  expect(plan.hosts.get('a.test')?.requests).toBe(2 + 1 + 2 + 1 + 1)
  expect(plan.durationMs).toBeGreaterThan(6 * 3_000)
})

test('what is left is planned with what is queued alone', async () => {
  const plan = await planned(SMALL, 'rest')
  expect(plan).toMatchObject({ end: 'finished', pages: 1 })
  expect([...plan.hosts.keys()]).toEqual(['b.test'])
})

test('an origin whose robots.txt could not be had is asked for it, in vain, and for nothing else', async () => {
  const plan = await planned(
    crawlOf({
      hosts: [host(1, { origin: A, unreachable: { status: 500 } })],
      urls: [row(1, `${A}/`, 'skipped', { reason: 'robots-unreachable' })],
    }),
  )
  expect(plan).toMatchObject({ end: 'finished', pages: 0 })
  expect(plan.hosts.get('a.test')?.requests).toBe(settings.attempts)
})

test('a host that asked for a pause asks for it once more', async () => {
  const urls = [row(1, `${A}/`, 'done'), row(2, `${A}/one`, 'done', { referrer: 1, via: 'link' })]
  const pages = [saved(`${A}/`, 100), saved(`${A}/one`, 100)]
  const paused = {
    blockedUntil: 90_000,
    blockedReason: 'HTTP 429',
    health: { ...UNKNOWN_HEALTH, blockedAt: 60_000 },
  }
  const plan = (hosts: HostView[]): Promise<Plan> => planned(crawlOf({ hosts, urls, pages }))
  const [calm, busy] = [await plan([host(1, { origin: A })]), await plan([host(1, { origin: A }, paused)])]
  expect(busy.pages).toBe(calm.pages)
  expect(busy.requests).toBe(calm.requests + 1)
  expect(busy.durationMs).toBeGreaterThan(calm.durationMs + 28_000)
})

test('a pause is part of every plan of the same web, and of what its host takes by itself', async () => {
  const paused = { blockedUntil: 90_000, blockedReason: 'HTTP 429', health: { ...UNKNOWN_HEALTH, blockedAt: 60_000 } }
  const web = whole(
    crawlOf({
      hosts: [host(1, { origin: A }, paused)],
      urls: [row(1, `${A}/`, 'done'), row(2, `${A}/one`, 'done', { referrer: 1, via: 'link' })],
      pages: [saved(`${A}/`, 100), saved(`${A}/one`, 100)],
    }),
  )
  const plan = (slots: number): Promise<Plan> => runPlan({ settings, web, costs: USUAL_COSTS, slots })
  const [first, second] = [await plan(20), await plan(5)]
  expect(first.durationMs).toBeGreaterThan(30_000)
  expect(second).toMatchObject({ durationMs: first.durationMs, requests: first.requests })
  const [chain] = longestChains(web, first, settings, 1)
  expect(chain?.chainMs).toBeGreaterThan(30_000)
  expect(boundOf(first, chain)).toBe('host')
})

test('times that a busy machine measured are taken for the quickest of them', () => {
  const addresses = Array.from({ length: 100 }, (_, index) => `${A}/${index}`)
  const crawl = crawlOf({
    hosts: [host(1, { origin: A })],
    urls: addresses.map((address, index) => row(index + 1, address, 'done')),
    pages: addresses.map((address, index) => saved(address, 5 + index)),
  })
  const quiet = recordWeb(crawl, { part: 'whole', now: 0, wasBusy: false })
  const busy = recordWeb(crawl, { part: 'whole', now: 0, wasBusy: true })
  expect(quiet.answer(url(`${A}/90`), 'page', 1)).toMatchObject({ answerMs: 95, transferMs: 10 })
  expect(busy.answer(url(`${A}/90`), 'page', 1)).toMatchObject({ answerMs: 15, transferMs: 0 })
})

test('a connection that timed out does so after as long, every time', async () => {
  const crawl = crawlOf({
    hosts: [host(1, { origin: A })],
    urls: [row(1, `${A}/`, 'failed')],
    failures: [{ url: `${A}/`, error: 'timeout', detail: 'no answer after 30000 ms' }],
  })
  expect(whole(crawl).answer(url(`${A}/`), 'page', 1)).toEqual({
    kind: 'error',
    code: 'timeout',
    retryable: true,
    answerMs: 30_000,
  })
})

test('an address that several hosts share bounds the plan, although none of them does alone', async () => {
  const origins = Array.from({ length: 6 }, (_, index) => `https://host-${index}.test`)
  const web = whole(
    crawlOf({
      hosts: origins.map((origin, index) => host(index + 1, { origin }, { address: '192.0.2.9' })),
      urls: origins.map((origin, index) => row(index + 1, `${origin}/`, 'done')),
      pages: origins.map((origin) => saved(`${origin}/`, 100)),
    }),
  )
  const paced = { ...settings, perIpDelayMs: 5_000 }
  const plan = await runPlan({ settings: paced, web, costs: USUAL_COSTS, slots: 20 })
  const group = longestGroup(web, plan, paced)
  expect(group).toMatchObject({ by: 'address', name: '192.0.2.9', hosts: 6, delayMs: 5_000, requests: plan.requests })
  expect(group?.chainMs).toBeLessThanOrEqual(plan.durationMs)
  expect(boundOf(plan, longestChains(web, plan, paced, 1)[0], group)).toBe('address')
})

test('hosts that share an address share its pace, and others do not', async () => {
  const urls = [row(1, `${A}/`, 'done'), row(2, `${B}/`, 'done')]
  const plan = (address: string): Promise<Plan> => {
    const hosts = [host(1, { origin: A }, { address: '192.0.2.9' }), host(2, { origin: B }, { address })]
    const web = whole(crawlOf({ hosts, urls, pages: [saved(`${A}/`, 100), saved(`${B}/`, 100)] }))
    return runPlan({ settings: { ...settings, perIpDelayMs: 5_000 }, web, costs: USUAL_COSTS, slots: 20 })
  }
  const [apart, together] = [await plan('192.0.2.10'), await plan('192.0.2.9')]
  expect(together.requests).toBe(apart.requests)
  expect(together.durationMs).toBeGreaterThan(apart.durationMs + 10_000)
})
