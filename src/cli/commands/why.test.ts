import { prepareCrawlFolder } from '../../engine/index.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../base/index.ts'
import { resolveSettings } from '../../config/index.ts'
import { createFrontier, type Frontier, type Lease, type Settlement } from '../../frontier/index.ts'
import type { HostKey, NormalizedUrl, Task } from '../../model/index.ts'
import { createLoopbackWeb, type LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-why-'))
const finished = join(root, 'finished')
const limited = join(root, 'limited')
let web: LoopbackWeb

beforeAll(async () => {
  web = await createSmallTown()
  const flags = ['--delay', '5ms', '--fail-on', '100%', ...flagsFor(web)]
  await runCommand([web.url('a.test'), '-o', finished, ...flags])
  await runCommand([web.url('a.test'), '-o', limited, '--max-pages', '1', ...flags])
})
afterAll(async () => {
  await web.close()
  rmSync(root, { recursive: true })
})

const why = async (path: string, folder = finished): Promise<string> => {
  const ran = await runCommand(['why', path.includes('://') ? path : web.url('a.test', path), folder])
  expect(ran.code).toBe(0)
  return ran.stdout
}

describe('tiptoe why', () => {
  test('tells the way of a page from its seed, and what was saved', async () => {
    const story = await why('/deeper')
    expect(story).toContain('fetched and saved')
    expect(story).toMatch(/linked from \S+\/deep\n +linked from \S+\/one\n +linked from \S+\/ \(a seed\)/)
    expect(story).toMatch(
      /depth +3\n +tier +medium, by the score of its host: 0\.\d+ \(high from 0\.6, low below 0\.3\)/,
    )
    expect(story).toContain('allowed: no rule of robots.txt applies')
    expect(story).toContain('title: deeper')
    expect(story).toMatch(/visits +1 since \S+Z, the last \S+Z/)
    expect(story).toMatch(/Nothing by itself\. With --once or --recrawl it is fetched again: it is due in /)
    expect(await why('/two')).toContain('named 2 times in all')
    expect(await why('/')).toContain('a seed of the crawl')
  })

  test('tells which page it repeats', async () => {
    const copies = await createLoopbackWeb({
      'c.test': {
        '/': { body: '<a href="/shown">on</a>' },
        '/shown': { body: '<link rel=canonical href=/real><p>Words.</p>' },
        '/real': { body: '<p>Words.</p>' },
      },
    })
    try {
      const folder = join(root, 'copies')
      await runCommand([copies.url('c.test'), '-o', folder, '--delay', '5ms', ...flagsFor(copies)])
      expect(await why(copies.url('c.test', '/shown'), folder)).toMatch(
        /copy +it names this page as canonical: \S+\/real/,
      )
      expect(await why(copies.url('c.test', '/real'), folder)).toMatch(/named as canonical by \S+\/shown/)
    } finally {
      await copies.close()
    }
  })

  test('names the line of robots.txt that forbids a page', async () => {
    const story = await why('/private/x')
    expect(story).toContain('skipped (robots): robots.txt of its origin disallows it')
    expect(story).toContain('not allowed: robots.txt line 2: Disallow: /private/')
    expect(story).toContain('Nothing: this is final.')
  })

  test('tells redirects and failures', async () => {
    expect(await why('/old')).toMatch(/skipped \(redirect\)[^]*location: \S+\/new/)
    expect(await why('/new')).toMatch(/redirected from \S+\/old\n +linked from/)
    expect(await why('/gone')).toMatch(/given up on \(http\)[^]*attempts +1\n[^]*detail: HTTP 404/)
  })

  test('tells a sitemap for what it is', async () => {
    expect(await why('/sitemap.xml')).toContain('sitemap, read')
  })

  test('says of a stranger what scope and robots.txt would decide, and what is known instead', async () => {
    const outside = await why('https://elsewhere.test/')
    expect(outside).toContain('never discovered')
    expect(outside).toMatch(/scope +out: scope prefix: no seed on elsewhere\.test/)
    expect(outside).toContain('not known: robots.txt of this origin has not been read')
    expect(await why('/private/y')).toContain('If one does, it will be skipped.')
    expect(await why('/one/')).toMatch(/but known +\S+\/one \(done\)/)
  })

  test('says when a limit keeps a URL in the queue', async () => {
    expect(await why('/two', limited)).toContain('the limit of 1 page is reached')
    expect(await why('/unheard-of', limited)).toMatch(/No page or sitemap read so far names it; \d are still queued/)
  })

  test('gives all of it as JSON', async () => {
    const ran = await runCommand(['why', web.url('a.test', '/deep'), finished, '--json'])
    expect(ran.json()).toMatchObject({
      known: 'page',
      state: 'done',
      depth: 2,
      via: 'link',
      named: 1,
      attempts: 1,
      scope: { inScope: true },
      robots: { verdict: { allowed: true } },
      referrers: [{ url: web.url('a.test', '/one') }, { url: web.url('a.test'), via: 'seed' }],
      record: { status: 200, links: 1 },
    })
  })

  test('refuses what is no URL', async () => {
    await expect(runCommand(['why', 'http://', finished])).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('of a URL that is not settled, tiptoe why', () => {
  const folder = join(root, 'open')
  const url = (path: string): NormalizedUrl => `https://example.test${path}` as NormalizedUrl
  let frontier: Frontier

  beforeAll(async () => {
    const { settings } = resolveSettings({ version: '0.0.0', flags: { maxDepth: 1, stripParameters: ['tracking'] } })
    const tiers = [{ match: '/news', tier: 'high' }] as const
    prepareCrawlFolder(folder, { settings: { ...settings, tiers }, seeds: [url('/')] }, undefined)
    const clock = createSystemClock()
    frontier = createFrontier({
      store: join(folder, 'state'),
      clock,
      maxDepth: 1,
      policyOf: () => ({ delayMs: 0, concurrency: 1 }),
    })
    const settle = async (rest: Omit<Settlement, 'lease' | 'task'>): Promise<void> => {
      const lease = (await frontier.lease({ worker: 'w', want: 1 })).leases[0] as Lease
      await frontier.settle([{ lease, task: lease.tasks[0] as Task, ...rest }])
    }
    await frontier.add([{ url: url('/'), kind: 'page', depth: 0, via: 'seed' }])
    await settle({
      outcome: { kind: 'done' },
      answeredAt: clock.now(),
      robots: {
        origin: 'https://example.test' as never,
        state: 'allow-all',
        refusal: null,
        status: 404,
        detail: 'none',
        fetchedAt: clock.now(),
        expiresAt: clock.now() + 1e6,
        body: '',
        crawlDelayMs: 0,
        version: 'abc123',
        staleSince: clock.now(),
      },
    })
    await settle({
      outcome: { kind: 'retry', notBefore: clock.now() + 3_600_000, counts: true },
      answeredAt: clock.now(),
    })
    await frontier.add([
      { url: url('/a'), kind: 'page', depth: 1, via: 'link', referrer: url('/') },
      { url: url('/b'), kind: 'page', depth: 1, via: 'link', referrer: url('/') },
      { url: url('/news'), kind: 'page', depth: 1, via: 'link', referrer: url('/'), tier: 'high' },
      { url: url('/given'), kind: 'page', depth: 1, via: 'link', referrer: url('/'), tier: 'low' },
      { url: url('/deep'), kind: 'page', depth: 2, via: 'link', referrer: url('/a') },
      { url: 'https://new.test/' as NormalizedUrl, kind: 'page', depth: 1, via: 'link', referrer: url('/') },
    ])
  })
  afterAll(() => frontier.close())

  test('says when it is tried again', async () => {
    expect(await why(url('/'), folder)).toMatch(
      /waiting for another attempt[^]*attempts +1[^]*tried again in (1h 00m|59m \d\ds)/,
    )
  })

  test('says its place in the queue and when its host may be asked', async () => {
    expect(await why(url('/a'), folder)).toContain('It is the next of its origin and tier; example.test is due now.')
    expect(await why(url('/b'), folder)).toContain(
      '1 URL of its origin and tier comes before it; example.test is due now.',
    )
    expect(await why('https://new.test/', folder)).toContain('after robots.txt is read; new.test')
  })

  test('says what its score is made from, and where its tier comes from', async () => {
    const told = await why(url('/a'), folder)
    expect(told).toMatch(/tier +medium, by the score of its host/)
    expect(told).toMatch(
      /score +0\.\d{3} = 0\.4 × importance \+ 0\.3 × change \+ 0\.2 × age \+ 0\.1 × depth\n +importance 0\.\d+: its host 0\.\d+ \(0\.5 is average\), named 1 time\n +change 0\.5: nothing is known of it yet\n +age 0: waiting for \S+ of 7d 00h\n +depth 0\.5: 1 link from a seed/,
    )
    expect(await why(url('/news'), folder)).toMatch(/tier +high, by the rule \/news\n/)
    expect(await why(url('/given'), folder)).toMatch(/tier +low, as it was found with\n/)
    const ran = await runCommand(['why', url('/b'), folder, '--json'])
    expect(ran.json()).toMatchObject({
      ahead: 1,
      score: { inputs: { referrers: 1, depth: 1, changeIntervalMs: null } },
    })
  })

  test('knows it without the parameters that the crawl strips', async () => {
    expect(await why(url('/a?utm_source=x'), folder)).toContain('It is the next of its origin and tier')
  })

  test('says which robots.txt is in force, and that no newer one could be had', async () => {
    expect(await why(url('/a'), folder)).toMatch(
      /read \d{4}-\S+Z, version abc123\n +the last good copy: since \d{4}-\S+Z no newer one could be had/,
    )
  })

  test('says how its host has been answering, what it waits for and with whom', async () => {
    const host = 'new.test' as HostKey
    const health = { strikes: 2, streak: -3, streakSince: 1e12, blockedAt: 2e12, latencyMs: 40 }
    expect(await why('https://new.test/', folder)).toMatch(/host +new\.test: never asked/)
    await frontier.host(host, { health, blockedUntil: 4e12, blockedReason: 'HTTP 429', address: '192.0.2.7' })
    const told = await why('https://new.test/', folder)
    expect(told).toMatch(/host +new\.test: refused or failed its last 3 requests since 2001-09-09T01:46:40\.000Z/)
    expect(told).toMatch(/left alone until 2096-10-02T07:06:40\.000Z, in \d+d \d\dh: HTTP 429/)
    expect(told).toContain('2 pauses not forgiven yet')
    expect(told).toMatch(/new\.test may be asked in \d+d \d\dh \(left alone: HTTP 429\)/)
    const ran = await runCommand(['why', 'https://new.test/', folder, '--json'])
    expect(ran.json()).toMatchObject({
      host: { health, blocked: { until: new Date(4e12).toISOString(), reason: 'HTTP 429' }, address: '192.0.2.7' },
    })
  })

  test('says that it is held for its depth', async () => {
    expect(await why(url('/deep'), folder)).toContain('It is held: depth 2 is beyond max_depth 1.')
  })
})
