/**
 * The work on one lease, from its slot to its last task. Nothing is sent outside of the lease, and each of its tasks is
 * handed over exactly once: done, or given back when it must not be begun any more.
 *
 * The slot is there for the host. While another thread reads what a page says, it goes on to the next.
 *
 * What a lease permits is for permit.ts to say, how long it is kept for lease-keeper.ts, what speaks against it for
 * objections.ts, and what a task is for task-runner.ts.
 */
import type { Fetcher } from '../fetch/index.ts'
import type { HostChange, Lease } from '../frontier/index.ts'
import { TiptoeError, type HostKey, type Task } from '../model/index.ts'
import type { Heard, TaskResult } from './tasks/context.ts'
import type { EngineOptions } from './engine.ts'
import type { Jobs } from './jobs.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Objections } from './objections.ts'
import type { AskedAt, Permit } from './permit.ts'
import type { Reserve } from './reserve.ts'
import type { Slot, Slots } from './slots.ts'
import type { TaskRunner } from './tasks/task-runner.ts'
import { createWatchedFetcher } from './watched-fetcher.ts'

export interface LeaseWorkDeps {
  readonly slots: Slots
  readonly keeper: LeaseKeeper
  readonly reserve: Reserve
  readonly objections: Objections
  readonly fetcher: Fetcher
  readonly runTask: TaskRunner
  /** Where pages are kept hold of that are read while their slots go on. */
  readonly reading: Jobs
  /** Resolves when the frontier has heard of it. */
  handOver(lease: Lease, task: Task, result: TaskResult): Promise<void>
  /** Nothing new is to be begun, for now or for good. */
  isHeldUp(): boolean
  /** This machine has no network. */
  onOffline(error: TiptoeError): void
}

/** A task that was begun. */
interface Running {
  /** What the slot goes on with: the result, or what there is to know of the host while the page is read. */
  readonly known: Promise<Heard | TaskResult>
  readonly result: Promise<TaskResult>
}

/** Resolves when the slot is free again; rejects when the store, the output or the machine gives out. */
export type LeaseWork = (lease: Lease, since: AskedAt) => Promise<void>

export function createLeaseWork(
  { tasks, audit, settler, rate, readyForMore, onPause }: EngineOptions,
  deps: LeaseWorkDeps,
): LeaseWork {
  const { slots, keeper, reserve, objections } = deps
  const { clock, registry } = tasks

  const pause = (host: HostKey, until: number, reason: string): void => {
    reserve.pause(host, until, reason)
    onPause?.(host, until, reason)
  }

  /** Whether one more request may be begun under the lease, at this moment. */
  const mayBegin = (permit: Permit): boolean | Promise<boolean> => !deps.isHeldUp() && permit.ask()

  const run = (task: Task, lease: Lease, fetcher: Fetcher, permit: Permit): Running => {
    const known = Promise.withResolvers<Heard | TaskResult>()
    const result = deps.runTask(task, lease, fetcher, permit.signal, (heard) => {
      const { backlog = 'long' } = tasks.reader
      if (backlog !== 'long') known.resolve(heard)
    })
    result.then(known.resolve, known.reject)
    return { known: known.promise, result }
  }

  const workIn = async (
    slot: Slot,
    lease: Lease,
    permit: Permit,
    handOver: (task: Task, result: TaskResult) => void,
  ): Promise<void> => {
    const fetcher = createWatchedFetcher(deps.fetcher, lease.host, {
      clock,
      permit,
      audit,
      slot,
      isAlone: lease.tasks.length === 1 && registry.policyOf(lease.host).concurrency === 1,
      rate,
    })
    let change: HostChange | undefined = await objections.beforeAll(lease)
    let nextStart = clock.now() + lease.notBefore - lease.grantedAt
    let { health } = lease
    let over = change !== undefined
    for (const task of lease.tasks) {
      if (!over && nextStart > clock.now()) await clock.sleepUntil(nextStart, permit.signal).catch(() => {})
      change ??= objections.before(task, lease)
      // A host that kept us waiting for so long has given its slot away: its next task comes with another lease.
      over ||= change !== undefined || slot.isParked()
      const begins = over ? false : mayBegin(permit)
      over = !(begins instanceof Promise ? await begins : begins)
      if (over) {
        handOver(task, { outcome: { kind: 'returned' }, ...(change === undefined ? {} : { host: change }) })
        continue
      }
      const running = run(task, health === lease.health ? lease : { ...lease, health }, fetcher, permit)
      const known = await running.known
      const finding = fetcher.takeFinding()
      health = known.host?.health ?? health
      if (known.offline !== undefined) deps.onOffline(offline(known.offline))
      if (known.answeredAt !== undefined) nextStart = known.answeredAt + lease.delayMs
      if (known.host?.blockedUntil !== undefined)
        pause(lease.host, known.host.blockedUntil, known.host.blockedReason ?? '')
      // The frontier may have taken the lease back, and then it will never hear of this answer from a settlement.
      if (!permit.holds()) pause(lease.host, nextStart, 'asked under a lease that ran out')
      if ('outcome' in known) handOver(task, Object.assign(known, finding))
      else deps.reading.track(running.result.then((result) => handOver(task, Object.assign(result, finding))))
    }
  }

  return async (lease, since) => {
    const permit = keeper.hold(lease, since)
    const slot = slots.enter(lease.health.streak > 0)
    const leave = reserve.enter(lease.host)
    let left = lease.tasks.length
    /** The lease is kept until the frontier has heard of each of its tasks. */
    const handOver = (task: Task, result: TaskResult): void => {
      const handed = (): void => {
        left -= 1
        if (left === 0) keeper.release(permit)
      }
      deps.handOver(lease, task, result).then(handed, handed)
    }
    try {
      await workIn(slot, lease, permit, handOver)
    } finally {
      leave()
      slot.leave()
      // Nothing is left to do that could give what is gathered company; or somebody waits for it, and says when to go on.
      if ((slots.inUse === 0 && deps.reading.size === 0) || readyForMore !== undefined) void settler.flush()
    }
  }
}

function offline(detail: string): TiptoeError {
  const hint = 'check the connection; nothing is lost, and the same command goes on from here'
  return new TiptoeError('network', `no host can be reached: ${detail}`, { hint })
}
