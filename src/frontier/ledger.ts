/**
 * The leases that are out: who may talk to which host until when. It lives in the process that granted them; a process
 * that dies takes its leases with it, and what was leased is simply still queued.
 */
import type { Task } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import type { Lease, LeaseRef } from './contract.ts'
import type { Host, Roster } from './roster.ts'
import { LEASE_EXTENSIONS } from './schedule.ts'
import type { Storage } from './storage.ts'

export interface OpenLease {
  readonly host: Host
  readonly fence: number
  readonly worker: string
  /** What is not settled yet, by `taskName`. */
  readonly tasks: Map<string, Task>
  /** When it was granted, and the host's last grant before that. */
  readonly grantedAt: number
  readonly grantedBefore: number | null
  expiresAt: number
  extensions: number
  readonly held: boolean
  /** Something was sent to the host under this lease. */
  sent: boolean
}

export interface Ledger {
  /** `held`: the tasks are out of no lane's queue. */
  open(host: Host, tasks: readonly Task[], worker: string, now: number, held?: boolean): Lease
  /** The lease under which this task is out; undefined when it is not, or no longer. */
  holding(ref: LeaseRef, task: Task): OpenLease | undefined
  /** A task leaves its lease. What becomes of it is up to the caller; queued it still is. */
  release(lease: OpenLease, task: Task): void
  takeBackExpired(now: number): void
  takeBackAll(): void
  extend(ref: LeaseRef, now: number): boolean
  all(): Iterable<OpenLease>
  readonly size: number
  /** Ids of URLs that are out. */
  readonly leasedIds: ReadonlySet<number>
  readonly leasedPages: number
}

/** One name for each task of a crawl. */
export const taskName = (task: Task): string =>
  task.kind === 'robots' ? `robots ${task.origin}` : `${task.kind} ${task.id}`

export function createLedger(storage: Storage, roster: Roster, leaseMs: number, touched: Set<Host>): Ledger {
  const leases = new Map<number, OpenLease>()
  const leasedIds = new Set<number>()
  let leasedPages = 0
  let lastFence = 0

  /** Growing across restarts too, since the clock has moved on by then. */
  const nextFence = (now: number): number => {
    lastFence = Math.max(lastFence + 1, Math.floor(now))
    return lastFence
  }

  const open = (host: Host, tasks: readonly Task[], worker: string, now: number, held = false): Lease => {
    const fence = nextFence(now)
    leases.set(fence, {
      host,
      fence,
      worker,
      tasks: new Map(tasks.map((task) => [taskName(task), task])),
      grantedAt: now,
      grantedBefore: host.grantedAt,
      expiresAt: now + leaseMs,
      extensions: 0,
      held,
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
      expiresAt: now + leaseMs,
      strikes: host.row.strikes,
    }
  }

  /** A lease that is over, one way or the other: its host is free for the next. */
  const end = (lease: OpenLease): void => {
    leases.delete(lease.fence)
    roster.unpin(lease.host)
    // Nothing was sent, so nothing is to be kept away from: the host is due as it was before.
    const { host } = lease
    if (!lease.sent && host.grantedAt === lease.grantedAt) host.grantedAt = lease.grantedBefore
    touched.add(lease.host)
  }

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
      if (!lease.held) roster.byLane(row.lane).lane.leased -= 1
    }
    if (lease.tasks.size === 0) end(lease)
  }

  return {
    open,
    holding(ref, task) {
      const lease = leases.get(ref.fence)
      if (lease === undefined || lease.host.row.key !== ref.host) return undefined
      return lease.tasks.has(taskName(task)) ? lease : undefined
    },
    release,
    takeBackExpired(now) {
      for (const lease of leases.values()) {
        if (lease.expiresAt > now) continue
        // Its holder may have sent something at the very last moment.
        lease.sent = true
        lease.host.row.answeredAt = Math.max(lease.host.row.answeredAt ?? 0, lease.expiresAt)
        for (const task of lease.tasks.values()) release(lease, task)
      }
    },
    takeBackAll() {
      for (const lease of leases.values()) for (const task of lease.tasks.values()) release(lease, task)
    },
    extend(ref, now) {
      const lease = leases.get(ref.fence)
      if (lease === undefined || lease.extensions >= LEASE_EXTENSIONS) return false
      lease.extensions += 1
      lease.expiresAt = now + leaseMs
      return true
    },
    all: () => leases.values(),
    get size() {
      return leases.size
    },
    leasedIds,
    get leasedPages() {
      return leasedPages
    },
  }
}
