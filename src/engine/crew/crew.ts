/**
 * A crew: threads that each run the whole worker loop, with the frontier, the output and the audit in one place, here. To
 * whoever runs the crawl it is an engine like the one that works alone.
 *
 * It keeps true what the frontier and the audit rely on: leases are settled once, by the thread that has them or, when it
 * is lost, here; what a host asks for is told to all threads at once; and the requests of all threads pass one audit, in
 * an order in which a request comes after the settlement that permitted it.
 *
 * A host that may be asked by several requests at once, some time apart, is worked on by one thread at a time: when the
 * next one may start depends on when another was answered, and only that thread knows it at once.
 *
 * At first the thread of the frontier does all the work itself. Another is started whenever those there are have no time
 * left and the machine has.
 */
import type { Clock, Rng } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type {
  AddAnswer,
  Frontier,
  Lease,
  LeaseAnswer,
  LeaseRef,
  LeaseRequest,
  Settlement,
} from '../../frontier/index.ts'
import type { FoundUrl, HostKey, NormalizedUrl, Task } from '../../model/index.ts'
import type { HostRegistry, PolitenessAudit } from '../../politeness/index.ts'
import type { OutputRecord } from '../../sink/index.ts'
import type { EndReason, Engine, EngineAmongOthers, EngineOptions } from '../engine.ts'
import { unreadable } from '../interpretation.ts'
import { createReachability, forgetThread, reachabilityMarks } from '../reachability.ts'
import type { Judged, RepetitionJudge } from '../repetition.ts'
import type { SeedScope } from '../seed-scope.ts'
import type { Settler } from '../settler.ts'
import { createLinkReader, type LinkReader } from './link-book.ts'
import { createIdleWatch } from './idle-processors.ts'
import { errorFrom, type PlainError } from './line.ts'
import { noThread, startMember } from './member.ts'
import { NOBODY, ownWorker, type CrewWorker } from './own-worker.ts'
import { settlementOf, type SettlementNote } from './settlement-note.ts'
import type { ThreadData } from './thread-data.ts'
import { createToldRequests, type ToldRequests } from './told-requests.ts'

/** How often it is looked whether another thread would help, and how busy all must be. */
const GROWTH_MS = 500
const BUSY_SHARE = 0.85
/** And how much of a processor idle: with less the threads and the servers of the machine only take it from each other. */
const IDLE_PROCESSORS = 0.8
/** Who stays for more asks so often whether there is any. */
const STAY_MS = 2_000
/** Threads that may be lost in a row without one page being settled in between. */
const MOST_LOSSES = 10

/** What an engine in the thread of the frontier is to work with, so that it is one of the crew. */
export type OwnPart = Pick<EngineOptions, 'frontier' | 'settler' | 'slots' | 'network' | 'onPause'>

export interface CrewOptions {
  /** At most, that of the frontier among them if it works too. */
  readonly threads: number
  /** Makes the engine that works in this thread; absent when only others work. */
  readonly own?: (part: OwnPart) => EngineAmongOthers
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
  readonly permits?: (wanted: number) => Promise<number>
  readonly maxTimeMs?: number
  readonly maxBytes?: number
  readonly thread: Pick<ThreadData, 'outputFolder' | 'wantsMarkdown' | 'isArchiving' | 'lookAgainMs' | 'clockOrigin'>
  readonly clock: Clock
  readonly rng: Rng
  /** For tests: another program, and all threads there from the beginning. */
  readonly trial?: { readonly program: URL }
}

/** A lease that a thread has, and which of its tasks are not settled yet. */
interface Held {
  readonly lease: Lease
  readonly open: Set<number>
}

/** A thread with what it was given. */
interface Hand {
  readonly thread: number
  readonly leases: Map<number, Held>
  readonly links: LinkReader
  readonly requests: ToldRequests
  /** Leases that only it may have, until it asks. */
  readonly kept: Lease[]
  /** It was told that there were no more leases; it has not been told to look again. */
  isHungry: boolean
  isReady: boolean
  member: CrewWorker
}

export function createCrew(options: CrewOptions): Engine {
  const { frontier, settler, audit, registry, clock, settings, slots, seedScope } = options
  // Cookies are kept by the thread that has them, so with cookies there is one.
  const mostThreads = settings.cookies ? 1 : Math.max(1, Math.min(options.threads, slots))
  const reachability = reachabilityMarks(mostThreads)
  const hands = new Map<number, Hand>()
  /** Who works on a host that one thread at a time may work on, and how many leases it has there. */
  const keepers = new Map<HostKey, { readonly hand: Hand; leases: number }>()
  /** Settlements on their way to the store. */
  const settling = new Set<Promise<unknown>>()
  let ending: EndReason | undefined
  let reached: EndReason | undefined
  let failure: { readonly error: unknown } | undefined
  let drainUntil: number | undefined
  let isStoreAway = false
  let bytes = 0
  let losses = 0
  let mayGrow = true
  let isKnownToBegin = false
  let seedsTold = 0
  let stopGrowing = (): void => {}
  const idleProcessors = createIdleWatch()
  let releaseFromConsumer = (): void => {}
  const { promise: allOver, resolve: tellAllOver } = Promise.withResolvers<void>()

  const tellAll = (name: string, said?: unknown, except?: Hand): void => {
    for (const hand of hands.values()) if (hand !== except) hand.member.line.tell(name, said)
  }
  const stop = (reason: EndReason = 'stopped'): void => {
    if (ending !== undefined) return
    ending = reason
    drainUntil = clock.now() + settings.drainMs
    stopGrowing()
    releaseFromConsumer()
    tellAll('stop', reason)
    if (hands.size === 0) tellAllOver()
  }
  const fail = (error: unknown): void => {
    failure ??= { error }
    stop()
    tellAll('abort')
  }
  /** Threads that had nothing to do hear that there may be something. */
  const feed = (): void => {
    for (const hand of hands.values()) {
      if (!hand.isHungry) continue
      hand.isHungry = false
      hand.member.line.tell('look')
    }
  }

  const needsKeeper = ({ host, delayMs }: Lease): boolean => delayMs > 0 && registry.policyOf(host).concurrency > 1

  /** Gives a lease to the thread that asked, or keeps it for the one that has to have it. */
  const handOut = (lease: Lease, asker: Hand): boolean => {
    if (needsKeeper(lease)) {
      const keeper = keepers.get(lease.host) ?? { hand: asker, leases: 0 }
      keepers.set(lease.host, keeper)
      keeper.leases += 1
      if (keeper.hand !== asker) {
        keeper.hand.kept.push(lease)
        keeper.hand.member.line.tell('look')
        return false
      }
    }
    asker.leases.set(lease.fence, { lease, open: new Set(lease.tasks.keys()) })
    return true
  }
  const letGo = ({ host }: LeaseRef): void => {
    const keeper = keepers.get(host)
    if (keeper === undefined) return
    keeper.leases -= 1
    if (keeper.leases <= 0) keepers.delete(host)
  }

  const lease = async (hand: Hand, request: LeaseRequest): Promise<LeaseAnswer> => {
    await waitForConsumer()
    const none: LeaseAnswer = { leases: [], nextAt: null, state: 'open' }
    if (ending !== undefined) return none
    // As in the answer to a repeated asking: their time counts from now.
    const kept = hand.kept.splice(0).map((each) => ({ ...each, grantedAt: clock.now() }))
    for (const each of kept) hand.leases.set(each.fence, { lease: each, open: new Set(each.tasks.keys()) })
    const want = request.want - kept.length
    if (want <= 0) return { ...none, leases: kept }
    const answer = await frontier.lease({ ...request, want, request: `${hand.thread}:${request.request}` })
    if (seedScope.size > seedsTold) {
      seedsTold = seedScope.size
      tellAll('seeds', seedScope.seeds)
    }
    // Lost in the meantime: what was granted to it runs out.
    if (hands.get(hand.thread) !== hand) {
      for (const each of answer.leases) giveBack(each)
      return none
    }
    const given = answer.leases.filter((each) => handOut(each, hand))
    hand.isHungry = given.length < want
    if (answer.state === 'finished' && options.stays !== undefined && !isKnownToBegin) {
      // Only what is answered from now on says that it is over, and not that it had not begun.
      isKnownToBegin = !(await options.stays())
      return { leases: [...kept, ...given], nextAt: clock.now() + (isKnownToBegin ? 0 : STAY_MS), state: 'open' }
    }
    if (answer.state !== 'open') {
      reached ??= answer.state
      feed()
    }
    return { ...answer, leases: [...kept, ...given] }
  }

  /** Until the consumer is ready for more. One that has stopped reading must not keep the crawl from stopping. */
  const waitForConsumer = (): Promise<void> | void => {
    const ready = options.readyForMore?.()
    if (ready === undefined) return
    return new Promise((resolve, reject) => {
      const before = releaseFromConsumer
      releaseFromConsumer = () => {
        before()
        resolve()
      }
      ready.then(resolve, reject)
    })
  }

  const handOn = async (settlement: Settlement, delayMs: number): Promise<'settled' | 'stale'> => {
    // Only what is archived has to be waited for.
    if ((settlement.record as OutputRecord | undefined)?.exchange !== undefined) await options.prepare?.(settlement)
    const settled = settler.settle(settlement, delayMs)
    if (settlement.host?.blockedUntil !== undefined && settlement.outcome.kind !== 'returned') void settler.flush()
    const result = await settled
    feed()
    if (result === 'stale') return result
    losses = 0
    options.onSettled?.(settlement)
    bytes += settlement.bytes ?? 0
    if (options.maxBytes !== undefined && bytes >= options.maxBytes) stop('bytes')
    return result
  }
  const track = <T>(job: Promise<T>): Promise<T> => {
    settling.add(job)
    job.catch(fail).finally(() => settling.delete(job))
    return job
  }
  /** Each task of a lease is settled once, and the last one ends it. */
  const settleHeld = (hand: Hand, held: Held, index: number, settlement: Settlement, delayMs: number) => {
    held.open.delete(index)
    const isLast = held.open.size === 0
    if (isLast) hand.leases.delete(held.lease.fence)
    const settled = handOn(settlement, delayMs)
    // Whoever reads the pages says when to go on, and should have them.
    if (isLast && options.readyForMore !== undefined) void settler.flush()
    // Until the frontier knows when the host has answered, only this thread does.
    return track(isLast ? settled.finally(() => letGo(held.lease)) : settled)
  }
  const settle = (hand: Hand, { note, delayMs }: { note: SettlementNote; delayMs: number }) => {
    const held = hand.leases.get(note.fence)
    if (held === undefined || !held.open.has(note.index)) return 'stale'
    const settlement = settlementOf(note, held.lease, hand.links)
    const finding = hand.requests.takeFinding(held.lease.host)
    const { spareMs: _spareMs, impolite: _impolite, ...seen } = settlement
    return settleHeld(hand, held, note.index, { ...seen, ...finding }, delayMs)
  }
  const giveBack = (granted: Lease): void => {
    for (const task of granted.tasks) void track(handOn({ lease: granted, task, outcome: { kind: 'returned' } }, 0))
  }
  const giveBackKept = (hand: Hand): void => {
    for (const granted of hand.kept.splice(0)) {
      letGo(granted)
      giveBack(granted)
    }
  }

  const add = async (found: readonly FoundUrl[]): Promise<AddAnswer> => {
    const answer = await frontier.add(found)
    feed()
    return answer
  }

  /**
   * What a lost thread leaves behind: the document that ended it has had an attempt; everything else is given back, and
   * its hosts may have been asked until just now.
   */
  const cleanUp = (hand: Hand, { detail, url }: { readonly detail: string; readonly url: string }): void => {
    hands.delete(hand.thread)
    forgetThread(reachability, hand.thread)
    const now = clock.now()
    hand.requests.end(now)
    giveBackKept(hand)
    for (const held of hand.leases.values()) {
      for (const index of held.open) {
        const task = held.lease.tasks[index] as Task
        const result = task.url === url ? unreadable(task, detail, options) : { outcome: { kind: 'returned' as const } }
        void settleHeld(hand, held, index, { lease: held.lease, task, answeredAt: now, ...result }, 0)
      }
    }
    losses += 1
    // It did not get as far as working: the others go on without it, if there are any.
    if (!hand.isReady && hands.size > 0) {
      mayGrow = false
      return spread()
    }
    if (losses > MOST_LOSSES || !hand.isReady) return fail(noThread(detail))
    if (ending === undefined) hire(hand.thread)
    else if (hands.size === 0) tellAllOver()
  }
  const ended = (hand: Hand): void => {
    hand.member.farewell()
    giveBackKept(hand)
    hands.delete(hand.thread)
    if (hands.size === 0) tellAllOver()
  }

  /** This thread works too. */
  const join = (own: NonNullable<CrewOptions['own']>): void => {
    const self = newHand(0, audit)
    const engine = own({
      frontier: {
        add,
        lease: (request) => lease(self, request),
        extend: (ref) => frontier.extend(ref),
        stats: () => frontier.stats(),
      },
      settler: { settle: (settlement, delayMs) => settleOwn(self, settlement, delayMs), flush: () => settler.flush() },
      slots,
      network: createReachability(reachability, 0),
      onPause: (host, until, reason) => tellAll('pause', { host, until, reason }, self),
    })
    self.isReady = true
    self.member = ownWorker(engine)
    hands.set(0, self)
    engine.run().then(
      () => ended(self),
      (error: unknown) => {
        fail(error)
        ended(self)
      },
    )
  }
  const settleOwn = async (hand: Hand, settlement: Settlement, delayMs: number): Promise<'settled' | 'stale'> => {
    const held = hand.leases.get(settlement.lease.fence)
    const index = held?.lease.tasks.indexOf(settlement.task) ?? -1
    if (held === undefined || !held.open.has(index)) return 'stale'
    return settleHeld(hand, held, index, settlement, delayMs)
  }

  const hire = (thread: number): void => {
    const self = newHand(thread, audit)
    self.member = startMember(
      {
        ...options.thread,
        thread,
        worker: options.worker,
        settings,
        seeds: seedScope.seeds,
        slots: shareOf(thread, thread + 1),
        hasRate: options.permits !== undefined,
        reachability,
      },
      {
        lease: (request: LeaseRequest) => lease(self, request),
        settle: (said: { note: SettlementNote; delayMs: number }) => settle(self, said),
        flush: () => settler.flush(),
        extend: (ref: LeaseRef) => frontier.extend(ref),
        host: (host: HostKey) => frontier.host(host),
        add,
        stats: () => frontier.stats(),
        judge: ({ url, judged }: { url: NormalizedUrl; judged: Judged }) => options.repetitions.judge(url, judged),
        permits: (wanted: number) => options.permits?.(wanted) ?? Promise.resolve(wanted),
        ...self.requests,
        paused(pause: { host: HostKey; until: number; reason: string }) {
          audit.paused(pause.host, pause.until)
          tellAll('pause', pause, self)
        },
        ended: () => ended(self),
        failed(error: PlainError) {
          fail(errorFrom(error))
          ended(self)
        },
      },
      {
        onReady() {
          self.isReady = true
        },
        onLost: (loss) => cleanUp(self, loss),
      },
      options.trial?.program,
    )
    hands.set(thread, self)
    spread()
    if (isStoreAway) self.member.line.tell('storeLost')
    if (ending !== undefined) self.member.line.tell('stop', ending)
  }
  /** The slots of one thread, of so many. */
  const shareOf = (thread: number, threads: number): number =>
    Math.floor(slots / threads) + (thread < slots % threads ? 1 : 0)
  const spread = (): void => {
    let place = 0
    for (const hand of hands.values()) hand.member.line.tell('resize', shareOf(place++, hands.size))
  }
  const grow = (): void => {
    stopGrowing = clock.timer(GROWTH_MS, () => {
      // Each is asked, so that the next time is counted from now.
      const shares = [...hands.values()].map(({ member }) => member.busyShare())
      const idle = idleProcessors()
      if (idle >= IDLE_PROCESSORS && shares.every((share) => share >= BUSY_SHARE)) hire(hands.size)
      if (mayGrow && hands.size < mostThreads && ending === undefined) grow()
    })
  }

  return {
    async run(prepare) {
      const { maxTimeMs } = options
      const cancelTimeLimit = maxTimeMs === undefined ? undefined : clock.timer(maxTimeMs, () => stop('time'))
      try {
        await prepare?.()
        if (options.maxBytes !== undefined) {
          bytes = (await frontier.stats()).bytes
          if (bytes >= options.maxBytes) stop('bytes')
        }
        if (ending === undefined) {
          seedsTold = seedScope.size
          if (options.own === undefined) hire(0)
          else join(options.own)
          while (options.trial !== undefined && hands.size < mostThreads) hire(hands.size)
          if (hands.size < mostThreads) grow()
        } else tellAllOver()
      } catch (error) {
        fail(error)
        tellAllOver()
      }
      await allOver
      cancelTimeLimit?.()
      stopGrowing()
      while (settling.size > 0) {
        const pending = [...settling]
        await settler.flush().catch(fail)
        await Promise.allSettled(pending)
      }
      await Promise.all([...hands.values()].map(({ member }) => member.end()))
      if (failure !== undefined) throw failure.error
      return ending ?? reached ?? 'stopped'
    },
    stop,
    abort: () => tellAll('abort'),
    fail,
    storeLost() {
      isStoreAway = true
      tellAll('storeLost')
    },
    storeBack() {
      isStoreAway = false
      tellAll('storeBack')
    },
    get inFlight() {
      let count = 0
      for (const { member } of hands.values()) count += member.inFlight
      return count
    },
    get drainUntil() {
      return drainUntil
    },
  }
}

function newHand(thread: number, audit: PolitenessAudit): Hand {
  return {
    thread,
    leases: new Map(),
    links: createLinkReader(),
    requests: createToldRequests(audit),
    kept: [],
    isHungry: false,
    isReady: false,
    member: NOBODY,
  }
}
