/**
 * Who works on a crawl: the thread of the frontier itself at first, and others whenever those there are have no time left
 * and the machine has. One that is lost is replaced, unless too many are lost in a row; one that cannot be had is done
 * without, as long as there are others.
 */
import type { Ending } from '../ending.ts'
import { createReachability, forgetThread, reachabilityMarks } from '../reachability.ts'
import type { StoreReach } from '../store-reach.ts'
import type { CrewOptions } from './crew.ts'
import { createGrowth } from './growth.ts'
import { createIdleWatch } from './idle-processors.ts'
import { newHand, shareOf, type Hand, type Hands } from './hands.ts'
import type { LeaseDesk } from './lease-desk.ts'
import { noThread, startMember, type Loss } from './member.ts'
import { ownWorker } from './own-worker.ts'
import type { Settlements } from './settlements.ts'
import { threadCalls } from './thread-calls.ts'

/** Threads that may be lost in a row without one task being done in between. */
const MOST_LOSSES = 10

export interface Staff {
  begin(): void
  /** A task was done: whoever was lost before has not been lost in a row. */
  progress(): void
  /** From now on nobody is added. */
  stopGrowing(): void
  /** Nobody is left, and nobody will come: whoever waits for that is told. */
  tellIfNobodyIsLeft(): void
  /** Resolves when it was told, and all threads are gone. */
  allGone(): Promise<void>
}

export interface StaffDeps {
  readonly hands: Hands
  readonly desk: LeaseDesk
  readonly settlements: Settlements
  readonly ending: Pick<Ending, 'reason'>
  readonly store: Pick<StoreReach, 'isAway'>
  fail(error: unknown): void
}

export function createStaff(options: CrewOptions, deps: StaffDeps): Staff {
  const { frontier, settler, audit, clock, settings, seedScope, slots } = options
  const { hands, desk, settlements, ending, fail } = deps
  // Cookies are kept by the thread that has them, so with cookies there is one.
  const mostThreads = settings.cookies ? 1 : Math.max(1, Math.min(options.threads, slots))
  const reachability = reachabilityMarks(mostThreads)
  const growth = createGrowth({
    clock,
    hands,
    mostThreads,
    idleProcessors: createIdleWatch(),
    isUnpaced: settings.delayMs === 0,
    ...(options.own === undefined || options.relieve === undefined ? {} : { relieve: options.relieve }),
    onRoom: () => tryToHire(hands.size),
  })
  const { promise: nobodyLeft, resolve: tellNobodyLeft } = Promise.withResolvers<void>()
  /** Those that have said that they are over: at most one for each number. */
  const leaving: Promise<void>[] = []
  let losses = 0

  const tellIfNobodyIsLeft = (): void => {
    if (hands.size === 0) tellNobodyLeft()
  }
  const ended = (hand: Hand): void => {
    leaving.push(hand.member.end())
    hands.remove(hand)
    desk.giveBackKept(hand)
    tellIfNobodyIsLeft()
  }
  const failed = (hand: Hand, error: unknown): void => {
    fail(error)
    ended(hand)
  }

  const lost = (hand: Hand, loss: Loss): void => {
    hands.remove(hand)
    forgetThread(reachability, hand.thread)
    hand.requests.end(clock.now())
    desk.giveBackKept(hand)
    settlements.settleLost(hand, loss)
    losses += 1
    if (ending.reason !== undefined) return tellIfNobodyIsLeft()
    if (!hand.isReady) return doWithout(noThread(loss.detail))
    if (losses > MOST_LOSSES) return fail(noThread(loss.detail))
    tryToHire(hand.thread)
  }
  /** One more could not be had: the others go on without it, if there are any. */
  const doWithout = (error: unknown): void => {
    if (hands.size === 0) return fail(error)
    growth.stop()
    hands.spread()
  }

  const hire = (thread: number): void => {
    const hand = newHand(thread, audit)
    hand.member = startMember(
      {
        ...options.thread,
        thread,
        worker: options.worker,
        settings,
        seeds: seedScope.seeds,
        slots: shareOf(slots, thread, thread + 1),
        reachability,
      },
      threadCalls(hand, options, { hands, desk, settlements, onEnded: ended, onFailed: failed }),
      {
        onReady() {
          hand.isReady = true
        },
        onLost: (loss) => lost(hand, loss),
      },
      options.trial?.program,
    )
    hands.add(hand)
    hands.spread()
    if (deps.store.isAway) hand.member.line.tell('storeLost')
    if (ending.reason !== undefined) hand.member.line.tell('stop', ending.reason)
  }
  const tryToHire = (thread: number): void => {
    try {
      hire(thread)
    } catch (error) {
      doWithout(error)
    }
  }

  /** This thread works too. */
  const join = (own: NonNullable<CrewOptions['own']>): void => {
    const hand = newHand(0, audit)
    const engine = own({
      frontier: { ...frontier, lease: (request) => desk.lease(hand, request) },
      settler: {
        settle: async (settlement, delayMs) => settlements.settleOwn(hand, settlement, delayMs),
        flush: () => settler.flush(),
        hurry: () => settler.hurry(),
      },
      slots,
      network: createReachability(reachability, 0),
      onPause: (host, until, reason) => hands.tellAll('pause', { host, until, reason }, hand),
    })
    hand.isReady = true
    hand.member = ownWorker(engine)
    hands.add(hand)
    engine.run().then(
      () => ended(hand),
      (error: unknown) => failed(hand, error),
    )
  }

  return {
    begin() {
      if (options.own === undefined) hire(0)
      else join(options.own)
      while (options.trial !== undefined && hands.size < mostThreads) hire(hands.size)
      growth.begin()
    },
    progress() {
      losses = 0
    },
    stopGrowing: growth.stop,
    tellIfNobodyIsLeft,
    async allGone() {
      await nobodyLeft
      await Promise.all(leaving)
    },
  }
}
