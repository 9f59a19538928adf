/**
 * The worker loop: a fixed number of slots, each working on one lease at a time. A slot is only ever given a host that
 * is due now, so nothing waits for a host and no host can hold up another.
 *
 * It keeps true that nothing is sent outside a lease, that each task of a lease is settled exactly once, and that a
 * stop takes no longer than it may. While the store is out of reach nothing is begun. Which slots are free is for slots.ts
 * to say, what a lease permits for permit.ts, and how long it is kept for lease-keeper.ts. When a host is due, and when
 * the crawl is over, is the frontier's to say.
 */
import { TiptoeError, type HostHealth, type HostKey, type Task } from '../model/index.ts'
import type { Frontier, HostChange, Lease, Settlement } from '../frontier/index.ts'
import type { PolitenessAudit } from '../politeness/index.ts'
import { createArchivingFetcher } from './archiving.ts'
import { createAsking } from './asking.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { runPageTask } from './page-task.ts'
import { askedAt, type AskedAt, type Permit } from './permit.ts'
import { createReachability, type Reachability } from './reachability.ts'
import type { RequestRate } from './request-rate.ts'
import { failed } from './records.ts'
import { createReserve } from './reserve.ts'
import { refuseOrigin, runRobotsTask } from './robots-task.ts'
import { startPulse } from './pulse.ts'
import type { Settler } from './settler.ts'
import { runSitemapTask } from './sitemap-task.ts'
import { createSlots, type Slot, type Slots } from './slots.ts'
import { createWatchedFetcher, type WatchedFetcher } from './watched-fetcher.ts'

/** Settlements that may wait for the store; beyond them no new work is taken. */
const UNSETTLED = 1_024
/** Leases that are begun before others have their turn. */
const BEGUN_TOGETHER = 16
/** Who stays for more asks so often whether there is any. */
const STAY_MS = 2_000
/** A stop waits this much longer than its drain time for a store that is out of reach. */
const HANDOVER_MS = 2_000

const RUN = { page: runPageTask, sitemap: runSitemapTask, robots: runRobotsTask } as const

/** `halted`: the crawl was ended for all of its workers. */
export type EndReason = 'finished' | 'limit' | 'time' | 'bytes' | 'halted' | 'stopped'

export interface EngineOptions {
  readonly frontier: Pick<Frontier, 'add' | 'lease' | 'extend' | 'stats'>
  readonly settler: Settler
  /** What goes over the wire is kept with each record. */
  readonly isArchiving?: boolean
  readonly worker: string
  readonly slots: number
  readonly drainMs: number
  readonly maxTimeMs?: number
  readonly maxBytes?: number
  /** Awaited before a settlement is committed: what its record points to is written first. */
  readonly beforeSettling?: (settlement: Settlement) => Promise<void>
  /** Told of every settlement once it is durable. */
  readonly onSettled?: (settlement: Settlement) => void
  /** Awaited before new work is taken, so that a slow consumer slows the crawl. */
  readonly readyForMore?: () => Promise<void>
  /** Asked when the frontier has nothing left: whether to wait for more. Absent: the crawl is over then. */
  readonly stays?: () => Promise<boolean>
  /** Others work on the frontier too, and what they settle is told to nobody: it is asked again after so long. */
  readonly lookAgainMs?: number
  /** How many requests may start; as many as the slots permit when absent. */
  readonly rate?: RequestRate
  /** Shared with others who use the same network; of its own unless told. */
  readonly network?: Reachability
  /** Told of every host that is to be left alone at once, before the frontier knows. */
  readonly onPause?: (host: HostKey, until: number, reason: string) => void
  readonly audit: PolitenessAudit
  readonly tasks: Omit<TaskContext, 'lease' | 'signal' | 'connection' | 'addEarly'>
}

export interface Engine {
  /**
   * Works until the crawl is over or is stopped, after what there is to prepare. Rejects when the store, the output or
   * the network gives out.
   */
  run(prepare?: () => Promise<void>): Promise<EndReason>
  /** Nothing new starts; what runs may end within the drain time, then it is aborted. */
  stop(reason?: EndReason): void
  /** Aborts what runs. */
  abort(): void
  /** Something outside of the loop has broken: nothing more is sent, and `run` rejects with it. */
  fail(error: unknown): void
  /** The store went out of reach, or came back: meanwhile nothing is begun, and leases run out by their own clock. */
  storeLost(): void
  storeBack(): void
  readonly inFlight: number
  /** When a stop will abort what still runs; undefined while nothing is stopping. */
  readonly drainUntil: number | undefined
}

/** An engine that is not alone at its crawl, and hears of what others do. */
export interface EngineAmongOthers extends Engine {
  /** Others have settled or found something: there may be leases to be had. */
  look(): void
  /** Another who works on this crawl was told to leave the host alone. */
  pause(host: HostKey, until: number, reason: string): void
  /** From now on so many slots; what is under way goes on. */
  resize(slots: number): void
}

export function createEngine(options: EngineOptions): EngineAmongOthers {
  const { frontier, settler, tasks, audit, network = createReachability() } = options
  const { clock, settings } = tasks
  const slots = createSlots(options.slots)
  const asking = createAsking()
  const pulse = startPulse(clock)
  const reserve = createReserve({ clock, audit })
  const keeper = createLeaseKeeper({ clock, frontier, pulse, onFailure: (error) => fail(error) })
  const aborter = new AbortController()
  aborter.signal.addEventListener('abort', () => keeper.abort(), { once: true })
  /** Leases being worked on, and settlements on their way to the store. */
  const working = new Set<Promise<void>>()
  const settling = new Set<Promise<void>>()
  let bytes = 0
  let asked = 0
  let ending: EndReason | undefined
  let releaseFromConsumer = (): void => {}
  let failure: unknown
  let isStoreAway = false
  let isKnownToBegin = false
  let drainUntil: number | undefined
  let news = false
  let wake = (): void => {
    news = true
  }

  const stop = (reason: EndReason = 'stopped'): void => {
    if (ending !== undefined) return
    ending = reason
    tellStopped()
    releaseFromConsumer()
    drainUntil = clock.now() + options.drainMs
    const cancel = clock.timer(options.drainMs, () => aborter.abort())
    aborter.signal.addEventListener('abort', cancel, { once: true })
    drained = cancel
    wake()
  }
  let drained = (): void => {}
  const { promise: stopped, resolve: tellStopped } = Promise.withResolvers<void>()

  const fail = (error: unknown): void => {
    failure ??= error
    stop()
    aborter.abort()
  }

  /** Until something was settled, a stop was asked for, or `until` has come. */
  const waitForNews = (until: number | null): Promise<void> =>
    new Promise((resolve) => {
      if (news) {
        news = false
        resolve()
        return
      }
      const asleep = wake
      const cancel = until === null ? undefined : clock.timer(Math.ceil(until - clock.now()), () => wake())
      wake = () => {
        cancel?.()
        wake = asleep
        resolve()
      }
    })

  /** A machine without a network is told from hosts that do not answer. */
  const countedFetcher: TaskContext['fetcher'] = {
    ...tasks.fetcher,
    async fetch(request, signal) {
      network.begun()
      const outcome = await tasks.fetcher.fetch(request, signal)
      network.ended(outcome.kind === 'response')
      return outcome
    },
  }

  const pause = (host: HostKey, until: number, reason: string): void => {
    reserve.pause(host, until, reason)
    options.onPause?.(host, until, reason)
  }

  const runTask = async (
    task: Task,
    lease: Lease,
    fetcher: WatchedFetcher,
    signal: AbortSignal,
  ): Promise<TaskResult> => {
    const archiving = options.isArchiving === true ? createArchivingFetcher(fetcher) : undefined
    const context: TaskContext = {
      ...tasks,
      fetcher: archiving ?? fetcher,
      lease,
      signal,
      connection: () => network.state(),
      async addEarly(found) {
        await frontier.add(found)
        asking.changed()
      },
    }
    try {
      const result = await RUN[task.kind](task, context)
      return archiving === undefined ? result : archiving.archived(task, result)
    } catch (error) {
      if (error instanceof TiptoeError) throw error
      // Whatever a page makes our code do costs that page, never the crawl.
      const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      const answeredAt = clock.now()
      if (task.kind === 'robots') return { ...refuseOrigin(task, detail, context), answeredAt }
      return { ...failed(task, { code: 'parse', detail }, context), answeredAt }
    }
  }

  const settle = async (lease: Lease, task: Task, result: TaskResult): Promise<void> => {
    const { offline: _offline, ...rest } = result
    const settlement: Settlement = { lease, task, ...rest }
    await options.beforeSettling?.(settlement).catch(async (error: unknown) => {
      // What could not be written is fetched again later; that the host has answered is true all the same.
      const { answeredAt } = settlement
      const returned = { lease, task, outcome: { kind: 'returned' as const } }
      await settler.settle(answeredAt === undefined ? returned : { ...returned, answeredAt }, lease.delayMs)
      throw error
    })
    const settled = settler.settle(settlement, lease.delayMs)
    // What a host asks for should not be forgotten by a crash a moment later; and what waits for nobody need not wait.
    if ((result.host?.blockedUntil !== undefined && result.outcome.kind !== 'returned') || slots.inUse === 0) {
      void settler.flush()
    }
    const accepted = (await settled) === 'settled'
    asking.changed()
    if (!accepted) return
    options.onSettled?.(settlement)
    bytes += result.bytes ?? 0
    if (options.maxBytes !== undefined && bytes >= options.maxBytes) stop('bytes')
  }

  /** Keeps hold of a promise until it ends, and hears of it when it fails. */
  const track = (jobs: Set<Promise<void>>, job: Promise<void>): void => {
    const tracked = job.catch(fail).finally(() => {
      jobs.delete(tracked)
      wake()
    })
    jobs.add(tracked)
  }
  /** The slot does not wait for the store: it is free for the next host as soon as this one has answered. */
  const hand = (lease: Lease, task: Task, result: TaskResult): Promise<void> => {
    const settled = settle(lease, task, result)
    track(settling, settled)
    return settled
  }

  /**
   * Where hosts are paced by their address, and that of this one is not known: found out, for the next lease to obey.
   * A name without an address is asked for as it is, and fails.
   */
  const addressToLearn = async (lease: Lease): Promise<string | undefined> => {
    const [task] = lease.tasks
    if (settings.perIpDelayMs === 0 || lease.address !== null || task === undefined) return undefined
    return countedFetcher.resolve(task.url)
  }

  /** After a leap of the clock nobody knows when the host was last asked: it is left alone for its delay once more. */
  const doubtAfterLeap = ({ delayMs, health }: Lease): HostChange | undefined => {
    if (isNeverAsked(health) && settings.perDomainDelayMs + settings.perIpDelayMs === 0) return undefined
    const blockedUntil = pulse.leaptAt() + delayMs
    return blockedUntil > clock.now() ? { blockedUntil, blockedReason: 'the clock of this machine jumped' } : undefined
  }

  /** Such pages are leased to be recorded as skipped: nothing is sent for them, whatever speaks against it. */
  const isParked = ({ kind, depth, aside }: Task): boolean =>
    kind === 'page' && (aside !== undefined || depth > (settings.maxDepth ?? Infinity))

  /** What speaks against a request to the host at this moment: then the lease is given back with it. */
  const against = (lease: Lease): HostChange | undefined =>
    doubtAfterLeap(lease) ??
    reserve.against(lease.host, { ...tasks.registry.policyOf(lease.host), delayMs: lease.delayMs })

  const work = async (lease: Lease, since: AskedAt): Promise<void> => {
    const permit = keeper.hold(lease, since)
    const slot = slots.enter(lease.health.streak > 0)
    const leave = reserve.enter(lease.host)
    /** The lease is kept until the frontier has heard of each of its tasks. */
    const handed: Promise<void>[] = []
    try {
      await workIn(slot, lease, permit, (task, result) => handed.push(hand(lease, task, result)))
    } finally {
      leave()
      slot.leave()
      // Nothing is left to do that could give what is gathered company; or somebody waits for it, and says when to go on.
      if (slots.inUse === 0 || options.readyForMore !== undefined) void settler.flush()
      void Promise.allSettled(handed).then(() => keeper.release(permit))
    }
  }

  /** Whether one more request may be begun under the lease, at this moment and at the rate of the crawl. */
  const mayBegin = async (permit: Permit, isFirst: boolean): Promise<boolean> => {
    // The first of a lease was reserved when the lease was asked for.
    if (!isFirst && options.rate !== undefined && !(await options.rate.wait(permit.signal))) return false
    return !isStoreAway && ending === undefined && (await permit.ask())
  }

  const workIn = async (
    slot: Slot,
    lease: Lease,
    permit: Permit,
    handOver: (task: Task, result: TaskResult) => void,
  ): Promise<void> => {
    const fetcher = createWatchedFetcher(countedFetcher, lease.host, {
      clock,
      permit,
      audit,
      slot,
      isAlone: lease.tasks.length === 1 && tasks.registry.policyOf(lease.host).concurrency === 1,
    })
    const address = await addressToLearn(lease)
    let change: HostChange | undefined = address === undefined ? undefined : { address }
    let nextStart = clock.now() + lease.notBefore - lease.grantedAt
    let { health } = lease
    let over = change !== undefined
    for (const task of lease.tasks) {
      if (!over && nextStart > clock.now()) await clock.sleepUntil(nextStart, permit.signal).catch(() => {})
      if (!isParked(task)) change ??= against(lease)
      // A host that kept us waiting for so long has given its slot away: its next task comes with another lease.
      over ||= change !== undefined || slot.isParked() || !(await mayBegin(permit, task === lease.tasks[0]))
      if (over) {
        handOver(task, { outcome: { kind: 'returned' }, ...(change === undefined ? {} : { host: change }) })
        continue
      }
      const ran = await runTask(task, { ...lease, health }, fetcher, permit.signal)
      const result = { ...ran, ...fetcher.takeFinding() }
      health = result.host?.health ?? health
      if (result.offline !== undefined) {
        const hint = 'check the connection; nothing is lost, and the same command goes on from here'
        fail(new TiptoeError('network', `no host can be reached: ${result.offline}`, { hint }))
      }
      if (result.answeredAt !== undefined) nextStart = result.answeredAt + lease.delayMs
      if (result.host?.blockedUntil !== undefined)
        pause(lease.host, result.host.blockedUntil, result.host.blockedReason ?? '')
      // The frontier may have taken the lease back, and then it will never hear of this answer from a settlement.
      if (!permit.holds()) pause(lease.host, nextStart, 'asked under a lease that ran out')
      handOver(task, result)
    }
  }

  /** Until the consumer is ready for more. One that has stopped reading must not keep the crawl from stopping. */
  const waitForConsumer = (): Promise<void> | void => {
    const ready = options.readyForMore?.()
    if (ready === undefined) return
    return new Promise((resolve, reject) => {
      releaseFromConsumer = resolve
      ready.then(resolve, reject)
    })
  }

  const look = (): void => {
    asking.changed()
    wake()
  }

  const lookAgainAt = (): number | null =>
    options.lookAgainMs === undefined ? null : clock.now() + options.lookAgainMs

  /** The slots that may be filled now; with a rate for all workers, no more than there are requests to be made. */
  const roomInRate = async (): Promise<Pick<Slots, 'free' | 'freeForUnproven'>> => {
    const { free, freeForUnproven } = slots
    const permitted = options.rate === undefined ? free : await options.rate.take(free)
    return { free: Math.min(free, permitted), freeForUnproven: Math.min(freeForUnproven, permitted) }
  }

  /**
   * Resolves when a stop has waited long enough for a store that is out of reach: what is under way is not handed over,
   * and its leases run out.
   */
  const storeGivenUp = async (): Promise<void> => {
    await stopped
    for (;;) {
      await clock.sleepUntil(Math.max(drainUntil ?? 0, clock.now()) + HANDOVER_MS, over.signal)
      if (isStoreAway) return
    }
  }
  const over = new AbortController()

  const settleAll = async (): Promise<void> => {
    // They are committed as they are gathered: one by one, a thousand of them would take long.
    while (working.size + settling.size > 0) await Promise.race([...working, ...settling])
  }

  /**
   * A few at a time: hosts that are asked in one go answer in one go, and are due in one go again. Between them what has
   * been answered is read, so that each host's time counts from its own answer.
   */
  const begin = async (leases: readonly Lease[], since: AskedAt): Promise<void> => {
    for (const [index, lease] of leases.entries()) {
      if (index > 0 && index % BEGUN_TOGETHER === 0) await clock.turn()
      track(working, work(lease, since))
    }
  }

  const loop = async (): Promise<void> => {
    while (ending === undefined) {
      await waitForConsumer()
      if (ending !== undefined) return
      slots.park(clock.now())
      if (isStoreAway || settling.size > UNSETTLED || !asking.isWorthIt(clock.now(), slots)) {
        await waitForNews(soonest(slots.free === 0 || isStoreAway ? null : asking.at, slots.nextParking))
        continue
      }
      const room = await roomInRate()
      if (room.free === 0) {
        await waitForNews(soonest(options.rate?.nextAt ?? null, slots.nextParking))
        continue
      }
      const since = askedAt(clock, pulse)
      const { free, freeForUnproven } = room
      const request = { worker: options.worker, want: free, unproven: freeForUnproven, request: String(asked++) }
      asking.asked()
      const answer = await frontier.lease(request)
      asking.answered(room, { ...answer, nextAt: soonest(answer.nextAt, lookAgainAt()) })
      options.rate?.giveBack(free - answer.leases.length)
      await begin(answer.leases, since)
      if (answer.state === 'open') continue
      if (answer.state === 'finished' && options.stays !== undefined && !isKnownToBegin) {
        // Only what is answered from now on says that it is over, and not that it had not begun.
        isKnownToBegin = !(await options.stays())
        asking.answered(room, { leases: [], nextAt: clock.now() + (isKnownToBegin ? 0 : STAY_MS) })
        continue
      }
      ending ??= answer.state
      return
    }
  }

  return {
    async run(prepare) {
      const { maxTimeMs } = options
      const cancelTimeLimit = maxTimeMs === undefined ? undefined : clock.timer(maxTimeMs, () => stop('time'))
      const start = async (): Promise<void> => {
        await prepare?.()
        if (options.maxBytes !== undefined) {
          bytes = (await frontier.stats()).bytes
          if (bytes >= options.maxBytes) stop('bytes')
        }
        await loop()
      }
      const givenUp = storeGivenUp().then(
        () => fail(storeOutOfReach()),
        () => {},
      )
      await Promise.race([start().catch(fail).then(settleAll), givenUp])
      over.abort()
      cancelTimeLimit?.()
      pulse.stop()
      keeper.stop()
      drained()
      if (failure !== undefined) throw failure
      return ending ?? 'stopped'
    },
    stop,
    abort: () => aborter.abort(),
    fail,
    storeLost() {
      isStoreAway = true
    },
    storeBack() {
      isStoreAway = false
      look()
    },
    look,
    pause: (host, until, reason) => reserve.pause(host, until, reason),
    resize(total) {
      slots.resize(total)
      wake()
    },
    get inFlight() {
      return slots.inUse
    },
    get drainUntil() {
      return drainUntil
    },
  }
}

/** Nobody has heard of it, neither well nor ill. */
function isNeverAsked({ streak, streakSince, blockedAt }: HostHealth): boolean {
  return streak === 0 && streakSince === 0 && blockedAt === 0
}

function storeOutOfReach(): TiptoeError {
  return new TiptoeError('store', 'the store is out of reach, so what was under way could not be handed over', {
    hint: 'nothing is lost: it is fetched again when its leases have run out',
  })
}

/** The earlier of two times, where null is never. */
function soonest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}
