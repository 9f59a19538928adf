/** Ctrl-C and its kin, sent to the real process: in a pipe, on a terminal, and through the launcher of an old Node. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSystemClock } from '../../src/base/index.ts'
import { endings, readOutput, timeless } from '../support/crawl-output.ts'
import { generatedSite, smallestGapMs, type HostBehaviour, type LoopbackWeb } from '../support/loopback-web.ts'
import {
  LAUNCHER,
  nextMoment,
  oldNode,
  reach,
  runTiptoe,
  startCommand,
  startTiptoe,
  type Program,
} from '../support/program.ts'
import { sideBySide } from '../support/side-by-side.ts'

/** The contract: a second signal has the process gone within this time, whatever hangs. */
const PROMISED_MS = 5_000
const TIMEOUT = { timeout: 40_000 }
const clock = createSystemClock()

const { webOf, newFolder: newParent } = sideBySide()
/** Not there yet: the program makes it. */
const newFolder = (): string => join(newParent(), 'crawl')

const site = (pages: number): HostBehaviour => generatedSite({ pages, linksPerPage: 6, bytesPerPage: 1_000, seed: 5 })
const hanging: HostBehaviour = ({ path }) => (path === '/robots.txt' ? { status: 404 } : { hang: true })

const lines = (text: string): string[] => text.split(/\r?\n/).filter((line) => line !== '')
const askedTimes = (web: LoopbackWeb, count: number): boolean => web.log.length >= count
const hangs = (web: LoopbackWeb): boolean => web.log.some((entry) => entry.path === '/' && entry.endedAt === null)

/** Runs the command that the program printed, with the launcher in place of the installed name. */
function resume(command: string): Promise<{ code: number | null; stderr: string }> {
  expect(command).toMatch(/^tiptoe /)
  return startCommand('sh', ['-c', `"$0" "$1" ${command.slice('tiptoe '.length)}`, process.execPath, LAUNCHER]).ended
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return new RegExp(`^PPid:\\s+${pid}$`, 'm').test(readFileSync(`/proc/${name}/status`, 'utf8'))
      } catch {
        return false
      }
    })
    .map(Number)

describe.concurrent('one signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s lets what runs end, exits %i and prints the command that resumes', TIMEOUT, async (name, code) => {
    const web = await webOf({ 'site.test': site(24) })
    const [calm, folder] = [newFolder(), newFolder()]
    const flags = ['--delay', '30ms', '--no-sitemaps', ...reach(web)]
    expect(await runTiptoe([web.url('site.test'), '-o', calm, ...flags])).toMatchObject({ code: 0 })
    const before = web.log.length
    const program = startTiptoe([web.url('site.test'), '-o', folder, ...flags, '--exclude', "it's $HOME/**"])
    await program.until(() => askedTimes(web, before + 12))
    program.child.kill(name)
    const ending = await program.ended
    expect(ending).toMatchObject({ code, signal: null, stdout: '' })
    const saved = readOutput(folder).pages.length
    expect(saved).toBeGreaterThan(8)
    expect(saved).toBe(web.log.slice(before).filter((entry) => entry.path !== '/robots.txt').length)
    expect(JSON.parse(readFileSync(join(folder, 'stats.json'), 'utf8'))).toMatchObject({ end: 'stopped', saved })

    const resumed = await resume(lines(ending.stderr).at(-1) ?? '')
    expect(resumed).toMatchObject({ code: 0 })
    expect(timeless(readOutput(folder))).toEqual(timeless(readOutput(calm)))
    const log = web.log.slice(before)
    expect(log.filter((entry) => entry.path === '/robots.txt')).toHaveLength(1)
    expect(log).toHaveLength(25)
    expect(smallestGapMs(log, 'site.test')).toBeGreaterThanOrEqual(30)
  })

  it('keeps the delay of a host across the restart', TIMEOUT, async () => {
    const web = await webOf({ 'site.test': site(10) })
    const folder = newFolder()
    const words = [web.url('site.test'), '-o', folder, '--delay', '1500ms', '--no-sitemaps', '-q', ...reach(web)]
    for (let round = 1; round <= 4; round++) {
      const program = startTiptoe(words)
      await program.until(() => web.log.length === round && web.log.at(-1)?.endedAt !== null)
      await nextMoment(60)
      program.child.kill('SIGINT')
      expect(await program.ended).toMatchObject({ code: 130 })
      expect(web.log).toHaveLength(round)
    }
    expect(smallestGapMs(web.log, 'site.test')).toBeGreaterThanOrEqual(1_500)
  })

  it('waits for no host that is not due: a crawl that only waits stops at once', TIMEOUT, async () => {
    const web = await webOf({ 'site.test': site(10) })
    const program = startTiptoe([web.url('site.test'), '-o', newFolder(), '--delay', '1h', ...reach(web)])
    await program.until(() => web.log.length === 1 && web.log[0]?.endedAt !== null)
    await nextMoment(100)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 143 })
  })

  it('is obeyed in time by a crawl that knows thousands of URLs', TIMEOUT, async () => {
    const links = Array.from({ length: 5_000 }, (_, index) => `<a href="/${index}">on</a>`).join('')
    const web = await webOf({
      'wide.test': ({ path }) => (path === '/robots.txt' ? { status: 404 } : { body: `<title>Wide</title>${links}` }),
    })
    const folder = newFolder()
    const program = startTiptoe([web.url('wide.test'), '-o', folder, '--delay', '50ms', '--no-sitemaps', ...reach(web)])
    await program.until(() => web.log.length >= 5)
    const sentAt = clock.now()
    program.child.kill('SIGINT')
    expect(await program.ended).toMatchObject({ code: 130 })
    expect(clock.now() - sentAt).toBeLessThan(PROMISED_MS)
  })

  it('aborts what hangs when the drain time is over, and leaves it queued', TIMEOUT, async () => {
    const web = await webOf({ 'hang.test': hanging, 'site.test': site(3) })
    const folder = newFolder()
    const seeds = [web.url('hang.test'), web.url('site.test')]
    const program = startTiptoe([
      ...seeds,
      '-o',
      folder,
      '--delay',
      '10ms',
      '--drain',
      '1s',
      '--no-sitemaps',
      ...reach(web),
    ])
    await program.until(() => hangs(web) && web.log.length === 6)
    program.child.kill('SIGINT')
    expect(await program.ended).toMatchObject({ code: 130 })
    const output = readOutput(folder)
    expect(endings(output).has(web.url('hang.test'))).toBe(false)
    expect(output.pages).toHaveLength(3)
    expect(JSON.parse(readFileSync(join(folder, 'stats.json'), 'utf8'))).toMatchObject({ queued: 1, saved: 3 })
  })
})

describe.concurrent('a second signal, while a host hangs', () => {
  it.each([
    ['SIGINT', 'SIGINT', 130],
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGTERM', 130],
  ] as const)('%s then %s: gone within 5 s, and the crawl resumes', TIMEOUT, async (first, second, code) => {
    const web = await webOf({ 'hang.test': hanging })
    const folder = newFolder()
    const words = [
      web.url('hang.test'),
      '-o',
      folder,
      '--drain',
      '1h',
      '--delay',
      '10ms',
      '--no-sitemaps',
      ...reach(web),
    ]
    const program = startTiptoe(words)
    await program.until(() => hangs(web))
    program.child.kill(first)
    await program.until(() => program.stderr.includes('stopping'))
    const sentAt = clock.now()
    program.child.kill(second)
    const ending = await program.ended
    expect(clock.now() - sentAt).toBeLessThan(PROMISED_MS)
    expect(ending).toMatchObject({ code, signal: null })
    expect(lines(ending.stderr).at(-1)).toMatch(/^tiptoe http:\/\/hang\.test/)
    expect(JSON.parse(readFileSync(join(folder, 'stats.json'), 'utf8'))).toMatchObject({ queued: 1 })
  })
})

describe.concurrent('a third signal', () => {
  it('leaves at once, also if it comes together with the others, and loses nothing', TIMEOUT, async () => {
    const web = await webOf({ 'hang.test': hanging, 'site.test': site(30) })
    const folder = newFolder()
    const seeds = [web.url('hang.test'), web.url('site.test')]
    const words = [...seeds, '-o', folder, '--drain', '1h', '--delay', '20ms', '--no-sitemaps', ...reach(web)]
    const program = startTiptoe(words)
    await program.until(() => hangs(web) && web.log.length >= 10)
    const sentAt = clock.now()
    // Signals of one kind that are pending together are delivered as one, so these are three kinds.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) program.child.kill(name)
    const ending = await program.ended
    expect(clock.now() - sentAt).toBeLessThan(PROMISED_MS)
    expect([129, 130, 143]).toContain(ending.code)
    expect(lines(ending.stderr).at(-1)).toMatch(/^tiptoe http:\/\/hang\.test/)
    const again = startTiptoe(words)
    await again.until(() => web.log.filter((entry) => entry.host === 'site.test' && entry.status === 200).length >= 31)
    await again.until(() => readOutput(folder).pages.length === 30)
    again.child.kill('SIGINT')
    await again.until(() => again.stderr.includes('stopping'))
    again.child.kill('SIGINT')
    await again.ended
    expect(endings(readOutput(folder)).size).toBe(30)
    expect(smallestGapMs(web.log, 'site.test')).toBeGreaterThanOrEqual(20)
  })
})

describe.concurrent('on a terminal', () => {
  /** util-linux `script` gives the command a terminal of its own and types what it reads. */
  const onTerminal = (command: string): Program =>
    startCommand('script', ['-qec', command, '/dev/null'], { env: { TERM: 'xterm' }, keepInput: true })
  const commandOf = (node: string, words: readonly string[]): string =>
    [node, LAUNCHER, ...words].map((word) => `'${word}'`).join(' ')

  it.each([
    ['this Node', process.execPath],
    ['an old Node', oldNode()],
  ])(
    'under %s, Ctrl-C counts once: it drains, exits 130 and ends with the resume command',
    TIMEOUT,
    async (_, node) => {
      const web = await webOf({ 'site.test': site(60) })
      const folder = newFolder()
      const words = [web.url('site.test'), '-o', folder, '--delay', '40ms', '--no-sitemaps', ...reach(web)]
      const program = onTerminal(commandOf(node, words))
      await program.until(() => web.log.length >= 10)
      program.child.stdin?.write('\u0003')
      const ending = await program.ended
      expect(ending.code).toBe(130)
      expect(ending.stdout).toContain('stopping')
      expect(ending.stdout).not.toContain('aborting')
      expect(lines(ending.stdout).at(-1)).toMatch(/^tiptoe http:\/\/site\.test/)
      expect(readOutput(folder).pages.length).toBe(web.log.length - 1)
    },
  )

  it('two times Ctrl-C end a crawl that hangs within 5 s', TIMEOUT, async () => {
    const web = await webOf({ 'hang.test': hanging })
    const words = [web.url('hang.test'), '-o', newFolder(), '--drain', '1h', '--delay', '10ms', ...reach(web)]
    const program = onTerminal(commandOf(process.execPath, [...words, '--no-sitemaps']))
    await program.until(() => hangs(web))
    program.child.stdin?.write('\u0003')
    await program.until(() => program.stdout.includes('stopping'))
    const sentAt = clock.now()
    program.child.stdin?.write('\u0003')
    expect((await program.ended).code).toBe(130)
    expect(clock.now() - sentAt).toBeLessThan(PROMISED_MS)
  })
})

describe.concurrent('under a Node that is too old, whose launcher hands over', () => {
  const start = (web: LoopbackWeb, host: string, more: readonly string[] = []): Program =>
    startTiptoe([web.url(host), '-o', newFolder(), '--no-sitemaps', ...reach(web), ...more], { node: oldNode() })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s reaches the crawl, which drains and exits %i', TIMEOUT, async (name, code) => {
    const web = await webOf({ 'site.test': site(60) })
    const program = start(web, 'site.test', ['--delay', '40ms'])
    await program.until(() => web.log.length >= 8)
    program.child.kill(name)
    const ending = await program.ended
    expect(ending).toMatchObject({ code, signal: null })
    expect(lines(ending.stderr).at(-1)).toMatch(/^tiptoe http:\/\/site\.test/)
  })

  it('a second signal ends a crawl that hangs within 5 s, a third at once', TIMEOUT, async () => {
    const web = await webOf({ 'hang.test': hanging })
    const program = start(web, 'hang.test', ['--drain', '1h', '--delay', '10ms'])
    await program.until(() => hangs(web))
    program.child.kill('SIGINT')
    await program.until(() => program.stderr.includes('stopping'))
    const sentAt = clock.now()
    program.child.kill('SIGINT')
    expect(await program.ended).toMatchObject({ code: 130 })
    expect(clock.now() - sentAt).toBeLessThan(PROMISED_MS)
  })

  it('kill -9 of the launcher ends the crawl too, which sends nothing more', TIMEOUT, async () => {
    const web = await webOf({ 'site.test': site(500) })
    const program = start(web, 'site.test', ['--delay', '20ms'])
    await program.until(() => web.log.length >= 8)
    const pid = program.child.pid as number
    const processes = [pid, ...childrenOf(pid)]
    program.child.kill('SIGKILL')
    await program.ended
    while (processes.some(isAlive)) await nextMoment()
    const asked = web.log.length
    await nextMoment(300)
    expect(web.log).toHaveLength(asked)
  })

  it('kill -9 of the crawl itself ends the launcher', TIMEOUT, async () => {
    const web = await webOf({ 'site.test': site(500) })
    const program = start(web, 'site.test', ['--delay', '20ms'])
    await program.until(() => web.log.length >= 8)
    const pid = program.child.pid as number
    // Where there is no old Node, launcher and crawl are one process.
    process.kill(childrenOf(pid)[0] ?? pid, 'SIGKILL')
    expect((await program.ended).signal).toBe('SIGKILL')
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false)
  })
})
