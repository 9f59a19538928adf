/**
 * Conservation, in the store alone: the counters that are kept against the rows that are counted, and each URL that is
 * still open in exactly the waiting line that will bring it back.
 */
import { TIERS } from '../../model/index.ts'
import type { CrawlView } from '../crawl-view.ts'
import { sumOf } from '../count-words.ts'
import type { Findings } from './findings.ts'

/** Returns the highest row id, which bounds what is kept about rows. */
export function auditStore({ inspector }: Pick<CrawlView, 'inspector'>, findings: Findings): number {
  const counters = inspector.counters()
  const tally = inspector.tally()
  const compare = (name: string, stored: number, counted: number): void => {
    if (stored !== counted) findings.add('counter', `${name}: the store says ${stored}, its rows are ${counted}`)
  }
  const count = (test: (row: (typeof tally.urls)[number]) => boolean): number =>
    tally.urls.filter(test).reduce((sum, row) => sum + row.count, 0)
  const isOpen = (state: string): boolean => state !== 'done' && state !== 'failed' && state !== 'skipped'

  compare(
    'discovered',
    counters.discovered,
    count(({ kind }) => kind === 'page'),
  )
  compare(
    'queued',
    counters.open,
    count(({ kind, state }) => kind === 'page' && isOpen(state)),
  )
  compare(
    'held',
    counters.held,
    count(({ state }) => state === 'held'),
  )
  compare(
    'set aside',
    counters.aside,
    count(({ state }) => state === 'aside'),
  )
  compare(
    'done',
    counters.done,
    count(({ kind, state }) => kind === 'page' && state === 'done'),
  )
  compare(
    'failed',
    counters.failed,
    count(({ kind, state }) => kind === 'page' && state === 'failed'),
  )
  const skipped = tally.urls.filter(({ kind, state }) => kind === 'page' && state === 'skipped')
  const reasons = new Set([...Object.keys(counters.skipped), ...skipped.map(({ reason }) => reason ?? '')])
  for (const reason of reasons) {
    const counted = skipped.filter((row) => row.reason === reason).reduce((sum, row) => sum + row.count, 0)
    compare(`skipped: ${reason}`, counters.skipped[reason] ?? 0, counted)
  }
  compare(
    'queued by tier',
    TIERS.reduce((sum, tier) => sum + counters.tiers[tier].queued, 0),
    count(({ state }) => state === 'queued'),
  )
  compare(
    'sitemaps',
    counters.sitemapsOpen,
    count(({ kind, state }) => kind === 'sitemap' && isOpen(state)),
  )
  compare('hosts', counters.hosts, tally.hosts)
  let pagesOfHosts = 0
  for (const { pages } of inspector.hosts()) pagesOfHosts += pages
  compare('pages of hosts', counters.done + counters.refreshing, pagesOfHosts)
  compare('known URLs', tally.seen, sumOf(Object.fromEntries(tally.urls.map((row, index) => [index, row.count]))))
  const { open, done, failed } = counters
  const settled = open + done + failed + sumOf(counters.skipped)
  if (counters.discovered !== settled) {
    findings.add('counter', `discovered ${counters.discovered} is not queued + done + failed + skipped, ${settled}`)
  }

  for (const [state, line] of Object.entries(tally.lines)) {
    const urls = count((row) => row.state === state)
    if (line.entries === urls && line.rightful === urls) continue
    findings.add('queue', `${state}: ${urls} URLs, but ${line.entries} entries of which ${line.rightful} are theirs`)
  }
  if (tally.laneQueued !== tally.lines.queued.entries) {
    findings.add('queue', `origins count ${tally.laneQueued} queued URLs, the queue has ${tally.lines.queued.entries}`)
  }
  return tally.highestId
}
