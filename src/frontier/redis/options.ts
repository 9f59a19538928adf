/** What every script is told of the crawl, the same in each call: OPTIONS in shared/partition.lua. */
import type { FingerprintKey } from '../../base/index.ts'
import type { FrontierOptions } from '../contract.ts'
import { LEASE_EXTENSIONS } from '../schedule.ts'

/**
 * The layout of everything that is kept on the servers. Raised when a record changes its meaning, or when something is kept
 * that every writer has to keep up; a store with another one is refused. 2: partitions know which orders of hosts are in
 * use, so a host that is put into one by a worker that does not say so would never be looked at.
 */
export const LAYOUT = 2

/** More would not fit into a fence beside its counter. */
export const MOST_PARTITIONS = 1_024
export const DEFAULT_PARTITIONS = 16

/** What a crawl is, wherever it is opened from. */
export interface CrawlIdentity {
  readonly crawl: string
  /** Drawn when the crawl was made. State of another generation is another crawl's. */
  readonly generation: string
  readonly partitions: number
  /** How fingerprints are made; follows from the generation. */
  readonly key: FingerprintKey
}

export interface ScriptSettings extends FrontierOptions {
  /** How long a partition keeps quiet after its server changed, beside the pace of each host. */
  readonly quietMs: number
  /** Records go to a stream of their partition. */
  readonly stream: boolean
}

/** OPTIONS for one partition, as JSON. What is undefined is absent. */
export function scriptOptions(identity: CrawlIdentity, partition: number, settings: ScriptSettings): string {
  const { weights, tiers } = settings.score
  const { high, medium, low } = settings.recrawl.intervals
  return JSON.stringify({
    crawl: identity.crawl,
    generation: identity.generation,
    partition,
    partitions: identity.partitions,
    layout: LAYOUT,
    quietMs: settings.quietMs,
    leaseMs: settings.leaseMs,
    extensions: LEASE_EXTENSIONS,
    latencyFactor: settings.latency.factor,
    latencyMaxDelayMs: settings.latency.maxDelayMs,
    domainDelayMs: settings.groups.domainDelayMs,
    addressDelayMs: settings.groups.addressDelayMs,
    maxPages: settings.maxPages,
    maxPagesPerHost: settings.maxPagesPerHost,
    maxDepth: settings.maxDepth,
    traps: settings.traps,
    recrawl: {
      mode: settings.recrawl.mode,
      least: { high: high.leastMs, medium: medium.leastMs, low: low.leastMs },
    },
    weights,
    tierHigh: tiers.high,
    tierLow: tiers.low,
    stream: settings.stream,
  })
}
