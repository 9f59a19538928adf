import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSystemClock } from '../../base/index.ts'
import { resolveSettings } from '../../config/index.ts'
import { prepareCrawlFolder } from '../../engine/index.ts'
import { createFrontier, type Frontier, type Lease } from '../../frontier/index.ts'
import type { NormalizedUrl, Task } from '../../model/index.ts'
import { createLoopbackWeb, type LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'
import { createSmallTown } from '../test-support/small-town.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-aside-'))
afterAll(() => rmSync(root, { recursive: true }))

const records = (folder: string, name: string): Record<string, unknown>[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('URLs that are set aside', () => {
  const folder = join(root, 'open')
  const url = (path: string): NormalizedUrl => `https://example.test${path}` as NormalizedUrl
  const endless = url('/a/b/a/b/a/b/a/b/a/b/a/b/')
  let frontier: Frontier

  beforeAll(async () => {
    const { settings } = resolveSettings({ version: '0.0.0' })
    prepareCrawlFolder(folder, { settings, seeds: [url('/')] }, undefined)
    const clock = createSystemClock()
    const policyOf = () => ({ delayMs: 0, concurrency: 1 })
    frontier = createFrontier({ store: join(folder, 'state'), clock, policyOf, traps: true })
    await frontier.add([
      { url: endless, kind: 'page', depth: 1, via: 'link', referrer: url('/') },
      { url: url('/fine'), kind: 'page', depth: 1, via: 'link', referrer: url('/') },
    ])
    const robots = {
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
      staleSince: null,
    } as const
    const one = async (): Promise<{ lease: Lease; task: Task }> => {
      const lease = (await frontier.lease({ worker: 'w', want: 1 })).leases[0] as Lease
      return { lease, task: lease.tasks[0] as Task }
    }
    await frontier.settle([{ ...(await one()), outcome: { kind: 'done' }, answeredAt: clock.now(), robots }])
    await frontier.settle([{ ...(await one()), outcome: { kind: 'returned' } }])
  })
  afterAll(() => frontier.close())

  test('are counted by tiptoe status', async () => {
    expect((await runCommand(['status', folder])).stdout).toMatch(/queued +2 \(1 set aside\)/)
    expect((await runCommand(['status', folder, '--json'])).json()).toMatchObject({ urls: { queued: 2, setAside: 1 } })
  })

  test('are told with their reason by tiptoe why, and what may free them', async () => {
    const { stdout } = await runCommand(['why', endless, folder])
    expect(stdout).toMatch(/state +set aside: \S/)
    expect(stdout).toContain('It waits until nothing else is left, and is skipped then')
    expect((await runCommand(['why', url('/fine'), folder])).stdout).toMatch(/state +queued\n/)
  })

  test('are where the audit expects them', async () => {
    expect((await runCommand(['audit', folder, '--json'])).json()).toMatchObject({ ok: true, urls: { queued: 2 } })
  })
})

describe('a crawl', () => {
  let web: LoopbackWeb
  afterAll(() => web.close())
  const flags = (): string[] => ['--delay', '5ms', '--fail-on', '100%', ...flagsFor(web)]

  test('saves as many pages of a host as it may, exactly, and says why it skips the rest', async () => {
    web = await createSmallTown()
    const folder = join(root, 'budget')
    const seeds = [web.url('a.test'), web.url('b.test')]
    const ran = await runCommand([...seeds, '--max-pages-per-host', '2', '-o', folder, ...flags()])
    expect(ran.code).toBe(0)
    const hosts = records(folder, 'pages.jsonl').map((record) => new URL(String(record['url'])).hostname)
    expect(hosts.toSorted()).toEqual(['a.test', 'a.test', 'b.test', 'b.test'])
    const skip = records(folder, 'skipped.jsonl').find(({ reason }) => reason === 'host-budget')
    const { stdout } = await runCommand(['why', String(skip?.['url']), folder])
    expect(stdout).toContain('skipped (host-budget): its host has as many pages as max_pages_per_host allows')
    expect((await runCommand(['audit', folder])).code).toBe(0)
    await web.close()
  })

  test('takes parameters that mean nothing out of seeds, links, redirects and sitemaps', async () => {
    const html = (...links: string[]) => ({
      headers: { 'content-type': 'text/html' },
      body: links.map((link) => `<p>${link}</p><a href="${link}">${link}</a>`).join(''),
    })
    const sitemap = (base: string): string =>
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${base}listed?gclid=9</loc></url></urlset>`
    web = await createLoopbackWeb({
      's.test': ({ path, query, url }) => {
        if (path === '/robots.txt') return { status: 404 }
        if (path === '/sitemap.xml') return { body: sitemap(url('s.test')) }
        if (path === '/moved') return { status: 302, headers: { location: '/target?utm_medium=x&id=1' } }
        // A site that insists on its parameter must not be lost to a redirect to itself.
        if (path === '/marked' && query === '') return { status: 302, headers: { location: '/marked?utm_source=x' } }
        return path === '/'
          ? html('/a?utm_source=x&q=1', '/a?q=1&sid=7', '/a?q=1', '/moved', '/marked')
          : { body: `This is ${path}.` }
      },
    })
    const folder = join(root, 'stripped')
    const seed = web.url('s.test', '/?fbclid=1')
    expect((await runCommand([seed, '--strip-parameters', 'tracking,sid', '-o', folder, ...flags()])).code).toBe(0)
    const saved = records(folder, 'pages.jsonl').map((record) => String(record['url']).replace(web.url('s.test'), '/'))
    expect(saved.toSorted()).toEqual(['/', '/a?q=1', '/listed', '/marked?utm_source=x', '/target?id=1'])
    await expect(runCommand([seed, '-o', folder, ...flags()])).rejects.toThrow('--strip-parameters was')
  })
})
