/**
 * A crew: threads that each run the whole worker loop, with the frontier, the output and the audit in one place, here. To
 * whoever runs the crawl it is an engine like the one that works alone.
 *
 * It keeps true what the frontier and the audit rely on: leases are settled once, by the thread that has them or, when it
 * is lost, here; what a host asks for is told to all threads at once; and the requests of all threads pass one audit, in
 * an order in which a request comes after the settlement that permitted it.
 *
 * Who works is staff.ts, how they get leases lease-desk.ts, and how what they settle gets to the store settlements.ts.
 */
import type { Clock, Rng } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type { Frontier, Settlement } from '../../frontier/index.ts'
import type { HostRegistry, PolitenessAudit } from '../../politeness/index.ts'
import { createConsumerGate } from '../consumer-gate.ts'
import { createEnding } from '../ending.ts'
import type { Engine, EngineAmongOthers, EngineOptions } from '../engine.ts'
import type { RepetitionJudge } from '../tasks/repetition.ts'
import type { PermitsWanted } from '../request-rate.ts'
import type { SeedScope } from '../seed-scope.ts'
import type { Settler } from '../settler.ts'
import { createStoreReach } from '../store-reach.ts'
import { createWorkLimits } from '../work-limits.ts'
import { createHands } from './hands.ts'
import { createLeaseDesk } from './lease-desk.ts'
import { createSettlements } from './settlements.ts'
import { createStaff } from './staff.ts'
import type { ThreadData } from './thread-data.ts'

/** What an engine in the thread of the frontier is to work with, so that it is one of the crew. */
export type OwnPart = Pick<EngineOptions, 'frontier' | 'settler' | 'slots' | 'network' | 'onPause'>

export interface CrewOptions {
  /** At most, that of the frontier among them if it works too. */
  readonly threads: number
  /** Makes the engine that works in this thread; absent when only others work. */
  readonly own?: (part: OwnPart) => EngineAmongOthers
  /** Leaves a part of that engine's work to a thread that does nothing else; false when there is none to be left. */
  readonly relieve?: () => boolean
  readonly slots: number
  readonly worker: string
  readonly settings: Settings
  readonly seedScope: Pick<SeedScope, 'seeds' | 'size'>
  readonly frontier: Frontier
  readonly settler: Settler
  readonly registry: HostRegistry
  readonly audit: PolitenessAudit
  readonly repetitions: RepetitionJudge
  /** Awaited before a settlement is handed on: what goes with its record is made ready. */
  readonly prepare?: (settlement: Settlement) => Promise<void>
  readonly onSettled?: (settlement: Settlement) => void
  readonly readyForMore?: () => Promise<void>
  readonly stays?: () => Promise<boolean>
  readonly permits?: (asked: PermitsWanted) => Promise<number>
  readonly maxTimeMs?: number
  readonly maxBytes?: number
  readonly thread: Pick<ThreadData, 'outputFolder' | 'wantsMarkdown' | 'isArchiving' | 'lookAgainMs' | 'clockOrigin'>
  readonly clock: Clock
  readonly rng: Rng
  /** For tests: another program, and all threads there from the beginning. */
  readonly trial?: { readonly program: URL }
}

export function createCrew(options: CrewOptions): Engine {
  const { frontier, clock, settings } = options
  const hands = createHands(options.slots)
  const consumer = createConsumerGate(options.readyForMore)
  let reached: 'finished' | 'limit' | undefined

  const ending = createEnding(
    {
      drainMs: settings.drainMs,
      onStop(reason) {
        consumer.open()
        staff.stopGrowing()
        hands.tellAll('stop', reason)
      },
    },
    { clock },
  )
  const fail = (error: unknown): void => {
    ending.fail(error)
    hands.tellAll('abort')
    staff.tellIfNobodyIsLeft()
  }
  const store = createStoreReach(ending, { clock })
  const limits = createWorkLimits(options, { clock, stop: ending.stop })
  const settlements = createSettlements(options, {
    onChange: hands.feed,
    onSettled(settlement) {
      if (settlement.outcome.kind !== 'returned') staff.progress()
      options.onSettled?.(settlement)
      limits.count(settlement.bytes ?? 0)
    },
    onLeaseOver: (lease) => desk.leaseOver(lease),
    onFailure: fail,
  })
  const desk = createLeaseDesk(options, {
    hands,
    consumer,
    ending,
    settlements,
    onReached(state) {
      reached ??= state
      staff.stopGrowing()
      hands.feed()
    },
  })
  /** What is added by one may be work for another. */
  const fedFrontier: Frontier = {
    ...frontier,
    async add(found) {
      const answer = await frontier.add(found)
      hands.feed()
      return answer
    },
  }
  const staff = createStaff({ ...options, frontier: fedFrontier }, { hands, desk, settlements, ending, store, fail })

  return {
    async run(prepare) {
      limits.begin()
      try {
        await prepare?.()
        await limits.countBefore(frontier)
        if (ending.reason === undefined) staff.begin()
      } catch (error) {
        fail(error)
      }
      staff.tellIfNobodyIsLeft()
      await staff.allGone()
      limits.end()
      staff.stopGrowing()
      await store.whileHandedOver(settlements.allSettled()).catch(fail)
      if (reached !== undefined) ending.reach(reached)
      return ending.result()
    },
    stop: ending.stop,
    abort: () => hands.tellAll('abort'),
    fail,
    storeLost() {
      store.lost()
      hands.tellAll('storeLost')
    },
    storeBack() {
      store.back()
      hands.tellAll('storeBack')
    },
    get inFlight() {
      return hands.inFlight
    },
    get drainUntil() {
      return ending.drainUntil
    },
  }
}
