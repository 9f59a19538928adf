/**
 * Settlements of all threads, on their way to the store. Each task of a lease is settled once: by the one who has it or,
 * when that one is lost, here.
 */
import type { HostChange, Lease, Settlement } from '../../frontier/index.ts'
import type { Task } from '../../model/index.ts'
import type { OutputRecord } from '../../sink/index.ts'
import { unreadable } from '../tasks/interpretation.ts'
import { createJobs } from '../jobs.ts'
import type { CrewOptions } from './crew.ts'
import type { Hand, Held } from './hands.ts'
import type { Loss } from './member.ts'
import { settlementOf, type SettlementNote } from './settlement-note.ts'

export type Settled = Promise<'settled' | 'stale'>

export interface Settlements {
  /** What a thread says that a task came to. */
  settleTold(hand: Hand, said: { readonly note: SettlementNote; readonly delayMs: number }): Settled | 'stale'
  /** The same from the thread of the frontier. */
  settleOwn(hand: Hand, settlement: Settlement, delayMs: number): Settled | 'stale'
  /**
   * What a lost thread leaves behind: the document that ended it has had an attempt; everything else is given back, and
   * its hosts may have been asked until just now.
   */
  settleLost(hand: Hand, loss: Loss): void
  /** A lease that nobody has begun with goes back, with what its host is to be known by. */
  giveBack(lease: Lease, host?: HostChange): void
  /** Resolves when all are durable, or have failed. */
  allSettled(): Promise<void>
}

export interface SettlementsDeps {
  /** The frontier knows of something that it did not know before. */
  onChange(): void
  /** Told of each once it is durable. */
  onSettled(settlement: Settlement): void
  /** The last task of the lease is settled, and the frontier knows when its host has answered. */
  onLeaseOver(lease: Lease): void
  onFailure(error: unknown): void
}

export function createSettlements(
  options: Pick<CrewOptions, 'settler' | 'prepare' | 'readyForMore' | 'clock' | 'rng' | 'settings'>,
  deps: SettlementsDeps,
): Settlements {
  const { settler } = options
  const settling = createJobs(deps)

  const handOn = async (settlement: Settlement, delayMs: number): Settled => {
    // Only what is archived has to be waited for.
    if ((settlement.record as OutputRecord | undefined)?.exchange !== undefined) await options.prepare?.(settlement)
    const settled = settler.settle(settlement, delayMs)
    if (settlement.host?.blockedUntil !== undefined && settlement.outcome.kind !== 'returned') void settler.flush()
    const result = await settled
    deps.onChange()
    if (result === 'settled') deps.onSettled(settlement)
    return result
  }
  const track = (settled: Settled): Settled => {
    settling.track(settled)
    return settled
  }

  /** The last task of a lease ends it. */
  const settleHeld = (hand: Hand, held: Held, index: number, settlement: Settlement, delayMs: number): Settled => {
    held.open.delete(index)
    const isLast = held.open.size === 0
    if (isLast) hand.leases.delete(held.lease.fence)
    const settled = handOn(settlement, delayMs)
    // Whoever reads the pages says when to go on, and should have them.
    if (isLast && options.readyForMore !== undefined) void settler.flush()
    return track(isLast ? settled.finally(() => deps.onLeaseOver(held.lease)) : settled)
  }

  return {
    settleTold(hand, { note, delayMs }) {
      const held = hand.leases.get(note.fence)
      if (held === undefined || !held.open.has(note.index)) return 'stale'
      const settlement = settlementOf(note, held.lease, hand.links)
      const finding = hand.requests.takeFinding(held.lease.host)
      const { spareMs: _spareMs, impolite: _impolite, ...seen } = settlement
      return settleHeld(hand, held, note.index, { ...seen, ...finding }, delayMs)
    },
    settleOwn(hand, settlement, delayMs) {
      const held = hand.leases.get(settlement.lease.fence)
      const index = held?.lease.tasks.indexOf(settlement.task) ?? -1
      if (held === undefined || !held.open.has(index)) return 'stale'
      return settleHeld(hand, held, index, settlement, delayMs)
    },
    settleLost(hand, { detail, url }) {
      const answeredAt = options.clock.now()
      for (const held of hand.leases.values()) {
        for (const index of held.open) {
          const { lease } = held
          const task = lease.tasks[index] as Task
          const result =
            task.url === url ? unreadable(task, detail, options) : { outcome: { kind: 'returned' as const } }
          void settleHeld(hand, held, index, { lease, task, answeredAt, ...result }, 0)
        }
      }
    },
    giveBack(lease, host) {
      const returned = { lease, outcome: { kind: 'returned' as const }, ...(host === undefined ? {} : { host }) }
      for (const task of lease.tasks) void track(handOn({ ...returned, task }, 0))
    },
    async allSettled() {
      while (settling.size > 0) {
        const pending = [...settling.pending]
        await settler.flush()
        await Promise.all(pending)
      }
    },
  }
}
