/** What must be true of a crawl that is over, beyond what every step of it was checked for. */
import { recrawlOptionsOf } from '../config/index.ts'
import { TIERS } from '../model/index.ts'
import { checkFates } from './oracle.ts'
import type { PaceChecker } from './pace-checker.ts'
import type { Page } from './page-book.ts'
import type { Scenario } from './scenario.ts'
import { Violation } from './violation.ts'

/** Sitemaps of a simulated host are visited again as its pages are. */
const MOST_SITEMAPS = 6

export type CrawlEnd = 'finished' | 'limit' | 'stopped'

type Pages = ReadonlyMap<string, Page>

export function checkEnd(scenario: Scenario, end: CrawlEnd, pages: Pages): void {
  const { settings } = scenario
  const all = [...pages.values()]
  const open = all.filter(({ fate }) => fate === undefined).length
  if (end === 'finished' && open > 0) throw new Violation('termination', 'the crawl', `finished with ${open} URLs left`)
  const saved = all.filter(({ fate }) => fate === 'page')
  if (end === 'limit' && saved.length !== settings.maxPages)
    throw new Violation('limit', 'the crawl', `${saved.length} pages, not ${settings.maxPages}`)
  if (end === 'finished' && scenario.revisits?.kind === 'on' && saved.length > 0)
    throw new Violation('termination', 'the crawl', 'finished, though its pages are to be fetched again')
  checkBudget(scenario, all, saved)
  checkFates(scenario, pages, end === 'finished')
}

/** What is left out for the budget of a host is left out for good reason. */
function checkBudget({ settings, revisits }: Scenario, all: readonly Page[], saved: readonly Page[]): void {
  const { maxPagesPerHost } = settings
  if (maxPagesPerHost === undefined) return
  const count = new Map<string, number>()
  for (const { host } of saved) count.set(host, (count.get(host) ?? 0) + 1)
  for (const [host, pages] of count)
    if (pages > maxPagesPerHost) throw new Violation('budget', host, `${pages} pages, not ${maxPagesPerHost}`)
  // A page that goes away leaves room for another, which may have been skipped by then.
  if (revisits !== undefined) return
  for (const { host, url, fate } of all) {
    if (fate === 'skip host-budget' && count.get(host) !== maxPagesPerHost)
      throw new Violation('budget', host, `${url} was skipped for it with ${count.get(host) ?? 0} pages saved`)
  }
}

/** How often each page had ended at some moment. */
export type Marks = ReadonlyMap<string, number>

export function marksOf(pages: Pages): Marks {
  return new Map([...pages].filter(([, { fate }]) => fate === 'page').map(([url, { ends }]) => [url, ends]))
}

/**
 * A crawl that was opened once more, so long after its end, has looked at every page that was due: all of them, if that
 * was longer than the longest time between two visits.
 */
export function checkVisited(scenario: Scenario, marks: Marks, afterMs: number, pages: Pages, pace: PaceChecker): void {
  const { settings, faults } = scenario
  // How much time has passed is a matter of opinion when clocks are set or stand still.
  const doubtMs = faults.reduce((sum, { fault }) => sum + ('ms' in fault ? Math.abs(fault.ms) : 0), 0)
  const { intervals, hostShare } = recrawlOptionsOf(settings, 'once')
  const mostMs = Math.max(...TIERS.map((tier) => intervals[tier].mostMs))
  const leastMs = Math.min(...TIERS.map((tier) => intervals[tier].leastMs))
  const own = new Map<string, number>()
  for (const { host } of pages.values()) own.set(host, (own.get(host) ?? 0) + 1)
  for (const [url, ends] of marks) {
    const page = pages.get(url)
    if (page === undefined || page.ends > ends) continue
    // The visits of a host that is slow to be asked are spread over a longer time.
    const delayMs = Math.max(pace.delayOf(page.host), settings.latencyFactor === 0 ? 0 : settings.latencyMaxDelayMs)
    const stretch = Math.max(1, ((MOST_SITEMAPS + (own.get(page.host) ?? 0)) * delayMs) / (leastMs * hostShare))
    if (afterMs > mostMs * stretch + doubtMs)
      throw new Violation('revisit', url, `not looked at again, ${afterMs} ms after the end of the crawl`)
  }
}
