/** Which hosts get a lease, and what each lease carries. */
import type { Task } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import type { FrontierOptions, Lease, LeaseRequest } from './contract.ts'
import type { Groups } from './groups.ts'
import { rankOf } from './intake.ts'
import type { Ledger } from './ledger.ts'
import type { Host, Lane, Roster } from './roster.ts'
import { tasksPerLease } from './schedule.ts'
import {
  classOf,
  HOST_CLASSES,
  type Counters,
  type DueHost,
  type HostClass,
  type Storage,
  type UrlRow,
} from './storage.ts'

/** Held pages are settled without a request, so one lease takes many. */
const HELD_PER_LEASE = 256
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

/** Due hosts of one class as read from the storage, and how far they have been looked at. */
interface Line {
  readonly of: HostClass
  readonly hosts: readonly DueHost[]
  at: number
  /** There are more than were read. */
  readonly hasMore: boolean
}

export interface Granting {
  /** Leases on hosts that are due, at most as many as wanted. */
  grant(request: LeaseRequest, now: number): Granted
  /** A lease on pages that are too deep, to be settled without a request. */
  grantHeld(request: LeaseRequest, now: number): Lease[]
}

export function createGranting(
  storage: Storage,
  roster: Roster,
  ledger: Ledger,
  groups: Groups,
  counters: Counters,
  options: Pick<FrontierOptions, 'maxPages'>,
): Granting {
  const taskOf = (row: UrlRow, host: Host, lane: Lane): Task => ({
    id: row.id,
    kind: row.kind,
    url: row.url,
    host: host.row.key,
    origin: lane.row.origin,
    depth: row.depth,
    via: row.via,
    ...(row.referrer === 0 ? {} : { referrer: storage.url(row.referrer).url }),
    tier: row.tier,
    attempts: row.attempts,
    redirects: row.redirects,
    nesting: row.nesting,
  })

  /** What the lane does next; undefined when all of it is out. */
  const headOf = (lane: Lane): UrlRow | undefined => {
    const [id] = storage.head(lane.row.id, 1, ledger.leasedIds)
    return id === undefined ? undefined : storage.url(id)
  }

  const robotsTask = (host: Host, lane: Lane, errand?: { url: Task['url']; redirects: number }): Task => ({
    id: 0,
    kind: 'robots',
    url: errand?.url ?? (`${lane.row.origin}/robots.txt` as Task['url']),
    host: host.row.key,
    origin: lane.row.origin,
    depth: 0,
    via: 'link',
    tier: 'medium',
    attempts: lane.row.robotsAttempts,
    redirects: errand?.redirects ?? 0,
    nesting: 0,
  })

  /** What this host does next: an errand, the robots.txt of a lane, or the head of its best lane; undefined for nothing. */
  const nextWork = (host: Host, now: number, room: number): Work | undefined => {
    const errand = host.errands.find((candidate) => !host.errandsLeased.has(candidate.id))
    if (errand !== undefined) {
      host.errandsLeased.add(errand.id)
      const { lane } = roster.settleIn(hostKey(`${errand.origin}/` as Task['url']), errand.origin)
      return { tasks: [robotsTask(host, lane, errand)], robotsVersion: null }
    }
    let best: { lane: Lane; row: UrlRow } | undefined
    for (const lane of host.lanes) {
      if (lane.row.queued <= lane.leased || lane.robotsLeased || lane.row.robotsMoved) continue
      if (!roster.isInForce(host, lane, now) && lane.row.robotsNotBefore > now) continue
      const row = headOf(lane)
      if (row === undefined) continue
      if (best === undefined || rankOf(row) < rankOf(best.row)) best = { lane, row }
    }
    if (best === undefined) return undefined
    const { lane } = best
    if (!roster.isInForce(host, lane, now)) {
      lane.robotsLeased = true
      return { tasks: [robotsTask(host, lane)], robotsVersion: null }
    }
    const waiting = lane.row.queued - lane.leased
    // Several tasks of one lease would keep the host's pace among each other, but not its group's.
    const most = groups.enabled ? 1 : tasksPerLease(roster.delayMs(host), roster.policy(host).concurrency, waiting)
    const count = Math.min(room, most)
    const tasks = storage.head(lane.row.id, count, ledger.leasedIds).map((id) => taskOf(storage.url(id), host, lane))
    lane.leased += tasks.length
    if (tasks.length > 0) lane.robotsUnused = false
    return tasks.length === 0 ? undefined : { tasks, robotsVersion: lane.row.robots?.version ?? null }
  }

  const room = (): number =>
    options.maxPages === undefined ? Infinity : options.maxPages - counters.done - ledger.leasedPages

  /** A lease on this host; `later` when its due time was too early and has been put right. */
  const look = (host: Host, worker: string, now: number): Lease | 'later' | 'nothing' => {
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
    const work = nextWork(host, now, room())
    if (work === undefined) {
      roster.rest(host)
      return 'nothing'
    }
    const lease = ledger.open(host, { ...work, worker }, now)
    roster.arrange(host, now)
    return lease
  }

  const grant = (request: LeaseRequest, now: number): Granted => {
    const granted: Lease[] = []
    const quota = { proven: request.want, unproven: Math.min(request.want, request.unproven ?? request.want) }
    const open = (): HostClass[] => HOST_CLASSES.filter((each) => quota[each] > 0)
    for (let round = 0; round < DUE_ROUNDS; round++) {
      const lines = open().map((of) => {
        const count = Math.min(quota[of], request.want - granted.length) + (round === 0 ? 0 : EXTRA_HOSTS)
        const hosts = storage.dueHosts(of, now, count)
        return { of, hosts, at: 0, hasMore: hosts.length === count }
      })
      let progress = false
      while (granted.length < request.want && room() > 0) {
        const best = earliest(lines, quota, now)
        if (best === undefined) return { granted, open: open(), hasMore: false }
        if (best === 'unknown') break
        const found = look(best, request.worker, now)
        if (found !== 'nothing') progress = true
        if (typeof found === 'string') continue
        granted.push(found)
        if (classOf(found.health) === 'unproven') quota.unproven -= 1
      }
      if (!progress || granted.length >= request.want || room() <= 0) return { granted, open: open(), hasMore: false }
    }
    return { granted, open: open(), hasMore: true }
  }

  /** The host due longest over all classes, leased or not; `unknown` when those read so far do not say. */
  const earliest = (
    lines: readonly Line[],
    quota: Readonly<Record<HostClass, number>>,
    now: number,
  ): Host | 'unknown' | undefined => {
    let best: { due: number; id: number; line?: Line } | undefined
    const consider = (due: number, id: number, line?: Line): void => {
      if (best === undefined || due < best.due || (due === best.due && id < best.id))
        best = line === undefined ? { due, id } : { due, id, line }
    }
    for (const line of lines) {
      if (quota[line.of] <= 0) continue
      const next = line.hosts[line.at]
      if (next === undefined && line.hasMore) return 'unknown'
      if (next !== undefined) consider(next.due, next.id, line)
      const leased = roster.nextLeased(line.of)
      if (leased !== undefined && leased.at <= now) consider(leased.at, leased.item.row.id)
    }
    if (best === undefined) return undefined
    if (best.line !== undefined) best.line.at += 1
    return roster.byId(best.id)
  }

  const grantHeld = (request: LeaseRequest, now: number): Lease[] => {
    const ids = storage.heldOfOneHost(HELD_PER_LEASE, ledger.leasedIds)
    const [first] = ids
    if (first === undefined) return []
    const { host } = roster.byLane(storage.url(first).lane)
    const tasks = ids.map((id) => {
      const row = storage.url(id)
      return taskOf(row, host, roster.byLane(row.lane).lane)
    })
    return [ledger.open(host, { tasks, worker: request.worker, robotsVersion: null, held: true }, now)]
  }

  return { grant, grantHeld }
}
