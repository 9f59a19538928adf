/**
 * The hosts at hand: rows of the storage with their lanes, errands and open leases, kept while they are in use and
 * otherwise dropped and read again. It answers one question for the rules: when is this host next due?
 *
 * A host that is leased never leaves memory; any other may, since all that must survive is in its row. The storage
 * orders hosts as if nothing were leased and offers none that is; the few that may have a further lease while they
 * have one are in an order of their own here.
 */
import { createLru } from '../base/index.ts'
import type { HostKey, HostPolicy, Origin, Tier } from '../model/index.ts'
import { createAgenda, type Agenda } from './agenda.ts'
import type { FrontierOptions } from './contract.ts'
import type { Groups } from './groups.ts'
import { endow, hostScore, tierByScore } from './importance.ts'
import { delayInForce, earliestStart, isFresh } from './schedule.ts'
import {
  classOf,
  HOST_ORDERS,
  orderOf,
  tierBit,
  type Counters,
  type Errand,
  type HostOrder,
  type HostRow,
  type LaneRow,
  type Slot,
  type Storage,
} from './storage.ts'
import {
  createAddresses,
  createHostTraps,
  createRooms,
  createUnderWay,
  type HostTraps,
  type UnderWay,
} from './traps/index.ts'

/**
 * Hosts kept in memory beside the leased ones, unless told otherwise: some 1 KB each. Hosts come round in turn, so that
 * a little fewer than there are would be as good as none.
 */
const HOSTS_KEPT = 131_072
const [HIGH, MEDIUM, LOW] = [tierBit('high'), tierBit('medium'), tierBit('low')]
/** Of nearly all hosts and lanes at any time, so these have one object for all of them. */
const NOTHING_LEASED: Readonly<Record<Slot, number>> = { high: 0, medium: 0, low: 0, auto: 0 }
const NO_ERRANDS: readonly Errand[] = []
const NO_ERRANDS_LEASED: ReadonlySet<number> = new Set()
/** Of so many hosts it is in memory what was learned of their traps; each takes up to 32 KB. */
const TRAPS_KEPT = 2_000
/** As much again for each 256 pages of large ones, as long as there are so many of these. */
const TRAPS_ROOMS = 1_024
const TRAPS_ROOMS_OF_HOST = 256

export interface Lane {
  readonly row: LaneRow
  /** Queued rows that are out on a lease: see `countOut`. */
  leased: Readonly<Record<Slot, number>>
  /** Its robots.txt is out on a lease. */
  robotsLeased: boolean
  /**
   * Its robots record was had and nothing was asked under it yet. If its host has to wait for longer than it lives, it
   * is in force for that next turn, or the host would be asked for nothing but its robots.txt for ever.
   */
  robotsUnused: boolean
}

export interface Host {
  readonly row: HostRow
  lanes: readonly Lane[]
  errands: readonly Errand[]
  /** Of these, the ones that are out on a lease. */
  errandsLeased: ReadonlySet<number>
  leases: number
  /** The storage does not offer it: it has a lease, or had one until something that it was not saved since. */
  isLent: boolean
  /** When a lease was last granted under which something was or may yet be sent. */
  grantedAt: number | null
  /** Pages out on a lease that were never fetched before. */
  leasedNew: number
  /** Pages out on a lease, as traps look at them; null where it never had several leases at once. */
  underWay: UnderWay | null
  /** Its place in the line of a group that was busy; 0 for none. */
  place: number
  /** The order of leased hosts that it stands in, waiting for a further lease; null for none. */
  arranged: HostOrder | null
  /** It was used since it was last looked at whether it may leave memory. */
  isUsed: boolean
}

/** When a host has work, and of which tiers it is. */
interface Work {
  readonly at: number
  readonly tiers: number
}

export interface Roster {
  byKey(key: HostKey): Host | undefined
  byId(id: number): Host
  /** The host and the lane of an origin, made if they are new. */
  settleIn(key: HostKey, origin: Origin): { host: Host; lane: Lane }
  /** The host and lane that hold a row of this lane id. */
  byLane(id: number): { host: Host; lane: Lane }
  /** The host's own delay in force, groups aside. */
  delayMs(host: Host): number
  /** What makes that delay, in words. */
  delayReason(host: Host): string
  policy(host: Host): HostPolicy
  /** The tier that a part of its queues counts for. */
  tierOf(host: Host, slot: Slot): Tier
  /** What was learned of the host's traps. */
  traps(host: Host): HostTraps
  /** Where to count its pages that are out. Of a host with one lease at a time none is when the next is granted. */
  underWay(host: Host): UnderWay
  /** Whether its pages, with those under way, are as many as it may have. */
  isSpent(host: Host): boolean
  /** Leases that the host may have at once. */
  maxLeases(host: Host): number
  /** Whether the lane's robots record speaks for its next request. */
  isInForce(host: Host, lane: Lane, now: number): boolean
  /** When the host is due as its leases stand; null when it has nothing that could be leased. */
  dueAt(host: Host, now: number): number | null
  /** Writes the host's row, with the due time it would have if nothing were leased. */
  save(host: Host, now: number): void
  pin(host: Host): void
  /** To be saved then: it is offered again, at the place that it has by then and not at one before. */
  unpin(host: Host): void
  /** Puts a leased host where it belongs among those that may have a further lease. */
  arrange(host: Host, now: number): void
  /** Takes a leased host from among them until it is arranged again. */
  rest(host: Host): void
  /** The leased host of this order whose further lease is due first. */
  nextLeased(of: HostOrder): { readonly item: Host; readonly at: number } | undefined
  /** Drops hosts that were not used of late, beyond the maximum. Only between verbs: a verb may hold on to any host. */
  trim(): void
  /** Writes what was learned of traps and is not written yet. */
  saveLearned(): void
  readonly active: number
}

export interface RosterOptions extends Pick<
  FrontierOptions,
  'policyOf' | 'crawlDelayMs' | 'latency' | 'score' | 'maxPagesPerHost'
> {
  readonly groups: Groups
  /** After an unclean stop: when the crawl was opened. Each host then waits its delay once from there. */
  readonly uncleanAt: number | null
  /** What was stored before this time is by a clock that may be behind ours by `lagMs`. */
  readonly reopened: { readonly at: number; readonly lagMs: number } | null
  /** Hosts kept in memory beside the leased ones. */
  readonly hostsKept?: number | undefined
}

/** One more of a lane's queued rows is out on a lease, or one less. */
export function countOut(lane: Lane, slot: Slot, by: 1 | -1): void {
  const leased: Record<Slot, number> =
    lane.leased === NOTHING_LEASED ? { high: 0, medium: 0, low: 0, auto: 0 } : lane.leased
  leased[slot] += by
  lane.leased = leased.high + leased.medium + leased.low + leased.auto === 0 ? NOTHING_LEASED : leased
}

export function createRoster(storage: Storage, counters: Counters, options: RosterOptions): Roster {
  const { groups, hostsKept = HOSTS_KEPT } = options
  const byKeys = new Map<HostKey, Host>()
  const byIds = new Map<number, Host>()
  const laneHosts = new Map<number, Host>()
  /** The same, in the order in which one is looked for that may leave. */
  const ring: Host[] = []
  let hand = 0
  /** Hosts that have a lease. */
  let active = 0
  const saveTraps = (id: number, learned: HostTraps | undefined): void => {
    if (learned?.changed === true) storage.saveTraps(id, learned.serialise())
  }
  const addresses = createAddresses()
  const rooms = createRooms(TRAPS_ROOMS, { mostOfHost: TRAPS_ROOMS_OF_HOST, areShared: false })
  const traps = createLru<number, HostTraps>(TRAPS_KEPT, (id, learned) => {
    saveTraps(id, learned)
    learned.leave()
  })
  const saveLearned = (): void => {
    for (const [id, learned] of traps.entries()) if (!learned.isSaved) storage.saveTraps(id, learned.serialise())
  }
  const leased: readonly Agenda<Host>[] = Array.from({ length: HOST_ORDERS }, () => createAgenda<Host>())

  const laneOf = (row: LaneRow): Lane => ({
    row,
    leased: NOTHING_LEASED,
    robotsLeased: false,
    robotsUnused: false,
  })
  const adopt = (row: HostRow): Host => {
    const errands = storage.errandsOf(row.id)
    const host: Host = {
      row,
      lanes: storage.lanesOf(row.id).map(laneOf),
      errands: errands.length === 0 ? NO_ERRANDS : errands,
      errandsLeased: NO_ERRANDS_LEASED,
      leases: 0,
      isLent: false,
      grantedAt: null,
      leasedNew: 0,
      underWay: null,
      place: 0,
      arranged: null,
      isUsed: true,
    }
    // A due time later than its own work and pace ask for is a place that it was given.
    if (groups.enabled && row.due !== null && row.due > (due(host, row.due, true)?.at ?? 0)) host.place = row.due
    byKeys.set(row.key, host)
    byIds.set(row.id, host)
    ring.push(host)
    for (const lane of host.lanes) laneHosts.set(lane.row.id, host)
    return host
  }
  const used = (host: Host): Host => {
    host.isUsed = true
    return host
  }
  const byKey = (key: HostKey): Host | undefined => {
    const known = byKeys.get(key)
    if (known !== undefined) return used(known)
    const row = storage.hostByKey(key)
    return row === undefined ? undefined : adopt(row)
  }
  const policy = (host: Host): HostPolicy => options.policyOf(host.row.key)
  const crawlDelayMs = (host: Host): number => {
    let delay = 0
    for (const { row } of host.lanes) {
      const askedMs = row.robots?.crawlDelayMs ?? 0
      if (askedMs > 0) delay = Math.max(delay, options.crawlDelayMs(askedMs))
    }
    return delay
  }
  const delayMs = (host: Host): number => {
    const { latencyMs } = host.row.health
    return delayInForce(
      { policyMs: policy(host).delayMs, crawlDelayMs: crawlDelayMs(host), latencyMs },
      options.latency,
    )
  }
  const maxLeases = (host: Host): number => (groups.enabled ? 1 : policy(host).concurrency)

  const tierOf = (host: Host, slot: Slot): Tier => (slot === 'auto' ? host.row.tier : slot)
  const isSpent = (host: Host): boolean =>
    options.maxPagesPerHost !== undefined && host.row.pages + host.leasedNew >= options.maxPagesPerHost
  /** The tiers that a lane has something of, as bits. Written out: it is asked several times for every task. */
  const tiersOf = (host: Host, lane: Lane, alone: boolean): number => {
    const { queued } = lane.row
    const leased = alone ? NOTHING_LEASED : lane.leased
    return (
      (queued.high > leased.high ? HIGH : 0) |
      (queued.medium > leased.medium ? MEDIUM : 0) |
      (queued.low > leased.low ? LOW : 0) |
      (queued.auto > leased.auto ? tierBit(host.row.tier) : 0)
    )
  }

  /** When the host has something to lease, pace aside; null for never. `alone` looks past what is leased. */
  const workAt = (host: Host, now: number, alone: boolean): Work | null => {
    if (host.errands.length > (alone ? 0 : host.errandsLeased.size)) return { at: 0, tiers: tierBit(host.row.tier) }
    // What is under way may use up what it may have: that is known when it is settled.
    if (!alone && host.leasedNew > 0 && isSpent(host)) return null
    let soonest: Work | null = null
    for (const lane of host.lanes) {
      const tiers = tiersOf(host, lane, alone)
      if (tiers === 0) continue
      const isOpen = isInForce(host, lane, now)
      if (!isOpen && (lane.row.robotsMoved || (!alone && lane.robotsLeased))) continue
      const at = isOpen ? 0 : lane.row.robotsNotBefore
      if (soonest === null || at < soonest.at) soonest = { at, tiers }
      else if (at === soonest.at) soonest = { at, tiers: tiers | soonest.tiers }
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
    const { uncleanAt, reopened } = options
    const isStored = start > 0 && reopened !== null && (host.row.answeredAt ?? 0) < reopened.at
    const unclean = uncleanAt === null || delay === 0 ? 0 : uncleanAt + delay
    return Math.max(isStored ? start + reopened.lagMs : start, unclean)
  }
  const isInForce = (host: Host, lane: Lane, now: number): boolean => {
    const { robots } = lane.row
    if (isFresh(robots, now)) return true
    return robots !== undefined && lane.robotsUnused && Math.max(pacedFrom(host), host.place) >= robots.expiresAt
  }
  const due = (host: Host, now: number, alone: boolean): Work | null => {
    const work = workAt(host, now, alone)
    return work === null ? null : { at: Math.max(work.at, pacedFrom(host), host.place), tiers: work.tiers }
  }

  /** The host's score has changed with what is known of it, and perhaps the tier of its URLs. */
  const gradeHost = (host: Host): void => {
    const { row } = host
    const tier = tierByScore(hostScore(row, counters, options.score), options.score)
    if (tier === row.tier) return
    const moved = host.lanes.reduce((sum, lane) => sum + lane.row.queued.auto, 0)
    counters.tiers[row.tier].queued -= moved
    counters.tiers[tier].queued += moved
    row.tier = tier
  }

  const giveBack = (host: Host): void => {
    if (host.isLent) storage.giveBack(host.row.id)
    host.isLent = false
  }
  const rest = (host: Host): void => {
    if (host.arranged !== null) leased[host.arranged]?.delete(host)
    host.arranged = null
  }
  const arrange = (host: Host, now: number): void => {
    const next = host.leases > 0 && host.leases < maxLeases(host) ? due(host, now, false) : null
    rest(host)
    if (next === null) return
    host.arranged = orderOf(classOf(host.row.health), next.tiers)
    leased[host.arranged]?.set(host, next.at)
  }

  return {
    byKey,
    isInForce,
    byId(id) {
      const known = byIds.get(id)
      return known === undefined ? adopt(storage.hostById(id)) : used(known)
    },
    settleIn(key, origin) {
      let host = byKey(key)
      if (host === undefined) {
        host = adopt(storage.insertHost(key))
        counters.hosts += 1
        endow(host.row, counters)
      }
      let lane = host.lanes.find((candidate) => candidate.row.origin === origin)
      if (lane === undefined) {
        lane = laneOf(storage.insertLane(host.row.id, origin))
        // A list that grows in place, as that of a spread does, would keep room for sixteen more.
        host.lanes = host.lanes.concat(lane)
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
    delayReason(host) {
      const [delay, asked] = [delayMs(host), crawlDelayMs(host)]
      if (delay <= policy(host).delayMs) return 'delay'
      return delay > asked ? 'slow answers' : 'Crawl-delay'
    },
    policy,
    maxLeases,
    tierOf,
    traps(host) {
      const { id } = host.row
      let known = traps.get(id)
      if (known === undefined) traps.set(id, (known = createHostTraps(storage.traps(id), { addresses, rooms })))
      return known
    },
    underWay: (host) => (maxLeases(host) === 1 ? createUnderWay() : (host.underWay ??= createUnderWay())),
    isSpent,
    dueAt: (host, now) => due(host, now, false)?.at ?? null,
    save(host, now) {
      gradeHost(host)
      const next = due(host, now, true)
      counters.hostsWithWork += Number(next !== null) - Number(host.row.due !== null)
      host.row.due = next?.at ?? null
      host.row.order = orderOf(classOf(host.row.health), next?.tiers ?? 0)
      saveTraps(host.row.id, traps.get(host.row.id))
      storage.updateHost(host.row)
      if (host.leases > 0) arrange(host, now)
      else giveBack(host)
    },
    saveLearned,
    pin(host) {
      host.leases += 1
      if (host.leases > 1) return
      active += 1
      if (!host.isLent) storage.lend(host.row.id)
      host.isLent = true
    },
    unpin(host) {
      host.leases -= 1
      if (host.leases > 0) return
      active -= 1
      host.isUsed = true
      rest(host)
    },
    arrange,
    rest,
    nextLeased: (of) => leased[of]?.first(),
    trim() {
      // Who is met by the hand was used since it came by last, or leaves; it goes round twice at most.
      while (ring.length - active > hostsKept) {
        if (hand >= ring.length) hand = 0
        const host = ring[hand] as Host
        if (host.leases > 0 || host.isUsed) {
          host.isUsed = false
          hand += 1
          continue
        }
        const last = ring.pop() as Host
        if (last !== host) ring[hand] = last
        byKeys.delete(host.row.key)
        byIds.delete(host.row.id)
        for (const lane of host.lanes) laneHosts.delete(lane.row.id)
      }
    },
    get active() {
      return active
    },
  }
}
