/**
 * The live region of a crawl, as lines: how fast, how far, how busy, and what is being waited for. A pure function of
 * what it is shown; when to draw is left to the caller.
 */
import { formatBytes, formatDuration } from '../base/index.ts'
import type { FrontierStats } from '../frontier/index.ts'
import { countOf, formatCount, formatRate, sumOf } from './count-words.ts'
import { revisitWords } from './revisit-words.ts'
import { cutToWidth, escapeForTerminal, paint } from './terminal.ts'

/** Hosts that are named as being waited for. */
const HOSTS_SHOWN = 2

export interface ProgressView {
  /** Clock ms, the same clock as the times in `stats`. */
  readonly now: number
  readonly elapsedMs: number
  readonly stats: FrontierStats
  /** Requests running. */
  readonly inFlight: number
  /** Requests that may run at once. */
  readonly slots: number
  /** Over the last seconds, as is the next. */
  readonly pagesPerSecond: number
  readonly bytesPerSecond: number
  /** Of a crawl that fetches pages again: when the next is due (clock ms), null for never. */
  readonly nextVisit?: number | null
  /** `draining`: nothing new starts. `finishing`: nothing runs, the output and the store are being closed. */
  readonly phase: 'crawling' | 'draining' | 'finishing'
  /** Clock ms; by then a drain is over. */
  readonly drainUntil?: number
}

/** Three to six lines, none wider than `columns`. */
export function renderProgress(view: ProgressView, columns: number, color: boolean): string[] {
  const again = revisitWords(view.stats.revisits)
  const lines = [
    speed(view, color),
    counts(view.stats, color),
    ...(again === '' ? [] : [`fetched again: ${again}`]),
    load(view),
    ...outlook(view, color),
  ]
  return lines.map((line) => cutToWidth(line, columns))
}

function speed(view: ProgressView, color: boolean): string {
  const rate = paint(color, 'strong', `${formatRate(view.pagesPerSecond)} pages/s`)
  const bytes = Math.round(view.bytesPerSecond)
  return `${rate}   ${formatBytes(bytes)}/s   ${wholeSeconds(view.elapsedMs)} elapsed`
}

function counts(stats: FrontierStats, color: boolean): string {
  const failed = `${formatCount(stats.failed)} failed`
  const parts = [
    paint(color, 'good', `${formatCount(stats.done + stats.refreshing)} saved`),
    `${formatCount(stats.queued)} queued`,
    stats.failed > 0 ? paint(color, 'bad', failed) : failed,
    `${formatCount(sumOf(stats.skipped))} skipped`,
    formatBytes(stats.bytes),
  ]
  return parts.join('   ')
}

function load({ inFlight, slots, stats }: ProgressView): string {
  const { active, waiting, known } = stats.hosts
  const hosts = `hosts: ${formatCount(active)} active, ${formatCount(waiting)} waiting, ${formatCount(known)} known`
  return `${formatCount(inFlight)} of ${formatCount(slots)} slots in flight   ${hosts}`
}

/** What happens next. While there is nothing to wait for, nothing is said. */
function outlook(view: ProgressView, color: boolean): string[] {
  switch (view.phase) {
    case 'crawling':
      if (isIdle(view)) return [paint(color, 'dim', idleWords(view))]
      return view.stats.hosts.next.slice(0, HOSTS_SHOWN).map(({ host, at, reason }) => {
        const waited = `waiting for ${escapeForTerminal(host)}: ${escapeForTerminal(reason)}, ${timeLeft(at - view.now)}`
        return paint(color, 'dim', waited)
      })
    case 'draining': {
      const running = `draining: ${countOf(view.inFlight, 'request')} still running`
      if (view.drainUntil === undefined) return [running]
      // Rounded up: the promise is an upper bound.
      const seconds = Math.max(0, Math.ceil((view.drainUntil - view.now) / 1000))
      return [`${running}, at most ${formatDuration(seconds * 1000)}`]
    }
    case 'finishing':
      return ['finishing: closing the output and the store']
    default:
      return view.phase satisfies never
  }
}

/** Nothing is left but to wait until pages are due again. */
function isIdle({ nextVisit, inFlight, stats }: ProgressView): boolean {
  return nextVisit !== undefined && inFlight === 0 && stats.queued + stats.leased === 0
}

function idleWords({ nextVisit, now }: ProgressView): string {
  if (nextVisit == null) return 'waiting: no page is to be fetched again'
  return `waiting for the next page that is to be fetched again: ${timeLeft(nextVisit - now)}`
}

/** Tenths of a second below a minute, rounded up, so that a wait is never shown as none. */
function timeLeft(ms: number): string {
  if (ms <= 0) return 'due now'
  return ms < 60_000 ? `${(Math.ceil(ms / 100) / 10).toFixed(1)}s` : wholeSeconds(ms)
}

function wholeSeconds(ms: number): string {
  return formatDuration(Math.floor(ms / 1000) * 1000)
}
