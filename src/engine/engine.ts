/**
 * The engine that works on a crawl: a fixed number of slots, each working on one lease at a time, and what it takes to
 * begin, to stop and to fail.
 *
 * It keeps true that a stop takes no longer than it may, and that nothing is left under way when it is over, unless the
 * store cannot be reached. How leases are had is lease-loop.ts, what is done with one lease-work.ts, and how it gets to
 * the store handover.ts.
 */
import type { Frontier, Settlement } from '../frontier/index.ts'
import type { HostKey } from '../model/index.ts'
import type { PolitenessAudit } from '../politeness/index.ts'
import { createAsking } from './asking.ts'
import { createConsumerGate } from './consumer-gate.ts'
import { createCountedFetcher } from './counted-fetcher.ts'
import { createEnding, type EndReason } from './ending.ts'
import { createHandover } from './handover.ts'
import { createJobs } from './jobs.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { createLeaseLoop } from './lease-loop.ts'
import { createLeaseWork } from './lease-work.ts'
import { createNews } from './news.ts'
import { createObjections } from './objections.ts'
import { startPulse } from './pulse.ts'
import { createReachability, type Reachability } from './reachability.ts'
import type { RequestRate } from './request-rate.ts'
import { createReserve } from './reserve.ts'
import type { Settler } from './settler.ts'
import { createSlots } from './slots.ts'
import { createStoreReach } from './store-reach.ts'
import { createTaskRunner, type TaskTools } from './tasks/task-runner.ts'
import { createWorkLimits } from './work-limits.ts'

export type { EndReason } from './ending.ts'

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
  readonly tasks: TaskTools
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
  const { frontier, audit, tasks, network = createReachability() } = options
  const { clock, settings, registry } = tasks
  const slots = createSlots(options.slots)
  const asking = createAsking()
  const news = createNews(clock)
  const pulse = startPulse(clock)
  const reserve = createReserve({ clock, audit })
  const consumer = createConsumerGate(options.readyForMore)
  let cancelDrain = (): void => {}

  const ending = createEnding(
    {
      drainMs: options.drainMs,
      onStop() {
        options.rate?.stop()
        consumer.open()
        cancelDrain = clock.timer(options.drainMs, abort)
        news.tell()
      },
    },
    { clock },
  )
  const abort = (): void => {
    cancelDrain()
    keeper.abort()
  }
  const fail = (error: unknown): void => {
    ending.fail(error)
    abort()
  }
  const look = (): void => {
    asking.changed()
    news.tell()
  }

  const keeper = createLeaseKeeper({ clock, frontier, pulse, onFailure: fail })
  const store = createStoreReach(ending, { clock })
  const limits = createWorkLimits(options, { clock, stop: ending.stop })
  const told = { onFailure: fail, onEnd: news.tell }
  const working = createJobs(told)
  const reading = createJobs(told)
  const settling = createJobs(told)
  const fetcher = createCountedFetcher(tasks.fetcher, network)
  const work = createLeaseWork(options, {
    slots,
    keeper,
    reserve,
    objections: createObjections({ clock, settings, fetcher, registry, pulse, reserve }),
    fetcher,
    runTask: createTaskRunner(tasks, {
      isArchiving: options.isArchiving === true,
      connection: () => network.state(),
      async addEarly(found) {
        await frontier.add(found)
        asking.changed()
      },
    }),
    reading,
    handOver: createHandover(options, {
      // A page that was read meanwhile is one of those being read until it is handed over.
      isLast: () => slots.inUse === 0 && reading.size <= 1,
      settling,
      onChange: () => asking.changed(),
      onSettled(settlement) {
        options.onSettled?.(settlement)
        limits.count(settlement.bytes ?? 0)
      },
    }),
    isHeldUp: () => store.isAway || ending.reason !== undefined,
    onOffline: fail,
  })
  const loop = createLeaseLoop(options, {
    slots,
    asking,
    news,
    consumer,
    store,
    ending,
    pulse,
    work,
    working,
    settling,
  })
  const workAndSettle = async (prepare?: () => Promise<void>): Promise<void> => {
    try {
      await prepare?.()
      await limits.countBefore(frontier)
      await loop()
    } catch (error) {
      // A settlement that failed makes the frontier refuse what comes after it: that one is to be heard of first.
      await clock.turn()
      fail(error)
    }
    // They are committed as they are gathered: one by one, a thousand of them would take long.
    const jobs = [working, reading, settling]
    while (jobs.some(({ size }) => size > 0)) await Promise.race(jobs.flatMap(({ pending }) => [...pending]))
  }

  return {
    async run(prepare) {
      limits.begin()
      await store.whileHandedOver(workAndSettle(prepare)).catch(fail)
      limits.end()
      pulse.stop()
      keeper.stop()
      cancelDrain()
      return ending.result()
    },
    stop: ending.stop,
    abort,
    fail,
    storeLost: store.lost,
    storeBack() {
      store.back()
      look()
    },
    look,
    pause: (host, until, reason) => reserve.pause(host, until, reason),
    resize(total) {
      slots.resize(total)
      news.tell()
    },
    get inFlight() {
      return slots.inUse
    },
    get drainUntil() {
      return ending.drainUntil
    },
  }
}
