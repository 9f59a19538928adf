/** Every URL of a crawl, every host's turn, and every permission to talk to a host. See contract.ts. */
import { createSystemClock, type Clock } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Frontier, FrontierOptions } from './contract.ts'
import {
  DEFAULT_BLOOM,
  DEFAULT_LEASE_MS,
  DEFAULT_POLICY,
  DEFAULT_QUOTAS,
  DEFAULT_RECRAWL,
  DEFAULT_SCORE,
} from './defaults.ts'
import { openEmbeddedFrontier } from './embedded/index.ts'
import { createMemoryFrontier } from './memory/index.ts'
import { FLEET_LEASE_MS, isStoreUrl, openRedisFrontier, type FleetFrontier, type FleetOptions } from './redis/index.ts'

export type * from './contract.ts'
export { DEFAULT_QUOTAS, DEFAULT_RECRAWL, DEFAULT_SCORE } from './defaults.ts'
export {
  createMemoryDatabase,
  isLocked,
  openEmbeddedSource,
  openEmbeddedTarget,
  openInspector,
  type Bar,
  type EmbeddedSource,
  type EmbeddedTarget,
  type EmbeddedWriter,
  type HostView,
  type Inspector,
  type MemoryDatabase,
  type UrlView,
} from './embedded/index.ts'
export { hostImportance, hostScore } from './importance.ts'
export {
  createInspector,
  type FleetHost,
  type FleetInspector,
  type FleetTally,
  type PartitionView,
} from './redis/inspector.ts'
export {
  connectRedis,
  createCrawlRecord,
  DEFAULT_PARTITIONS,
  FLEET_LEASE_MS,
  isStoreUrl,
  parseStoreUrl,
  readAuthority,
  redactStoreUrl,
  type FleetCrawl,
  type FleetFrontier,
  type FleetOptions,
  type LinkTrouble,
  type Member,
  type RedisConnection,
  type RedisOptions,
  type ServerNode,
  type ServerReport,
} from './redis/index.ts'
export { openMovingStore, type MovingStore } from './redis/transfer-store.ts'
export { foundByLink, withLinksSpelledOut } from './settled-links.ts'
export type { Row as FleetRow } from './redis/row.ts'
export { moveIn } from './redis/transfer-in.ts'
export { barPartitions } from './redis/transfer-target.ts'
export { countsOf, differenceOf, totalsOf, type CarriedHost, type CarriedUrl } from './transfer.ts'
export {
  bestIntervalMs,
  emptyRecrawlState,
  hintModified,
  observeChange,
  planVisit,
  retireVisit,
  type ChangeBelief,
  type PlanVisitInput,
  type RecrawlInterval,
  type RecrawlState,
} from './recrawl.ts'
export { scoreOf, scoreParts, type ScoreInputs, type ScoreParts } from './score.ts'
export { queuedIn, type VisitRow } from './storage.ts'

export interface CreateFrontierOptions extends Partial<FrontierOptions>, FleetOptions {
  /** `memory`, the folder of an embedded store, or the address of servers: `redis://host`, `redis-cluster://host,host`. */
  readonly store: string
  readonly clock?: Clock
  /** Hosts kept in memory beside the leased ones; 131,072 when absent. What is dropped is read again. */
  readonly hostsKept?: number
  /** The filter in front of the exact set of URLs: how many URLs it covers, and how often it may be wrong. */
  readonly bloom?: { readonly capacity: number; readonly falsePositiveRate: number }
}

/** Opens the frontier of a crawl, making it if it is not there. One on servers is a `FleetFrontier`. */
export function createFrontier(options: CreateFrontierOptions): Frontier | FleetFrontier {
  const { store, clock = createSystemClock() } = options
  const settings = {
    policyOf: options.policyOf ?? (() => DEFAULT_POLICY),
    crawlDelayMs: options.crawlDelayMs ?? ((askedMs) => askedMs),
    latency: options.latency ?? { factor: 0, maxDelayMs: 0 },
    groups: options.groups ?? { domainDelayMs: 0, addressDelayMs: 0 },
    maxPages: options.maxPages,
    maxDepth: options.maxDepth,
    maxPagesPerHost: options.maxPagesPerHost,
    leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
    quotas: options.quotas ?? DEFAULT_QUOTAS,
    score: options.score ?? DEFAULT_SCORE,
    recrawl: options.recrawl ?? DEFAULT_RECRAWL,
    traps: options.traps ?? false,
    hostsKept: options.hostsKept,
  }
  if (isStoreUrl(store)) {
    const { crawl, worker, partitions, stream, password, caFile } = options
    const fleet = { crawl, worker, partitions, stream, password, caFile }
    const given = Object.fromEntries(Object.entries(fleet).filter(([, value]) => value !== undefined)) as FleetOptions
    return openRedisFrontier(store, { ...settings, leaseMs: options.leaseMs ?? FLEET_LEASE_MS, ...given }, { clock })
  }
  if (store.includes('://')) {
    throw new TiptoeError('usage', `no frontier can be opened at ${store}`, {
      hint: "a store is 'memory', a folder, or an address like redis://host:6379",
    })
  }
  return store === 'memory'
    ? createMemoryFrontier(settings, { clock })
    : openEmbeddedFrontier(store, { ...settings, bloom: options.bloom ?? DEFAULT_BLOOM }, { clock })
}
