/** Every URL of a crawl, every host's turn, and every permission to talk to a host. See contract.ts. */
import { createSystemClock, type Clock } from '../base/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Frontier, FrontierOptions } from './contract.ts'
import { openEmbeddedFrontier } from './embedded/index.ts'
import { createMemoryFrontier } from './memory/index.ts'

export type * from './contract.ts'
export {
  createMemoryDatabase,
  isLocked,
  openInspector,
  type HostView,
  type Inspector,
  type MemoryDatabase,
  type UrlView,
} from './embedded/index.ts'

/** The pace of a host when nothing else is said: one request at a time, a second apart. */
const DEFAULT_POLICY = { delayMs: 1_000, concurrency: 1 }
/** Longer than the longest request (60 s in all) with time to spare for what follows it. */
const DEFAULT_LEASE_MS = 120_000

export interface CreateFrontierOptions extends Partial<FrontierOptions> {
  /** `memory`, or the folder of an embedded store. */
  readonly store: string
  readonly clock?: Clock
  /** Hosts kept in memory beside the leased ones; 20,000 when absent. What is dropped is read again. */
  readonly hostsKept?: number
}

/** Opens the frontier of a crawl, making it if it is not there. */
export function createFrontier(options: CreateFrontierOptions): Frontier {
  const { store, clock = createSystemClock() } = options
  const settings = {
    policyOf: options.policyOf ?? (() => DEFAULT_POLICY),
    crawlDelayMs: options.crawlDelayMs ?? ((askedMs) => askedMs),
    latency: options.latency ?? { factor: 0, maxDelayMs: 0 },
    groups: options.groups ?? { domainDelayMs: 0, addressDelayMs: 0 },
    maxPages: options.maxPages,
    maxDepth: options.maxDepth,
    leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
    hostsKept: options.hostsKept,
  }
  if (store.includes('://')) {
    throw new TiptoeError('usage', `no frontier can be opened at ${store}`, {
      hint: "a store is 'memory' or a folder; Redis is not supported yet",
    })
  }
  return store === 'memory'
    ? createMemoryFrontier(settings, { clock })
    : openEmbeddedFrontier(store, settings, { clock })
}
