/**
 * The leases that are out: who may talk to which host until when. It lives in the process that granted them; a process
 * that dies takes its leases with it, and what was leased is simply still queued.
 */
import type { Task } from '../model/index.ts'
import { hostKey } from '../url/index.ts'
import { createAgenda } from './agenda.ts'
import type { Lease, LeaseRef, LeaseRequest } from './contract.ts'
import type { Groups } from './groups.ts'
import { countOut, type Host, type Roster } from './roster.ts'
import { LEASE_EXTENSIONS } from './schedule.ts'
import type { Storage } from './storage.ts'

/** Fences of one opening of a crawl: more than can be granted in a lifetime. 2^17 openings have room. */
const FENCES_PER_OPENING = 2 ** 36

export interface OpenLease {
  readonly host: Host
  readonly fence: number
  readonly worker: string
  /** What is not settled yet: one as a rule, and a few hundred at the most. */
  readonly tasks: Task[]
  /** As it was handed out. */
  readonly granted: Lease
  /** The host's last grant before this one. */
  readonly grantedBefore: number | null
  /** The groups that it keeps busy. */
  readonly groups: readonly string[]
  expiresAt: number
  extensions: number
  readonly parked: boolean
  /** When something that was sent to the host under this lease was last answered; null when nothing was sent. */
  answeredAt: number | null
}

/** What is leased, beside the host. */
export interface Grant {
  readonly tasks: readonly Task[]
  readonly worker: string
  readonly robotsVersion: string | null
  /** The tasks are in no lane's queue, and nothing will be sent. */
  readonly parked?: boolean
}

export interface Ledger {
  open(host: Host, grant: Grant, now: number): Lease
  /** Keeps what was answered to a named asking, until those leases are over or the worker asks by another name. */
  remember(request: LeaseRequest, leases: readonly Lease[]): void
  /** What was answered to this asking before, as far as it is open; undefined when it is new or nothing is. */
  recall(request: LeaseRequest, now: number): Lease[] | undefined
  /** The lease that is out; undefined when it is not, or no longer. */
  leaseOf(ref: LeaseRef): OpenLease | undefined
  /** The host answered, or failed to, something that was sent under this lease. */
  answered(lease: OpenLease, at: number): void
  /** A task leaves its lease. What becomes of it is up to the caller; queued it still is. */
  release(lease: OpenLease, task: Task): void
  takeBackExpired(now: number): void
  takeBackAll(): void
  extend(ref: LeaseRef, now: number): boolean
  /** When the next lease runs out; undefined when none is out. */
  nextExpiry(): number | undefined
  readonly size: number
  /** Ids of URLs that are out. */
  readonly leasedIds: ReadonlySet<number>
  readonly leasedPages: number
  /** Of these, the ones that were never fetched before. */
  readonly leasedNew: number
}

/** One name for each task of a crawl. */
const taskName = (task: Task): string | number => (task.kind === 'robots' ? task.origin : task.id)

function indexOfTask({ tasks }: OpenLease, task: Task): number {
  const name = taskName(task)
  return tasks.findIndex((each) => taskName(each) === name)
}

/** The task of this name that is out under a lease. */
export function heldTask(lease: OpenLease, task: Task): Task | undefined {
  return lease.tasks[indexOfTask(lease, task)]
}

export interface LedgerOptions {
  readonly leaseMs: number
  readonly groups: Groups
  /** How often the crawl was opened, this time included: what keeps fences growing whatever the clock does. */
  readonly opening: number
}

export function createLedger(storage: Storage, roster: Roster, options: LedgerOptions, touched: Set<Host>): Ledger {
  const { leaseMs, groups } = options
  const firstFence = options.opening * FENCES_PER_OPENING
  /** By their fence less the first, since a Map finds small numbers much sooner. */
  const leases = new Map<number, OpenLease>()
  const leaseOf = (fence: number): OpenLease | undefined => leases.get(fence - firstFence)
  const expiries = createAgenda<OpenLease>()
  const askings = new Map<string, { readonly request: string; readonly fences: Set<number> }>()
  const leasedIds = new Set<number>()
  let leasedPages = 0
  let leasedNew = 0
  let lastFence = firstFence

  const open = (host: Host, grant: Grant, now: number): Lease => {
    const { tasks, parked = false } = grant
    const { row } = host
    const expiresAt = now + leaseMs
    lastFence += 1
    const granted: Lease = {
      host: row.key,
      fence: lastFence,
      tasks,
      delayMs: groups.enabled ? Math.max(roster.delayMs(host), groups.delayMs(row)) : roster.delayMs(host),
      grantedAt: now,
      notBefore: now,
      expiresAt,
      health: row.health,
      address: groups.addressOf(row),
      robotsVersion: grant.robotsVersion,
    }
    const lease: OpenLease = {
      host,
      fence: lastFence,
      worker: grant.worker,
      tasks: [...tasks],
      granted,
      grantedBefore: host.grantedAt,
      groups: groups.enabled && !parked ? groups.take(row, expiresAt, now) : [],
      expiresAt,
      extensions: 0,
      parked,
      answeredAt: null,
    }
    leases.set(lastFence - firstFence, lease)
    expiries.set(lease, expiresAt)
    roster.pin(host)
    if (!parked) {
      host.grantedAt = now
      host.place = 0
    }
    for (const task of tasks) {
      if (task.kind === 'robots') continue
      leasedIds.add(task.id)
      countLeased(task, lease, 1)
    }
    return granted
  }
  const countLeased = (task: Task, { host, parked }: OpenLease, by: 1 | -1): void => {
    if (task.kind !== 'page') return
    leasedPages += by
    if (task.last !== undefined || parked) return
    leasedNew += by
    host.leasedNew += by
  }

  const forgetAsking = ({ worker, fence }: OpenLease): void => {
    const asking = askings.get(worker)
    if (asking === undefined) return
    asking.fences.delete(fence)
    if (asking.fences.size === 0) askings.delete(worker)
  }

  /** A lease that is over, one way or the other: its host is free for the next. */
  const end = (lease: OpenLease): void => {
    const { host } = lease
    leases.delete(lease.fence - firstFence)
    expiries.delete(lease)
    forgetAsking(lease)
    roster.unpin(host)
    // Nothing was sent, so nothing is to be kept away from: the host is due as it was before.
    if (lease.answeredAt === null && host.grantedAt === lease.granted.grantedAt) host.grantedAt = lease.grantedBefore
    touched.add(host)
    for (const wake of groups.release(lease.groups, lease.answeredAt)) {
      const waiting = roster.byId(wake.host)
      waiting.place = wake.at
      touched.add(waiting)
    }
  }

  const release = (lease: OpenLease, task: Task): void => {
    const index = indexOfTask(lease, task)
    // The last, as a rule the only one, is taken off without a list being made of what was.
    if (index !== -1 && index === lease.tasks.length - 1) lease.tasks.pop()
    else if (index !== -1) lease.tasks.splice(index, 1)
    if (task.kind === 'robots') {
      const errand = lease.host.errands.find((candidate) => candidate.origin === task.origin)
      if (errand !== undefined)
        lease.host.errandsLeased = new Set([...lease.host.errandsLeased].filter((id) => id !== errand.id))
      roster.settleIn(hostKey(`${task.origin}/` as Task['url']), task.origin).lane.robotsLeased = false
    } else {
      leasedIds.delete(task.id)
      lease.host.underWay?.delete(task.url)
      countLeased(task, lease, -1)
      if (!lease.parked) {
        const { lane, slot } = storage.place(task.id)
        countOut(roster.byLane(lane).lane, slot, -1)
      }
    }
    if (lease.tasks.length === 0) end(lease)
  }
  const answered = (lease: OpenLease, at: number): void => {
    lease.answeredAt = Math.max(lease.answeredAt ?? 0, at)
    lease.host.row.answeredAt = Math.max(lease.host.row.answeredAt ?? 0, at)
  }
  const takeBack = (lease: OpenLease): void => {
    for (let task = lease.tasks[0]; task !== undefined; task = lease.tasks[0]) release(lease, task)
  }

  return {
    open,
    answered,
    remember({ worker, request }, granted) {
      if (request !== undefined && granted.length > 0)
        askings.set(worker, { request, fences: new Set(granted.map(({ fence }) => fence)) })
    },
    recall({ worker, request }, now) {
      const asking = askings.get(worker)
      if (request === undefined || asking?.request !== request) return undefined
      return [...asking.fences].flatMap((fence) => {
        const lease = leaseOf(fence)
        if (lease === undefined) return []
        const { granted, tasks, expiresAt } = lease
        // As if granted only now, with the time that is left: whoever counts from this asking does not count too long.
        return [{ ...granted, tasks: [...tasks], grantedAt: now, expiresAt }]
      })
    },
    leaseOf(ref) {
      const lease = leaseOf(ref.fence)
      return lease === undefined || lease.host.row.key !== ref.host ? undefined : lease
    },
    release,
    takeBackExpired(now) {
      for (let first = expiries.first(); first !== undefined && first.at <= now; first = expiries.first()) {
        const { item: lease } = first
        // Its holder may have sent something at the very last moment.
        if (!lease.parked) answered(lease, lease.expiresAt)
        takeBack(lease)
      }
    },
    takeBackAll() {
      for (const lease of leases.values()) takeBack(lease)
    },
    extend(ref, now) {
      const lease = leaseOf(ref.fence)
      if (lease === undefined || lease.extensions >= LEASE_EXTENSIONS) return false
      lease.extensions += 1
      lease.expiresAt = now + leaseMs
      expiries.set(lease, lease.expiresAt)
      return true
    },
    nextExpiry: () => expiries.first()?.at,
    get size() {
      return leases.size
    },
    leasedIds,
    get leasedPages() {
      return leasedPages
    },
    get leasedNew() {
      return leasedNew
    },
  }
}
