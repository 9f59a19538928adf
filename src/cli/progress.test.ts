import { describe, expect, it } from 'vitest'
import { formatBytes, formatDuration } from '../base/index.ts'
import type { FrontierStats } from '../frontier/index.ts'
import type { HostKey } from '../model/index.ts'
import { renderProgress, type ProgressView } from './progress.ts'
import { displayWidth } from './terminal.ts'

const stats: FrontierStats = {
  discovered: 3000,
  queued: 2301,
  leased: 14,
  done: 641,
  failed: 3,
  skipped: { robots: 40, redirect: 1 },
  held: 0,
  refreshing: 0,
  aside: 0,
  tiers: {
    high: { queued: 0, requests: 0 },
    medium: { queued: 2301, requests: 731 },
    low: { queued: 0, requests: 0 },
  },
  revisits: { changed: 0, unchanged: 0, gone: 0, missed: 0 },
  bloomFalsePositives: 0,
  requests: { page: 685, sitemap: 2, robots: 44 },
  sitemapsQueued: 0,
  bytes: 12_300_000,
  tokens: 100_000,
  impolite: 0,
  closest: null,
  hosts: { known: 44, active: 14, waiting: 30, next: [] },
  output: {},
}

const view: ProgressView = {
  now: 1_000_000,
  elapsedMs: 72_900,
  stats,
  inFlight: 14,
  slots: 20,
  pagesPerSecond: 12.44,
  bytesPerSecond: 310_000.5,
  phase: 'crawling',
}

function waitingFor(...next: { host: string; at: number; reason: string }[]): ProgressView {
  const hosts = { ...stats.hosts, next: next.map((each) => ({ ...each, host: each.host as HostKey })) }
  return { ...view, stats: { ...stats, hosts } }
}

describe('the progress of a crawl', () => {
  it('says how fast, how far and how busy', () => {
    expect(renderProgress(view, 200, false)).toEqual([
      `12.4 pages/s   ${formatBytes(310_001)}/s   ${formatDuration(72_000)} elapsed`,
      `641 saved   2,301 queued   3 failed   41 skipped   ${formatBytes(12_300_000)}`,
      '14 of 20 slots in flight   hosts: 14 active, 30 waiting, 44 known',
    ])
  })

  it('names the two hosts that come next, and what they wait for', () => {
    const waiting = waitingFor(
      { host: 'docs.example.com', at: view.now + 3150, reason: 'Crawl-delay' },
      { host: 'due.example.com', at: view.now - 5, reason: 'pace' },
      { host: 'third.example.com', at: view.now + 9000, reason: 'pace' },
    )
    expect(renderProgress(waiting, 200, false).slice(3)).toEqual([
      'waiting for docs.example.com: Crawl-delay, 3.2s',
      'waiting for due.example.com: pace, due now',
    ])
  })

  it('rounds a wait up, to tenths below a minute', () => {
    const lastLine = (ms: number): string | undefined =>
      renderProgress(waitingFor({ host: 'a.test', at: view.now + ms, reason: 'pace' }), 200, false).at(-1)
    expect(lastLine(0.5)).toBe('waiting for a.test: pace, 0.1s')
    expect(lastLine(2000)).toBe('waiting for a.test: pace, 2.0s')
    expect(lastLine(90_500)).toBe(`waiting for a.test: pace, ${formatDuration(90_000)}`)
  })

  it('says what a drain waits for, and for how long at most', () => {
    const draining = { ...view, phase: 'draining', inFlight: 3, drainUntil: view.now + 3001 } as const
    expect(renderProgress(draining, 200, false).at(-1)).toBe(
      `draining: 3 requests still running, at most ${formatDuration(4000)}`,
    )
    const late = { ...draining, inFlight: 1, drainUntil: view.now - 10 }
    expect(renderProgress(late, 200, false).at(-1)).toBe(
      `draining: 1 request still running, at most ${formatDuration(0)}`,
    )
    const { drainUntil: _, ...open } = draining
    expect(renderProgress(open, 200, false).at(-1)).toBe('draining: 3 requests still running')
  })

  it('says that it is finishing', () => {
    const lines = renderProgress({ ...view, phase: 'finishing', inFlight: 0 }, 200, false)
    expect(lines.at(-1)).toBe('finishing: closing the output and the store')
  })

  it('says what came of pages that were fetched again', () => {
    const revisits = { changed: 12, unchanged: 1340, gone: 0, missed: 1 }
    expect(renderProgress({ ...view, stats: { ...stats, revisits } }, 200, false)[2]).toBe(
      'fetched again: 12 changed, 1,340 unchanged, 1 not reached',
    )
  })

  it('says of a crawl that goes on when the next page is due, once nothing else is left', () => {
    const empty = { ...stats, queued: 0, leased: 0 }
    const idle = { ...view, stats: empty, inFlight: 0, nextVisit: view.now + 3_150 }
    const lastLine = (shown: ProgressView): string | undefined => renderProgress(shown, 200, false).at(-1)
    expect(lastLine(idle)).toBe('waiting for the next page that is to be fetched again: 3.2s')
    expect(lastLine({ ...idle, nextVisit: null })).toBe('waiting: no page is to be fetched again')
    expect(lastLine({ ...idle, inFlight: 1 })).toContain('slots in flight')
    expect(lastLine({ ...idle, stats })).toContain('slots in flight')
  })

  it('has three to six lines that never exceed the width', () => {
    const again = { ...view, stats: { ...stats, revisits: { changed: 1, unchanged: 2, gone: 3, missed: 4 } } }
    const many = Array.from({ length: 5 }, (_, n) => ({ host: `${'x'.repeat(80)}.${n}.test`, at: 0, reason: '日本語' }))
    for (const shown of [view, again, waitingFor(...many)]) {
      for (const columns of [1, 10, 40, 80]) {
        const lines = renderProgress(shown, columns, true)
        expect(lines.length).toBeGreaterThanOrEqual(3)
        expect(lines.length).toBeLessThanOrEqual(6)
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
      }
    }
  })

  it('escapes what comes from the network', () => {
    const hostile = waitingFor({ host: 'a\u001b[2J', at: view.now, reason: '\u202eevil' })
    expect(renderProgress(hostile, 200, false).at(-1)).toBe('waiting for a\\x1b[2J: \\u{202e}evil, due now')
  })

  it('says the same in colour', () => {
    const coloured = renderProgress(waitingFor({ host: 'a.test', at: view.now, reason: 'pace' }), 200, true)
    const plain = renderProgress(waitingFor({ host: 'a.test', at: view.now, reason: 'pace' }), 200, false)
    expect(coloured.join('')).toContain('\u001b[')
    expect(coloured.map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, ''))).toEqual(plain)
  })

  it('shows no rate where there is none, and large ones in whole pages', () => {
    const rate = (pagesPerSecond: number): string | undefined =>
      renderProgress({ ...view, pagesPerSecond }, 200, false)[0]?.split('   ')[0]
    expect([0, Number.NaN, Infinity, 0.04, 0.06, 99.94, 1234.5].map(rate)).toEqual([
      '0 pages/s',
      '0 pages/s',
      '0 pages/s',
      '0 pages/s',
      '0.1 pages/s',
      '99.9 pages/s',
      '1,235 pages/s',
    ])
  })
})
