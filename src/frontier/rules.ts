/**
 * The rules of the frontier over any storage: what the contract promises is decided here, once, for every home that
 * runs inside one process. Verbs are synchronous steps; each is one transaction of the storage.
 */
import type { Clock } from '../base/index.ts'
import type { HostRecord } from '../model/index.ts'
import type { Frontier, FrontierOptions, FrontierStats, LeaseAnswer, LeaseRequest } from './contract.ts'
import { createGranting } from './granting.ts'
import { createIntake } from './intake.ts'
import { createLedger } from './ledger.ts'
import { createRoster, type Host } from './roster.ts'
import { createSettling } from './settling.ts'
import type { Storage } from './storage.ts'

/** Retries that come due are moved to their queues in portions of this size. */
const WAITING_PER_LEASE = 1_000
/** Hosts whose stored due time is looked at again when a crawl is opened. */
const REVIEWED_HOSTS = 1_000

/** Hosts named in the statistics as the next to be asked. */
const NEXT_HOSTS = 5

export function createRules(
  storage: Storage,
  options: FrontierOptions & { readonly uncleanAt: number | null },
  deps: { readonly clock: Clock },
): Frontier {
  const { clock } = deps
  const counters = storage.counters()
  const roster = createRoster(storage, counters, { ...options, now: () => clock.now() })
  const touched = new Set<Host>()
  const intake = createIntake(storage, roster, counters, options.maxDepth, touched)
  const ledger = createLedger(storage, roster, options.leaseMs, touched)
  const granting = createGranting(storage, roster, ledger, counters, options)
  const settling = createSettling(storage, roster, ledger, intake, counters, touched)
  let closed = false
  let broken = false
  let reviewed = false

  const saveTouched = (now: number): void => {
    for (const host of touched) roster.save(host, now)
    touched.clear()
  }

  /** One verb: a transaction in which the hosts it touched and the counters are written back at the end. */
  const verb = <T>(work: (now: number) => T): T => {
    if (closed) throw new Error('the frontier is closed')
    if (broken) throw new Error('the frontier cannot go on: its last step failed')
    const now = clock.now()
    // What is in memory may be ahead of what was rolled back: after a failure only the storage is right.
    broken = true
    const answer = storage.transaction(() => {
      const result = work(now)
      saveTouched(now)
      storage.saveCounters(counters)
      return result
    })
    broken = false
    roster.trim()
    return answer
  }

  /**
   * What an earlier run stored may be too late: its delays were longer, or its clock was ahead. Looked at once, for the
   * hosts that come next; the others are put right when something is found or settled on them.
   */
  const reviewUpcoming = (now: number): void => {
    reviewed = true
    for (const row of storage.upcomingHosts(now, REVIEWED_HOSTS)) touched.add(roster.of(row))
  }

  const promoteWaiting = (now: number): void => {
    for (const id of storage.takeWaiting(now, WAITING_PER_LEASE)) {
      const row = storage.url(id)
      row.state = 'queued'
      row.at = 0
      storage.update(row)
      intake.enqueue(row)
    }
  }

  const idle = (): boolean => ledger.size === 0
  const exhausted = (): boolean => options.maxPages !== undefined && counters.done >= options.maxPages

  const lease = (request: LeaseRequest, now: number): LeaseAnswer => {
    if (!reviewed) reviewUpcoming(now)
    ledger.takeBackExpired(now)
    promoteWaiting(now)
    saveTouched(now)
    const { granted, hasMore } = granting.grant(request, now)
    const onlyHeldLeft = counters.held > 0 && counters.open === counters.held && counters.sitemapsOpen === 0
    // No shorter path to what is too deep can turn up any more.
    if (granted.length === 0 && idle() && onlyHeldLeft && !exhausted())
      granted.push(...granting.grantHeld(request, now))
    if (granted.length === 0 && idle()) {
      if (counters.open === 0 && counters.sitemapsOpen === 0) return { leases: [], nextAt: null, state: 'finished' }
      if (exhausted()) return { leases: [], nextAt: null, state: 'limit' }
    }
    return { leases: granted, nextAt: hasMore ? now : nextAt(now), state: 'open' }
  }

  const nextAt = (now: number): number | null => {
    let soonest = storage.nextWaiting() ?? Infinity
    const [upcoming] = storage.upcomingHosts(now, 1)
    if (upcoming !== undefined) soonest = Math.min(soonest, upcoming.due ?? Infinity)
    for (const open of ledger.all()) {
      soonest = Math.min(soonest, open.expiresAt)
      // With several requests in flight a leased host comes round again while it is leased.
      if (open.host.leases >= roster.policy(open.host).concurrency) continue
      const due = roster.dueAt(open.host, now)
      if (due !== null && due > now) soonest = Math.min(soonest, due)
    }
    return soonest === Infinity ? null : soonest
  }

  const recordOf = (host: Host): HostRecord => ({
    host: host.row.key,
    delayMs: roster.delayMs(host),
    concurrency: roster.policy(host).concurrency,
    answeredAt: host.row.answeredAt,
    blockedUntil: host.row.blockedUntil,
    blockedReason: host.row.blockedReason,
    strikes: host.row.strikes,
    queued: host.lanes.reduce((sum, lane) => sum + lane.row.queued, 0),
    robots: host.lanes.flatMap((lane) =>
      lane.row.robots === undefined ? [] : [{ ...lane.row.robots, body: storage.robotsBody(lane.row.id) }],
    ),
  })

  const waitReason = (host: Host, now: number): string => {
    if (host.row.blockedUntil > now) return host.row.blockedReason ?? 'blocked'
    if (host.lanes.some((lane) => lane.row.robotsNotBefore > now)) return 'robots.txt could not be had yet'
    return roster.delayMs(host) > roster.policy(host).delayMs ? 'Crawl-delay' : 'delay'
  }

  const stats = (): FrontierStats => {
    const now = clock.now()
    const next = storage
      .upcomingHosts(now, NEXT_HOSTS + Math.min(roster.active, NEXT_HOSTS))
      .map((row) => roster.of(row))
      .filter((host) => host.leases === 0)
      .slice(0, NEXT_HOSTS)
      .map((host) => ({ host: host.row.key, at: host.row.due ?? now, reason: waitReason(host, now) }))
    return {
      discovered: counters.discovered,
      queued: counters.open - ledger.leasedPages,
      leased: ledger.leasedPages,
      done: counters.done,
      failed: counters.failed,
      skipped: { ...counters.skipped },
      held: counters.held,
      tiers: { ...counters.tiers },
      requests: { ...counters.requests },
      sitemapsQueued: counters.sitemapsOpen,
      bytes: counters.bytes,
      tokens: counters.tokens,
      hosts: {
        known: counters.hosts,
        active: roster.active,
        waiting: Math.max(0, counters.hostsWithWork - roster.active),
        next,
      },
      output: counters.output,
    }
  }

  return {
    async add(found) {
      return verb(() => intake.add(found, undefined))
    },
    async lease(request) {
      return verb((now) => lease(request, now))
    },
    async settle(settlements, output) {
      return verb((now) => settling.settle(settlements, output, now))
    },
    async extend(ref) {
      return ledger.extend(ref, clock.now())
    },
    async host(key, change) {
      const host = roster.byKey(key)
      if (host === undefined) return undefined
      if (change !== undefined) verb(() => settling.changeHost(host, change))
      return recordOf(host)
    },
    async stats() {
      return stats()
    },
    async close() {
      if (closed) return
      if (!broken) verb(() => ledger.takeBackAll())
      closed = true
      storage.close(!broken)
    },
  }
}
