/** Which hosts get a lease, and what each lease carries. */
import type { Task } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import type { FrontierOptions, Lease, LeaseRequest } from './contract.ts'
import { rankOf } from './intake.ts'
import type { Ledger } from './ledger.ts'
import type { Host, Lane, Roster } from './roster.ts'
import { isFresh, tasksPerLease } from './schedule.ts'
import type { Counters, Storage, UrlRow } from './storage.ts'

/** Held pages are settled without a request, so one lease takes many. */
const HELD_PER_LEASE = 256
/** Hosts looked at beyond the ones wanted, whose stored due time turned out to be too early. */
const EXTRA_HOSTS = 64
/** How often such hosts are put right and the next ones looked at, in one call. */
const DUE_ROUNDS = 16

export interface Granted {
  readonly granted: Lease[]
  /** Stored due times had to be put right, and there was no end of them: it is worth asking again at once. */
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

  /** What this host does next: an errand, the robots.txt of a lane, or the head of its best lane. */
  const nextTasks = (host: Host, now: number, room: number): Task[] => {
    const errand = host.errands.find((candidate) => !host.errandsLeased.has(candidate.id))
    if (errand !== undefined) {
      host.errandsLeased.add(errand.id)
      const { lane } = roster.settleIn(hostKey(`${errand.origin}/` as Task['url']), errand.origin)
      return [robotsTask(host, lane, errand)]
    }
    let best: { lane: Lane; row: UrlRow } | undefined
    for (const lane of host.lanes) {
      if (lane.row.queued <= lane.leased || lane.robotsLeased || lane.row.robotsMoved) continue
      if (!isFresh(lane.row.robots, now) && lane.row.robotsNotBefore > now) continue
      const row = headOf(lane)
      if (row === undefined) continue
      if (best === undefined || rankOf(row) < rankOf(best.row)) best = { lane, row }
    }
    if (best === undefined) return []
    const { lane } = best
    if (!isFresh(lane.row.robots, now)) {
      lane.robotsLeased = true
      return [robotsTask(host, lane)]
    }
    const waiting = lane.row.queued - lane.leased
    const count = Math.min(room, tasksPerLease(roster.delayMs(host), roster.policy(host).concurrency, waiting))
    const tasks = storage.head(lane.row.id, count, ledger.leasedIds).map((id) => taskOf(storage.url(id), host, lane))
    lane.leased += tasks.length
    return tasks
  }

  const grant = (request: LeaseRequest, now: number): Granted => {
    const granted: Lease[] = []
    for (let round = 0; round < DUE_ROUNDS && granted.length < request.want; round++) {
      const count = request.want + ledger.size + EXTRA_HOSTS
      const candidates = storage.dueHosts(now, count).map((row) => roster.of(row))
      const corrected = grantAmong(candidates, request, now, granted)
      if (!corrected || candidates.length < count) return { granted, hasMore: false }
    }
    return { granted, hasMore: granted.length < request.want }
  }

  /** Adds leases on these hosts; true when a stored due time was too early and has been put right. */
  const grantAmong = (hosts: readonly Host[], request: LeaseRequest, now: number, granted: Lease[]): boolean => {
    let corrected = false
    // Round after round, so that a host that may have several leases does not take them before the others had one.
    for (let progress = true; progress;) {
      progress = false
      for (const host of hosts) {
        const room = options.maxPages === undefined ? Infinity : options.maxPages - counters.done - ledger.leasedPages
        if (granted.length >= request.want || room <= 0) return false
        if (host.leases >= roster.policy(host).concurrency) continue
        const due = roster.dueAt(host, now)
        if (due === null || due > now) {
          // The configuration or a restart asks for more patience than the stored time had.
          if (host.leases > 0 || host.row.due === due) continue
          roster.save(host, now)
          corrected = true
          continue
        }
        const tasks = nextTasks(host, now, room)
        if (tasks.length === 0) continue
        granted.push(ledger.open(host, tasks, request.worker, now))
        host.grantedAt = now
        progress = true
      }
    }
    return corrected
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
    return [ledger.open(host, tasks, request.worker, now, true)]
  }

  return { grant, grantHeld }
}
