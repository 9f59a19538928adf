/**
 * A crawl put together: frontier, fetcher, registry, scope, output and engine, from settings. The owner of all of
 * them; whoever opens a crawl runs it and closes it.
 */
import { availableParallelism } from 'node:os'
import {
  clockOrigin,
  createRng,
  createSystemClock,
  createUuids,
  type Clock,
  type Disk,
  type Rng,
} from '../base/index.ts'
import { concurrentFetches, type Settings } from '../config/index.ts'
import type { Fetcher, FetcherOptions } from '../fetch/index.ts'
import type { FleetFrontier, Frontier, FrontierOptions, FrontierStats } from '../frontier/index.ts'
import type { CrawlEvents, NormalizedUrl } from '../model/index.ts'
import type { Reader } from '../reading/index.ts'
import type { ArchiveOptions } from '../sink/index.ts'
import { createEventBus, type EventBus } from '../telemetry/index.ts'
import { createParameterStripper } from '../url/index.ts'
import { announce } from './announcement.ts'
import { limitBytes } from './fleet/byte-limit.ts'
import { createCrawlEngine } from './crawl-engine.ts'
import { openCrawlFrontier, watchFrontier } from './crawl-frontier.ts'
import { openCrawlOutput } from './crawl-output.ts'
import { addSeeds, refreshSeeds } from './crawl-seeds.ts'
import type { EndReason } from './ending.ts'
import type { Engine } from './engine.ts'
import { createFetcherOf } from './fetcher.ts'
import type { FleetMember } from './fleet/fleet-member.ts'
import {
  disownTheDead,
  inTime,
  joinFleet,
  staysForMore,
  watchStore,
  type FleetSeat,
  type Seated,
} from './fleet/fleet-seat.ts'
import { createManners, type Manners } from './manners.ts'
import { createRateWindow } from './rate-window.ts'
import { createRepetitionJudge } from './tasks/repetition.ts'
import type { PermitsWanted } from './request-rate.ts'
import { createSeedScope } from './seed-scope.ts'
import { createTierRules, createWorkshop, randomSeed } from './workshop.ts'

export { seedFound } from './crawl-seeds.ts'
export type { FleetSeat, StoreTrouble } from './fleet/fleet-seat.ts'

export interface CrawlOptions {
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
  /** `memory`, or the folder of the embedded store; of no meaning for a crawl of a fleet. */
  readonly store: string
  /** Present: the crawl is kept on servers, and others work on it too. */
  readonly fleet?: FleetSeat
  /** The output folder; absent when records are only handed to listeners. */
  readonly outputFolder?: string
  /** What is due now is fetched again, and then the crawl ends, whatever the settings say. */
  readonly once?: boolean
  readonly readyForMore?: () => Promise<void>
  /** Listeners to `page` want the Markdown too. */
  readonly wantsMarkdown?: boolean
  /** Who works, for people and for the fleet. */
  readonly worker?: string
  /** Time, randomness, the network, reading, the store and the disk: the machine's own unless others are passed in. */
  readonly clock?: Clock
  readonly rng?: Rng
  readonly fetcher?: Fetcher
  readonly reader?: Reader
  readonly openFrontier?: (options: FrontierOptions) => Frontier
  readonly disk?: Disk
  /** How records of an archive are named and compressed. */
  readonly archive?: Pick<ArchiveOptions, 'newUuid' | 'compress'>
  /** For tests: how names become addresses. */
  readonly lookup?: FetcherOptions['lookup']
}

export interface Crawl {
  readonly events: EventBus<CrawlEvents>
  /** Adds the seeds and works until the crawl is over or stopped. */
  run(): Promise<EndReason>
  stop(): void
  abort(): void
  stats(): Promise<FrontierStats>
  /** Whether the store can be reached, as far as is known. */
  readonly isStoreInReach: boolean
  /** Why the crawl was ended for all of its workers; undefined unless it was. */
  readonly haltedBecause: string | undefined
  readonly slots: number
  readonly inFlight: number
  readonly drainUntil: number | undefined
  /** When the crawl will have something to do by itself (clock ms), as the frontier said last; null for never. */
  readonly nextAt: number | null
  /** Lets go of store, output, threads and sockets. */
  close(): Promise<void>
}

export async function openCrawl(options: CrawlOptions): Promise<Crawl> {
  const origin = clockOrigin()
  const { settings, fleet: seat, clock = createSystemClock(origin), rng = createRng(randomSeed()) } = options
  const events = createEventBus<CrawlEvents>()
  // First of all: it may need secrets that are not there.
  const fetcher = options.fetcher ?? createFetcherOf(settings, { clock, lookup: options.lookup })

  // The frontier asks the registry for policies, and the registry asks the frontier for what is kept of a host.
  const manners = createManners(settings, {
    clock,
    loadHost: (host) => frontier.host(host),
    onViolation: (request) => events.emit('impolite', request),
  })
  const frontier: Frontier = openCrawlFrontier(options, { registry: manners.registry, clock })
  const seated = seat === undefined ? undefined : { seat, fleet: frontier as FleetFrontier }
  try {
    return await putTogether(options, { frontier, seated, manners, fetcher, events, clock, clockOrigin: origin, rng })
  } catch (error) {
    // What went wrong here is what is told.
    frontier.close().catch(() => {})
    if (options.fetcher === undefined) fetcher.close().catch(() => {})
    throw error
  }
}

/** What a crawl is put together from. */
interface Parts {
  readonly frontier: Frontier
  /** In a fleet, whose frontier is the one above. */
  readonly seated: Seated | undefined
  readonly manners: Manners
  readonly fetcher: Fetcher
  readonly events: EventBus<CrawlEvents>
  readonly clock: Clock
  readonly clockOrigin: number
  readonly rng: Rng
}

async function putTogether(options: CrawlOptions, parts: Parts): Promise<Crawl> {
  const { settings } = options
  const { frontier, seated, manners, fetcher, events, clock, rng } = parts
  const fleet = seated?.fleet
  const startedAt = clock.now()
  const strip = createParameterStripper(settings.stripParameters)
  const seeds = options.seeds.map(strip)
  const seedScope = createSeedScope(settings, seeds)
  const slots = concurrentFetches(settings)
  const store = watchStore(seated)
  if (seated !== undefined) await disownTheDead(seated)
  const { output: committed, discovered } = await frontier.stats()
  const hearOfSeeds = (): Promise<void> => refreshSeeds(seedScope, { fleet, strip })
  await hearOfSeeds()
  const output = await openCrawlOutput(
    {
      settings,
      path: options.outputFolder,
      committed,
      isNew: discovered === 0,
      isFleet: fleet !== undefined,
      archive: { newUuid: createUuids(), ...options.archive },
    },
    { clock, disk: options.disk },
  )
  const note = output.written?.note

  let haltedBecause: string | undefined
  let pagesDone = 0
  const halted = (reason: string): void => {
    haltedBecause = reason
    engine.stop('halted')
  }
  const boundFrontier =
    fleet === undefined || settings.maxBytes === undefined
      ? frontier
      : limitBytes(frontier, fleet, settings.maxBytes, () => halted('bytes'))
  const watchedFrontier = watchFrontier(boundFrontier, {
    seedScope,
    onUnknownSeed: hearOfSeeds,
    onCommitted: () => note?.committed(),
  })
  const repetitions = createRepetitionJudge(output.fingerprints)
  const { registry } = manners
  const workshop = createWorkshop(settings, { ...options, clock, rng, fetcher, registry, seedScope, repetitions })
  const engine: Engine = createCrawlEngine(
    {
      settings,
      worker: options.worker ?? seated?.seat.login.worker ?? `local-${process.pid}`,
      slots,
      threads: threadsOf(options),
      wantsMarkdown: options.wantsMarkdown === true,
      readyForMore: options.readyForMore,
      stays: seated && (() => staysForMore(seated)),
      permits: permitsOf(settings, fleet, clock),
      onSettled(settlement) {
        const { task, outcome, robots } = settlement
        if (task.kind === 'page' && outcome.kind === 'done') pagesDone += 1
        if (robots !== undefined) manners.heed(robots)
        announce(settlement, events)
      },
    },
    { ...parts, frontier: watchedFrontier, output, seedScope, repetitions, workshop },
  )
  store.tell(engine)

  const join = (at: Seated): FleetMember =>
    joinFleet(
      at,
      {
        slots,
        startedAt,
        maxBytes: settings.maxBytes,
        inFlight: () => engine.inFlight,
        pagesDone: () => pagesDone,
        onHalted: halted,
        onFailure: (error) => engine.fail(error),
      },
      { clock },
    )

  return {
    events,
    slots,
    async run() {
      const member = seated && join(seated)
      note?.start()
      try {
        return await engine.run(() => addSeeds(seeds, { frontier, fleet, tierOf: createTierRules(settings) }))
      } finally {
        if (member !== undefined) await inTime(member.stop(), { clock })
        await note?.stop()
      }
    },
    stop: () => engine.stop(),
    abort: () => engine.abort(),
    stats: () => frontier.stats(),
    get isStoreInReach() {
      return store.isInReach
    },
    get haltedBecause() {
      return haltedBecause
    },
    get inFlight() {
      return engine.inFlight
    },
    get drainUntil() {
      return engine.drainUntil
    },
    get nextAt() {
      return watchedFrontier.nextAt
    },
    async close() {
      await workshop.close()
      await (store.isInReach ? frontier.close() : inTime(frontier.close(), { clock }))
      output.close()
    },
  }
}

/** Whoever counts the requests of a second: the store, for all of its workers, or this process alone. */
function permitsOf(
  { maxRate }: Settings,
  fleet: FleetFrontier | undefined,
  clock: Clock,
): ((asked: PermitsWanted) => Promise<number>) | undefined {
  if (maxRate === undefined) return undefined
  if (fleet !== undefined) return ({ wanted, goodMs }) => fleet.crawl.takePermits(wanted, maxRate, goodMs)
  const window = createRateWindow(maxRate, { clock })
  return async (asked) => window.take(asked)
}

/** What is passed in as code cannot be handed to a thread: then the crawl works where it is. */
function threadsOf({ settings, clock, fetcher, reader, rng, lookup, disk }: CrawlOptions): number {
  const isOwn = [clock, fetcher, reader, rng, lookup, disk].some((passedIn) => passedIn !== undefined)
  return isOwn ? 0 : (settings.threads ?? availableParallelism())
}
