/** The rules that a crawl decides by, for commands that only look at it, wherever its state is. */
import type { Settings } from '../config/index.ts'
import { queuedIn } from '../frontier/index.ts'
import type { HostKey, HostRecord, NormalizedUrl } from '../model/index.ts'
import type { HostRegistry, HostRegistryOptions } from '../politeness/index.ts'
import { createParameterStripper, createScope, type ParameterStripper, type Scope } from '../url/index.ts'
import { registryOf } from './store-operand.ts'

export interface CrawlRules {
  readonly scope: Scope
  /** URLs as the crawl knows them, without what it does not tell them by. */
  readonly strip: ParameterStripper
  /** Policies by configuration, and verdicts by the robots.txt files that the store has. */
  readonly registry: HostRegistry
}

export function crawlRules(
  settings: Settings,
  seeds: readonly NormalizedUrl[],
  load: HostRegistryOptions['load'],
): CrawlRules {
  const strip = createParameterStripper(settings.stripParameters)
  const { scope: mode, include, exclude } = settings
  return {
    strip,
    scope: createScope({ mode, seeds: seeds.map(strip), include, exclude }),
    registry: registryOf(settings, { load }),
  }
}

/** What an inspector says of a host. */
type Inspected = Pick<
  HostRecord,
  'answeredAt' | 'blockedUntil' | 'blockedReason' | 'health' | 'address' | 'closestMs'
> & { readonly lanes: readonly Parameters<typeof queuedIn>[0][] }

/** A host as the registry knows it. Its pace is the registry's own to say. */
export function hostRecordOf(key: HostKey, host: Inspected, robots: HostRecord['robots']): HostRecord {
  const { answeredAt, blockedUntil, blockedReason, health, address, closestMs } = host
  return {
    host: key,
    delayMs: 0,
    concurrency: 1,
    answeredAt,
    blockedUntil,
    blockedReason,
    health,
    address,
    closestMs,
    queued: host.lanes.reduce((sum, lane) => sum + queuedIn(lane), 0),
    robots,
  }
}
