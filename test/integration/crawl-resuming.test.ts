/** What a crawl still knows when it goes on: after a limit, a kill at an awkward moment, or a leap of the clock. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSystemClock, type Clock } from '../../src/base/index.ts'
import { crawl } from '../support/crawl.ts'
import { endings, readOutput } from '../support/crawl-output.ts'
import {
  generatedSite,
  smallestGapMs,
  type Answer,
  type HostBehaviour,
  type LoopbackWeb,
} from '../support/loopback-web.ts'
import { LAUNCHER, nextMoment, reach, runTiptoe, startCommand, startTiptoe } from '../support/program.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const TIMEOUT = { timeout: 40_000 }
const { webOf, newFolder } = sideBySide()

const redirect = (location: string): Answer => ({ status: 302, headers: { location } })
const asked = (web: LoopbackWeb, host: string): string[] =>
  web.log.filter((entry) => entry.host === host).map(({ path }) => path)

describe.concurrent('a limit that was reached', () => {
  it('of bytes is still reached when the same command is run again', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': generatedSite({ pages: 50, linksPerPage: 5, bytesPerPage: 3_000, seed: 3 }) })
    const words = [web.url('a.test'), '-o', newFolder(), '--delay', '5ms', '--no-sitemaps', '--max-bytes', '10KB']
    expect(await runTiptoe([...words, ...reach(web)])).toMatchObject({ code: 4 })
    const before = web.log.length
    expect(await runTiptoe([...words, ...reach(web)])).toMatchObject({ code: 4 })
    expect(web.log).toHaveLength(before)
  })

  it('of time stops the crawl, which goes on in the next run', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': generatedSite({ pages: 12, linksPerPage: 5, bytesPerPage: 900, seed: 3 }) })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, '--delay', '60ms', '--no-sitemaps', ...reach(web)]
    expect(await runTiptoe([...words, '--max-time', '300ms'])).toMatchObject({ code: 4 })
    expect(readOutput(folder).pages.length).toBeLessThan(12)
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    expect(readOutput(folder).pages).toHaveLength(12)
    expect(asked(web, 'a.test')).toHaveLength(13)
  })
})

describe.concurrent('after a kill', () => {
  it('a block that a host asked for is kept to', TIMEOUT, async () => {
    const web = await webOf({
      'busy.test': ({ path, n }) => {
        if (path === '/robots.txt') return { status: 404 }
        return n === 1 ? { status: 429, headers: { 'retry-after': '3' } } : page()
      },
    })
    const folder = newFolder()
    const words = [web.url('busy.test'), '-o', folder, '--delay', '10ms', '--no-sitemaps', '-q', ...reach(web)]
    const program = startTiptoe(words)
    await program.until(() => web.log.some((entry) => entry.status === 429))
    await nextMoment(200)
    program.child.kill('SIGKILL')
    await program.ended
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    const [, blocked, next] = web.log
    expect((next?.arrivedAt as number) - (blocked?.answeredAt as number)).toBeGreaterThanOrEqual(3_000)
    expect(readOutput(folder).pages).toHaveLength(1)
  })

  it('a robots.txt that had led to another host is asked for there', TIMEOUT, async () => {
    const web = await webOf({
      'guest.test': ({ path, url }) =>
        path === '/robots.txt' ? redirect(url('hub.test', '/theirs.txt')) : page('/ok', '/private'),
      'hub.test': ({ path, n }) => {
        if (path !== '/theirs.txt') return { status: 404 }
        return n === 1 ? { hang: true } : { body: 'User-agent: *\nDisallow: /private\n' }
      },
    })
    const folder = newFolder()
    const words = [web.url('guest.test'), '-o', folder, '--delay', '10ms', '--no-sitemaps', '-q', ...reach(web)]
    const program = startTiptoe(words)
    await program.until(() => asked(web, 'hub.test').length === 1)
    program.child.kill('SIGKILL')
    await program.ended
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    expect(endings(readOutput(folder)).get(web.url('guest.test', '/private'))).toBe('robots')
    expect(asked(web, 'guest.test')).toEqual(['/robots.txt', '/', '/ok'])
    expect(asked(web, 'hub.test')).toEqual(['/theirs.txt', '/theirs.txt'])
  })

  it('attempts at a page that failed are remembered', TIMEOUT, async () => {
    const web = await webOf({
      'sick.test': ({ path }) => (path === '/robots.txt' ? { status: 404 } : { status: 500 }),
    })
    const folder = newFolder()
    const words = [web.url('sick.test'), '-o', folder, '--delay', '10ms', '--no-sitemaps', '-q', ...reach(web)]
    const env = { TIPTOE_RETRY_DELAY: '1s' }
    const program = startTiptoe(words, { env })
    await program.until(() => web.log.length === 2 && web.log[1]?.endedAt !== null)
    await nextMoment(200)
    program.child.kill('SIGKILL')
    await program.ended
    expect(await runTiptoe(words, { env })).toMatchObject({ code: 1 })
    expect(asked(web, 'sick.test')).toEqual(['/robots.txt', '/', '/', '/'])
    expect(readOutput(folder).failed).toMatchObject([{ error: 'http', attempts: 3 }])
  })
})

describe.concurrent('the command that resumes', () => {
  it('needs no seeds when they came by standard input', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': generatedSite({ pages: 12, linksPerPage: 5, bytesPerPage: 900, seed: 3 }) })
    const folder = join(newFolder(), 'a folder')
    mkdirSync(folder)
    const words = ['-i', '-', '-o', folder, '--delay', '60ms', '--no-sitemaps', ...reach(web)]
    const program = startTiptoe(words, { input: `# seeds\n${web.url('a.test')}\n` })
    await program.until(() => web.log.length >= 4)
    program.child.kill('SIGINT')
    const ending = await program.ended
    const command = ending.stderr.trimEnd().split('\n').at(-1) ?? ''
    const script = `"$0" "$1" ${command.slice('tiptoe '.length)}`
    expect(await startCommand('sh', ['-c', script, process.execPath, LAUNCHER]).ended).toMatchObject({ code: 0 })
    expect(readOutput(folder).pages).toHaveLength(12)
    expect(smallestGapMs(web.log, 'a.test')).toBeGreaterThanOrEqual(60)
  })
})

describe.concurrent('a robots.txt', () => {
  it('that is sent back and forth between two hosts ends after five redirects, at the pace of both', async () => {
    const site: HostBehaviour = ({ path, host, url }) => {
      if (path !== '/robots.txt' && !path.startsWith('/r')) return page()
      return redirect(url(host === 'ping.test' ? 'pong.test' : 'ping.test', `${path}r`))
    }
    const web = await webOf({ 'ping.test': site, 'pong.test': site })
    const seeds = [web.url('ping.test'), web.url('pong.test')]
    const outcome = await crawl(web, [...seeds, '--delay', '40ms', '--no-sitemaps'])
    expect(outcome.pages).toHaveLength(2)
    expect(web.log).toHaveLength(2 * 6 + 2)
    for (const host of ['ping.test', 'pong.test']) expect(smallestGapMs(web.log, host)).toBeGreaterThanOrEqual(40)
  })

  it('is asked for again when a day has passed, also if it passes at a leap in the middle of a request', async () => {
    const system = createSystemClock()
    let leap = 0
    const clock: Clock = {
      now: () => system.now() + leap,
      wall: () => system.wall() + leap,
      timer: (ms, callback) => system.timer(ms, callback),
      turn: () => system.turn(),
      sleepUntil: (time, signal) => system.sleepUntil(time - leap, signal),
    }
    let rules = 'User-agent: *\nDisallow: /late\n'
    const web = await webOf({
      'old.test': ({ path, n }) => {
        if (path === '/robots.txt') return { body: rules }
        if (path === '/3' && n === 1) {
          leap = 25 * 3_600_000
          rules = 'User-agent: *\nDisallow: /6\n'
        }
        return path === '/' ? page('/1', '/2', '/3', '/4', '/5', '/6') : page()
      },
    })
    const outcome = await crawl(web, [web.url('old.test'), '--delay', '30ms', '--no-sitemaps'], { clock })
    expect(outcome.end).toBe('finished')
    expect(asked(web, 'old.test').filter((path) => path === '/robots.txt')).toHaveLength(2)
    expect(endings(outcome).get(web.url('old.test', '/6'))).toBe('robots')
    expect(outcome.pages).toHaveLength(6)
  })
})

describe.concurrent('many seeds', () => {
  it('from a file are all crawled, each host at its own pace', TIMEOUT, async () => {
    const hosts = Array.from({ length: 300 }, (_, index) => `h${index}.test`)
    const web = await webOf(Object.fromEntries(hosts.map((host) => [host, { '/': page() }])))
    const folder = newFolder()
    const list = join(folder, 'seeds.txt')
    writeFileSync(list, hosts.map((host) => web.url(host)).join('\r\n'))
    const out = join(folder, 'crawl')
    expect(
      await runTiptoe([
        '-i',
        list,
        '-o',
        out,
        '--delay',
        '50ms',
        '--no-sitemaps',
        '--concurrency',
        '50',
        ...reach(web),
      ]),
    ).toMatchObject({ code: 0 })
    expect(readOutput(out).pages).toHaveLength(300)
    for (const host of hosts) expect(smallestGapMs(web.log, host)).toBeGreaterThanOrEqual(50)
  })
})
