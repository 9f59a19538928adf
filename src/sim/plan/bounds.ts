/** What bounds a planned crawl: the hosts with the longest chains of requests, the slots or the machine. */
import type { Settings } from '../../config/index.ts'
import type { HostKey } from '../../model/index.ts'
import { productTokenOf } from '../../engine/index.ts'
import { createHostRegistry } from '../../politeness/index.ts'
import type { PlannedHost, PlannedWeb } from './planned-web.ts'
import type { Plan } from './run-plan.ts'

/** The delay that a host is asked with, and where it comes from. */
export interface DelayInForce {
  readonly delayMs: number
  readonly from: 'policy' | 'Crawl-delay' | 'latency'
}

export interface HostChain extends DelayInForce {
  readonly host: string
  readonly pages: number
  readonly requests: number
  readonly latencyMs: number
  /** The least time that its requests take one after another: their answers, and the delays between them. */
  readonly chainMs: number
  /** When its last answer came, in the plan. */
  readonly endMs: number
}

export type Bound = 'host' | 'slots' | 'machine' | 'limit' | 'several'

/** From this share of the time on, one thing alone bounds the crawl. */
const DECISIVE = 0.85

/** Hosts by the length of their chains, the longest first; at most `count`. */
export function longestChains(web: PlannedWeb, plan: Plan, settings: Settings, count: number): HostChain[] {
  const delayOf = createDelayRule(settings)
  const chains: HostChain[] = []
  for (const planned of web.hosts()) {
    const visit = plan.hosts.get(planned.host)
    if (visit === undefined) continue
    const { concurrency, ...delay } = delayOf(planned)
    const latencyMs = visit.requests === 0 ? planned.latencyMs : visit.waitedMs / visit.requests
    const chainMs = visit.requests * latencyMs + Math.max(0, visit.requests - 1) * delay.delayMs
    chains.push({
      host: planned.host,
      pages: planned.pages,
      requests: visit.requests,
      latencyMs,
      ...delay,
      chainMs: chainMs / concurrency,
      endMs: visit.endMs,
    })
    if (chains.length > 4 * count) keepLongest(chains, count)
  }
  keepLongest(chains, count)
  return chains
}

function keepLongest(chains: HostChain[], count: number): void {
  chains.sort((a, b) => b.chainMs - a.chainMs)
  chains.length = Math.min(chains.length, count)
}

/** The delay of each host by what is known of it before the crawl. */
export function createDelayRule(
  settings: Settings,
): (host: PlannedHost) => DelayInForce & { readonly concurrency: number } {
  const registry = createHostRegistry({
    defaultPolicy: { delayMs: settings.delayMs, concurrency: settings.perHost },
    sites: settings.sites,
    productToken: productTokenOf(settings.userAgent),
    load: async () => undefined,
  })
  return ({ host, latencyMs, crawlDelayMs }) => {
    const policy = registry.policyOf(host as HostKey)
    const asked = settings.respectCrawlDelay ? Math.min(crawlDelayMs, settings.maxCrawlDelayMs) : 0
    const slow = policy.delayMs > 0 ? Math.min(settings.latencyFactor * latencyMs, settings.latencyMaxDelayMs) : 0
    const delayMs = Math.max(policy.delayMs, asked, slow)
    const from = delayMs === policy.delayMs ? 'policy' : delayMs === asked ? 'Crawl-delay' : 'latency'
    return { delayMs, from, concurrency: policy.concurrency }
  }
}

export function boundOf(plan: Plan, longest: HostChain | undefined): Bound {
  if (plan.end !== 'finished') return 'limit'
  if (longest !== undefined && longest.chainMs >= DECISIVE * plan.durationMs) return 'host'
  if (plan.machineUse >= DECISIVE) return 'machine'
  return plan.slotUse >= DECISIVE ? 'slots' : 'several'
}

/** The fewest slots beyond which nothing is won: within 2 % of the shortest duration. */
export function enoughSlots(plans: readonly Plan[]): number | undefined {
  const shortest = Math.min(...plans.map(({ durationMs }) => durationMs))
  return plans.find(({ durationMs }) => durationMs <= 1.02 * shortest)?.slots
}
