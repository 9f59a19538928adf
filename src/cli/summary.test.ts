import { describe, expect, it } from 'vitest'
import { formatBytes, formatDuration } from '../base/index.ts'
import type { FrontierStats } from '../frontier/index.ts'
import { SKIP_REASONS, type SkipReason } from '../model/index.ts'
import { renderSummary, type Summary } from './summary.ts'

const stats: FrontierStats = {
  discovered: 1345,
  queued: 0,
  leased: 0,
  done: 1287,
  failed: 3,
  skipped: { redirect: 5, robots: 50 },
  held: 0,
  refreshing: 0,
  aside: 0,
  tiers: {
    high: { queued: 0, requests: 0 },
    medium: { queued: 0, requests: 1314 },
    low: { queued: 0, requests: 0 },
  },
  revisits: { changed: 0, unchanged: 0, gone: 0, missed: 0 },
  bloomFalsePositives: 0,
  requests: { page: 1300, sitemap: 2, robots: 12 },
  sitemapsQueued: 0,
  bytes: 4_120_000,
  tokens: 1_032_010,
  impolite: 0,
  closest: null,
  hosts: { known: 12, active: 0, waiting: 0, next: [] },
  output: {},
}

const finished: Summary = { stats, elapsedMs: 31_200, out: './crawl', reason: 'finished', color: false }

describe('the summary of a crawl', () => {
  it('says how it ended, what it brought and where that is', () => {
    const topFailures = [
      { code: 'timeout', count: 1 },
      { code: 'http', count: 2 },
    ] as const
    const bytes = formatBytes(4_120_000)
    const width = Math.max('1,032,010'.length, bytes.length)
    const row = (name: string, count: string): string => `  ${name.padEnd(8)} ${count.padStart(width)}`
    expect(renderSummary({ ...finished, topFailures })).toEqual([
      `finished: 1,287 pages in ${formatDuration(31_000)}, 41.3 pages/s`,
      row('saved', '1,287'),
      `${row('failed', '3')}   2 http, 1 timeout`,
      `${row('skipped', '55')}   50 disallowed by robots.txt, 5 redirected`,
      row('queued', '0'),
      row('hosts', '12'),
      row('tokens', '1,032,010'),
      row('bytes', bytes),
      '  output   ./crawl',
    ])
  })

  it.each([
    ['finished', 'finished: '],
    ['limit', 'stopped at the page limit: '],
    ['interrupted', 'interrupted, state saved: '],
    ['time', 'stopped at the time limit: '],
    ['bytes', 'stopped at the size limit: '],
  ] as const)('names its ending: %s', (reason, start) => {
    expect(renderSummary({ ...finished, reason })[0]?.startsWith(start)).toBe(true)
  })

  it('says when requests were made that should not have been, and nothing of it otherwise', () => {
    expect(renderSummary({ ...finished, impolite: 2 })[1]).toBe(
      '2 requests should not have been made: a host was asked too early or too much',
    )
    expect(renderSummary({ ...finished, impolite: 0 })).toEqual(renderSummary(finished))
  })

  it('ends with exactly the command that resumes, even in colour', () => {
    const resumeCommand = "tiptoe crawl https://example.com/ -o 'my crawl'"
    const lines = renderSummary({ ...finished, reason: 'interrupted', resumeCommand, color: true })
    expect(lines.at(-1)).toBe(resumeCommand)
  })

  it('counts what was in hand as queued, and says what is held for its depth', () => {
    const lines = renderSummary({ ...finished, stats: { ...stats, queued: 10, leased: 2, held: 4 } })
    expect(lines.find((line) => line.includes('queued'))).toMatch(/^ {2}queued +12 {3}4 deeper than the limit$/)
  })

  it('tells this run from the whole crawl after a resumption', () => {
    const lines = renderSummary({ ...finished, elapsedMs: 2000, savedThisRun: 1 })
    expect(lines[0]).toBe(`finished: 1 page in ${formatDuration(2000)}, 0.5 pages/s`)
    expect(lines[1]).toMatch(/^ {2}saved +1,287 {3}1 in this run$/)
  })

  it('says what came of the pages that this run fetched again', () => {
    const revisitsThisRun = { changed: 3, unchanged: 36, gone: 1, missed: 0 }
    const lines = renderSummary({ ...finished, elapsedMs: 10_000, savedThisRun: 2, revisitsThisRun })
    expect(lines[0]).toBe(`finished: 2 pages and 40 fetched again in ${formatDuration(10_000)}, 4.2 pages/s`)
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}again +40 {3}3 changed, 36 unchanged, 1 gone$/))
  })

  it('says how many URLs are set aside', () => {
    const lines = renderSummary({ ...finished, stats: { ...stats, queued: 10, held: 4, aside: 3 } })
    expect(lines.find((line) => line.includes('queued'))).toMatch(/ 10 {3}4 deeper than the limit, 3 set aside$/)
  })

  it('gives no rate to a run that took no time', () => {
    expect(renderSummary({ ...finished, elapsedMs: 0 })[0]).toContain(', 0 pages/s')
  })

  it('has words for every skip reason, names the most frequent and adds up', () => {
    const reasons = Object.keys(SKIP_REASONS) as SkipReason[]
    for (const reason of reasons) {
      const lines = renderSummary({ ...finished, stats: { ...stats, skipped: { [reason]: 2 } } })
      expect(lines.find((line) => line.includes('skipped'))).toMatch(/^ {2}skipped +2 {3}2 \S.{3,}$/)
    }
    const skipped = { depth: 1, redirect: 9, address: 2, robots: 7, 'redirect-limit': 3, 'crawl-delay': 0 }
    const lines = renderSummary({ ...finished, stats: { ...stats, skipped } })
    expect(lines.find((line) => line.includes('skipped'))).toMatch(
      / 22 {3}9 redirected, 7 disallowed by robots.txt, 3 redirected too often, 2 address not allowed, 1 other$/,
    )
  })

  it('says the same in colour', () => {
    const coloured = renderSummary({ ...finished, color: true })
    expect(coloured.join('')).toContain('\u001b[')
    expect(coloured.map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, ''))).toEqual(renderSummary(finished))
  })

  it('escapes the name of the folder', () => {
    expect(renderSummary({ ...finished, out: 'a\u001b[2J' }).at(-1)).toBe('  output   a\\x1b[2J')
  })
})
