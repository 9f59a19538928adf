/**
 * Every page of a crawl as the checker has it, from what the frontier was told: how it was found, how it ended, and when
 * it was last seen. It outlives the process that has the frontier.
 *
 * - The counters add up after every verb, and to what was really added and settled.
 * - A page that ended is not handed out again, unless its next visit may be due: never sooner than the least interval
 *   after the last one, and only while pages are fetched again at all.
 * - No more pages than the limits allow, of the crawl and of each host, at any moment.
 */
import type { FrontierStats, RecrawlOptions, Settlement } from '../frontier/index.ts'
import { TIERS, type FoundUrl, type Outcome, type Task, type Tier, type Visit } from '../model/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import { Violation } from './violation.ts'

/** Answers in a row that say a page is gone, until it is gone for good. */
const GONE_AFTER = 3

export interface PageBookOptions {
  readonly maxPages: number | undefined
  readonly maxPagesPerHost: number | undefined
  /** As it is now. */
  recrawl(): RecrawlOptions
}

export interface Page {
  readonly url: string
  readonly host: string
  readonly origin: string
  /** The tier that a rule gave it. */
  readonly slot: Tier | 'auto'
  /** By the clock of then, as the frontier has it too. */
  readonly foundAt: number
  /** In order of discovery. */
  readonly serial: number
  depth: number
  /** How often it was named: at the least, since a crash may lose some, and in all. */
  leastReferrers: number
  mostReferrers: number
  /** It was put off at least once. */
  wasRetried: boolean
  /** How it ended the last time, in one word; undefined before it did. */
  fate: string | undefined
  /** How often it ended, and when, by the clock of the process that has the frontier now. */
  ends: number
  endedAt: number
  /** Answers in a row that said it is gone. */
  misses: number
  /** What was told for its next visit. */
  visit: Visit | undefined
}

export interface PageBook {
  /** URLs were made known; with `source`, as what that task's answer names. */
  take(found: readonly FoundUrl[] | undefined, source: Task | undefined, now: number): void
  granted(task: Task, now: number): void
  /** A settlement of a page was accepted. `status` is what its host answered last, if it did. */
  ended(settlement: Settlement, status: number | undefined, now: number): void
  /** Looks at the counters, while these tasks are out. */
  checkStats(stats: FrontierStats, out: Iterable<Task>, now: number): void
  /** The process died: what may be written later may be lost. */
  crashed(): void
  shift(ms: number): void
  get(url: string): Page | undefined
  readonly pages: ReadonlyMap<string, Page>
  /** Pages that have not ended yet, by origin and slot. */
  readonly open: ReadonlyMap<string, ReadonlySet<Page>>
  /** Pages that ended, once for each time. */
  readonly ends: number
}

/** The name of a part of an origin's queue. */
export const queueOf = ({ origin, slot }: Pick<Page, 'origin' | 'slot'>): string => `${slot} ${origin}`

/** The final state of a page in one word; undefined when it is none. */
export function fateOf(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'done':
      return 'page'
    case 'skipped':
      return `skip ${outcome.reason}`
    case 'failed':
      return `fail ${outcome.code}`
    case 'retry':
    case 'moved':
    case 'returned':
      return undefined
  }
}

export function createPageBook(options: PageBookOptions): PageBook {
  const pages = new Map<string, Page>()
  const open = new Map<string, Set<Page>>()
  const saved = new Map<string, number>()
  const revisits = { changed: 0, unchanged: 0, gone: 0, missed: 0 }
  const putOff = new Set<string>()
  const counts = { saved: 0, failed: 0, skipped: 0 }
  let ends = 0

  const insert = (found: FoundUrl, depth: number, now: number): void => {
    const page: Page = {
      url: found.url,
      host: hostKey(found.url),
      origin: originOf(found.url),
      slot: found.tier ?? 'auto',
      foundAt: now,
      serial: pages.size,
      depth,
      leastReferrers: 1,
      mostReferrers: 1,
      wasRetried: false,
      fate: undefined,
      ends: 0,
      endedAt: -Infinity,
      misses: 0,
      visit: undefined,
    }
    pages.set(page.url, page)
    const queue = open.get(queueOf(page))
    if (queue === undefined) open.set(queueOf(page), new Set([page]))
    else queue.add(page)
  }

  const leastMs = ({ slot }: Page): number => {
    const { intervals } = options.recrawl()
    return slot === 'auto' ? Math.min(...TIERS.map((tier) => intervals[tier].leastMs)) : intervals[slot].leastMs
  }
  const mayBeDue = (page: Page, now: number): boolean =>
    page.fate === 'page' && options.recrawl().mode !== 'off' && now >= page.endedAt + leastMs(page)

  const checkVisit = (page: Page, task: Task, now: number): void => {
    if (page.fate === undefined) {
      if (task.last !== undefined) throw new Violation('revisit', page.url, 'of a page that was never had')
      return
    }
    if (page.fate !== 'page' || options.recrawl().mode === 'off')
      throw new Violation('handed-out', page.url, `though it is settled: ${page.fate}`)
    if (!mayBeDue(page, now)) {
      const sinceMs = now - page.endedAt
      throw new Violation('revisit', page.url, `${sinceMs} ms after the last visit, and not ${leastMs(page)} or more`)
    }
    if (task.last === undefined) throw new Violation('revisit', page.url, 'without what is known from the last time')
    const { hash, etag, lastModified } = task.last
    const { visit } = page
    if (visit === undefined) return
    if (hash !== visit.hash || etag !== visit.etag || lastModified !== visit.lastModified)
      throw new Violation('revisit', page.url, `knows ${JSON.stringify(task.last)}, not ${JSON.stringify(visit)}`)
  }

  const checkEnd = (page: Page, { task, outcome, answeredAt, visit }: Settlement, status: number | undefined): void => {
    if (task.aside !== undefined) {
      if (outcome.kind !== 'skipped' || outcome.reason !== task.aside.reason)
        throw new Violation('aside', page.url, `set aside for ${task.aside.reason}, ended as ${fateOf(outcome)}`)
      if (answeredAt !== undefined) throw new Violation('aside', page.url, 'asked for, though it was set aside')
    }
    const change = visit?.change
    if (task.last === undefined) {
      if (change !== undefined && change !== 'new')
        throw new Violation('revisit', page.url, `${change}, though it was never had before`)
      if (outcome.kind === 'skipped' && outcome.reason === 'gone')
        throw new Violation('revisit', page.url, 'gone, though it was never had before')
      return
    }
    // What was had still stands, whatever becomes of one visit.
    if (outcome.kind === 'failed') throw new Violation('revisit', page.url, `a visit failed: ${outcome.code}`)
    if (outcome.kind === 'done' && (change === undefined || change === 'new'))
      throw new Violation('revisit', page.url, `done again as ${change ?? 'nothing'}`)
    if (outcome.kind === 'skipped' && outcome.reason === 'gone' && status !== 410 && page.misses + 1 < GONE_AFTER)
      throw new Violation('revisit', page.url, `given up after ${page.misses + 1} answers that it is gone`)
  }

  const newPagesOut = (out: Iterable<Task>): Map<string, number> => {
    const count = new Map<string, number>()
    for (const { kind, url, host, last, aside } of out) {
      const isNew = kind === 'page' && last === undefined && aside === undefined && pages.get(url)?.fate === undefined
      if (isNew) count.set(host, (count.get(host) ?? 0) + 1)
    }
    return count
  }

  const checkLimits = (out: readonly Task[]): void => {
    const { maxPages = Infinity, maxPagesPerHost = Infinity } = options
    if (maxPages === Infinity && maxPagesPerHost === Infinity) return
    const underWay = newPagesOut(out)
    let all = counts.saved
    for (const [host, count] of underWay) {
      all += count
      const own = (saved.get(host) ?? 0) + count
      if (own > maxPagesPerHost)
        throw new Violation('budget', host, `${own} pages saved and under way, not ${maxPagesPerHost}`)
    }
    if (underWay.size > 0 && all > maxPages)
      throw new Violation('limit', 'the crawl', `${all} pages saved and under way, not ${maxPages}`)
  }

  return {
    pages,
    open,
    get ends() {
      return ends
    },
    get: (url) => pages.get(url),
    take(found, source, now) {
      // Its source may have moved up while it was being fetched: what it names moves up with it.
      const from = source?.kind === 'page' ? pages.get(source.url) : undefined
      const lift = source === undefined || from === undefined ? 0 : source.depth - from.depth
      for (const item of found ?? []) {
        if (item.kind !== 'page') continue
        const depth = item.depth - lift
        const known = pages.get(item.url)
        if (known === undefined) {
          insert(item, depth, now)
          continue
        }
        known.depth = Math.min(known.depth, depth)
        // A page that is fetched again names what it named before.
        if (source?.last !== undefined) continue
        known.leastReferrers += 1
        known.mostReferrers += 1
      }
    },
    granted(task, now) {
      putOff.delete(`${task.kind} ${task.url}`)
      const page = task.kind === 'page' ? pages.get(task.url) : undefined
      if (page !== undefined) checkVisit(page, task, now)
    },
    ended(settlement, status, now) {
      const { task, outcome, visit } = settlement
      if (outcome.kind === 'retry' && task.kind !== 'robots') putOff.add(`${task.kind} ${task.url}`)
      if (task.kind !== 'page') return
      const page = pages.get(task.url)
      const fate = fateOf(outcome)
      if (outcome.kind === 'retry' && page !== undefined) page.wasRetried = true
      if (fate === undefined) return
      if (page === undefined) throw new Violation('settled', task.url, 'though it was never discovered')
      if (page.fate !== undefined && (page.fate !== 'page' || task.last === undefined))
        throw new Violation('settled', task.url, `twice: ${page.fate}, then ${fate}`)
      checkEnd(page, settlement, status)
      const change = visit?.change ?? 'new'
      if (change !== 'new') revisits[change] += 1
      if (page.fate === 'page') counts.saved -= 1
      const savedBefore = (saved.get(page.host) ?? 0) - Number(page.fate === 'page')
      saved.set(page.host, savedBefore + Number(fate === 'page'))
      if (fate === 'page') counts.saved += 1
      else if (outcome.kind === 'failed') counts.failed += 1
      else counts.skipped += 1
      open.get(queueOf(page))?.delete(page)
      page.fate = fate
      page.ends += 1
      page.endedAt = now
      if (change !== 'missed') page.misses = change === 'gone' ? page.misses + 1 : 0
      page.visit = visit
      ends += 1
    },
    checkStats(stats, outside, now) {
      const out = [...outside]
      const skipped = Object.values(stats.skipped).reduce((sum, count) => sum + count, 0)
      const sum = stats.queued + stats.leased + stats.done + stats.failed + skipped
      const say = (detail: string): never => {
        const what = JSON.stringify({ ...stats, hosts: undefined })
        throw new Violation('conservation', 'the frontier', `${detail}: ${what}`)
      }
      if (stats.discovered !== sum) say(`discovered is not the sum of the states, ${sum}`)
      if (stats.queued < 0 || stats.leased < 0 || stats.held < 0 || stats.aside < 0) say('below zero')
      if (stats.discovered !== pages.size) say(`${pages.size} URLs were added`)
      if (stats.failed !== counts.failed || skipped !== counts.skipped) say(`settled were ${JSON.stringify(counts)}`)
      // Pages that are to be fetched again are queued, and not done until they are.
      const again = counts.saved - stats.done
      if (again !== 0) {
        const leased = out.filter(({ kind, last }) => kind === 'page' && last !== undefined).length
        let due = 0
        for (const page of pages.values()) due += Number(mayBeDue(page, now))
        if (again < leased || again > due)
          say(`${counts.saved} are saved; ${leased} of them are out and ${due} may be due`)
      }
      for (const change of ['changed', 'unchanged', 'gone', 'missed'] as const)
        if (stats.revisits[change] !== revisits[change]) say(`revisits were ${JSON.stringify(revisits)}`)
      const queued = TIERS.map((tier) => stats.tiers[tier].queued)
      if (!queued.every((count) => Number.isInteger(count) && count >= 0)) say('tiers that cannot be')
      const missing =
        stats.queued +
        stats.leased -
        stats.held -
        stats.aside +
        stats.sitemapsQueued -
        queued.reduce((a, b) => a + b, 0)
      if (missing < 0 || missing > putOff.size)
        say(`${missing} URLs are in no tier's queue, and ${putOff.size} may be put off`)
      checkLimits(out)
    },
    crashed() {
      for (const page of pages.values()) page.leastReferrers = 1
    },
    shift(ms) {
      for (const page of pages.values()) page.endedAt += ms
    },
  }
}
