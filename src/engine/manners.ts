/**
 * What is known of hosts and watched of requests, made from the settings: policies and robots.txt rules in the registry,
 * and the audit that holds every request against them.
 */
import type { Clock } from '../base/index.ts'
import { crawlDelayInForce, type Settings } from '../config/index.ts'
import type { HostKey, HostRecord, ImpoliteRequest, NormalizedUrl, RobotsRecord } from '../model/index.ts'
import {
  createHostRegistry,
  createPolitenessAudit,
  type HostRegistry,
  type PolitenessAudit,
} from '../politeness/index.ts'
import { hostKey } from '../url/index.ts'
import { productTokenOf } from './product-token.ts'

export interface Manners {
  readonly registry: HostRegistry
  readonly audit: PolitenessAudit
  /** The audit goes by this robots.txt from now on: it is kept for everyone, and no lease is granted against it. */
  heed(record: RobotsRecord): void
}

export function createManners(
  settings: Settings,
  deps: {
    readonly clock: Clock
    /** Where hosts are kept. */
    loadHost(host: HostKey): Promise<HostRecord | undefined>
    onViolation(request: ImpoliteRequest): void
  },
): Manners {
  const registry = createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
    sites: settings.sites,
    productToken: productTokenOf(settings.userAgent),
    load: (host) => deps.loadHost(host),
    onRecord: (record) => heed(record),
  })
  const audit = createPolitenessAudit({
    clock: deps.clock,
    policyOf: (host) => registry.policyOf(host),
    onViolation: (request) => deps.onViolation(request),
  })
  const heed = ({ origin, crawlDelayMs: askedMs }: RobotsRecord): void =>
    audit.crawlDelay(hostKey(`${origin}/` as NormalizedUrl), origin, crawlDelayInForce(askedMs, settings))
  return { registry, audit, heed }
}
