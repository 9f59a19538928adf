/**
 * kill -9 at random moments, from one seed: after each the crawl is resumed with the same command, and in the end its
 * records are those of a crawl that nobody disturbed, and so is its archive. The servers' logs run on across the kills,
 * so they also show that no host was asked too early after a restart.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRng } from '../../src/base/index.ts'
import { readZip } from '../../src/export/test-support/zip-reader.ts'
import { readArchive } from '../support/archive.ts'
import { endings, readOutput, timeless } from '../support/crawl-output.ts'
import {
  createLoopbackWeb,
  generatedSite,
  maxInFlight,
  smallestGapMs,
  type Answer,
  type HostBehaviour,
  type LogEntry,
  type LoopbackWeb,
} from '../support/loopback-web.ts'
import { nextMoment, reach, runTiptoe, startTiptoe, temporaryFolder, type Ending } from '../support/program.ts'

/** `TIPTOE_TEST_SEED=n` repeats a run. */
const seed = Number(process.env['TIPTOE_TEST_SEED'] ?? crypto.getRandomValues(new Uint32Array(1))[0])
const KILLS = 12
const DELAY_MS = 20
/** Longer than a restart takes, so that only what was kept across it can hold the next request back. */
const SLOW_DELAY_MS = 1_000

const page = (...links: readonly string[]): Answer => ({
  body: `<!doctype html><title>Page</title><p>Words.</p>${links.map((link) => `<a href="${link}">on</a>`).join('')}`,
})

const hosts: Readonly<Record<string, HostBehaviour>> = {
  'tree.test': generatedSite({ pages: 200, linksPerPage: 8, bytesPerPage: 20_000, seed: 11 }),
  'odd.test': ({ path, url }) => {
    if (path === '/robots.txt')
      return { body: `User-agent: *\nDisallow: /no\nSitemap: ${url('odd.test', '/map.xml')}\n` }
    if (path === '/map.xml') return { body: `<urlset><url><loc>${url('odd.test', '/mapped')}</loc></url></urlset>` }
    if (path === '/') return page('/no/1', '/no/2', '/gone', '/moved', '/sick', '/reset', '/out', '/1', '/2', '/3')
    if (path === '/gone') return { status: 404 }
    if (path === '/sick') return { status: 500 }
    if (path === '/reset') return { destroy: true }
    if (path === '/moved') return { status: 301, headers: { location: '/target' } }
    return path === '/out' ? { status: 302, headers: { location: 'http://elsewhere.test/' } } : page('/', '/1')
  },
  'slow.test': ({ path }) => (path === '/robots.txt' ? { status: 404 } : path === '/' ? page('/1', '/2') : page('/')),
}

const CONFIGURATION = `crawler:\n  rate_limiting: { default_delay: ${DELAY_MS}ms }\n  retries: { base_delay: 50ms }
sites:\n  "slow.test": { delay: ${SLOW_DELAY_MS}ms }\n`

function wordsFor(web: LoopbackWeb, folder: string): string[] {
  const seeds = Object.keys(hosts).map((host) => web.url(host))
  const configuration = join(folder, 'test.yaml')
  if (!existsSync(configuration)) writeFileSync(configuration, CONFIGURATION)
  const output = ['-o', join(folder, 'crawl'), '--format', 'jsonl,markdown,html,warc', '--archive-size', '1MiB']
  return [...seeds, '-c', configuration, ...output, ...reach(web)]
}

/** Whole lines only: the last one may be torn right after a kill, and is cut off when the crawl is resumed. */
function wholeRecords(path: string): { url: string }[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { url: string })
}

describe(`a crawl killed at random moments (TIPTOE_TEST_SEED=${seed})`, () => {
  const calm = temporaryFolder()
  const stormy = temporaryFolder()
  const folder = join(stormy.path, 'crawl')
  let web: LoopbackWeb
  let calmLog: readonly LogEntry[]
  let log: readonly LogEntry[]
  let calmEnding: Ending
  let lastEnding: Ending
  let words: string[]

  const checkAfterKill = (): void => {
    const urls = ['pages', 'skipped', 'failed'].flatMap((name) => wholeRecords(join(folder, `${name}.jsonl`)))
    expect(new Set(urls.map(({ url }) => url)).size).toBe(urls.length)
  }

  beforeAll(async () => {
    const rng = createRng(seed)
    web = await createLoopbackWeb(hosts)
    calmEnding = await runTiptoe(wordsFor(web, calm.path))
    calmLog = [...web.log]
    words = wordsFor(web, stormy.path)
    for (let kill = 0; kill < KILLS; kill++) {
      const program = startTiptoe(words)
      const before = web.log.length
      if (rng.int(4) === 0) await nextMoment(rng.int(500))
      else {
        const requests = 1 + rng.int(15)
        await program.until(() => web.log.length >= before + requests)
        await nextMoment(rng.int(25))
      }
      program.child.kill('SIGKILL')
      expect((await program.ended).signal, `kill ${kill}`).toBe('SIGKILL')
      checkAfterKill()
    }
    lastEnding = await runTiptoe(words)
    log = web.log.slice(calmLog.length)
  }, 90_000)

  afterAll(async () => {
    await web.close()
    calm.remove()
    stormy.remove()
  })

  it('ends like one that was not', () => {
    expect(calmEnding).toMatchObject({ code: 0 })
    expect(lastEnding).toMatchObject({ code: 0 })
  })

  it('has the same records, none lost, doubled or torn, all but the times', () => {
    const output = readOutput(folder)
    expect(endings(output).size).toBe(200 + 13 + 3)
    expect(timeless(output)).toEqual(timeless(readOutput(join(calm.path, 'crawl'))))
  })

  it('has the Markdown and the HTML of every page that says so, whole', () => {
    for (const { url, bytes, markdownPath, htmlPath } of readOutput(folder).pages) {
      if (markdownPath !== undefined) {
        expect(readFileSync(join(folder, markdownPath), 'utf8')).toContain(`url: ${JSON.stringify(url)}`)
      }
      if (htmlPath !== undefined) expect(readFileSync(join(folder, htmlPath))).toHaveLength(bytes)
    }
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    expect(files.filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('has archived every answer that counts once, and nothing else', async () => {
    const { pages, skipped, failed } = readOutput(folder)
    const { files, answers } = await readArchive(folder)
    expect(files.length).toBeGreaterThan(1)
    const { answers: calmAnswers } = await readArchive(join(calm.path, 'crawl'))
    const told = (archived: typeof answers): string[] =>
      archived.map(({ url, status, payload }) => `${url} ${status} ${payload.toString('base64')}`).toSorted()
    expect(told(answers)).toEqual(told(calmAnswers))
    const statuses = Map.groupBy(answers, ({ url }) => url)
    for (const { url, status, attempts } of [...pages, ...failed]) {
      // A connection that breaks has no answer to archive.
      const times = status === undefined ? 0 : attempts
      expect(statuses.get(url)?.map((answer) => answer.status) ?? [], url).toEqual(Array(times).fill(status))
    }
    for (const { url, status } of skipped) {
      expect(statuses.get(url)?.map((answer) => answer.status) ?? [], url).toEqual(status === undefined ? [] : [status])
    }
    const known = new Set([...pages, ...skipped, ...failed].map(({ url }) => url))
    const others = [...statuses.keys()].filter((url) => !known.has(url)).map((url) => new URL(url).pathname)
    expect(new Set(others)).toEqual(new Set(['/robots.txt', '/sitemap.xml', '/map.xml']))
  })

  it('becomes a WACZ file with that archive and all pages in it', async () => {
    const path = join(stormy.path, 'crawl.wacz')
    expect(await runTiptoe(['export', folder, '--format', 'wacz', '-o', path])).toMatchObject({ code: 0 })
    const entries = readZip(path)
    const { files } = await readArchive(folder)
    for (const name of files)
      expect(entries.get(`archive/${name}`)).toEqual(readFileSync(join(folder, 'archive', name)))
    const listed = entries.get('pages/pages.jsonl')?.toString().trimEnd().split('\n').slice(1) ?? []
    const urls = listed.map((line) => (JSON.parse(line) as { url: string }).url)
    expect(urls.toSorted()).toEqual(
      readOutput(folder)
        .pages.map(({ url }) => url)
        .toSorted(),
    )
  })

  it('never asked a host too early or twice at a time, also across the kills', () => {
    for (const host of ['tree.test', 'odd.test']) {
      expect(smallestGapMs(log, host), host).toBeGreaterThanOrEqual(DELAY_MS)
    }
    expect(smallestGapMs(log, 'slow.test')).toBeGreaterThanOrEqual(SLOW_DELAY_MS)
    // What the program was killed over is in flight for the server until its socket is seen to be closed.
    for (const host of Object.keys(hosts)) expect(maxInFlight(calmLog, host), host).toBe(1)
  })

  it('passes its audit', async () => {
    expect(await runTiptoe(['audit', folder])).toMatchObject({ code: 0 })
  })

  it('finds nothing to do when it is started once more', async () => {
    const before = [web.log.length, timeless(readOutput(folder))]
    expect(await runTiptoe(words)).toMatchObject({ code: 0 })
    expect([web.log.length, timeless(readOutput(folder))]).toEqual(before)
  })
})
