/**
 * Tiers share what is due: over any stretch of leases in which every tier surely had a host that was due, each got its
 * part of the tasks. And nothing that is surely due is kept from a worker that has room for it.
 *
 * Surely means by what was told to the frontier: a page with a tier by a rule, never put off, on a host that is not leased,
 * whose robots.txt is fresh and whose time has come. A tier may have more than that; then a stretch ends too soon, and
 * nothing wrong is said.
 */
import type { FrontierOptions, Lease, LeaseAnswer, LeaseRequest, Settlement } from '../frontier/index.ts'
import { TIERS, type Tier } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import { CLOCK_LAG_MS, type LeaseBook } from './lease-book.ts'
import type { Page, PageBook } from './page-book.ts'
import type { RobotsBook } from './robots-book.ts'
import { Violation } from './violation.ts'

/** Opened again, a host may wait for its delay once more. No delay of a simulated host is longer. */
const REOPENED_MS = 10_000
/** By so many tasks a tier may be ahead of its part or behind it, from one moment of a stretch to another. */
const APART = 2

export interface QuotaChecker {
  asked(request: LeaseRequest): void
  /** A lease of the answer, before it is booked. */
  granted(lease: Lease, now: number): void
  /** All leases of the answer are booked. */
  answered(request: LeaseRequest, answer: LeaseAnswer, now: number): void
  settled(settlement: Settlement): void
  reopened(now: number): void
}

export interface QuotaCheckerDeps {
  readonly pages: PageBook
  readonly leases: LeaseBook
  readonly robots: RobotsBook
  isOut(url: string): boolean
}

export function createQuotaChecker(quotas: FrontierOptions['quotas'], deps: QuotaCheckerDeps): QuotaChecker {
  const { pages, leases, robots, isOut } = deps
  const total = TIERS.reduce((sum, tier) => sum + quotas[tier], 0)
  /** Origins whose robots.txt is being fetched elsewhere, and where. */
  const errands = new Map<string, string>()
  const ahead = new Map<Tier, { now: number; least: number; most: number }>()
  let sureFrom = -Infinity
  let unproven = Infinity

  const restart = (): void => {
    for (const tier of TIERS) ahead.set(tier, { now: 0, least: 0, most: 0 })
  }
  restart()

  const isDue = (page: Page, now: number): boolean =>
    !page.wasRetried &&
    !isOut(page.url) &&
    // After a reopening a host that has not answered since may have to wait for as long as clocks may lag, pauses too.
    now >= leases.earliestOf(page.host) + (sureFrom === -Infinity ? 0 : CLOCK_LAG_MS) &&
    !leases.isLeased(page.host) &&
    robots.isFresh(page.origin, now) &&
    (unproven > 0 || leases.isProven(page.host)) &&
    ![...errands.values()].includes(page.host)

  /** A page of this tier that is surely due. */
  const dueOf = (tier: Tier, now: number): Page | undefined => {
    if (now < sureFrom) return undefined
    for (const queue of pages.open.values()) {
      for (const page of queue) {
        if (page.slot !== tier) break
        if (isDue(page, now)) return page
        // The others of this queue are on the same host.
        if (!page.wasRetried && !isOut(page.url)) break
      }
    }
    return undefined
  }

  const count = (tier: Tier, tasks: number): void => {
    for (const each of TIERS) {
      const entry = ahead.get(each)
      if (entry === undefined) continue
      entry.now += (each === tier ? tasks : 0) - (tasks * quotas[each]) / total
      entry.least = Math.min(entry.least, entry.now)
      entry.most = Math.max(entry.most, entry.now)
      if (entry.most - entry.least > APART)
        throw new Violation('quota', each, `${(entry.most - entry.least).toFixed(2)} tasks apart from its part`)
    }
  }

  return {
    asked(request) {
      unproven = request.unproven ?? request.want
    },
    granted(lease, now) {
      const tier = lease.tasks[0]?.tier
      if (tier !== undefined && TIERS.every((each) => dueOf(each, now) !== undefined)) count(tier, lease.tasks.length)
      else restart()
      if (lease.health.streak <= 0) unproven -= 1
    },
    answered(request, answer, now) {
      if (answer.leases.length >= request.want || answer.nextAt === now) return
      restart()
      for (const tier of TIERS) {
        const left = dueOf(tier, now)
        if (left !== undefined) throw new Violation('idle', left.url, `due, and not leased to ${request.worker}`)
      }
    },
    settled({ task, outcome }) {
      if (task.kind !== 'robots' || outcome.kind === 'returned') return
      if (outcome.kind === 'moved') errands.set(task.origin, hostKey(outcome.url))
      else errands.delete(task.origin)
    },
    reopened(now) {
      sureFrom = now + REOPENED_MS + CLOCK_LAG_MS
      restart()
    },
  }
}
