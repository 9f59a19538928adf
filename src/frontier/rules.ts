/**
 * The rules of the frontier over any storage: what the contract promises is decided here, once, for every home that
 * runs inside one process. Verbs are synchronous steps; each is one transaction of the storage.
 */
import type { Clock } from '../base/index.ts'
import type { HostRecord } from '../model/index.ts'
import type { Frontier, FrontierOptions, FrontierStats, LeaseAnswer, LeaseRequest } from './contract.ts'
import { createGranting, type Granted } from './granting.ts'
import { createGroups } from './groups.ts'
import { createIntake } from './intake.ts'
import { createLedger } from './ledger.ts'
import { createParking } from './parking.ts'
import { createRoster, type Host } from './roster.ts'
import { createSettling } from './settling.ts'
import { classOfOrder, HOST_ORDERS, queuedIn, type DueHost, type Storage } from './storage.ts'

/** Retries and visits that come due are moved to their queues in portions of this size. */
const DUE_PER_LEASE = 1_000
/** Hosts whose stored due time is looked at again when a crawl is opened. */
const REVIEWED_HOSTS = 1_000

const HOST_ORDER_LIST = Array.from({ length: HOST_ORDERS }, (_, order) => order)

/** Hosts named in the statistics as the next to be asked. */
const NEXT_HOSTS = 5

/** What a home knows of its own run of the crawl. */
export interface RunOptions {
  /** How often the crawl was opened, this time included. */
  readonly opening: number
  /**
   * When the crawl was opened, if it existed before, and by how much the clock of then may be behind ours; null for a
   * new one.
   */
  readonly reopened: { readonly at: number; readonly lagMs: number } | null
  /** When it was last opened after an unclean stop; null for never. */
  readonly uncleanAt: number | null
  /** Hosts kept in memory beside the leased ones; as many as is sensible when absent. */
  readonly hostsKept?: number | undefined
}

export function createRules(
  storage: Storage,
  options: FrontierOptions & RunOptions,
  deps: { readonly clock: Clock },
): Frontier {
  const { clock } = deps
  const counters = storage.counters()
  const groups = createGroups(options.groups, options.reopened?.at ?? null)
  const roster = createRoster(storage, counters, { ...options, groups })
  const touched = new Set<Host>()
  const intake = createIntake(storage, roster, counters, options, touched)
  const parking = createParking(storage, roster, intake, counters, options)
  const ledger = createLedger(storage, roster, { ...options, groups }, touched)
  const granting = createGranting(storage, roster, ledger, groups, parking, counters, options)
  const settling = createSettling(storage, roster, ledger, intake, parking, counters, options, touched)
  const { mode } = options.recrawl
  /** Visits that are due until then are made; those due later, by whoever opens the crawl then. */
  const openedAt = clock.now()
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
    const answer = storage.transaction(now, () => {
      const result = work(now)
      saveTouched(now)
      storage.saveCounters(counters)
      return result
    })
    broken = false
    roster.trim()
    return answer
  }

  /** The soonest of all orders. */
  const upcoming = (now: number, count: number): DueHost[] =>
    HOST_ORDER_LIST.flatMap((of) => storage.upcomingHosts(of, now, count))
      .sort((a, b) => a.due - b.due || a.id - b.id)
      .slice(0, count)

  /**
   * What an earlier run stored may be too late, if its delays were longer. Looked at once, for the hosts that come next;
   * the others are put right when something is found or settled on them.
   */
  const reviewUpcoming = (now: number): void => {
    reviewed = true
    for (const { id } of upcoming(now, REVIEWED_HOSTS)) touched.add(roster.byId(id))
  }

  const promoteWaiting = (now: number): void => {
    if ((storage.nextWaiting() ?? Infinity) > now) return
    for (const id of storage.waitingUntil(now, DUE_PER_LEASE)) {
      const row = storage.url(id)
      row.at = 0
      intake.move(row, 'queued')
    }
  }

  /** The time until which visits are due now, by the way in which the crawl is run. */
  const visitsUntil = (now: number): number => (mode === 'off' ? -Infinity : mode === 'once' ? openedAt : now)
  const nextVisit = (): number => (mode === 'off' ? Infinity : (storage.nextVisit() ?? Infinity))

  /** Pages whose time has come again are queued like new ones. */
  const promoteVisits = (now: number): void => {
    const until = visitsUntil(now)
    if (nextVisit() > until) return
    for (const id of storage.visitsUntil(until, DUE_PER_LEASE)) {
      const visit = storage.visit(id)
      if (visit === undefined) continue
      storage.saveVisit({ ...visit, dueAt: null })
      const row = storage.url(id)
      if (row.state !== 'done') continue
      if (row.kind === 'page') {
        counters.done -= 1
        counters.open += 1
        counters.refreshing += 1
      } else counters.sitemapsOpen += 1
      row.attempts = 0
      row.at = 0
      intake.grade(row, visit)
      intake.move(row, 'queued')
    }
  }

  const idle = (): boolean => ledger.size === 0
  const exhausted = (): boolean =>
    options.maxPages !== undefined && counters.done + counters.refreshing >= options.maxPages

  const lease = (request: LeaseRequest, now: number): LeaseAnswer => {
    if (!reviewed) reviewUpcoming(now)
    groups.forget(now)
    ledger.takeBackExpired(now)
    promoteWaiting(now)
    promoteVisits(now)
    saveTouched(now)
    const before = ledger.recall(request, now)
    if (before !== undefined) return { leases: before, nextAt: nextAt(now, ['proven', 'unproven']), state: 'open' }
    const { granted, ...rest } = granting.grant(request, now)
    if (granted.length === 0 && idle() && onlyParkedLeft(now)) {
      granted.push(...granting.grantParked(request, now))
      // Those were freed: they are queued now.
      if (granted.length === 0) return { leases: [], nextAt: now, state: 'open' }
    }
    ledger.remember(request, granted)
    const state = granted.length === 0 && idle() ? stateAtRest(now) : 'open'
    if (state !== 'open') return { leases: [], nextAt: null, state }
    return { leases: granted, nextAt: rest.hasMore ? now : nextAt(now, rest.open), state: 'open' }
  }

  const isVisitLeft = (now: number): boolean =>
    mode === 'on' ? nextVisit() < Infinity : nextVisit() <= visitsUntil(now)

  /** No shorter path to what is too deep can turn up any more, and nothing that frees what is aside. */
  const onlyParkedLeft = (now: number): boolean => {
    const parked = counters.held + counters.aside
    return (
      parked > 0 &&
      counters.open === parked &&
      counters.sitemapsOpen === 0 &&
      !exhausted() &&
      (mode === 'on' || !isVisitLeft(now))
    )
  }

  /** With nothing leased and nothing to lease: what the crawl waits for, if anything. */
  const stateAtRest = (now: number): LeaseAnswer['state'] => {
    if (isVisitLeft(now)) return 'open'
    if (counters.open === 0 && counters.sitemapsOpen === 0) return 'finished'
    return exhausted() && counters.refreshing === 0 ? 'limit' : 'open'
  }

  /**
   * When something will change by itself. Hosts of a class whose share is used up are left aside: only a settlement can
   * make room for them, and they would have the worker ask in vain.
   */
  const nextAt = (now: number, classes: Granted['open']): number | null => {
    let soonest = Math.min(storage.nextWaiting() ?? Infinity, ledger.nextExpiry() ?? Infinity)
    // With `once`, what is due later is left to another run.
    const visit = nextVisit()
    if (mode === 'on' || visit <= visitsUntil(now)) soonest = Math.min(soonest, visit)
    for (const of of HOST_ORDER_LIST) {
      if (!classes.includes(classOfOrder(of))) continue
      const [upcoming] = storage.upcomingHosts(of, now, 1)
      if (upcoming !== undefined) soonest = Math.min(soonest, upcoming.due)
      // With several requests in flight a leased host comes round again while it is leased.
      const leased = roster.nextLeased(of)
      if (leased !== undefined && leased.at > now) soonest = Math.min(soonest, leased.at)
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
    health: host.row.health,
    address: host.row.address,
    closestMs: host.row.closestMs,
    queued: host.lanes.reduce((sum, lane) => sum + queuedIn(lane.row), 0),
    robots: host.lanes.flatMap((lane) =>
      lane.row.robots === undefined ? [] : [{ ...lane.row.robots, body: storage.robotsBody(lane.row.id) }],
    ),
  })

  const waitReason = (host: Host, now: number): string => {
    if (host.row.blockedUntil > now) return host.row.blockedReason ?? 'blocked'
    if (host.lanes.some((lane) => lane.row.robotsNotBefore > now)) return 'robots.txt could not be had yet'
    if (host.place > now) return 'others of its domain or address'
    return roster.delayReason(host)
  }

  const stats = (): FrontierStats => {
    const now = clock.now()
    const next = upcoming(now, NEXT_HOSTS).map(({ id, due }) => {
      const host = roster.byId(id)
      return { host: host.row.key, at: due, reason: waitReason(host, now) }
    })
    return {
      discovered: counters.discovered,
      queued: counters.open - ledger.leasedPages,
      leased: ledger.leasedPages,
      done: counters.done,
      failed: counters.failed,
      skipped: { ...counters.skipped },
      held: counters.held,
      refreshing: counters.refreshing,
      aside: counters.aside,
      tiers: structuredClone(counters.tiers),
      revisits: { ...counters.revisits },
      bloomFalsePositives: storage.lookups().falsePositives,
      requests: { ...counters.requests },
      sitemapsQueued: counters.sitemapsOpen,
      bytes: counters.bytes,
      tokens: counters.tokens,
      impolite: counters.impolite,
      closest: counters.closest,
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
      return verb((now) => intake.add(found, now))
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
      if (!broken) {
        verb(() => {
          ledger.takeBackAll()
          roster.saveLearned()
        })
      }
      closed = true
      storage.close(!broken)
    },
  }
}
