import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Violation } from '../audit/findings.ts'
import { createLoopbackWeb, type LoopbackWeb, type WebRequest } from '../demo/index.ts'
import { crawlLongAgo } from '../test-support/past-crawl.ts'
import { flagsFor, runCommand } from '../test-support/run-command.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-recrawl-'))
const old = join(root, 'old')
const refreshed = join(root, 'refreshed')
let web: LoopbackWeb
let summary: string
let askedAgain: string[]

const ETAG = '"v1"'
const HTML = { 'content-type': 'text/html' }

/** A site with a page of every fate between two visits. */
function site({ path, n, headers }: WebRequest): ReturnType<typeof answer> {
  if (path === '/robots.txt' || path === '/sitemap.xml') return { status: 404 }
  if (path === '/retired' && n > 1) return { status: 410 }
  if (path === '/tagged' && headers['if-none-match'] === ETAG) return { status: 304, headers: { etag: ETAG } }
  return answer(path, n)
}

function answer(path: string, n: number): { status?: number; headers?: Record<string, string>; body?: string } {
  const links = path === '/' ? ['same', 'tagged', 'changing', 'retired'] : n > 1 && path === '/changing' ? ['new'] : []
  const text = path === '/changing' ? `The ${n === 1 ? 'first' : 'other'} words of this page.` : `This is ${path}.`
  const body = `<title>${path}</title><main><p>${text}</p>${links.map((to) => `<a href="/${to}">${to}</a>`).join('')}</main>`
  return { headers: path === '/tagged' ? { ...HTML, etag: ETAG } : HTML, body }
}

const flags = (): string[] => ['--delay', '5ms', '--fail-on', '100%', ...flagsFor(web)]

beforeAll(async () => {
  web = await createLoopbackWeb({ 'site.test': site })
  await crawlLongAgo([web.url('site.test'), ...flags()], old)
  cpSync(old, refreshed, { recursive: true })
  const before = web.log.length
  const ran = await runCommand(['--once', '-o', refreshed])
  expect(ran.code).toBe(0)
  summary = ran.stderr
  askedAgain = web.log
    .slice(before)
    .map(({ path }) => path)
    .filter((path) => path !== '/robots.txt' && path !== '/sitemap.xml')
})
afterAll(async () => {
  await web.close()
  rmSync(root, { recursive: true })
})

const why = async (path: string, folder: string): Promise<string> =>
  (await runCommand(['why', web.url('site.test', path), folder])).stdout
const records = (folder: string, name: string): Record<string, unknown>[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('tiptoe --once', () => {
  test('fetches again what is due in the folder, follows what is new, and ends', () => {
    expect(askedAgain.toSorted()).toEqual(['/', '/changing', '/new', '/retired', '/same', '/tagged'])
    expect(summary).toMatch(/finished: 1 page and 5 fetched again in /)
    expect(summary).toMatch(/again +5 {3}1 changed, 3 unchanged, 1 gone/)
  })

  test('asks for nothing when nothing is due', async () => {
    const folder = join(root, 'just-now')
    cpSync(refreshed, folder, { recursive: true })
    const before = web.log.length
    expect((await runCommand(['--once', '-o', folder])).code).toBe(0)
    expect(web.log.length).toBe(before)
  })

  test('records each visit once', () => {
    const pages = records(refreshed, 'pages.jsonl').filter(({ url }) => String(url).endsWith('/changing'))
    expect(pages).toMatchObject([
      { change: 'new', visit: 1 },
      { change: 'changed', visit: 2 },
    ])
    const short = records(refreshed, 'revisits.jsonl').map(
      ({ url, change }) => `${new URL(String(url)).pathname} ${String(change)}`,
    )
    expect(short.toSorted()).toEqual(['/ unchanged', '/retired gone', '/same unchanged', '/tagged unchanged'])
  })

  test('is refused together with --recrawl, or with --fresh', async () => {
    await expect(runCommand(['--once', '--recrawl', '-o', old])).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('goes on until it is stopped'),
    })
    await expect(runCommand(['--once', '--fresh', '-o', old])).rejects.toMatchObject({ code: 'usage' })
    await expect(runCommand(['--once', '-o', join(root, 'nowhere')])).rejects.toThrow('no URL to crawl')
  })

  test('writes the totals of its folder', () => {
    expect(JSON.parse(readFileSync(join(refreshed, 'stats.json'), 'utf8'))).toMatchObject({
      end: 'finished',
      saved: 5,
      skipped: { gone: 1 },
      revisits: { changed: 1, unchanged: 3, gone: 1, missed: 0 },
      aside: 0,
      bloomFalsePositives: expect.any(Number),
      tiers: { medium: { queued: 0, requests: expect.any(Number) } },
    })
  })
})

describe('tiptoe --recrawl', () => {
  test('goes on until a limit of time, and says how to resume', async () => {
    const folder = join(root, 'going-on')
    cpSync(old, folder, { recursive: true })
    const ran = await runCommand(['--recrawl', '-o', folder, '--max-time', '3s'])
    expect(ran.code).toBe(4)
    expect(ran.stderr).toMatch(/stopped at the time limit: 1 page and 5 fetched again/)
    expect(ran.stderr.trimEnd().split('\n').at(-1)).toBe(`tiptoe --recrawl -o ${folder} --max-time 3s`)
    expect(readFileSync(join(folder, 'crawl.yaml'), 'utf8')).toMatch(/^recrawl:\n {2}enabled: true$/m)
  })
})

describe('of a crawl with pages to be fetched again, tiptoe status', () => {
  test('says since when they are due, and how to fetch them', async () => {
    const { stdout } = await runCommand(['status', old])
    expect(stdout).toMatch(/next visit +due since \d{4}-\S+Z, with --once or --recrawl/)
    expect(stdout).not.toMatch(/^ {2}again /m)
    expect((await runCommand(['status', old, '--json'])).json()).toMatchObject({
      state: 'finished',
      recrawl: { enabled: false, revisits: { changed: 0, unchanged: 0, gone: 0, missed: 0 } },
    })
  })

  test('says what came of those that were', async () => {
    const { stdout } = await runCommand(['status', refreshed])
    expect(stdout).toMatch(/again +1 changed, 3 unchanged, 1 gone/)
    expect(stdout).toMatch(/next visit +in /)
  })

  test('says so when that is all that it waits for', async () => {
    const folder = join(root, 'waiting')
    cpSync(refreshed, folder, { recursive: true })
    const file = join(folder, 'crawl.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('enabled: false', 'enabled: true'))
    expect((await runCommand(['status', folder])).stdout).toContain('nothing is queued until pages are due again')
  })
})

describe('of a page that was fetched twice, tiptoe why', () => {
  test('tells its visits and its changes, and when it is fetched again', async () => {
    const story = await why('/changing', refreshed)
    expect(story).toMatch(/visits +2 since \S+Z, the last \S+Z, [\d.]+m?s ago/)
    expect(story).toMatch(/1 change seen, the last content from \S+Z\n +believed to change every \S.*, planned every/)
    expect(story).toMatch(/change: changed\n +visit: 2/)
    expect(story).toMatch(/With --once or --recrawl it is fetched again: it is due in /)
    expect(await why('/same', refreshed)).toMatch(/0 changes seen[^]*last visit +change: unchanged/)
  })

  test('tells that one which is gone was retired', async () => {
    const story = await why('/retired', refreshed)
    expect(story).toContain('skipped (gone): it was there before, and is gone for good')
    expect(story).toMatch(/last visit +change: gone/)
    expect(story).toContain('Nothing: this is final.')
  })

  test('gives all of it as JSON', async () => {
    const ran = await runCommand(['why', web.url('site.test', '/tagged'), refreshed, '--json'])
    expect(ran.json()).toMatchObject({
      tier: { tier: 'medium', by: 'host' },
      visits: { visits: 2, changes: 0, misses: 0, nextAt: expect.stringMatching(/Z$/) },
      score: { parts: { depth: 0.5 }, inputs: { depth: 1, referrers: 1 } },
      revisit: { change: 'unchanged', status: 304 },
    })
  })
})

describe('an audit of a folder that was refreshed', () => {
  const audit = async (folder: string): Promise<{ code: number; violations: Violation[] }> => {
    const ran = await runCommand(['audit', folder, '--json'])
    return { code: ran.code, violations: (ran.json() as unknown as { violations: Violation[] }).violations }
  }
  const tampered = (change: (lines: string[]) => string[], name = 'revisits.jsonl'): string => {
    const folder = mkdtempSync(join(root, 'tampered-'))
    cpSync(refreshed, folder, { recursive: true })
    const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)
    writeFileSync(
      join(folder, name),
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    )
    return folder
  }

  test('finds nothing wrong, and compares its visits with the pace', async () => {
    expect(await audit(refreshed)).toEqual({ code: 0, violations: [] })
    expect((await runCommand(['audit', refreshed])).stdout).toMatch(/10 gaps between pages of 1 host/)
  })

  test('finds a visit without its record', async () => {
    const { code, violations } = await audit(tampered((lines) => lines.slice(1)))
    expect(violations.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['missing-record', 'short-file', 'totals']),
    )
    expect(code).toBe(1)
  })

  test('finds a record without its visit', async () => {
    const { violations } = await audit(
      tampered((lines) => {
        const [first = '', second = ''] = lines.toSorted((a, b) => a.length - b.length)
        return [...lines.filter((line) => line !== second), first.padEnd(second.length)]
      }),
    )
    expect(violations.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['missing-record', 'doubled-record']))
  })

  test('finds a change that was not', async () => {
    const { violations } = await audit(
      tampered((lines) => lines.map((line) => line.replace('"change":"unchanged"', '"change":"missed"   '))),
    )
    expect(violations.map(({ kind }) => kind)).toEqual(['totals'])
  })
})
