/**
 * Hosts that share a pace in a plan: those of one registrable domain, or at one address, where the settings pace by
 * them. The requests of all of them come one after another, as those of one host do.
 */
import type { Settings } from '../../config/index.ts'
import type { HostKey } from '../../model/index.ts'
import { registrableDomain } from '../../url/index.ts'
import { chainMs } from './chain.ts'
import type { PlannedWeb } from './planned-web.ts'
import type { Plan } from './run-plan.ts'

export type SharedBy = 'domain' | 'address'

export interface GroupChain {
  readonly by: SharedBy
  readonly name: string
  readonly hosts: number
  readonly requests: number
  readonly delayMs: number
  /** The least time that the requests of all its hosts take, one after another. */
  readonly chainMs: number
}

/** The group of several hosts that takes longest; undefined where no hosts share a pace. */
export function longestGroup(web: PlannedWeb, plan: Plan, settings: Settings): GroupChain | undefined {
  const all = [
    ...groupsBy('domain', settings.perDomainDelayMs, web, plan),
    ...groupsBy('address', settings.perIpDelayMs, web, plan),
  ]
  return all.reduce<GroupChain | undefined>(
    (longest, group) => (longest === undefined || group.chainMs > longest.chainMs ? group : longest),
    undefined,
  )
}

function groupsBy(by: SharedBy, delayMs: number, web: PlannedWeb, plan: Plan): GroupChain[] {
  if (delayMs === 0) return []
  const sums = new Map<string, { hosts: number; requests: number; waitedMs: number }>()
  for (const [host, { requests, waitedMs }] of plan.hosts) {
    const name = by === 'domain' ? registrableDomain(host as HostKey) : web.addressOf(host)
    if (name === undefined) continue
    const sum = sums.get(name) ?? { hosts: 0, requests: 0, waitedMs: 0 }
    sums.set(name, { hosts: sum.hosts + 1, requests: sum.requests + requests, waitedMs: sum.waitedMs + waitedMs })
  }
  return [...sums]
    .filter(([, { hosts, requests }]) => hosts > 1 && requests > 0)
    .map(([name, { hosts, requests, waitedMs }]) => {
      const chain = { requests, latencyMs: waitedMs / requests, delayMs, concurrency: 1 }
      return { by, name, hosts, requests, delayMs, chainMs: chainMs(chain) }
    })
}
