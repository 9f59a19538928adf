import { prepareCrawlFolder, readCrawlFolder } from '../engine/index.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { resolveSettings } from '../config/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { brokenPromises, noticeLines, storyLines, visitsOf, visitWords } from './demo-report.ts'
import { createDemoWeb, type LogEntry } from './demo/index.ts'
import { runCommand } from './test-support/run-command.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-demo-test-'))
afterAll(() => rmSync(root, { recursive: true }))

const web = await createDemoWeb()
afterAll(() => web.close())

const entry = (host: string, path: string, arrivedAt: number, status: number | null = 200): LogEntry => ({
  host,
  method: 'GET',
  path,
  query: '',
  userAgent: null,
  arrivedAt,
  answeredAt: arrivedAt + 100,
  endedAt: arrivedAt + 100,
  status,
})
/** Each host asked twice, at the pace that the demo promises. */
const polite = web.story.flatMap(({ host }) => [
  entry(host, '/robots.txt', 1000),
  entry(host, host.startsWith('closed') ? '/robots.txt' : '/', 3100, 404),
])
const told = (log: readonly LogEntry[]): string[] =>
  brokenPromises(
    log,
    web.story.map(({ host }) => visitsOf(log, host)),
  )

describe('the demo', () => {
  test('tells its story and its findings within 80 columns', () => {
    const visits = web.story.map(({ host }) => visitsOf(polite, host))
    const lines = [
      ...storyLines(web, 80, false),
      ...visitWords(visits).split('\n'),
      ...noticeLines(polite, visits, 80, false),
    ]
    for (const line of lines) expect(line.length).toBeLessThan(80)
    expect(visitWords(visits)).toMatch(/fast\.demo\.test +2 +2\.000 s +2\.2 s +1×200 1×404/)
    expect(told(polite)).toEqual([])
  })

  test('does not claim what the servers saw otherwise', () => {
    expect(told([...polite, entry('fast.demo.test', '/rye', 4199)])).toEqual([expect.stringContaining('0.999 s')])
    expect(told([...polite, entry('patient.demo.test', '/oolong', 4300)])).toHaveLength(1)
    expect(told([...polite, entry('private.demo.test', '/private/diary', 9000)])).toHaveLength(1)
    expect(told([...polite, entry('closed.demo.test', '/', 9000)])).toHaveLength(1)
    expect(told(polite.filter(({ host }) => host !== 'docs.demo.test'))).toEqual(['docs.demo.test was never asked'])
  })

  test('removes no crawl but its own from a folder', async () => {
    const folder = join(root, 'crawl')
    const { settings } = resolveSettings({ version: '0.0.0' })
    prepareCrawlFolder(folder, { settings, seeds: ['https://example.com/' as NormalizedUrl] }, undefined)
    await expect(runCommand(['demo', '-o', folder])).rejects.toMatchObject({ code: 'usage' })
    expect(readCrawlFolder(folder, '0.0.0')).toBeDefined()
  })
})
