import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smallestGapMs } from '../../../test/support/loopback-web.ts'
import { createLoopbackWeb, type LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'

let web: LoopbackWeb
beforeAll(async () => {
  web = await createLoopbackWeb({
    'a.test': {
      '/robots.txt': { body: 'User-agent: *\nDisallow: /private' },
      '/docs/': {
        headers: { etag: '"1"', 'x-robots-tag': 'noindex' },
        body:
          '<!doctype html><html lang="en"><title>Docs \u001b[31m</title><meta name="description" content="About it">' +
          '<link rel="canonical" href="/docs/"><main><h1>Docs</h1><p>Some words.</p>' +
          '<a href="one">1</a><a href="two" rel="nofollow">2</a><a href="/other">3</a><a href="https://b.test/">4</a></main>',
      },
      '/old': { status: 302, headers: { location: '/docs/' } },
      '/private': { body: '<title>secret</title>' },
      '/busy': { status: 503, headers: { 'retry-after': '120' } },
    },
  })
})
afterAll(() => web.close())

const FAST = { TIPTOE_DELAY: '20ms' }
const fetchPage = (path: string, ...words: string[]): ReturnType<typeof runCommand> =>
  runCommand(['fetch', web.url('a.test', path), ...flagsFor(web), ...words], FAST)

describe('tiptoe fetch', () => {
  test('shows a page as the crawler sees it', async () => {
    const { code, stdout } = await fetchPage('/docs/')
    expect(code).toBe(0)
    expect(stdout).toContain('allowed: no rule of robots.txt applies')
    expect(stdout).toMatch(/status +200 over http\/1\.1 from 127\.0\.0\.1/)
    expect(stdout).toContain('etag: "1"')
    expect(stdout).toContain(String.raw`title        Docs \x1b[31m`)
    expect(stdout).toMatch(/description +About it\n +lang +en\n/)
    expect(stdout).toContain('noindex, follow')
    expect(stdout).toContain('4 links, 1 in scope and to be followed')
    expect(stdout).toContain(`in  ${web.url('a.test', '/docs/two')} (nofollow)`)
    expect(stdout).toContain('out https://b.test/')
    expect(stdout).toContain('# Docs\n\nSome words.')
    expect(smallestGapMs(web.log, 'a.test')).toBeGreaterThanOrEqual(20)
  })

  test('gives all of it as JSON', async () => {
    const ran = await fetchPage('/docs/', '--json')
    expect(ran.json()).toMatchObject({
      hops: [
        {
          robots: { allowed: true },
          response: { status: 200, headers: { 'x-robots-tag': 'noindex' } },
          page: {
            title: 'Docs \u001b[31m',
            charset: 'utf-8',
            links: 4,
            markdown: expect.stringContaining('Some words'),
          },
          links: [
            { url: web.url('a.test', '/docs/one'), inScope: true, nofollow: false },
            { nofollow: true },
            { inScope: false },
            { inScope: false },
          ],
        },
      ],
    })
  })

  test('follows a redirect with a verdict for each step', async () => {
    const ran = await fetchPage('/old', '--json')
    const location = web.url('a.test', '/docs/')
    expect(ran.json()).toMatchObject({
      hops: [
        { response: { status: 302 }, ending: expect.stringContaining(location) },
        { url: location, page: {} },
      ],
    })
    expect(ran.code).toBe(0)
    const { code, stdout } = await fetchPage('/old', '--max-redirects', '0')
    expect(stdout).toContain('redirect-limit')
    expect(code).toBe(1)
  })

  test('does not fetch what robots.txt forbids, unless it is told to ignore it for a reason', async () => {
    const asked = (): number => web.log.filter(({ path }) => path === '/private').length
    const { code, stdout } = await fetchPage('/private')
    expect(stdout).toContain('not allowed: robots.txt line 2: Disallow: /private')
    expect(code).toBe(1)
    expect(asked()).toBe(0)
    const env = { ...FAST, TIPTOE_IGNORE_ROBOTS_BECAUSE: 'it is our own' }
    const forced = await runCommand(['fetch', web.url('a.test', '/private'), ...flagsFor(web)], env)
    expect(forced.stderr).toContain('robots.txt is ignored: it is our own')
    expect(forced.stdout).toContain('secret')
    expect(forced.code).toBe(0)
    expect(asked()).toBe(1)
  })

  test('says why there is no page', async () => {
    expect(await fetchPage('/missing')).toMatchObject({ code: 1, stdout: expect.stringContaining('http: HTTP 404') })
    expect(await fetchPage('/busy')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /HTTP 503, Retry-After 2m 00s: the host asks to be left alone; a crawl would wait (2m 00s|1m 59s)/,
      ),
    })
    const closed = await runCommand(['fetch', 'http://127.0.0.1:2/', '--allow-address', '127.0.0.1'], {
      ...FAST,
      TIPTOE_IGNORE_ROBOTS_BECAUSE: 'nobody is there',
    })
    expect(closed).toMatchObject({ code: 1, stdout: expect.stringContaining('connect: the connection was refused') })
    const refused = await runCommand(['fetch', 'http://127.0.0.1:2/'], FAST)
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('address') })
  })
})
