/**
 * The hosts at hand: rows of the storage with their lanes, errands and open leases, kept while they are in use and
 * otherwise dropped and read again. It answers one question for the rules: when is this host next due?
 *
 * A host that is leased never leaves memory; any other may, since all that must survive is in its row.
 */
import type { HostKey, HostPolicy, Origin } from '../model/index.ts'
import { earliestStart, isFresh } from './schedule.ts'
import type { Counters, Errand, HostRow, LaneRow, Storage } from './storage.ts'

/** Hosts kept in memory beside the leased ones. */
const HOSTS_KEPT = 20_000

export interface Lane {
  readonly row: LaneRow
  /** Queued rows that are out on a lease. */
  leased: number
  /** Its robots.txt is out on a lease. */
  robotsLeased: boolean
}

export interface Host {
  readonly row: HostRow
  readonly lanes: Lane[]
  readonly errands: Errand[]
  readonly errandsLeased: Set<number>
  leases: number
  /** When a lease was last granted under which something was or may yet be sent. */
  grantedAt: number | null
}

export interface Roster {
  byKey(key: HostKey): Host | undefined
  of(row: HostRow): Host
  /** The host and the lane of an origin, made if they are new. */
  settleIn(key: HostKey, origin: Origin): { host: Host; lane: Lane }
  /** The host and lane that hold a row of this lane id. */
  byLane(id: number): { host: Host; lane: Lane }
  delayMs(host: Host): number
  policy(host: Host): HostPolicy
  /** When the host is due as its leases stand; null when it has nothing that could be leased. */
  dueAt(host: Host, now: number): number | null
  /** Writes the host's row, with the due time it would have if nothing were leased. */
  save(host: Host, now: number): void
  pin(host: Host): void
  unpin(host: Host): void
  /** Drops the hosts used longest ago beyond the maximum. Only between verbs: a verb may hold on to any host. */
  trim(): void
  readonly active: number
}

export interface RosterOptions {
  policyOf(key: HostKey): HostPolicy
  crawlDelayMs(askedMs: number): number
  now(): number
  /** After an unclean stop: when the crawl was opened. Each host then waits its delay once from there. */
  readonly uncleanAt: number | null
}

export function createRoster(storage: Storage, counters: Counters, options: RosterOptions): Roster {
  // A Map iterates in order of insertion, so putting a host in again makes it the youngest.
  const idle = new Map<HostKey, Host>()
  const pinned = new Map<HostKey, Host>()
  const laneHosts = new Map<number, Host>()

  const adopt = (row: HostRow): Host => {
    // No host has answered in the future: the clock was ahead when that was written.
    if (row.answeredAt !== null) row.answeredAt = Math.min(row.answeredAt, options.now())
    const host: Host = {
      row,
      lanes: storage.lanesOf(row.id).map((lane) => ({ row: lane, leased: 0, robotsLeased: false })),
      errands: storage.errandsOf(row.id),
      errandsLeased: new Set(),
      leases: 0,
      grantedAt: null,
    }
    idle.set(row.key, host)
    for (const lane of host.lanes) laneHosts.set(lane.row.id, host)
    return host
  }
  const atHand = (key: HostKey): Host | undefined => {
    const busy = pinned.get(key)
    if (busy !== undefined) return busy
    const host = idle.get(key)
    if (host === undefined) return undefined
    idle.delete(key)
    idle.set(key, host)
    return host
  }
  const byKey = (key: HostKey): Host | undefined => {
    const known = atHand(key)
    if (known !== undefined) return known
    const row = storage.hostByKey(key)
    return row === undefined ? undefined : adopt(row)
  }
  const policy = (host: Host): HostPolicy => options.policyOf(host.row.key)
  const delayMs = (host: Host): number => {
    let delay = policy(host).delayMs
    for (const { row } of host.lanes) {
      const askedMs = row.robots?.crawlDelayMs ?? 0
      if (askedMs > 0) delay = Math.max(delay, options.crawlDelayMs(askedMs))
    }
    return delay
  }

  /** When the host has something to lease, pace aside; null for never. `alone` looks past what is leased. */
  const workAt = (host: Host, now: number, alone: boolean): number | null => {
    if (host.errands.length > (alone ? 0 : host.errandsLeased.size)) return 0
    let soonest: number | null = null
    for (const lane of host.lanes) {
      if (lane.row.queued <= (alone ? 0 : lane.leased)) continue
      if (isFresh(lane.row.robots, now)) return 0
      if (lane.row.robotsMoved || (!alone && lane.robotsLeased)) continue
      soonest = Math.min(soonest ?? Infinity, lane.row.robotsNotBefore)
    }
    return soonest
  }
  const pacedFrom = (host: Host): number => {
    const delay = delayMs(host)
    const start = earliestStart({
      answeredAt: host.row.answeredAt,
      grantedAt: host.grantedAt,
      blockedUntil: host.row.blockedUntil,
      delayMs: delay,
    })
    return options.uncleanAt === null ? start : Math.max(start, delay === 0 ? 0 : options.uncleanAt + delay)
  }
  const due = (host: Host, now: number, alone: boolean): number | null => {
    const work = workAt(host, now, alone)
    return work === null ? null : Math.max(work, pacedFrom(host))
  }

  return {
    byKey,
    of: (row) => atHand(row.key) ?? adopt(row),
    settleIn(key, origin) {
      let host = byKey(key)
      if (host === undefined) {
        host = adopt(storage.insertHost(key))
        counters.hosts += 1
      }
      let lane = host.lanes.find((candidate) => candidate.row.origin === origin)
      if (lane === undefined) {
        lane = { row: storage.insertLane(host.row.id, origin), leased: 0, robotsLeased: false }
        host.lanes.push(lane)
        laneHosts.set(lane.row.id, host)
      }
      return { host, lane }
    },
    byLane(id) {
      const host = laneHosts.get(id) ?? adopt(storage.hostById(storage.hostOfLane(id)))
      const lane = host.lanes.find((candidate) => candidate.row.id === id)
      if (lane === undefined) throw new Error(`lane ${id} is missing from host ${host.row.key}`)
      return { host, lane }
    },
    delayMs,
    policy,
    dueAt: (host, now) => due(host, now, false),
    save(host, now) {
      const next = due(host, now, true)
      counters.hostsWithWork += Number(next !== null) - Number(host.row.due !== null)
      host.row.due = next
      storage.updateHost(host.row)
    },
    pin(host) {
      host.leases += 1
      pinned.set(host.row.key, host)
      idle.delete(host.row.key)
    },
    unpin(host) {
      host.leases -= 1
      if (host.leases > 0) return
      pinned.delete(host.row.key)
      idle.set(host.row.key, host)
    },
    trim() {
      for (const [key, host] of idle) {
        if (idle.size <= HOSTS_KEPT) return
        idle.delete(key)
        for (const lane of host.lanes) laneHosts.delete(lane.row.id)
      }
    },
    get active() {
      return pinned.size
    },
  }
}
