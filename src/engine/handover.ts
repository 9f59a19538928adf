/**
 * What a task came to, on its way to the store: what its record points to is written first, and it is told of when it is
 * durable. The slot does not wait for that: it is free for the next host as soon as this one has answered.
 */
import type { Lease, Settlement } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import type { TaskResult } from './tasks/context.ts'
import type { EngineOptions } from './engine.ts'
import type { Jobs } from './jobs.ts'

export interface HandoverDeps {
  /** Nothing but what is handed over is under way. */
  isLast(): boolean
  /** Where what is on its way is kept hold of. */
  readonly settling: Jobs
  /** The frontier knows of something that it did not know before. */
  onChange(): void
  /** Told of every settlement once it is durable. */
  onSettled(settlement: Settlement): void
}

/** Resolves when the result is durable or was too late; rejects when it could not be written. */
export type Handover = (lease: Lease, task: Task, result: TaskResult) => Promise<void>

export function createHandover(
  { settler, beforeSettling }: Pick<EngineOptions, 'settler' | 'beforeSettling'>,
  { isLast, settling, onChange, onSettled }: HandoverDeps,
): Handover {
  const settle = async (lease: Lease, task: Task, result: TaskResult): Promise<void> => {
    // The result is this task's alone, so it becomes the settlement; what else it says, nobody looks at.
    const settlement: Settlement = Object.assign(result, { lease, task })
    await beforeSettling?.(settlement).catch(async (error: unknown) => {
      // What could not be written is fetched again later; that the host has answered is true all the same.
      const { answeredAt } = settlement
      const returned = { lease, task, outcome: { kind: 'returned' as const } }
      await settler.settle(answeredAt === undefined ? returned : { ...returned, answeredAt }, lease.delayMs)
      throw error
    })
    const settled = settler.settle(settlement, lease.delayMs)
    // What a host asks for should not be forgotten by a crash a moment later; and what waits for nobody need not wait.
    if ((result.host?.blockedUntil !== undefined && result.outcome.kind !== 'returned') || isLast()) {
      void settler.flush()
    }
    const isAccepted = (await settled) === 'settled'
    onChange()
    if (isAccepted) onSettled(settlement)
  }
  return (lease, task, result) => {
    const settled = settle(lease, task, result)
    settling.track(settled)
    return settled
  }
}
