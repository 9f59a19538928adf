/** Which hosts get a lease, and what each lease carries. */
import { TIERS, type LastVisit, type Task, type Tier } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import type { FrontierOptions, Lease, LeaseRequest } from './contract.ts'
import type { Groups } from './groups.ts'
import type { Ledger } from './ledger.ts'
import type { Parking } from './parking.ts'
import { countOut, type Host, type Lane, type Roster } from './roster.ts'
import { tasksPerLease } from './schedule.ts'
import { createSharing } from './sharing.ts'
import {
  classOf,
  classOfOrder,
  HOST_CLASSES,
  HOST_ORDERS,
  queuedIn,
  SLOTS,
  tierBit,
  type Counters,
  type DueHost,
  type HostClass,
  type HostOrder,
  type Ids,
  type QueueEntry,
  type Storage,
  type UrlRow,
  type VisitRow,
} from './storage.ts'

/** Parked pages are settled without a request, so one lease takes many. */
const PARKED_PER_LEASE = 256
/** URLs that are set aside on the way to one lease. */
const ASIDE_PER_LEASE = 256
/** Tasks of a lease while several tiers have work: with more, they would keep to their quotas less closely. */
const TASKS_AMONG_TIERS = 1
/** Hosts looked at beyond the ones wanted, after the stored due time of some turned out to be too early. */
const EXTRA_HOSTS = 64
/** How often such hosts are put right and the next ones looked at, in one call. */
const DUE_ROUNDS = 16

export interface Granted {
  readonly granted: Lease[]
  /** Classes of hosts whose share of this request is not used up. */
  readonly open: readonly HostClass[]
  /** Stored due times had to be put right, and there was no end of them: it is worth asking again at once. */
  readonly hasMore: boolean
}

/** What a lease is to carry. */
interface Work {
  readonly tasks: readonly Task[]
  readonly robotsVersion: string | null
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What is wanted of a host. */
interface Wanted {
  readonly worker: string
  /** Tiers that its tasks may be of, as bits. */
  readonly tiers: number
  /** Tasks at most. */
  readonly tasks: number
}

/** The parts of a lane's queue that were looked at, and which is the best entry of them. */
interface Best {
  readonly lane: Lane
  readonly entry: QueueEntry
}

/** Due hosts of one order as read from the storage, and how far they have been looked at. */
interface Line {
  readonly of: HostOrder
  readonly hosts: readonly DueHost[]
  at: number
  /** There are more than were read. */
  readonly hasMore: boolean
}

export interface Granting {
  /** Leases on hosts that are due, at most as many as wanted. */
  grant(request: LeaseRequest, now: number): Granted
  /** A lease on pages that are too deep or set aside, to be settled without a request. */
  grantParked(request: LeaseRequest, now: number): Lease[]
}

export function createGranting(
  storage: Storage,
  roster: Roster,
  ledger: Ledger,
  groups: Groups,
  parking: Parking,
  counters: Counters,
  options: Pick<FrontierOptions, 'maxPages' | 'maxPagesPerHost' | 'quotas'>,
): Granting {
  const sharing = createSharing(options.quotas)
  const taskOf = (row: UrlRow, host: Host, lane: Lane): Task => {
    const task: Mutable<Task> = {
      id: row.id,
      kind: row.kind,
      url: row.url,
      host: host.row.key,
      origin: lane.row.origin,
      depth: row.depth,
      via: row.via,
      tier: roster.tierOf(host, row.slot),
      attempts: row.attempts,
      redirects: row.redirects,
      nesting: row.nesting,
    }
    // Set where there is something to say: spreads of what there may be would take longer than all the rest.
    if (row.referrer !== 0) task.referrer = storage.text(row.referrer)
    const last = storage.visit(row.id)
    if (last !== undefined) task.last = lastVisitOf(last)
    if (row.state === 'aside') task.aside = parking.reasonOf(row)
    else if (last === undefined && !parking.wantsSample(host, row)) task.isUnsampled = true
    return task
  }

  /** What a lane has next of these tiers and is not out, in order; at most so many. */
  const headsOf = (host: Host, lane: Lane, tiers: number, count: number, skip: Ids): QueueEntry[] => {
    let heads: QueueEntry[] = []
    for (const slot of SLOTS) {
      if (lane.row.queued[slot] <= lane.leased[slot] || (tierBit(roster.tierOf(host, slot)) & tiers) === 0) continue
      const more = storage.head(lane.row.id, slot, count, skip)
      heads = heads.length === 0 ? more : [...heads, ...more].sort(byPlace).slice(0, count)
    }
    return heads
  }

  /** The next URLs of a lane, in order, and reserved. Those that are to be set aside are, on the way. */
  const takeTasks = (host: Host, { lane, entry: first }: Best, tiers: number, count: number): Task[] => {
    const tasks: Task[] = []
    const skip: Ids = { has: (id) => ledger.leasedIds.has(id) || tasks.some((task) => task.id === id) }
    const admits = parking.createBatch(host, count)
    let parked = 0
    let next = count === 1 ? [first] : headsOf(host, lane, tiers, count, skip)
    while (next.length > 0) {
      for (const { id } of next) {
        const row = storage.url(id)
        if (parking.setAside(host, row)) {
          parked += 1
          if (parked < ASIDE_PER_LEASE) continue
          return tasks
        }
        const task = taskOf(row, host, lane)
        // No room is left for a page that was never had; behind it there can only be more of them.
        if (task.kind === 'page' && task.last === undefined && room(host) <= tasks.length) return tasks
        // What is out may tell that its like is not worth asking for.
        if (!admits(row)) return tasks
        tasks.push(task)
        countOut(lane, row.slot, 1)
      }
      if (tasks.length === count) return tasks
      // Some were set aside: what comes behind them.
      next = headsOf(host, lane, tiers, count - tasks.length, skip)
    }
    return tasks
  }

  const robotsTask = (
    host: Host,
    lane: Lane,
    tiers: number,
    errand?: { url: Task['url']; redirects: number },
  ): Task => ({
    id: 0,
    kind: 'robots',
    url: errand?.url ?? (`${lane.row.origin}/robots.txt` as Task['url']),
    host: host.row.key,
    origin: lane.row.origin,
    depth: 0,
    via: 'link',
    tier: TIERS.find((tier) => (tierBit(tier) & tiers) !== 0) ?? host.row.tier,
    attempts: lane.row.robotsAttempts,
    redirects: errand?.redirects ?? 0,
    nesting: 0,
  })

  /** What this host does next: an errand, the robots.txt of a lane, or the head of its best lane; undefined for nothing. */
  const nextWork = (host: Host, now: number, wanted: Wanted): Work | undefined => {
    const errand = host.errands.find((candidate) => !host.errandsLeased.has(candidate.id))
    if (errand !== undefined) {
      host.errandsLeased = new Set([...host.errandsLeased, errand.id])
      const { lane } = roster.settleIn(hostKey(`${errand.origin}/` as Task['url']), errand.origin)
      return { tasks: [robotsTask(host, lane, wanted.tiers, errand)], robotsVersion: null }
    }
    let best: Best | undefined
    for (const lane of host.lanes) {
      if (lane.robotsLeased || lane.row.robotsMoved) continue
      if (!roster.isInForce(host, lane, now) && lane.row.robotsNotBefore > now) continue
      const [entry] = headsOf(host, lane, wanted.tiers, 1, ledger.leasedIds)
      if (entry !== undefined && (best === undefined || isBefore(entry, best.entry))) best = { lane, entry }
    }
    if (best === undefined) return undefined
    const { lane } = best
    if (!roster.isInForce(host, lane, now)) {
      lane.robotsLeased = true
      return { tasks: [robotsTask(host, lane, wanted.tiers)], robotsVersion: null }
    }
    const waiting = queuedIn(lane.row) - SLOTS.reduce((sum, slot) => sum + lane.leased[slot], 0)
    // Several tasks of one lease would keep the host's pace among each other, but not its group's.
    const most = groups.enabled ? 1 : tasksPerLease(roster.delayMs(host), roster.policy(host).concurrency, waiting)
    const tasks = takeTasks(host, best, wanted.tiers, Math.min(wanted.tasks, most))
    if (tasks.length > 0) lane.robotsUnused = false
    return tasks.length === 0 ? undefined : { tasks, robotsVersion: lane.row.robots?.version ?? null }
  }

  /** Pages that were never had and may still be leased: of all hosts, or of this one. */
  const room = (host?: Host): number => {
    const { maxPages = Infinity, maxPagesPerHost = Infinity } = options
    const all = maxPages - counters.done - counters.refreshing - ledger.leasedNew
    return host === undefined ? all : Math.min(all, maxPagesPerHost - host.row.pages - host.leasedNew)
  }
  /** With no room left, pages that are had already may still be fetched again. */
  const mayGrant = (): boolean => room() > 0 || counters.refreshing > 0

  /** A lease on this host; `later` when its due time was too early and has been put right. */
  const look = (host: Host, wanted: Wanted, now: number): Lease | 'later' | 'more' | 'nothing' => {
    const due = host.leases < roster.maxLeases(host) ? roster.dueAt(host, now) : null
    if (due === null || due > now) {
      // The configuration or a restart asks for more patience than the stored time had.
      if (host.leases > 0) roster.arrange(host, now)
      else roster.save(host, now)
      return 'later'
    }
    const place = groups.enabled ? groups.place(host.row, host.place > 0, now) : undefined
    if (place !== undefined) {
      host.place = place
      roster.save(host, now)
      return 'later'
    }
    const asideBefore = counters.aside
    const work = nextWork(host, now, wanted) ?? nextWork(host, now, { ...wanted, tiers: ALL_TIERS })
    if (work === undefined) {
      // What it had may have been set aside; or it has only what there is no room for, or what waits for others of it.
      if (host.leases > 0) roster.rest(host)
      else roster.save(host, now)
      const isStillDue = host.leases === 0 && host.row.due !== null && host.row.due <= now
      // So many were set aside that it was enough for once: there is more behind them.
      if (isStillDue && counters.aside > asideBefore) return 'more'
      return isStillDue ? 'nothing' : 'later'
    }
    const lease = ledger.open(host, { ...work, worker: wanted.worker }, now)
    roster.arrange(host, now)
    return lease
  }

  const grant = (request: LeaseRequest, now: number): Granted => {
    const granted: Lease[] = []
    const quota = { proven: request.want, unproven: Math.min(request.want, request.unproven ?? request.want) }
    const open = (): HostClass[] => HOST_CLASSES.filter((each) => quota[each] > 0)
    /** Due, but with nothing that may be leased. */
    const barren = new Set<number>()
    let isCorrected = false
    let isCutShort = false
    for (let round = 0; round < DUE_ROUNDS; round += isCorrected ? 1 : 0) {
      const lines = readLines(request.want - granted.length + (round === 0 ? 0 : EXTRA_HOSTS), barren, quota, now)
      let progress = false
      isCorrected = false
      while (granted.length < request.want && mayGrant()) {
        const ready = TIERS_OF_BITS[tiersWithWork(lines, quota, now)] as readonly Tier[]
        if (ready.length === 0) {
          if (lines.some((line) => line.hasMore && line.at >= line.hosts.length)) break
          return { granted, open: open(), hasMore: isCutShort }
        }
        const tier = sharing.choose(ready)
        const host = earliest(lines, tierBit(tier), quota, now)
        if (host === 'unknown') break
        const tasks = ready.length > 1 ? TASKS_AMONG_TIERS : Infinity
        const found = look(host, { worker: request.worker, tiers: tierBit(tier), tasks }, now)
        progress = true
        isCorrected ||= found === 'later' || found === 'more'
        isCutShort ||= found === 'more'
        if (found === 'nothing') barren.add(host.row.id)
        if (typeof found === 'string') continue
        granted.push(found)
        sharing.charge(found.tasks[0]?.tier ?? tier, found.tasks.length)
        if (classOf(found.health) === 'unproven') quota.unproven -= 1
      }
      if (!progress || granted.length >= request.want || !mayGrant())
        return { granted, open: open(), hasMore: isCutShort }
    }
    return { granted, open: open(), hasMore: true }
  }

  /** Due hosts of every order whose class has a share left. */
  const readLines = (wanted: number, barren: ReadonlySet<number>, quota: Quota, now: number): Line[] => {
    const count = wanted + barren.size
    const lines: Line[] = []
    for (let of: HostOrder = 0; of < HOST_ORDERS; of++) {
      if (quota[classOfOrder(of)] <= 0) continue
      const hosts = storage.dueHosts(of, now, count)
      if (hosts.length === 0 && roster.nextLeased(of) === undefined) continue
      const fertile = barren.size === 0 ? hosts : hosts.filter(({ id }) => !barren.has(id))
      lines.push({ of, hosts: fertile, at: 0, hasMore: hosts.length === count })
    }
    return lines
  }

  /** As bits. */
  const tiersWithWork = (lines: readonly Line[], quota: Quota, now: number): number => {
    let tiers = 0
    for (const line of lines) {
      // Nothing new about these tiers.
      if ((line.of & ALL_TIERS & ~tiers) === 0 || quota[classOfOrder(line.of)] <= 0) continue
      if (line.at < line.hosts.length || (roster.nextLeased(line.of)?.at ?? Infinity) <= now)
        tiers |= line.of & ALL_TIERS
    }
    return tiers
  }

  /** The host due longest over all orders with work of this tier, leased or not; `unknown` when those read do not say. */
  const earliest = (lines: readonly Line[], tiers: number, quota: Quota, now: number): Host | 'unknown' => {
    let best: { due: number; id: number; line?: Line } | undefined
    const consider = (due: number, id: number, line?: Line): void => {
      if (best === undefined || due < best.due || (due === best.due && id < best.id))
        best = line === undefined ? { due, id } : { due, id, line }
    }
    for (const line of lines) {
      if ((line.of & tiers) === 0 || quota[classOfOrder(line.of)] <= 0) continue
      const next = line.hosts[line.at]
      if (next === undefined && line.hasMore) return 'unknown'
      if (next !== undefined) consider(next.due, next.id, line)
      const leased = roster.nextLeased(line.of)
      if (leased !== undefined && leased.at <= now) consider(leased.at, leased.item.row.id)
    }
    if (best === undefined) return 'unknown'
    if (best.line !== undefined) best.line.at += 1
    return roster.byId(best.id)
  }

  const grantParked = (request: LeaseRequest, now: number): Lease[] => {
    const held = storage.parkedOfOneHost('held', PARKED_PER_LEASE, ledger.leasedIds)
    const ids = held.length > 0 ? held : storage.parkedOfOneHost('aside', PARKED_PER_LEASE, ledger.leasedIds)
    const [first] = ids
    if (first === undefined) return []
    const { host } = roster.byLane(storage.url(first).lane)
    const tasks = ids.flatMap((id) => {
      const row = storage.url(id)
      return parking.release(host, row) ? [] : [taskOf(row, host, roster.byLane(row.lane).lane)]
    })
    return tasks.length === 0
      ? []
      : [ledger.open(host, { tasks, worker: request.worker, robotsVersion: null, parked: true }, now)]
  }

  return { grant, grantParked }
}

const ALL_TIERS = TIERS.reduce((bits, tier) => bits | tierBit(tier), 0)
/** The tiers of each number of bits: the same lists again and again. */
const TIERS_OF_BITS: readonly (readonly Tier[])[] = Array.from({ length: ALL_TIERS + 1 }, (_, bits) =>
  TIERS.filter((tier) => (tierBit(tier) & bits) !== 0),
)

/** Leases that hosts of each class may still have of a request. */
type Quota = Readonly<Record<HostClass, number>>

const byPlace = (a: QueueEntry, b: QueueEntry): number => a.rank - b.rank || a.id - b.id
const isBefore = (a: QueueEntry, b: QueueEntry): boolean => byPlace(a, b) < 0

function lastVisitOf({ checkedAt, visits, misses, hash, etag, lastModified }: VisitRow): LastVisit {
  return { at: checkedAt, visits, misses, hash, etag, lastModified }
}
