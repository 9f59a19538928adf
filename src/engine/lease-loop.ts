/**
 * The loop that asks the frontier for leases whenever there is a slot for one, until the crawl is over or is stopped. A
 * slot is only ever given a host that is due now, so nothing waits for a host and no host can hold up another.
 *
 * While the store is out of reach nothing is begun. When a host is due, and when the crawl is over, is the frontier's to
 * say; when it is worth asking is for asking.ts, and which slots are free for slots.ts.
 */
import type { Lease } from '../frontier/index.ts'
import type { Asking } from './asking.ts'
import type { ConsumerGate } from './consumer-gate.ts'
import type { Ending } from './ending.ts'
import type { EngineOptions } from './engine.ts'
import type { Jobs } from './jobs.ts'
import type { LeaseWork } from './lease-work.ts'
import type { News } from './news.ts'
import { askedAt, type AskedAt } from './permit.ts'
import type { Pulse } from './pulse.ts'
import type { Slots } from './slots.ts'
import { createStaying } from './staying.ts'
import type { StoreReach } from './store-reach.ts'

/** Settlements that may wait for the store; beyond them no new work is taken. */
const UNSETTLED = 1_024
/** Leases that are begun before others have their turn. */
const BEGUN_TOGETHER = 16
/** Of the slots. While more of them have nothing to do, what is settled is committed sooner. */
const IDLE_SHARE = 1 / 4
/** Longer than any settlement waits for company. */
const FAR_MS = 250

export interface LeaseLoopDeps {
  readonly slots: Slots
  readonly asking: Asking
  readonly news: News
  readonly consumer: ConsumerGate
  readonly store: Pick<StoreReach, 'isAway'>
  readonly ending: Pick<Ending, 'reason' | 'reach'>
  readonly pulse: Pulse
  readonly work: LeaseWork
  /** Where leases that are worked on are kept hold of, and what is on its way to the store. */
  readonly working: Jobs
  readonly settling: Pick<Jobs, 'size'>
}

export function createLeaseLoop(options: EngineOptions, deps: LeaseLoopDeps): () => Promise<void> {
  const { frontier, settler, rate, worker, lookAgainMs } = options
  const { slots, asking, news, ending, store, pulse } = deps
  const { clock } = options.tasks
  const staying = createStaying(options.stays, { clock })
  let asked = 0

  const lookAgainAt = (): number | null => (lookAgainMs === undefined ? null : clock.now() + lookAgainMs)

  /** Slots have nothing to do, nor will a thread that reads, and no host will be due for long unless something is settled. */
  const isIdle = (): boolean =>
    slots.free > IDLE_SHARE * slots.total &&
    (options.tasks.reader.backlog ?? 'short') === 'short' &&
    (asking.at === null || asking.at > clock.now() + FAR_MS)

  /** The slots that may be filled now; with a rate for all workers, no more than will not have to wait for it for long. */
  const roomInRate = (): Pick<Slots, 'free' | 'freeForUnproven'> => {
    const { free, freeForUnproven } = slots
    const most = rate === undefined ? free : Math.max(0, rate.enough - slots.idle)
    return { free: Math.min(free, most), freeForUnproven: Math.min(freeForUnproven, most) }
  }

  /**
   * A few at a time: hosts that are asked in one go answer in one go, and are due in one go again. Between them what has
   * been answered is read, so that each host's time counts from its own answer.
   */
  const begin = async (leases: readonly Lease[], since: AskedAt): Promise<void> => {
    for (const [index, lease] of leases.entries()) {
      if (index > 0 && index % BEGUN_TOGETHER === 0) await clock.turn()
      deps.working.track(deps.work(lease, since))
    }
  }

  return async () => {
    while (ending.reason === undefined) {
      await deps.consumer.pass()
      if (ending.reason !== undefined) return
      slots.park(clock.now())
      if (store.isAway || deps.settling.size > UNSETTLED || !asking.isWorthIt(clock.now(), slots)) {
        if (isIdle()) settler.hurry()
        await news.wait(soonest(slots.free === 0 || store.isAway ? null : asking.at, slots.nextParking))
        continue
      }
      const room = roomInRate()
      if (room.free === 0) {
        await news.wait(soonest(rate?.nextAt ?? null, slots.nextParking))
        continue
      }
      const since = askedAt(clock, pulse)
      const { free, freeForUnproven } = room
      asking.asked()
      const answer = await frontier.lease({ worker, want: free, unproven: freeForUnproven, request: String(asked++) })
      asking.answered(room, { ...answer, nextAt: soonest(answer.nextAt, lookAgainAt()) })
      await begin(answer.leases, since)
      if (answer.state === 'open') continue
      const nextAt = await staying.askAgainAt(answer.state)
      if (nextAt === undefined) return ending.reach(answer.state)
      asking.answered(room, { leases: [], nextAt })
    }
  }
}

/** The earlier of two times, where null is never. */
function soonest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}
