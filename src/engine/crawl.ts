/**
 * A crawl put together: frontier, fetcher, registry, scope, output and engine, from settings. The owner of all of
 * them; whoever opens a crawl runs it and closes it.
 */
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  clockOrigin,
  createRng,
  createSystemClock,
  createSystemDisk,
  type Clock,
  type Disk,
  type Rng,
} from '../base/index.ts'
import { concurrentFetches, type Settings } from '../config/index.ts'
import type { Fetcher, FetcherOptions } from '../fetch/index.ts'
import {
  createFrontier,
  type FleetFrontier,
  type Frontier,
  type FrontierOptions,
  type FrontierStats,
  type Output,
  type OutputPosition,
  type Settlement,
} from '../frontier/index.ts'
import { TiptoeError, type CrawlEvents, type FoundUrl, type NormalizedUrl, type Tier } from '../model/index.ts'
import type { Reader } from '../reading/index.ts'
import {
  createContentFiles,
  explained,
  hasRecords,
  openFingerprints,
  openOutputFolder,
  readCommitted,
  writeCommitted,
  type ArchiveOptions,
  type Fingerprints,
  type OutputFolder,
  type OutputRecord,
} from '../sink/index.ts'
import { createEventBus, type EventBus } from '../telemetry/index.ts'
import { createParameterStripper } from '../url/index.ts'
import { createCommittedNote } from './committed-note.ts'
import { stateFolder } from './crawl-folder.ts'
import { createCrew } from './crew/crew.ts'
import { createEngine, type EndReason } from './engine.ts'
import { createFetcherOf } from './fetcher.ts'
import { startFleetMember, type FleetMember } from './fleet-member.ts'
import { connectFleet, type ConnectFleet, type FleetLogin } from './fleet-store.ts'
import { frontierOptionsOf } from './frontier-options.ts'
import { createRepetitionJudge } from './repetition.ts'
import { createManners } from './manners.ts'
import { createRequestRate } from './request-rate.ts'
import { createSeedScope } from './seed-scope.ts'
import { createSettler } from './settler.ts'
import { createTierRules, createWorkshop, randomSeed } from './workshop.ts'

/** Below the output folder. */
const FINGERPRINTS = 'state/fingerprints'
/** Calls to `append` that may be taken back: more than any settling makes. */
const MOST_TAKEN_BACK = 2_048
/** Seeds are handed over in portions, so that a long list does not stand in one transaction. */
const SEED_PORTION = 1_000
/** What other workers of a fleet have found is looked for so often, while there is a slot for it. */
const LOOK_AGAIN_MS = 1_000
/** A store that is out of reach is let go of after this. */
const CLOSE_MS = 1_000

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

/** One worker's place in a crawl that is kept on servers. */
export interface FleetSeat {
  readonly login: FleetLogin
  /** The machine and process, for people. */
  readonly machine: string
  readonly pid: number
  /** Stays when the crawl is over, for seeds that are added later. */
  readonly keep: boolean
  /** Told once for each change, also while the crawl is being opened. */
  readonly onTrouble?: (trouble: StoreTrouble) => void
  /** Default: the store itself. */
  readonly connect?: ConnectFleet
}

/** The store went out of reach, or came back. */
export interface StoreTrouble {
  readonly kind: 'lost' | 'back'
  readonly detail: string
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
  const { settings, clock = createSystemClock(origin), rng = createRng(randomSeed()) } = options
  const threads = threadsOf(options)
  const strip = createParameterStripper(settings.stripParameters)
  const seeds = options.seeds.map(strip)
  const seedScope = createSeedScope(settings, seeds)
  const events = createEventBus<CrawlEvents>()
  const tierOf = createTierRules(settings)
  const slots = concurrentFetches(settings)
  // First of all: it may need secrets that are not there.
  const fetcher = options.fetcher ?? createFetcherOf(settings, { clock, lookup: options.lookup })

  // The frontier asks the registry for policies, and the registry asks the frontier for what is kept of a host.
  const { registry, audit, heed } = createManners(settings, {
    clock,
    loadHost: (host) => frontier.host(host),
    onViolation: (request) => events.emit('impolite', request),
  })
  const bloom = { capacity: settings.bloomFilterSize, falsePositiveRate: settings.falsePositiveRate }
  const { fleet: seat } = options
  const openFrontier =
    options.openFrontier ??
    ((wanted: FrontierOptions) =>
      seat === undefined
        ? createFrontier({ ...wanted, store: options.store, clock, bloom })
        : (seat.connect ?? connectFleet)(seat.login, wanted, { clock }))
  const frontier: Frontier = openFrontier(
    frontierOptionsOf(settings, {
      policyOf: (host) => registry.policyOf(host),
      isFleet: seat !== undefined,
      once: options.once === true,
    }),
  )
  const fleet = seat === undefined ? undefined : (frontier as FleetFrontier)
  const startedAt = clock.now()
  let isStoreInReach = true
  let tellEngine = (): void => {}
  fleet?.onTrouble((trouble) => {
    isStoreInReach = trouble.kind === 'back'
    tellEngine()
    seat?.onTrouble?.(trouble)
  })
  if (fleet !== undefined && seat !== undefined) await disownTheDead(fleet, seat)
  const { output: position, discovered } = await frontier.stats()
  await refreshSeeds()
  const { folder, fingerprints } = await openOutput(position, discovered === 0)
  /** The end of the output, and those before the last calls to `append`. */
  let end: OutputPosition = position
  const ends: OutputPosition[] = []

  const recordsOf = (settlements: readonly Settlement[]): OutputRecord[] =>
    settlements.flatMap(({ record }) => (record === undefined ? [] : [record as OutputRecord]))
  const announce = (settlement: Settlement): void => {
    const { task, outcome, host, record, robots } = settlement
    if (robots !== undefined) heed(robots)
    if (outcome.kind === 'retry' && task.kind === 'page') {
      events.emit('retry', { url: task.url, notBefore: outcome.notBefore })
    }
    // What is given back was not asked for: its host is left alone already, and that has been told.
    if (host?.blockedUntil !== undefined && outcome.kind !== 'returned') {
      events.emit('blocked', { host: task.host, until: host.blockedUntil, reason: host.blockedReason ?? '' })
    }
    const item = record as OutputRecord | undefined
    if (item?.kind === 'page') events.emit('page', { ...item.record, markdown: item.markdown })
    else if (item?.kind === 'skip') events.emit('skip', item.record)
    else if (item?.kind === 'fail') events.emit('fail', item.record)
    else if (item?.kind === 'revisit') events.emit('revisit', item.record)
  }

  let nextAt: number | null = null
  let haltedBecause: string | undefined
  let pagesDone = 0
  const note =
    seat === undefined || folder === undefined || options.outputFolder === undefined
      ? undefined
      : createCommittedNote(options.outputFolder, position, { clock, disk: options.disk ?? createSystemDisk() })
  const repetitions = createRepetitionJudge(fingerprints)
  const watchedFrontier: Frontier = {
    ...frontier,
    async lease(request) {
      const answer = await frontier.lease(request)
      nextAt = answer.nextAt
      const seedsLeased = answer.leases.flatMap(({ tasks }) => tasks).filter(({ via }) => via === 'seed')
      if (seedsLeased.some(({ url }) => !seedScope.has(url))) await refreshSeeds()
      return answer
    },
    async settle(settlements, output) {
      const answer = await frontier.settle(settlements, output)
      note?.committed()
      return answer
    },
  }
  const output: Output | undefined =
    folder === undefined
      ? undefined
      : {
          append(accepted) {
            ends.push(end)
            const lengths = folder.append(recordsOf(accepted))
            explained(options.outputFolder ?? '', () => fingerprints.write())
            end = { ...lengths, [FINGERPRINTS]: fingerprints.length }
            return end
          },
          sync() {
            folder.sync()
            explained(options.outputFolder ?? '', () => fingerprints.sync())
            note?.wrote(end)
            ends.splice(0, ends.length - MOST_TAKEN_BACK)
          },
          // What the pages said stays known: whoever has their records now has them with the same addresses.
          takeBack(appends) {
            end = ends.splice(-appends)[0] ?? end
            folder.cut(end)
          },
        }
  const isArchiving = folder !== undefined && settings.formats.includes('warc')
  const permits = fleet === undefined || settings.maxRate === undefined ? undefined : permitsOf(fleet, settings.maxRate)
  const shared = {
    frontier: watchedFrontier,
    settler: createSettler(watchedFrontier, output, { clock }),
    audit,
    worker: options.worker ?? seat?.login.worker ?? `local-${process.pid}`,
    slots,
    ...(settings.maxTimeMs === undefined ? {} : { maxTimeMs: settings.maxTimeMs }),
    // What all workers of a fleet have fetched together is for its coordinator, or for the member, to watch.
    ...(settings.maxBytes === undefined || fleet !== undefined ? {} : { maxBytes: settings.maxBytes }),
    ...(fleet === undefined ? {} : { stays: () => staysFor(fleet) }),
    onSettled: (settlement: Settlement) => {
      if (settlement.task.kind === 'page' && settlement.outcome.kind === 'done') pagesDone += 1
      announce(settlement)
    },
    ...(options.readyForMore === undefined ? {} : { readyForMore: options.readyForMore }),
  }
  const content =
    folder === undefined || options.outputFolder === undefined
      ? undefined
      : createContentFiles(options.outputFolder, options.disk === undefined ? {} : { disk: options.disk })
  const lookAgain = fleet === undefined ? {} : { lookAgainMs: LOOK_AGAIN_MS }
  const workshop = createWorkshop(settings, { ...options, clock, rng, fetcher, registry, seedScope, repetitions })
  const own = {
    ...lookAgain,
    audit,
    worker: shared.worker,
    isArchiving,
    drainMs: settings.drainMs,
    ...(permits === undefined ? {} : { rate: createRequestRate(permits, { clock }) }),
    tasks: workshop.tasks,
  }
  const prepare = async ({ record }: Settlement): Promise<void> => {
    if (record !== undefined) await folder?.prepare(record as OutputRecord)
  }
  const writeContent = async ({ record }: Settlement): Promise<void> => {
    if (record !== undefined) await content?.write(record as OutputRecord)
  }
  const engine =
    threads <= 1
      ? createEngine({
          ...shared,
          ...own,
          ...(folder === undefined
            ? {}
            : {
                beforeSettling: async (settlement) => {
                  await writeContent(settlement)
                  await prepare(settlement)
                },
              }),
        })
      : createCrew({
          ...shared,
          threads,
          own: (part) => createEngine({ ...own, ...part, beforeSettling: writeContent }),
          settings,
          seedScope,
          registry,
          repetitions,
          clock,
          rng,
          prepare,
          ...(permits === undefined ? {} : { permits }),
          thread: {
            ...lookAgain,
            ...(folder === undefined || options.outputFolder === undefined
              ? {}
              : { outputFolder: options.outputFolder }),
            isArchiving,
            wantsMarkdown: options.wantsMarkdown === true || settings.sink !== 'files',
            clockOrigin: origin,
          },
        })

  const addSeeds = async (): Promise<void> => {
    // First of all: whoever leases one of their pages must know what belongs to it.
    if (seeds.length > 0) await fleet?.crawl.addSeeds(seeds)
    for (let start = 0; start < seeds.length; start += SEED_PORTION) {
      await frontier.add(seeds.slice(start, start + SEED_PORTION).map((url) => seedFound(url, tierOf)))
    }
  }

  tellEngine = () => (isStoreInReach ? engine.storeBack() : engine.storeLost())
  if (!isStoreInReach) tellEngine()

  /** Seeds of a crawl on a store may have been added by others. */
  async function refreshSeeds(): Promise<void> {
    if (fleet === undefined) return
    seedScope.add((await fleet.crawl.seeds()).map((seed) => strip(seed as NormalizedUrl)))
  }

  /** A crawl that nobody has put a seed into is not over. */
  const staysFor = async (of: FleetFrontier): Promise<boolean> =>
    seat?.keep === true || (await of.stats()).discovered === 0

  function permitsOf(of: FleetFrontier, perSecond: number): (wanted: number) => Promise<number> {
    return (wanted) => of.crawl.takePermits(wanted, perSecond)
  }

  /** A store that is away must not keep the crawl from ending. What it is not told it finds out when leases run out. */
  const inTime = (farewell: Promise<void>): Promise<void> => {
    const said = new AbortController()
    const done = farewell.finally(() => said.abort())
    return Promise.race([done, clock.sleepUntil(clock.now() + CLOSE_MS, said.signal)]).catch(() => {})
  }

  const joinFleet = (of: FleetFrontier, at: FleetSeat): FleetMember =>
    startFleetMember(
      {
        fleet: of,
        maxBytes: settings.maxBytes,
        describe: () => ({
          id: at.login.worker,
          role: 'worker',
          host: at.machine,
          pid: at.pid,
          slots,
          inFlight: engine.inFlight,
          startedAt,
          done: pagesDone,
        }),
        onHalted(reason) {
          haltedBecause = reason
          engine.stop('halted')
        },
        onFailure: (error) => engine.fail(error),
      },
      { clock },
    )

  return {
    events,
    slots,
    async run() {
      const member = fleet === undefined || seat === undefined ? undefined : joinFleet(fleet, seat)
      note?.start()
      try {
        return await engine.run(addSeeds)
      } finally {
        if (member !== undefined) await inTime(member.stop())
        await note?.stop()
      }
    },
    stop: () => engine.stop(),
    abort: () => engine.abort(),
    stats: () => frontier.stats(),
    get isStoreInReach() {
      return isStoreInReach
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
      return nextAt
    },
    async close() {
      await workshop.close()
      await (isStoreInReach ? frontier.close() : inTime(frontier.close()))
      folder?.close()
      fingerprints.close()
    },
  }

  /** Without an output folder nothing is written, and what pages say is compared for as long as the process lives. */
  async function openOutput(
    committed: Readonly<Record<string, number>>,
    isNew: boolean,
  ): Promise<{ readonly folder?: OutputFolder; readonly fingerprints: Fingerprints }> {
    const { outputFolder: path, disk = createSystemDisk() } = options
    const maxEntries = settings.nearDuplicates
    if (path === undefined || settings.sink !== 'files') {
      return { fingerprints: openFingerprints(undefined, 0, { disk, maxEntries }) }
    }
    try {
      if (seat === undefined ? isNew && hasRecords(path, { disk }) : isForgotten(path, committed, disk)) {
        throw new TiptoeError('store', `${path} has records, but the store that knows of them is gone`, {
          hint: 'put the folder state/ back, or start over with --fresh',
        })
      }
      disk.makeFolder(stateFolder(path))
      // Whoever reads the folder must not count on what is cut off now.
      if (seat !== undefined) await writeCommitted(path, committed, { disk })
      const folder = openOutputFolder(path, committed, {
        disk,
        ...(settings.formats.includes('warc') ? { archive: archiveOptions(disk) } : {}),
      })
      const known = committed[FINGERPRINTS] ?? 0
      return { folder, fingerprints: openFingerprints(join(path, FINGERPRINTS), known, { disk, maxEntries }) }
    } catch (error) {
      // What went wrong here is what is told.
      frontier.close().catch(() => {})
      throw error
    }
  }

  function archiveOptions(disk: Disk): ArchiveOptions {
    const { ignoreRobotsBecause, userAgent, archiveBytes: maxFileBytes } = settings
    const robots = ignoreRobotsBecause === undefined ? 'obey' : `ignored: ${ignoreRobotsBecause}`
    return { maxFileBytes, userAgent, robots, newUuid: randomUUID, clock, disk, ...options.archive }
  }
}

/**
 * Whoever has a worker's folder has it alone, so an earlier process of that name is dead, if it was on this machine. One
 * on another machine may be at work with a copy of the folder: its leases are its own.
 */
async function disownTheDead(fleet: FleetFrontier, { login, machine }: FleetSeat): Promise<void> {
  const earlier = (await fleet.crawl.members()).find(({ id }) => id === login.worker)
  if (earlier?.host === machine) await fleet.disown()
}

/** A worker's folder with records that were committed, and a store that has never heard of the worker. */
function isForgotten(path: string, committed: Readonly<Record<string, number>>, disk: Disk): boolean {
  const before = readCommitted(path, { disk }) ?? {}
  return Object.keys(committed).length === 0 && Object.values(before).some((length) => length > 0)
}

/** A seed as the frontier is given it. */
export function seedFound(url: NormalizedUrl, tierOf: (url: NormalizedUrl) => Tier | undefined): FoundUrl {
  const tier = tierOf(url)
  return { url, kind: 'page', depth: 0, via: 'seed', ...(tier === undefined ? {} : { tier }) }
}

/** What is passed in as code cannot be handed to a thread: then the crawl works where it is. */
function threadsOf({ settings, clock, fetcher, reader, rng, lookup, disk }: CrawlOptions): number {
  const isOwn = [clock, fetcher, reader, rng, lookup, disk].some((passedIn) => passedIn !== undefined)
  return isOwn ? 0 : (settings.threads ?? availableParallelism())
}
