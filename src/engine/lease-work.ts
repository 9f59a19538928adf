/**
 * The work on one lease, from its slot to its last task. Nothing is sent outside of the lease, and each of its tasks is
 * handed over exactly once: done, or given back when it must not be begun any more.
 *
 * What a lease permits is for permit.ts to say, how long it is kept for lease-keeper.ts, what speaks against it for
 * objections.ts, and what a task is for task-runner.ts.
 */
import type { Fetcher } from '../fetch/index.ts'
import type { HostChange, Lease } from '../frontier/index.ts'
import { TiptoeError, type HostKey, type Task } from '../model/index.ts'
import type { TaskResult } from './tasks/context.ts'
import type { EngineOptions } from './engine.ts'
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
  /** Resolves when the frontier has heard of it. */
  handOver(lease: Lease, task: Task, result: TaskResult): Promise<void>
  /** Nothing new is to be begun, for now or for good. */
  isHeldUp(): boolean
  /** This machine has no network. */
  onOffline(error: TiptoeError): void
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
      const ran = await deps.runTask(
        task,
        health === lease.health ? lease : { ...lease, health },
        fetcher,
        permit.signal,
      )
      const result = Object.assign(ran, fetcher.takeFinding())
      health = result.host?.health ?? health
      if (result.offline !== undefined) deps.onOffline(offline(result.offline))
      if (result.answeredAt !== undefined) nextStart = result.answeredAt + lease.delayMs
      if (result.host?.blockedUntil !== undefined)
        pause(lease.host, result.host.blockedUntil, result.host.blockedReason ?? '')
      // The frontier may have taken the lease back, and then it will never hear of this answer from a settlement.
      if (!permit.holds()) pause(lease.host, nextStart, 'asked under a lease that ran out')
      handOver(task, result)
    }
  }

  return async (lease, since) => {
    const permit = keeper.hold(lease, since)
    const slot = slots.enter(lease.health.streak > 0)
    const leave = reserve.enter(lease.host)
    /** The lease is kept until the frontier has heard of each of its tasks. */
    const handed: Promise<void>[] = []
    try {
      await workIn(slot, lease, permit, (task, result) => handed.push(deps.handOver(lease, task, result)))
    } finally {
      leave()
      slot.leave()
      // Nothing is left to do that could give what is gathered company; or somebody waits for it, and says when to go on.
      if (slots.inUse === 0 || readyForMore !== undefined) void settler.flush()
      void Promise.allSettled(handed).then(() => keeper.release(permit))
    }
  }
}

function offline(detail: string): TiptoeError {
  const hint = 'check the connection; nothing is lost, and the same command goes on from here'
  return new TiptoeError('network', `no host can be reached: ${detail}`, { hint })
}
