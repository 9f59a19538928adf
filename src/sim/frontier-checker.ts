/**
 * The frontier under watch: every verb is checked against books that are kept apart from it and outlive its process.
 * Which laws there are stands in the books: leases and turns (lease-book), robots.txt (robots-book), pages and counters
 * (page-book), the order of pages (order-checker) and the share of each tier (quota-checker).
 */
import type { Clock } from '../base/index.ts'
import {
  withLinksSpelledOut,
  type Frontier,
  type FrontierOptions,
  type Lease,
  type RecrawlOptions,
  type ScoreOptions,
  type Settlement,
} from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import { createLeaseBook } from './lease-book.ts'
import { createOrderChecker } from './order-checker.ts'
import type { PaceChecker } from './pace-checker.ts'
import { createPageBook, type Page } from './page-book.ts'
import { createQuotaChecker } from './quota-checker.ts'
import type { RecordsChecker } from './records-checker.ts'
import { createRobotsBook } from './robots-book.ts'
import { Violation } from './violation.ts'
import type { WebObserver } from './web.ts'

export interface FrontierCheckerOptions {
  readonly pace: PaceChecker
  /** Absent when nothing is written. */
  readonly records: RecordsChecker | undefined
  readonly maxPages: number | undefined
  readonly maxPagesPerHost: number | undefined
  /** Infinity when there is no limit. */
  readonly maxDepth: number
  readonly robotsMaxAgeMs: number
  /** robots.txt is not asked for. */
  readonly ignoresRobots: boolean
  concurrencyOf(host: string): number
  /** The delay that a latency asks for. */
  latencyDelayMs(latencyMs: number): number
  /** Hosts wait for each other, and so for longer than their own pace says. */
  readonly hasGroups: boolean
  /** As it is now. */
  recrawl(): RecrawlOptions
  /** By which pages of a host are ordered; absent when the order cannot be known. */
  readonly score: ScoreOptions | undefined
  /** The share of each tier; absent when what is due cannot be known. */
  readonly quotas: FrontierOptions['quotas'] | undefined
  /** Told of every violation. */
  fail(error: unknown): void
}

export interface FrontierChecker extends WebObserver {
  /** The same frontier, watched. `now` is its clock. */
  watch(inner: Frontier, clock: Pick<Clock, 'now' | 'wall'>): Frontier
  /** The process that had it died: whatever was out is not any more. */
  forgetLeases(): void
  /** How far the wall clock was ahead of the steady one when something was last committed. */
  readonly skewCommitted: number
  /** Every page that is known, by its URL. */
  readonly pages: ReadonlyMap<string, Page>
  readonly verbs: number
}

export function createFrontierChecker(options: FrontierCheckerOptions): FrontierChecker {
  const { pace, records } = options
  const leases = createLeaseBook(options)
  const robots = createRobotsBook({ ...options, earliestOf: leases.earliestOf })
  const book = createPageBook(options)
  const isOut = (url: string): boolean => leases.isPageOut(url)
  const order = options.score === undefined ? undefined : createOrderChecker(options.score, book)
  const quota =
    options.quotas === undefined
      ? undefined
      : createQuotaChecker(options.quotas, { pages: book, leases, robots, isOut })
  /** What pages answered last. */
  const statuses = new Map<string, number | undefined>()
  let verbs = 0
  let lives = 0
  let homeNow = (): number => 0
  let homeClock: Pick<Clock, 'now' | 'wall'> | undefined
  let nowCommitted = 0
  let skewCommitted = 0
  let skewClosed = 0
  let isReopened = false

  /** Handed out to be recorded as skipped: nothing is sent for it. */
  const isParked = ({ kind, depth, aside }: Task): boolean =>
    kind === 'page' && (aside !== undefined || depth > options.maxDepth)

  const granted = (lease: Lease): void => {
    const now = homeNow()
    const parked = lease.tasks.every(isParked)
    if (!parked) quota?.granted(lease, now)
    leases.granted(lease, parked, now)
    for (const task of lease.tasks) {
      book.granted(task, now)
      if (!parked) order?.granted(task, isOut)
      leases.takeOut(task, lease)
      if (!parked) robots.granted(task, now, isReopened)
    }
    for (const task of lease.tasks) robots.used(task)
  }

  const committed = (settlement: Settlement): void => {
    const { task } = settlement
    leases.ended(settlement)
    book.ended(settlement, statuses.get(task.url), homeNow())
    book.take(withLinksSpelledOut(settlement).found, task, homeNow())
    if (settlement.robots !== undefined) robots.learn(task, settlement.robots)
    pace.committed(settlement)
    leases.takeTurn(settlement)
    quota?.settled(settlement)
  }

  return {
    pages: book.pages,
    get verbs() {
      return verbs
    },
    get skewCommitted() {
      return skewCommitted
    },
    forgetLeases() {
      lives += 1
      leases.forget()
      book.crashed()
    },
    heard(visit, reaction) {
      robots.heard?.(visit, reaction)
      statuses.set(visit.url, reaction?.kind === 'answer' ? reaction.status : undefined)
    },
    ended: (visit) => robots.ended?.(visit),
    started: (visit) => robots.started?.(visit),
    watch(inner, clock) {
      const now = (): number => clock.now()
      // Another clock: whatever was to happen is as far off as it was, whichever clock says so. How far the clocks were
      // apart, the store knows as of its last commit; whether the last close was one cannot be seen from here.
      const isSetBack = now() < nowCommitted + skewCommitted
      const shifts =
        homeClock === undefined
          ? [0]
          : [now() - homeNow(), skewCommitted, skewClosed, ...(isSetBack ? [now() - nowCommitted] : [])]
      const [least, most] = [Math.min(...shifts), Math.max(...shifts)]
      robots.shift(least, most)
      leases.shift(least)
      book.shift(least)
      homeNow = now
      isReopened = homeClock !== undefined
      if (isReopened) quota?.reopened(now())
      homeClock = clock
      const noteTime = (): void => {
        nowCommitted = clock.now()
        skewCommitted = clock.wall() - nowCommitted
        skewClosed = skewCommitted
      }
      noteTime()
      /** What is found out ends the run; the crawler under test must not be the one to catch it. */
      const judge = (check: () => void): void => {
        try {
          check()
        } catch (error) {
          options.fail(error)
        }
      }
      const checked = async (): Promise<void> => {
        verbs += 1
        noteTime()
        const stats = await inner.stats()
        judge(() => {
          book.checkStats(stats, leases.tasks(), now())
          records?.committed(stats.output)
          if (records !== undefined && records.count !== book.ends)
            throw new Violation('records', 'the crawl', `${records.count} records for ${book.ends} ends`)
        })
      }
      return {
        async add(found) {
          const answer = await inner.add(found)
          book.take(found, undefined, now())
          await checked()
          return answer
        },
        async lease(request) {
          leases.takeBackExpired(now())
          const life = lives
          const answer = await inner.lease(request)
          // Whoever asked has died meanwhile, as it can while it settles something: nobody has these leases.
          if (life !== lives) return answer
          judge(() => {
            leases.checkAsking(request, answer.leases)
            quota?.asked(request)
            const isNew = answer.leases.every(({ fence }) => !leases.isOut(fence))
            for (const lease of answer.leases) if (!leases.isOut(lease.fence)) granted(lease)
            if (isNew) quota?.answered(request, answer, now())
            if (answer.leases.length <= request.want) return
            throw new Violation('lease', request.worker, 'more leases than wanted')
          })
          await checked()
          return answer
        },
        async settle(settlements, output) {
          const answer = await inner.settle(settlements, output)
          settlements.forEach((settlement, index) => {
            if (answer.results[index] === 'settled') judge(() => committed(settlement))
            else leases.ended(settlement)
          })
          await checked()
          return answer
        },
        async extend(ref) {
          const extended = await inner.extend(ref)
          if (extended) leases.extended(ref, now())
          return extended
        },
        host: (key, change) => inner.host(key, change),
        stats: () => inner.stats(),
        close() {
          skewClosed = clock.wall() - clock.now()
          return inner.close()
        },
      }
    },
  }
}
