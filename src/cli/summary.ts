/**
 * The last word of a crawl: why it ended, what it brought, where that is, and how to go on. A pure function of the
 * totals; on an interruption its last line is exactly the command that resumes, so that it can be copied or run.
 */
import { formatBytes, formatDuration } from '../base/index.ts'
import type { FrontierStats } from '../frontier/index.ts'
import type { FailureCode, SkipReason } from '../model/index.ts'
import { countOf, formatCount, formatRate, sumOf } from './count-words.ts'
import { revisitWords } from './revisit-words.ts'
import { escapeForTerminal, padToWidth, paint } from './terminal.ts'

/** Reasons and failures that are named in one line; the rest are counted together. */
const NAMED = 4

const ENDINGS = {
  finished: 'finished',
  limit: 'stopped at the page limit',
  interrupted: 'interrupted, state saved',
  time: 'stopped at the time limit',
  bytes: 'stopped at the size limit',
  halted: 'ended for all workers',
} as const

/** SKIP_REASONS in short. */
const SKIPPED: Readonly<Record<SkipReason, string>> = {
  robots: 'disallowed by robots.txt',
  'robots-unreachable': 'robots.txt unreachable',
  'crawl-delay': 'Crawl-delay too long',
  'host-unavailable': 'host unavailable',
  depth: 'too deep',
  trap: 'like a trap',
  'host-budget': 'beyond the limit of their host',
  gone: 'gone for good',
  redirect: 'redirected',
  'redirect-scope': 'redirected out of scope',
  'redirect-limit': 'redirected too often',
  address: 'address not allowed',
}

export interface Summary {
  /** Of the whole crawl, over all of its runs. */
  readonly stats: FrontierStats
  /** Of this run. */
  readonly elapsedMs: number
  /** Pages saved for the first time by this run; all of them unless given. */
  readonly savedThisRun?: number
  /** What came of the pages that this run fetched again; of all runs unless given. */
  readonly revisitsThisRun?: FrontierStats['revisits']
  /** The output folder, as the user named it. */
  readonly out: string
  readonly reason: keyof typeof ENDINGS
  /** Ready for a shell; absent when there is nothing to resume. */
  readonly resumeCommand?: string
  /** Requests that the audit objected to; 0 unless given. */
  readonly impolite?: number
  readonly topFailures?: readonly { readonly code: FailureCode; readonly count: number }[]
  readonly color: boolean
}

export function renderSummary(summary: Summary): string[] {
  const { stats, elapsedMs, color, resumeCommand } = summary
  const savedPages = stats.done + stats.refreshing
  const savedThisRun = summary.savedThisRun ?? savedPages
  const isResumed = savedThisRun !== savedPages
  const revisits = summary.revisitsThisRun ?? stats.revisits
  const again = sumOf(revisits)
  const rate = formatRate(elapsedMs > 0 ? (savedThisRun + again) / (elapsedMs / 1000) : 0)
  const skipped = Object.entries(stats.skipped).map(([reason, count]) => ({
    words: SKIPPED[reason as SkipReason] ?? reason,
    count,
  }))
  const failures = (summary.topFailures ?? []).map(({ code, count }) => ({ words: code, count }))
  const parked = [
    stats.held > 0 ? `${formatCount(stats.held)} deeper than the limit` : '',
    stats.aside > 0 ? `${formatCount(stats.aside)} set aside` : '',
  ].filter(Boolean)

  const rows: (readonly [name: string, count: string, detail: string])[] = [
    ['saved', formatCount(savedPages), isResumed ? `${formatCount(savedThisRun)} in this run` : ''],
    ['failed', formatCount(stats.failed), list(failures, stats.failed)],
    ['skipped', formatCount(sumOf(stats.skipped)), list(skipped, sumOf(stats.skipped))],
    ['queued', formatCount(stats.queued + stats.leased), parked.join(', ')],
    ...(again === 0 ? [] : [['again', formatCount(again), revisitWords(revisits)] as const]),
    ['hosts', formatCount(stats.hosts.known), ''],
    ['tokens', formatCount(stats.tokens), ''],
    ['bytes', formatBytes(stats.bytes), ''],
  ]
  const { impolite = 0 } = summary
  const width = Math.max(...rows.map(([, count]) => count.length))
  const table = rows.map(([name, count, detail]) => {
    const line = `  ${padToWidth(name, 8)} ${padToWidth(count, width, 'left')}`
    return detail === '' ? line : `${line}   ${paint(color, 'dim', detail)}`
  })
  const saved = `${countOf(savedThisRun, 'page')}${again === 0 ? '' : ` and ${formatCount(again)} fetched again`}`
  const ending = paint(color, summary.reason === 'finished' ? 'good' : 'warning', ENDINGS[summary.reason])
  return [
    `${ending}: ${saved} in ${formatDuration(roundedMs(elapsedMs))}, ${rate} pages/s`,
    ...(impolite === 0 ? [] : [paint(color, 'bad', impoliteWords(impolite))]),
    ...table,
    `  ${padToWidth('output', 8)} ${escapeForTerminal(summary.out)}`,
    ...(resumeCommand === undefined ? [] : ['resume with:', resumeCommand]),
  ]
}

function impoliteWords(count: number): string {
  return `${countOf(count, 'request')} should not have been made: a host was asked too early or too much`
}

/** The most frequent first, and the others as one number, so that the line always adds up. */
function list(parts: readonly { readonly words: string; readonly count: number }[], total: number): string {
  const ranked = parts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
  const named = ranked.slice(0, NAMED)
  const rest = total - named.reduce((sum, { count }) => sum + count, 0)
  const words = named.map(({ words, count }) => `${formatCount(count)} ${escapeForTerminal(words)}`)
  if (named.length > 0 && rest > 0) words.push(`${formatCount(rest)} other`)
  return words.join(', ')
}

/** Tenths of a second matter to a short run, not to a long one. */
function roundedMs(ms: number): number {
  const unit = ms < 10_000 ? 100 : 1000
  return Math.round(ms / unit) * unit
}
