/** What goes wrong around a crawl: the wrong words, the wrong folder, a full disk, no network, no reader. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { crawl, openTestCrawl, settingsFor } from '../support/crawl.ts'
import { endings, readOutput, timeless } from '../support/crawl-output.ts'
import { generatedSite, smallestGapMs, type HostBehaviour } from '../support/loopback-web.ts'
import { LAUNCHER, nextMoment, reach, runTiptoe, startCommand, startTiptoe, type Ending } from '../support/program.ts'
import { page, sideBySide } from '../support/side-by-side.ts'

const TIMEOUT = { timeout: 40_000 }
const { webOf, newFolder, atEnd } = sideBySide()

const small: HostBehaviour = { '/': page('/1', '/2', '/3'), '/1': page(), '/2': page(), '/3': page() }
const QUICK = ['--delay', '10ms', '--no-sitemaps']

/** A message for people, not the trace of an exception. */
function expectWords(ending: Ending, code: number, ...words: readonly RegExp[]): void {
  expect(ending).toMatchObject({ code, signal: null })
  for (const word of words) expect(ending.stderr).toMatch(word)
  expect(ending.stderr).toMatch(/^error: /m)
  expect(ending.stderr).not.toMatch(/^\s+at .*:\d+:\d+|bug in tiptoe|UnhandledPromise/m)
}

describe.concurrent('wrong usage', () => {
  it('an unknown flag is exit 2 with the nearest known one, and nothing is started', async () => {
    const folder = join(newFolder(), 'crawl')
    const ending = await runTiptoe(['http://a.test/', '-o', folder, '--max-page', '3'])
    expectWords(ending, 2, /--max-page/, /--max-pages/)
    expect(existsSync(folder)).toBe(false)
  })

  it('a bad configuration is exit 2 with its line and key, and nothing is started', async () => {
    const folder = newFolder()
    const file = join(folder, 'bad.yaml')
    writeFileSync(file, 'crawler:\n  rate_limiting:\n    default_delay: soon\n    default_dealy: 1s\n')
    const ending = await runTiptoe(['http://a.test/', '-c', file, '-o', join(folder, 'crawl')])
    expectWords(ending, 2, /default_delay \(line 3/, /default_dealy \(line 4.*did you mean default_delay/)
    writeFileSync(file, 'crawler: [\n')
    expectWords(await runTiptoe(['http://a.test/', '-c', file]), 2, /bad\.yaml/)
    expectWords(await runTiptoe(['http://a.test/', '-c', join(folder, 'none.yaml')]), 2, /none\.yaml/)
    expect(existsSync(join(folder, 'crawl'))).toBe(false)
  })

  it.each([
    [['ftp://a.test/'], /ftp/],
    [[], /no URL/],
    [['http://a.test/', '--delay', '-1s'], /delay/],
    [['http://a.test/', '--include', 're:(unclosed'], /include/],
    [['http://a.test/', '-i', '/nonexistent/seeds'], /seeds/],
  ] as const)('%j is exit 2', async (words, message) => {
    const cwd = newFolder()
    expectWords(await runTiptoe(words, { cwd }), 2, message)
    expect(existsSync(join(cwd, 'tiptoe-a.test'))).toBe(false)
  })
})

describe.concurrent('the folder', () => {
  it('that cannot be made is exit 3 with what to do', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'file'), '')
    expectWords(await runTiptoe(['http://a.test/', '-o', join(folder, 'file', 'crawl')]), 3, /file/, /^hint: /m)
  })

  it('that holds somebody else’s files is left alone', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'pages.jsonl'), 'mine\n')
    expectWords(await runTiptoe(['http://a.test/', '-o', folder]), 2, /pages\.jsonl/, /^hint: /m)
    expect(readFileSync(join(folder, 'pages.jsonl'), 'utf8')).toBe('mine\n')
  })

  it('that another process works on is exit 3, and changes nothing for it', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, '--no-sitemaps', ...reach(web)]
    const first = startTiptoe([...words, '--delay', '1500ms'])
    await first.until(() => web.log.length > 0)
    const configuration = readFileSync(join(folder, 'crawl.yaml'), 'utf8')
    expectWords(await runTiptoe([...words, '--delay', '10ms']), 3, /another process/, /^hint: /m)
    expect(readFileSync(join(folder, 'crawl.yaml'), 'utf8')).toBe(configuration)
    expect(await first.ended).toMatchObject({ code: 0 })
    expect(readOutput(folder).pages).toHaveLength(4)
    expect(smallestGapMs(web.log, 'a.test')).toBeGreaterThanOrEqual(1_500)
  })

  it('that another process works on is not cleared by --fresh', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, '--no-sitemaps', ...reach(web)]
    const first = startTiptoe([...words, '--delay', '1500ms'])
    await first.until(() => web.log.length > 0)
    expectWords(await runTiptoe([...words, '--delay', '10ms', '--fresh']), 3, /another process/)
    expect(await first.ended).toMatchObject({ code: 0 })
    expect(readOutput(folder).pages).toHaveLength(4)
    expect(smallestGapMs(web.log, 'a.test')).toBeGreaterThanOrEqual(1_500)
  })

  it('with a crawl of another scope is exit 2, names the difference and changes nothing', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, ...QUICK, ...reach(web)]
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    const before = timeless(readOutput(folder))
    const asked = web.log.length
    for (const change of [['--exclude', '/x/**', '--max-depth', '1'], [web.url('a.test', '/other')]]) {
      expectWords(await runTiptoe([...words, ...change]), 2, /another scope/, /--fresh/)
    }
    expect(timeless(readOutput(folder))).toEqual(before)
    expect(web.log).toHaveLength(asked)
    expect(await runTiptoe([...words, '--scope', 'host', '--fresh'])).toMatchObject({ code: 0 })
    expect(web.log.length).toBeGreaterThan(asked)
    expect(readOutput(folder).pages).toHaveLength(4)
  })

  it('is not cleared by --fresh before the command is known to be good', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    expect(await runTiptoe([web.url('a.test'), '-o', folder, ...QUICK, ...reach(web)])).toMatchObject({ code: 0 })
    const ending = await runTiptoe(['-o', folder, '--fresh', ...QUICK, ...reach(web)])
    // With the seeds that the folder has it may well start over; what it may not do is clear the folder and give up.
    if (ending.code !== 0) expectWords(ending, 2)
    expect(readOutput(folder).pages).toHaveLength(4)
  })

  it('whose records were cut by hand is not gone on with', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, ...QUICK, ...reach(web)]
    expect(await runTiptoe([...words, '--max-pages', '3'])).toMatchObject({ code: 4 })
    const file = join(folder, 'pages.jsonl')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.slice(text.indexOf('\n') + 1))
    expectWords(await runTiptoe([...words, '--max-pages', '4']), 3, /pages\.jsonl/, /^hint: /m)
    writeFileSync(file, text)
    expect(await runTiptoe([...words, '--max-pages', '4'])).toMatchObject({ code: 0 })
    expect(readOutput(folder).pages).toHaveLength(4)
  })
})

describe.concurrent('an audit', () => {
  it('finds a crawl in order, and a line that was removed or doubled by hand', TIMEOUT, async () => {
    const web = await webOf({
      'a.test': ({ path }) => {
        if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /no\n' }
        return path === '/' ? page('/1', '/2', '/no', '/gone') : path === '/gone' ? { status: 404 } : page()
      },
    })
    const folder = newFolder()
    expect(await runTiptoe([web.url('a.test'), '-o', folder, ...QUICK, ...reach(web)])).toMatchObject({ code: 0 })
    expect(await runTiptoe(['audit', folder])).toMatchObject({ code: 0 })
    for (const name of ['pages.jsonl', 'skipped.jsonl']) {
      const file = join(folder, name)
      const text = readFileSync(file, 'utf8')
      const first = text.slice(0, text.indexOf('\n') + 1)
      writeFileSync(file, text.slice(first.length))
      expect((await runTiptoe(['audit', folder])).code, `${name} with a line less`).toBe(1)
      writeFileSync(file, first + text)
      expect((await runTiptoe(['audit', folder])).code, `${name} with a line twice`).toBe(1)
      writeFileSync(file, text)
    }
    expect(await runTiptoe(['audit', folder])).toMatchObject({ code: 0 })
  })
})

function mountSmallDisk(folder: string, kib: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.concurrent('a disk that is full', () => {
  it.each([120, 600])(
    'at %i KiB stops the crawl with exit 3 and words; with room again it goes on',
    TIMEOUT,
    async (kib) => {
      const web = await webOf({
        'a.test': generatedSite({ pages: 120, linksPerPage: 6, bytesPerPage: 9_000, seed: 2 }),
      })
      const [calm, folder] = [newFolder(), newFolder()]
      // Not everyone may mount, not even every root; where it cannot be done each file has a limit instead.
      const hasDisk = mountSmallDisk(folder, kib)
      if (hasDisk) atEnd(() => void execFileSync('umount', ['-l', folder]))
      const words = (out: string): string[] => [web.url('a.test'), '-o', out, '--delay', '0s', ...reach(web)]
      expect(await runTiptoe(words(calm))).toMatchObject({ code: 0 })
      const limit = hasDisk ? 'unlimited' : String(kib / 6)
      const script = `trap '' XFSZ; ulimit -f ${limit}; exec "$0" "$@"`
      const limited = await startCommand('sh', ['-c', script, process.execPath, LAUNCHER, ...words(folder)]).ended
      expectWords(limited, 3, /cannot be (written|kept)/, /^hint: /m)
      if (hasDisk) expect(limited.stderr).toMatch(/^hint: the disk is full/m)
      if (hasDisk) execFileSync('mount', ['-o', 'remount,size=50m', folder])
      expect(await runTiptoe(words(folder))).toMatchObject({ code: 0 })
      expect(timeless(readOutput(folder))).toEqual(timeless(readOutput(calm)))
      expect(await runTiptoe(['audit', folder])).toMatchObject({ code: 0 })
    },
  )

  it('that became a link in place of a file of records is not written through', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, '--delay', '600ms', '--no-sitemaps', ...reach(web)]
    const first = startTiptoe(words)
    await first.until(() => web.log[0]?.endedAt !== undefined && web.log[0].endedAt !== null)
    await nextMoment(50)
    first.child.kill('SIGINT')
    expect(await first.ended).toMatchObject({ code: 130 })
    rmSync(join(folder, 'pages.jsonl'))
    const elsewhere = join(newFolder(), 'elsewhere')
    writeFileSync(elsewhere, '')
    symlinkSync(elsewhere, join(folder, 'pages.jsonl'))
    expectWords(await runTiptoe(words), 3, /pages.jsonl is a link/, /^hint: remove it/m)
    expect(readFileSync(elsewhere, 'utf8')).toBe('')
    rmSync(join(folder, 'pages.jsonl'))
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    expect(endings(readOutput(folder)).size).toBe(4)
    // The page that could not be recorded was asked for, and the host's pace counts from there all the same.
    expect(smallestGapMs(web.log, 'a.test')).toBeGreaterThanOrEqual(600)
  })

  it.each(['0s', '50ms'])(
    'in the middle of a page, with --delay %s, doubles and loses nothing',
    TIMEOUT,
    async (delay) => {
      const folder = newFolder()
      let trap = ''
      const web = await webOf({
        'a.test': ({ path, n }) => {
          if (path === '/robots.txt') return { status: 404 }
          // From here on the Markdown of /2 cannot be written, while others are in flight.
          if (path === '/' && n === 1) mkdirSync(trap, { recursive: true })
          return path === '/' ? page('/1', '/2', '/3', '/4', '/5') : { ...page(), delayMs: path > '/2' ? 300 : 0 }
        },
        'b.test': ({ path }) => (path === '/' ? page('/1', '/2', '/3') : { ...page(), delayMs: 40 }),
      })
      trap = join(folder, 'content', `a.test_${web.port}`, '2.md.part')
      const words = [
        web.url('a.test'),
        web.url('b.test'),
        '-o',
        folder,
        '--delay',
        delay,
        '--no-sitemaps',
        ...reach(web),
      ]
      expectWords(await runTiptoe(words), 3, /2\.md\.part/, /^hint: /m)
      rmSync(trap, { recursive: true })
      expect(await runTiptoe(words)).toMatchObject({ code: 0 })
      expect(endings(readOutput(folder)).size).toBe(10)
      expect(readOutput(folder).pages).toHaveLength(10)
      expect(await runTiptoe(['audit', folder])).toMatchObject({ code: 0 })
    },
  )
})

describe.concurrent('the network', () => {
  const noNames = (name: string): Promise<never> =>
    Promise.reject(Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' }))

  it('that is not there stops the crawl with everything still queued', TIMEOUT, async () => {
    const opened = await openTestCrawl([], ['http://a.test/', 'http://b.test/', 'http://c.test/x'], { lookup: noNames })
    await expect(opened.run()).rejects.toMatchObject({ code: 'network', hint: expect.any(String) as string })
    expect(await opened.stats()).toMatchObject({ discovered: 3, queued: 3, done: 0, failed: 0, skipped: {} })
    await opened.close()
  })

  it('is not taken to be gone because one host has no name server, while another is slow', TIMEOUT, async () => {
    const web = await webOf({
      'slow.test': ({ path }) => (path === '/robots.txt' ? { status: 404, delayMs: 1_500 } : page()),
    })
    const outcome = await crawl(web, ['http://nameless.test/', web.url('slow.test'), ...QUICK], { lookup: noNames })
    expect(endings(outcome)).toEqual(
      new Map([
        [web.url('slow.test'), 'page'],
        ['http://nameless.test/', 'robots-unreachable'],
      ]),
    )
  })

  it('a name server that is away for a second costs an attempt, not the host', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    let lookups = 0
    const lookup = (name: string): Promise<{ address: string; family: number }[]> => {
      lookups += 1
      return lookups === 1 ? noNames(name) : Promise.resolve([{ address: '127.0.0.1', family: 4 }])
    }
    // With the default pause between attempts.
    const settings = { ...settingsFor([web], [web.url('a.test'), ...QUICK]), resolve: [], retryDelayMs: 1_000 }
    const outcome = await crawl(web, [web.url('a.test')], { lookup, settings })
    expect(outcome.pages).toHaveLength(4)
    expect(lookups).toBeGreaterThanOrEqual(2)
  })

  it('a name that does not exist costs its host alone, and is not the network’s fault', TIMEOUT, async () => {
    const lookup = (name: string): Promise<never> =>
      Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }))
    const outcome = await crawl([], ['http://nowhere.test/'], { lookup })
    expect(outcome.end).toBe('finished')
    expect(endings(outcome)).toEqual(new Map([['http://nowhere.test/', 'robots-unreachable']]))
  })

  it('a port that takes connections and never answers is given up on after the timeouts', TIMEOUT, async () => {
    const sockets: Socket[] = []
    const server = createServer((socket) => void sockets.push(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const folder = newFolder()
    const timeouts = ['--connect-timeout', '200ms', '--read-timeout', '200ms', '--timeout', '300ms', '--attempts', '2']
    const resolve = ['--resolve', `mute.test:${port}:127.0.0.1`, '--allow-address', '127.0.0.0/8']
    const words = [`http://mute.test:${port}/`, '-o', folder, ...QUICK, ...timeouts, ...resolve]
    const ending = await runTiptoe(words, { env: { TIPTOE_RETRY_DELAY: '50ms' } })
    expect(ending).toMatchObject({ code: 1 })
    expect(endings(readOutput(folder)).get(`http://mute.test:${port}/`)).toBe('robots-unreachable')
    expect(sockets).toHaveLength(2)
  })

  it('a robots.txt that asks for centuries of patience does not get them', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': () => ({ status: 503, headers: { 'retry-after': '9999999999' } }) })
    const opened = await openTestCrawl([web], [web.url('a.test'), ...QUICK])
    const ended = opened.run()
    while ((await opened.stats()).requests.robots === 0) await nextMoment()
    const { hosts } = await opened.stats()
    const dayFromNow = Date.now() + 86_400_000
    for (const { at } of hosts.next) expect(at).toBeLessThanOrEqual(dayFromNow)
    opened.stop()
    await ended
    await opened.close()
  })

  it('private addresses are refused without --allow-address, with a hint', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const resolve = web.resolveFlags().flatMap((flag) => ['--resolve', flag])
    const ending = await runTiptoe([web.url('a.test'), '-o', folder, ...QUICK, ...resolve])
    expect(ending).toMatchObject({ code: 1 })
    expect(ending.stderr).toMatch(/--allow-address/)
    expect(endings(readOutput(folder)).get(web.url('a.test'))).toBe('address')
    expect(web.log).toHaveLength(0)
  })
})

describe.concurrent('what is printed', () => {
  it('with -q is nothing, unless there is an error', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const words = [web.url('a.test'), '-o', newFolder(), '-q', ...QUICK, ...reach(web)]
    expect(await runTiptoe(words)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expectWords(await runTiptoe([...words, '--scope', 'any']), 2)
  })

  it('in a pipe has no colour and no progress, with NO_COLOR none on a terminal either', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const words = [web.url('a.test'), ...QUICK, ...reach(web)]
    const piped = await runTiptoe([...words, '-o', newFolder()])
    expect(piped.code).toBe(0)
    expect(piped.stderr).not.toContain('\u001b')
    const command = [process.execPath, LAUNCHER, ...words, '-o', newFolder()].map((word) => `'${word}'`).join(' ')
    const onTerminal = (env: Record<string, string>): Promise<Ending> =>
      startCommand('script', ['-qec', command, '/dev/null'], { env: { TERM: 'xterm', ...env } }).ended
    const plain = await onTerminal({ NO_COLOR: '1' })
    expect(plain.code).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(plain.stdout).not.toMatch(/\u001b\[[0-9;]*m/)
  })

  it('to a reader that has gone away ends quietly', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const folder = newFolder()
    const words = [web.url('a.test'), '-o', folder, '--json', ...QUICK, ...reach(web)]
    const shell = (script: string, more: readonly string[]): Promise<Ending> =>
      startCommand('bash', ['-c', script, process.execPath, LAUNCHER, ...more]).ended
    const gone = await shell('set -o pipefail; "$0" "$@" | true', words)
    expect(gone.code).toBe(0)
    expect(gone.stderr).not.toMatch(/EPIPE|Error/)
    expect(readOutput(folder).pages).toHaveLength(4)
    for (const command of ['status', 'audit', 'config', 'help']) {
      const more = command === 'help' ? [command] : [command, ...(command === 'config' ? [] : [folder]), '--json']
      const ended = await shell('set -o pipefail; "$0" "$@" | head -1', more)
      expect(ended.stderr, command).not.toMatch(/EPIPE|Error/)
      expect(ended.code, command).toBe(0)
    }
  })

  it('without a stderr to print to, or with a full one, the crawl is done all the same', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    for (const redirection of ['2>/dev/full', '>&- 2>&-', '2> >(true)']) {
      const folder = newFolder()
      const words = [web.url('a.test'), '-o', folder, '-v', ...QUICK, ...reach(web)]
      const script = `"$0" "$@" ${redirection}`
      const ended = await startCommand('bash', ['-c', script, process.execPath, LAUNCHER, ...words]).ended
      expect(ended.code, redirection).toBe(0)
      expect(readOutput(folder).pages, redirection).toHaveLength(4)
    }
  })

  it('to a stdout on a full disk is exit 3', TIMEOUT, async () => {
    const web = await webOf({ 'a.test': small })
    const words = [web.url('a.test'), '-o', newFolder(), '--json', ...QUICK, ...reach(web)]
    const script = '"$0" "$@" >/dev/full'
    expect((await startCommand('bash', ['-c', script, process.execPath, LAUNCHER, ...words]).ended).code).toBe(3)
  })
})
