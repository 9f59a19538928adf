import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smallestGapMs } from '../../../test/support/loopback-web.ts'
import { createLoopbackWeb, type LoopbackWeb } from '../demo/index.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'

let web: LoopbackWeb
beforeAll(async () => {
  web = await createLoopbackWeb({
    'rules.test': {
      '/robots.txt': {
        body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 2.5\nSitemap: https://rules.test/map\u001b[2J.xml\n\nUser-agent: Special\nDisallow: /\n',
      },
    },
    'none.test': {},
    'broken.test': { '/robots.txt': { status: 503 } },
    'moved.test': ({ path, url }) =>
      path === '/robots.txt'
        ? { status: 301, headers: { location: url('moved.test', '/rules') } }
        : { body: 'User-agent: *\nDisallow: /x' },
    'round.test': ({ n }) => ({ status: 302, headers: { location: `/robots.txt?${n}` } }),
  })
})
afterAll(() => web.close())

const FAST = { TIPTOE_DELAY: '20ms' }
const robots = (...words: string[]): ReturnType<typeof runCommand> =>
  runCommand(['robots', ...words, ...flagsFor(web)], FAST)

describe('tiptoe robots', () => {
  test('names the deciding line, the Crawl-delay and the sitemaps, and exits 1 when a URL is not allowed', async () => {
    const ran = await robots(web.url('rules.test', '/private/x'), web.url('rules.test', '/public'))
    expect(ran.stdout).toContain('not allowed for Tiptoe: robots.txt line 2: Disallow: /private')
    expect(ran.stdout).toContain('allowed for Tiptoe: no rule of robots.txt applies')
    expect(ran.stdout).toMatch(/crawl-delay +2\.5s/)
    expect(ran.stdout).toMatch(/version +[0-9a-f]+, read \d{4}-\d\d-\d\dT/)
    expect(ran.stdout).toContain('https://rules.test/map\\x1b[2J.xml')
    expect(ran.code).toBe(1)
    expect(web.log.filter(({ host }) => host === 'rules.test')).toHaveLength(1)
  })

  test('reads the file for another product token', async () => {
    const ran = await robots(web.url('rules.test', '/public'), '--agent', 'Special', '--json')
    expect(ran.json()).toMatchObject([{ agent: 'Special', allowed: false, line: 7, rule: 'Disallow: /', status: 200 }])
    await expect(robots(web.url('rules.test'), '--agent', '*')).rejects.toMatchObject({ code: 'usage' })
  })

  test('names the version of the file, which is its text and nothing else', async () => {
    const version = async (host: string): Promise<unknown> =>
      ((await robots(web.url(host, '/'), '--json')).json() as never as { version: string }[])[0]?.version
    expect(await version('rules.test')).toBe(await version('rules.test'))
    expect(await version('rules.test')).not.toBe(await version('none.test'))
  })

  test('allows all where there is no file, and exits 0', async () => {
    const ran = await robots(web.url('none.test', '/x'), '--json')
    expect(ran.json()).toMatchObject([{ state: 'allow-all', allowed: true, status: 404, crawlDelayMs: null }])
    expect(ran.code).toBe(0)
  })

  test('disallows all where the server is in trouble or may not be dialled', async () => {
    const broken = await robots(web.url('broken.test', '/x'))
    expect(broken.stdout).toContain('nothing may be asked (RFC 9309 §2.3.1.4)')
    expect(broken.code).toBe(1)
    const refused = await runCommand(['robots', 'http://127.0.0.1:1/', '--json'], FAST)
    expect(refused.json()).toMatchObject([{ state: 'disallow-all', allowed: false }])
    expect(refused.code).toBe(1)
  })

  test('follows redirects at the pace of the host, and no more than five', async () => {
    const moved = await robots(web.url('moved.test', '/x'), '--json')
    expect(moved.json()).toMatchObject([
      { asked: [web.url('moved.test', '/robots.txt'), web.url('moved.test', '/rules')], allowed: false, line: 2 },
    ])
    expect(smallestGapMs(web.log, 'moved.test')).toBeGreaterThanOrEqual(20)
    const round = await robots(web.url('round.test', '/x'), '--json')
    expect(round.json()).toMatchObject([{ state: 'allow-all', allowed: true }])
    expect(web.log.filter(({ host }) => host === 'round.test')).toHaveLength(6)
  })
})
