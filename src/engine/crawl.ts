/**
 * A crawl put together: frontier, fetcher, registry, scope, output and engine, from settings. The owner of all of
 * them; whoever opens a crawl runs it and closes it.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createSystemClock, createSystemDisk, createRng, type Clock, type Disk, type Rng } from '../base/index.ts'
import {
  concurrentFetches,
  crawlDelayInForce,
  quotasOf,
  recrawlOptionsOf,
  scoreOptionsOf,
  type Settings,
} from '../config/index.ts'
import type { Fetcher, FetcherOptions } from '../fetch/index.ts'
import {
  createFrontier,
  type Frontier,
  type FrontierOptions,
  type FrontierStats,
  type Settlement,
} from '../frontier/index.ts'
import {
  TiptoeError,
  type CrawlEvents,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type Tier,
} from '../model/index.ts'
import { createHostRegistry, createPolitenessAudit } from '../politeness/index.ts'
import { createReader, type Reader } from '../reading/index.ts'
import {
  hasRecords,
  openFingerprints,
  openOutputFolder,
  type ArchiveOptions,
  type Fingerprints,
  type OutputFolder,
  type OutputRecord,
} from '../sink/index.ts'
import { createEventBus, type EventBus } from '../telemetry/index.ts'
import { compilePattern, createParameterStripper, createScope, hostKey, registrableDomain } from '../url/index.ts'
import { stateFolder } from './crawl-folder.ts'
import { createEngine, type EndReason } from './engine.ts'
import { createFetcherOf } from './fetcher.ts'
import { createRepetitionJudge } from './repetition.ts'
import { productTokenOf } from './product-token.ts'

/** Below the output folder. */
const FINGERPRINTS = 'state/fingerprints'
/** Seeds are handed over in portions, so that a long list does not stand in one transaction. */
const SEED_PORTION = 1_000
/** Beside the longest request, what a lease allows for: the request before it, and work after both. */
const LEASE_MARGIN_MS = 60_000

export interface CrawlOptions {
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
  /** `memory`, or the folder of the embedded store. */
  readonly store: string
  /** The output folder; absent when records are only handed to listeners. */
  readonly outputFolder?: string
  /** What is due now is fetched again, and then the crawl ends, whatever the settings say. */
  readonly once?: boolean
  readonly readyForMore?: () => Promise<void>
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
  readonly slots: number
  readonly inFlight: number
  readonly drainUntil: number | undefined
  /** When the crawl will have something to do by itself (clock ms), as the frontier said last; null for never. */
  readonly nextAt: number | null
  /** Lets go of store, output, threads and sockets. */
  close(): Promise<void>
}

export async function openCrawl(options: CrawlOptions): Promise<Crawl> {
  const { settings, clock = createSystemClock(), rng = createRng(randomSeed()) } = options
  const strip = createParameterStripper(settings.stripParameters)
  const seeds = options.seeds.map(strip)
  const events = createEventBus<CrawlEvents>()
  const productToken = productTokenOf(settings.userAgent)
  const scope = createScope({ mode: settings.scope, seeds, include: settings.include, exclude: settings.exclude })
  const tierOf = createTierRules(settings)
  const slots = concurrentFetches(settings)
  // First of all: it may need secrets that are not there.
  const fetcher = options.fetcher ?? createFetcherOf(settings, { clock, lookup: options.lookup })

  // The frontier asks the registry for policies, and the registry asks the frontier for what is kept of a host.
  const registry = createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
    sites: settings.sites,
    productToken,
    load: (host) => frontier.host(host),
    onRecord: (record) => auditCrawlDelay(record),
  })
  /** From when it is kept for everyone: then no lease is granted against it. */
  const auditCrawlDelay = ({ origin, crawlDelayMs: askedMs }: RobotsRecord): void =>
    audit.crawlDelay(hostKey(`${origin}/` as NormalizedUrl), origin, crawlDelayMs(askedMs))
  const crawlDelayMs = (askedMs: number): number => crawlDelayInForce(askedMs, settings)
  const bloom = { capacity: settings.bloomFilterSize, falsePositiveRate: settings.falsePositiveRate }
  const openFrontier =
    options.openFrontier ??
    ((wanted: FrontierOptions) => createFrontier({ ...wanted, store: options.store, clock, bloom }))
  const frontier: Frontier = openFrontier({
    policyOf: (host) => registry.policyOf(host),
    crawlDelayMs,
    latency: { factor: settings.latencyFactor, maxDelayMs: settings.latencyMaxDelayMs },
    groups: { domainDelayMs: settings.perDomainDelayMs, addressDelayMs: settings.perIpDelayMs },
    maxPages: settings.maxPages,
    maxDepth: settings.maxDepth,
    maxPagesPerHost: settings.maxPagesPerHost,
    leaseMs: 2 * settings.timeoutMs + LEASE_MARGIN_MS,
    quotas: quotasOf(settings),
    score: scoreOptionsOf(settings),
    recrawl: recrawlOptionsOf(settings, options.once === true ? 'once' : settings.recrawl ? 'on' : 'off'),
    traps: settings.traps,
  })
  const audit = createPolitenessAudit({
    clock,
    policyOf: (host) => registry.policyOf(host),
    onViolation: (request) => events.emit('impolite', request),
  })
  const { output: position, discovered } = await frontier.stats()
  const { folder, fingerprints } = openOutput(position, discovered === 0)
  const reader = options.reader ?? createReader({ threads: settings.threads }, { clock })

  const recordsOf = (settlements: readonly Settlement[]): OutputRecord[] =>
    settlements.flatMap(({ record }) => (record === undefined ? [] : [record as OutputRecord]))
  const announce = (settlement: Settlement): void => {
    const { task, outcome, host, record, robots } = settlement
    if (robots !== undefined) auditCrawlDelay(robots)
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
  const engine = createEngine({
    frontier: {
      ...frontier,
      async lease(request) {
        const answer = await frontier.lease(request)
        nextAt = answer.nextAt
        return answer
      },
    },
    ...(folder === undefined
      ? {}
      : {
          output: {
            append(accepted) {
              const lengths = folder.append(recordsOf(accepted))
              fingerprints.write()
              fingerprints.sync()
              return { ...lengths, [FINGERPRINTS]: fingerprints.length }
            },
          },
          beforeSettling: async ({ record }) => {
            if (record !== undefined) await folder.writeContent(record as OutputRecord)
          },
        }),
    worker: options.worker ?? `local-${process.pid}`,
    slots,
    audit,
    drainMs: settings.drainMs,
    ...(settings.maxTimeMs === undefined ? {} : { maxTimeMs: settings.maxTimeMs }),
    ...(settings.maxBytes === undefined ? {} : { maxBytes: settings.maxBytes }),
    onSettled: announce,
    ...(options.readyForMore === undefined ? {} : { readyForMore: options.readyForMore }),
    tasks: {
      settings,
      clock,
      rng,
      fetcher,
      reader,
      registry,
      scope,
      productToken,
      tierOf,
      strip,
      isOurs: createSiteRule(settings, seeds),
      repetitions: createRepetitionJudge(fingerprints),
    },
  })

  const addSeeds = async (): Promise<void> => {
    for (let start = 0; start < seeds.length; start += SEED_PORTION) {
      const portion = seeds.slice(start, start + SEED_PORTION).map((url) => {
        const tier = tierOf(url)
        return { url, kind: 'page', depth: 0, via: 'seed', ...(tier === undefined ? {} : { tier }) } as const
      })
      await frontier.add(portion)
    }
  }

  return {
    events,
    slots,
    async run() {
      await addSeeds()
      return engine.run()
    },
    stop: () => engine.stop(),
    abort: () => engine.abort(),
    stats: () => frontier.stats(),
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
      await fetcher.close()
      await reader.close()
      await frontier.close()
      folder?.close()
      fingerprints.close()
    },
  }

  /** Without an output folder nothing is written, and what pages say is compared for as long as the process lives. */
  function openOutput(
    committed: Readonly<Record<string, number>>,
    isNew: boolean,
  ): { readonly folder?: OutputFolder; readonly fingerprints: Fingerprints } {
    const { outputFolder: path, disk = createSystemDisk() } = options
    const maxEntries = settings.nearDuplicates
    if (path === undefined) return { fingerprints: openFingerprints(undefined, 0, { disk, maxEntries }) }
    try {
      if (isNew && hasRecords(path, { disk })) {
        throw new TiptoeError('store', `${path} has records, but the store that knows of them is gone`, {
          hint: 'put the folder state/ back, or start over with --fresh',
        })
      }
      const folder = openOutputFolder(path, committed, {
        disk,
        ...(settings.formats.includes('warc') ? { archive: archiveOptions(disk) } : {}),
      })
      disk.makeFolder(stateFolder(path))
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

/** Which origins can have pages in scope, by the host or domain of the seeds. */
function createSiteRule(settings: Settings, seeds: readonly NormalizedUrl[]): (origin: Origin) => boolean {
  if (settings.scope === 'any') return () => true
  const siteOf = (url: NormalizedUrl): string =>
    settings.scope === 'domain' ? registrableDomain(hostKey(url)) : hostKey(url)
  const sites = new Set(seeds.map(siteOf))
  return (origin) => sites.has(siteOf(`${origin}/` as NormalizedUrl))
}

function createTierRules(settings: Settings): (url: NormalizedUrl) => Tier | undefined {
  const rules = settings.tiers.map(({ match, tier }) => ({ pattern: compilePattern(match), tier }))
  return (url) => rules.find(({ pattern }) => pattern.matches(url))?.tier
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number
}
