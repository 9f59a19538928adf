/**
 * The rules of the frontier over any storage: what the contract promises is decided here, once, for every home that
 * runs inside one process. Verbs are synchronous steps; each is one transaction of the storage.
 */
import type { Clock } from '../base/index.ts'
import type { FoundUrl, HostKey, HostRecord, Outcome, Task } from '../model/index.ts'
import { hostKey, originOf } from '../url/index.ts'
import type {
  AddAnswer,
  Frontier,
  FrontierOptions,
  FrontierStats,
  HostChange,
  Lease,
  LeaseAnswer,
  LeaseRef,
  LeaseRequest,
  Output,
  Settlement,
  SettleAnswer,
} from './contract.ts'
import { createIntake, rankOf } from './intake.ts'
import { createRoster, type Host, type Lane } from './roster.ts'
import { isFresh, LEASE_EXTENSIONS, tasksPerLease } from './schedule.ts'
import type { Storage, UrlRow } from './storage.ts'

/** Held pages are settled without a request, so one lease takes many. */
const HELD_PER_LEASE = 256
/** Retries that come due are moved to their queues in portions of this size. */
const WAITING_PER_LEASE = 1_000
/** Hosts looked at beyond the ones wanted, whose stored due time turned out to be too early. */
const EXTRA_HOSTS = 64
/** How often such hosts are put right and the next ones looked at, in one call. */
const DUE_ROUNDS = 16

/** Hosts named in the statistics as the next to be asked. */
const NEXT_HOSTS = 5

interface OpenLease {
  readonly host: Host
  readonly fence: number
  readonly worker: string
  /** What is not settled yet, by `taskName`. */
  readonly tasks: Map<string, Task>
  readonly grantedBefore: number | null
  expiresAt: number
  extensions: number
  sent: boolean
}

const taskName = (task: Task): string => (task.kind === 'robots' ? `robots ${task.origin}` : `${task.kind} ${task.id}`)

export function createRules(
  storage: Storage,
  options: FrontierOptions & { readonly uncleanAt: number | null },
  deps: { readonly clock: Clock },
): Frontier {
  const { clock } = deps
  const counters = storage.counters()
  const roster = createRoster(storage, counters, options)
  const touched = new Set<Host>()
  const intake = createIntake(storage, roster, counters, options.maxDepth, touched)
  const leases = new Map<number, OpenLease>()
  const leasedIds = new Set<number>()
  let leasedPages = 0
  let lastFence = 0
  let closed = false

  const nextFence = (): number => {
    // Growing across restarts too, since the clock has moved on by then.
    lastFence = Math.max(lastFence + 1, Math.floor(clock.now()))
    return lastFence
  }

  const saveTouched = (now: number): void => {
    for (const host of touched) roster.save(host, now)
    touched.clear()
  }

  /** One verb: a transaction in which the hosts it touched and the counters are written back at the end. */
  const verb = <T>(work: (now: number) => T): T => {
    if (closed) throw new Error('the frontier is closed')
    const now = clock.now()
    const answer = storage.transaction(() => {
      const result = work(now)
      saveTouched(now)
      storage.saveCounters(counters)
      return result
    })
    roster.trim()
    return answer
  }

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

  const robotsTask = (host: Host, lane: Lane, errand?: { url: Task['url']; redirects: number }): Task => ({
    id: 0,
    kind: 'robots',
    url: errand?.url ?? (`${lane.row.origin}/robots.txt` as Task['url']),
    host: host.row.key,
    origin: lane.row.origin,
    depth: 0,
    via: 'seed',
    tier: 'medium',
    attempts: lane.row.robotsAttempts,
    redirects: errand?.redirects ?? 0,
    nesting: 0,
  })

  const open = (host: Host, tasks: readonly Task[], worker: string, now: number): Lease => {
    const fence = nextFence()
    leases.set(fence, {
      host,
      fence,
      worker,
      tasks: new Map(tasks.map((task) => [taskName(task), task])),
      grantedBefore: host.grantedAt,
      expiresAt: now + options.leaseMs,
      extensions: 0,
      sent: false,
    })
    roster.pin(host)
    for (const task of tasks) {
      if (task.kind === 'robots') continue
      leasedIds.add(task.id)
      if (task.kind === 'page') leasedPages += 1
    }
    return {
      host: host.row.key,
      fence,
      tasks,
      delayMs: roster.delayMs(host),
      notBefore: now,
      expiresAt: now + options.leaseMs,
      strikes: host.row.strikes,
    }
  }

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
      const [id] = storage.head(lane.row.id, 1, leasedIds)
      if (id === undefined) continue
      const row = storage.url(id)
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
    const tasks = storage.head(lane.row.id, count, leasedIds).map((id) => taskOf(storage.url(id), host, lane))
    lane.leased += tasks.length
    return tasks
  }

  /** A lease that is over, one way or the other: its host is free for the next. */
  const end = (lease: OpenLease): void => {
    leases.delete(lease.fence)
    roster.unpin(lease.host)
    // Nothing was sent, so nothing is to be kept away from: the host is due as it was before.
    if (!lease.sent) lease.host.grantedAt = lease.grantedBefore
    touched.add(lease.host)
  }

  /** A task leaves its lease. What becomes of it is up to the caller; queued it still is. */
  const release = (lease: OpenLease, task: Task): void => {
    lease.tasks.delete(taskName(task))
    if (task.kind === 'robots') {
      const errand = lease.host.errands.find((candidate) => candidate.origin === task.origin)
      if (errand !== undefined) lease.host.errandsLeased.delete(errand.id)
      roster.settleIn(hostKey(`${task.origin}/` as Task['url']), task.origin).lane.robotsLeased = false
    } else {
      leasedIds.delete(task.id)
      if (task.kind === 'page') leasedPages -= 1
      const row = storage.url(task.id)
      if (row.state === 'queued') roster.byLane(row.lane).lane.leased -= 1
    }
    if (lease.tasks.size === 0) end(lease)
  }

  const takeBackExpired = (now: number): void => {
    for (const lease of leases.values()) {
      if (lease.expiresAt > now) continue
      // Its holder may have sent something at the very last moment.
      lease.sent = true
      lease.host.row.answeredAt = Math.max(lease.host.row.answeredAt ?? 0, lease.expiresAt)
      for (const task of lease.tasks.values()) release(lease, task)
    }
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

  const grant = (request: LeaseRequest, now: number): Lease[] => {
    const granted: Lease[] = []
    for (let round = 0; round < DUE_ROUNDS && granted.length < request.want; round++) {
      const count = request.want + leases.size + EXTRA_HOSTS
      const candidates = storage.dueHosts(now, count).map((row) => roster.of(row))
      const corrected = grantAmong(candidates, request, now, granted)
      if (!corrected || candidates.length < count) break
    }
    return granted
  }

  /** Adds leases on these hosts; true when a stored due time was too early and has been put right. */
  const grantAmong = (hosts: readonly Host[], request: LeaseRequest, now: number, granted: Lease[]): boolean => {
    let corrected = false
    // Round after round, so that a host that may have several leases does not take them before the others had one.
    for (let progress = true; progress;) {
      progress = false
      for (const host of hosts) {
        const room = options.maxPages === undefined ? Infinity : options.maxPages - counters.done - leasedPages
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
        granted.push(open(host, tasks, request.worker, now))
        host.grantedAt = now
        progress = true
      }
    }
    return corrected
  }

  /** Nothing is left but pages that are too deep: no shorter path to them can turn up any more. */
  const grantHeld = (request: LeaseRequest, now: number): Lease[] => {
    const ids = storage.heldOfOneHost(HELD_PER_LEASE, leasedIds)
    const [first] = ids
    if (first === undefined) return []
    const { host } = roster.byLane(storage.url(first).lane)
    const tasks = ids.map((id) => {
      const row = storage.url(id)
      return taskOf(row, host, roster.byLane(row.lane).lane)
    })
    return [open(host, tasks, request.worker, now)]
  }

  const idle = (): boolean => leases.size === 0
  const exhausted = (): boolean => options.maxPages !== undefined && counters.done >= options.maxPages

  const lease = (request: LeaseRequest, now: number): LeaseAnswer => {
    takeBackExpired(now)
    promoteWaiting(now)
    saveTouched(now)
    const granted = grant(request, now)
    const onlyHeldLeft = counters.held > 0 && counters.open === counters.held && counters.sitemapsOpen === 0
    if (granted.length === 0 && idle() && onlyHeldLeft && !exhausted()) granted.push(...grantHeld(request, now))
    if (granted.length === 0 && idle()) {
      if (counters.open === 0 && counters.sitemapsOpen === 0) return { leases: [], nextAt: null, state: 'finished' }
      if (exhausted()) return { leases: [], nextAt: null, state: 'limit' }
    }
    return { leases: granted, nextAt: nextAt(now), state: 'open' }
  }

  const nextAt = (now: number): number | null => {
    let soonest = storage.nextWaiting() ?? Infinity
    const [upcoming] = storage.upcomingHosts(now, 1)
    if (upcoming !== undefined) soonest = Math.min(soonest, upcoming.due ?? Infinity)
    for (const open of leases.values()) {
      soonest = Math.min(soonest, open.expiresAt)
      // With several requests in flight a leased host comes round again while it is leased.
      if (open.host.leases >= roster.policy(open.host).concurrency) continue
      const due = roster.dueAt(open.host, now)
      if (due !== null && due > now) soonest = Math.min(soonest, due)
    }
    return soonest === Infinity ? null : soonest
  }

  const heldLease = (settlement: Settlement): OpenLease | undefined => {
    const open = leases.get(settlement.lease.fence)
    if (open === undefined || open.host.row.key !== settlement.lease.host) return undefined
    return open.tasks.has(taskName(settlement.task)) ? open : undefined
  }

  const changeHost = (host: Host, change: HostChange): void => {
    if (change.blockedUntil !== undefined) host.row.blockedUntil = change.blockedUntil
    if (change.blockedReason !== undefined) host.row.blockedReason = change.blockedReason
    if (change.strikes !== undefined) host.row.strikes = change.strikes
    touched.add(host)
  }

  const settleRobots = (settlement: Settlement, open: OpenLease): void => {
    const { task, outcome } = settlement
    const { host, lane } = roster.settleIn(hostKey(`${task.origin}/` as Task['url']), task.origin)
    touched.add(host)
    if (outcome.kind === 'returned') return
    const errand = open.host.errands.find((candidate) => candidate.origin === task.origin)
    if (errand !== undefined) {
      storage.deleteErrand(errand.id)
      open.host.errands.splice(open.host.errands.indexOf(errand), 1)
    }
    lane.row.robotsMoved = false
    if (outcome.kind === 'moved') {
      const target = roster.settleIn(hostKey(outcome.url), originOf(outcome.url)).host
      target.errands.push(
        storage.insertErrand(target.row.id, { origin: task.origin, url: outcome.url, redirects: task.redirects + 1 }),
      )
      touched.add(target)
      lane.row.robotsMoved = true
    } else if (outcome.kind === 'retry') {
      lane.row.robotsNotBefore = outcome.notBefore
      lane.row.robotsAttempts += 1
    } else if (settlement.robots !== undefined) {
      const { body: _body, ...summary } = settlement.robots
      lane.row.robots = summary
      lane.row.robotsAttempts = 0
      lane.row.robotsNotBefore = 0
      storage.saveRobots(lane.row.id, settlement.robots)
    }
    storage.updateLane(lane.row)
  }

  const settleUrl = (settlement: Settlement, now: number): void => {
    const { task, outcome } = settlement
    const row = storage.url(task.id)
    switch (outcome.kind) {
      case 'returned':
        return
      case 'moved':
        throw new Error(`only a robots.txt can be moved, not ${task.url}`)
      case 'retry':
        intake.dequeue(row)
        row.state = 'waiting'
        row.attempts += outcome.counts ? 1 : 0
        row.at = outcome.notBefore
        storage.update(row)
        storage.wait(outcome.notBefore, row.id)
        return
      case 'done':
      case 'skipped':
      case 'failed':
        intake.dequeue(row)
        row.state = outcome.kind
        row.reason = reasonOf(outcome)
        row.at = now
        row.attempts += settlement.answeredAt === undefined ? 0 : 1
        storage.update(row)
        count(row, settlement)
    }
  }

  const count = (row: UrlRow, settlement: Settlement): void => {
    if (row.kind === 'sitemap') {
      counters.sitemapsOpen -= 1
      return
    }
    counters.open -= 1
    if (row.state === 'done') {
      counters.done += 1
      counters.bytes += settlement.bytes ?? 0
      counters.tokens += settlement.tokens ?? 0
    } else if (row.state === 'failed') counters.failed += 1
    else if (row.reason !== null) counters.skipped[row.reason] = (counters.skipped[row.reason] ?? 0) + 1
  }

  const settleOne = (settlement: Settlement, open: OpenLease, now: number): void => {
    const { task, answeredAt } = settlement
    if (answeredAt !== undefined) {
      open.sent = true
      open.host.row.answeredAt = Math.max(open.host.row.answeredAt ?? 0, answeredAt)
      counters.requests[task.kind] += 1
    }
    release(open, task)
    if (task.kind === 'robots') settleRobots(settlement, open)
    else settleUrl(settlement, now)
    if (settlement.host !== undefined) changeHost(open.host, settlement.host)
    if (settlement.found !== undefined) intake.add(settlement.found, task.kind === 'robots' ? undefined : task)
    touched.add(open.host)
  }

  const settle = (settlements: readonly Settlement[], output: Output | undefined, now: number): SettleAnswer => {
    // An expired lease may still be settled until somebody else could have been given the host.
    const seen = new Set<string>()
    const results = settlements.map((settlement) => {
      const name = `${settlement.lease.fence} ${taskName(settlement.task)}`
      if (seen.has(name) || heldLease(settlement) === undefined) return 'stale' as const
      seen.add(name)
      return 'settled' as const
    })
    const accepted = settlements.filter((_, index) => results[index] === 'settled')
    if (output !== undefined && accepted.length > 0) counters.output = output.append(accepted)
    for (const settlement of accepted) {
      const open = heldLease(settlement)
      if (open !== undefined) settleOne(settlement, open, now)
    }
    return { results }
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
    const crawlDelay = Math.max(0, ...host.lanes.map((lane) => lane.row.robots?.crawlDelayMs ?? 0))
    return crawlDelay > roster.policy(host).delayMs ? 'Crawl-delay' : 'delay'
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
      queued: counters.open - leasedPages,
      leased: leasedPages,
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
    async add(found: readonly FoundUrl[]): Promise<AddAnswer> {
      return verb(() => intake.add(found, undefined))
    },
    async lease(request) {
      return verb((now) => lease(request, now))
    },
    async settle(settlements, output) {
      return verb((now) => settle(settlements, output, now))
    },
    async extend(ref: LeaseRef) {
      const open = leases.get(ref.fence)
      if (open === undefined || open.extensions >= LEASE_EXTENSIONS) return false
      open.extensions += 1
      open.expiresAt = clock.now() + options.leaseMs
      return true
    },
    async host(key: HostKey, change?: HostChange) {
      const host = roster.byKey(key)
      if (host === undefined) return undefined
      if (change !== undefined) verb(() => changeHost(host, change))
      return recordOf(host)
    },
    async stats() {
      return stats()
    },
    async close() {
      if (closed) return
      verb(() => {
        for (const open of leases.values()) {
          for (const task of open.tasks.values()) release(open, task)
        }
      })
      closed = true
      storage.close()
    },
  }
}

function reasonOf(outcome: Extract<Outcome, { kind: 'done' | 'skipped' | 'failed' }>): string | null {
  if (outcome.kind === 'done') return null
  return outcome.kind === 'skipped' ? outcome.reason : outcome.code
}
