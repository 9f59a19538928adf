/** What a frontier is told of a crawl: the same for whoever opens it, be it to work, to seed or to look after it. */
import {
  crawlDelayInForce,
  leaseTimeInForce,
  quotasOf,
  recrawlOptionsOf,
  scoreOptionsOf,
  type Settings,
} from '../config/index.ts'
import type { FrontierOptions } from '../frontier/index.ts'

/** Beside the longest request, what a lease allows for: the request before it, and work after both. */
const LEASE_MARGIN_MS = 60_000

export interface FrontierCircumstances {
  readonly policyOf: FrontierOptions['policyOf']
  /** Leases of a fleet are short, since its workers may be lost; those of one process end with it. */
  readonly isFleet: boolean
  /** What is due now is fetched again, and then the crawl ends, whatever the settings say. */
  readonly once: boolean
}

export function frontierOptionsOf(
  settings: Settings,
  { policyOf, isFleet, once }: FrontierCircumstances,
): FrontierOptions {
  return {
    policyOf,
    crawlDelayMs: (askedMs) => crawlDelayInForce(askedMs, settings),
    latency: { factor: settings.latencyFactor, maxDelayMs: settings.latencyMaxDelayMs },
    groups: { domainDelayMs: settings.perDomainDelayMs, addressDelayMs: settings.perIpDelayMs },
    maxPages: settings.maxPages,
    maxDepth: settings.maxDepth,
    maxPagesPerHost: settings.maxPagesPerHost,
    leaseMs: isFleet ? leaseTimeInForce(settings) : 2 * settings.timeoutMs + LEASE_MARGIN_MS,
    quotas: quotasOf(settings),
    score: scoreOptionsOf(settings),
    recrawl: recrawlOptionsOf(settings, once ? 'once' : settings.recrawl ? 'on' : 'off'),
    traps: settings.traps,
  }
}
