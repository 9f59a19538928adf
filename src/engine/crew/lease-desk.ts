/**
 * Where those who work on a crawl are given leases: what the frontier grants to the one who asks, unless another has to
 * have it, who is told to come for it. Only what is given out here is settled.
 */
import type { Lease, LeaseAnswer, LeaseRequest } from '../../frontier/index.ts'
import type { ConsumerGate } from '../consumer-gate.ts'
import type { Ending } from '../ending.ts'
import { createStaying } from '../staying.ts'
import type { CrewOptions } from './crew.ts'
import { giveLease, type Hand, type Hands } from './hands.ts'
import { createHostKeepers } from './host-keepers.ts'
import type { Settlements } from './settlements.ts'

const NONE: LeaseAnswer = { leases: [], nextAt: null, state: 'open' }

export interface LeaseDesk {
  lease(hand: Hand, request: LeaseRequest): Promise<LeaseAnswer>
  /** Its last task is settled. */
  leaseOver(lease: Lease): void
  /** What was kept for one who is gone goes back. */
  giveBackKept(hand: Hand): void
}

export interface LeaseDeskDeps {
  readonly hands: Hands
  readonly consumer: ConsumerGate
  readonly ending: Pick<Ending, 'reason'>
  readonly settlements: Pick<Settlements, 'giveBack'>
  /** The frontier says that it is over. */
  onReached(state: 'finished' | 'limit'): void
}

export function createLeaseDesk(
  options: Pick<CrewOptions, 'frontier' | 'registry' | 'seedScope' | 'stays' | 'clock'>,
  { hands, consumer, ending, settlements, onReached }: LeaseDeskDeps,
): LeaseDesk {
  const { frontier, seedScope, clock } = options
  const staying = createStaying(options.stays, { clock })
  const keepers = createHostKeepers<Hand>(options.registry)
  /** Of those who wait for the frontier: at most one for each. */
  const grantings = new Set<Promise<unknown>>()
  let asked = 0
  let seedsTold = seedScope.size

  const tellSeeds = (): void => {
    if (seedScope.size === seedsTold) return
    seedsTold = seedScope.size
    hands.tellAll('seeds', seedScope.seeds)
  }

  /** Gives a lease to the one who asked, or keeps it for the one who has to have it. */
  const handOut = (lease: Lease, asker: Hand): boolean => {
    const keeper = keepers.keeperFor(lease, asker)
    if (keeper === asker) {
      giveLease(asker, lease)
      return true
    }
    if (hands.has(keeper)) {
      keeper.kept.push(lease)
      keeper.member.line.tell('look')
      return false
    }
    // It is gone, and the frontier has not heard yet until when it may have asked the host.
    keepers.letGo(lease)
    const blockedUntil = clock.now() + lease.delayMs
    settlements.giveBack(lease, { blockedUntil, blockedReason: 'the thread that asked it was lost' })
    return false
  }
  const takeKept = (hand: Hand): Lease[] => {
    // As in the answer to a repeated asking: their time counts from now.
    const kept = hand.kept.splice(0).map((lease) => ({ ...lease, grantedAt: clock.now() }))
    for (const lease of kept) giveLease(hand, lease)
    return kept
  }
  const grant = async (hand: Hand, request: LeaseRequest): Promise<LeaseAnswer> => {
    const answer = await frontier.lease({ ...request, request: String(asked++) })
    tellSeeds()
    if (hands.has(hand)) return { ...answer, leases: answer.leases.filter((lease) => handOut(lease, hand)) }
    // Lost in the meantime.
    for (const lease of answer.leases) settlements.giveBack(lease)
    return NONE
  }
  const untilGranted = async (granting: Promise<LeaseAnswer>): Promise<LeaseAnswer> => {
    grantings.add(granting)
    try {
      return await granting
    } finally {
      grantings.delete(granting)
    }
  }

  return {
    async lease(hand, request) {
      await consumer.pass()
      if (ending.reason !== undefined) return NONE
      const kept = takeKept(hand)
      const want = request.want - kept.length
      if (want <= 0) return { ...NONE, leases: kept }
      const granted = await untilGranted(grant(hand, { ...request, want }))
      hand.isHungry = granted.leases.length < want
      const answer = kept.length === 0 ? granted : { ...granted, leases: [...kept, ...granted.leases] }
      if (answer.state === 'open') return answer
      const nextAt = await staying.askAgainAt(answer.state)
      if (nextAt !== undefined) return { ...answer, nextAt, state: 'open' }
      onReached(answer.state)
      return answer
    },
    leaseOver(lease) {
      if (!keepers.isKept(lease.host)) return
      // What was granted before this was known, and is still on its way here, must not go to another.
      if (grantings.size === 0) keepers.letGo(lease)
      else void Promise.allSettled(grantings).then(() => keepers.letGo(lease))
    },
    giveBackKept(hand) {
      for (const lease of hand.kept.splice(0)) {
        keepers.letGo(lease)
        settlements.giveBack(lease)
      }
    },
  }
}
