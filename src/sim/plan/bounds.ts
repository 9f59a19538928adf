/** What bounds a planned crawl: the hosts with the longest chains of requests, what they share, the slots or the machine. */
import type { Settings } from '../../config/index.ts'
import type { HostKey } from '../../model/index.ts'
import { productTokenOf } from '../../engine/index.ts'
import { createHostRegistry } from '../../politeness/index.ts'
import { chainMs } from './chain.ts'
import type { PlannedHost, PlannedWeb } from './planned-web.ts'
import type { Plan } from './run-plan.ts'
import type { GroupChain, SharedBy } from './shared-pace.ts'

/** The delay that a host is asked with, and where it comes from. */
export interface DelayInForce {
  readonly delayMs: number
  readonly from: 'policy' | 'Crawl-delay' | 'latency' | SharedBy
}

export interface HostChain extends DelayInForce {
  readonly host: string
  readonly pages: number
  readonly requests: number
  readonly latencyMs: number
  /** The least time that its requests take: their answers, the delays between them, and the pause it asks for. */
  readonly chainMs: number
  /** When its last answer came, in the plan. */
  readonly endMs: number
}

export type Bound = 'host' | SharedBy | 'slots' | 'machine' | 'limit' | 'several'

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
    const pauseMs = 1_000 * (web.refusalOf(planned.host)?.retryAfterSeconds ?? 0)
    const pacedMs = chainMs({ requests: visit.requests, latencyMs, delayMs: delay.delayMs, concurrency })
    chains.push({
      host: planned.host,
      pages: planned.pages,
      requests: visit.requests,
      latencyMs,
      ...delay,
      // The delay that follows the refusal is part of the pause. Beside others it cannot have been faster than alone;
      // where it seems so, its first requests came before its latency was known.
      chainMs: Math.min(pacedMs + Math.max(0, pauseMs - delay.delayMs), visit.endMs),
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
  // A domain or an address has one request in flight, and so has each host of it.
  const sharesPace = settings.perDomainDelayMs > 0 || settings.perIpDelayMs > 0
  return ({ host, latencyMs, crawlDelayMs }) => {
    const policy = registry.policyOf(host as HostKey)
    const asked = settings.respectCrawlDelay ? Math.min(crawlDelayMs, settings.maxCrawlDelayMs) : 0
    const slow = policy.delayMs > 0 ? Math.min(settings.latencyFactor * latencyMs, settings.latencyMaxDelayMs) : 0
    const delays: readonly (readonly [number, DelayInForce['from']])[] = [
      [policy.delayMs, 'policy'],
      [asked, 'Crawl-delay'],
      [slow, 'latency'],
      [settings.perDomainDelayMs, 'domain'],
      [settings.perIpDelayMs, 'address'],
    ]
    const [delayMs, from] = delays.reduce((longest, delay) => (delay[0] > longest[0] ? delay : longest))
    return { delayMs, from, concurrency: sharesPace ? 1 : policy.concurrency }
  }
}

export function boundOf(plan: Plan, longest: HostChain | undefined, group?: GroupChain): Bound {
  if (plan.end !== 'finished') return 'limit'
  const isDecisive = group !== undefined && group.chainMs >= DECISIVE * plan.durationMs
  if (isDecisive && group.chainMs > (longest?.chainMs ?? 0)) return group.by
  if (longest !== undefined && longest.chainMs >= DECISIVE * plan.durationMs) return 'host'
  if (plan.machineUse >= DECISIVE) return 'machine'
  return plan.slotUse >= DECISIVE ? 'slots' : 'several'
}

/** The fewest slots beyond which nothing is won: within 2 % of the shortest duration. */
export function enoughSlots(plans: readonly Plan[]): number | undefined {
  const shortest = Math.min(...plans.map(({ durationMs }) => durationMs))
  return plans.find(({ durationMs }) => durationMs <= 1.02 * shortest)?.slots
}
