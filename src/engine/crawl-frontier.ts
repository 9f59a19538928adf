/** The frontier of a crawl: opened by the settings, and watched by whoever runs the crawl. */
import type { Clock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import { createFrontier, type Frontier, type FrontierOptions } from '../frontier/index.ts'
import type { HostRegistry } from '../politeness/index.ts'
import type { FleetSeat } from './fleet/fleet-seat.ts'
import { connectFleet } from './fleet/fleet-store.ts'
import { frontierOptionsOf } from './frontier-options.ts'
import type { SeedScope } from './seed-scope.ts'

export interface CrawlFrontierOptions {
  readonly settings: Settings
  /** `memory`, or the folder of the embedded store; of no meaning for a crawl of a fleet. */
  readonly store: string
  readonly fleet?: FleetSeat
  readonly once?: boolean
  /** Instead of those that the settings name. */
  readonly openFrontier?: (options: FrontierOptions) => Frontier
}

export function openCrawlFrontier(
  { settings, store, fleet: seat, once = false, openFrontier }: CrawlFrontierOptions,
  { registry, clock }: { readonly registry: Pick<HostRegistry, 'policyOf'>; readonly clock: Clock },
): Frontier {
  const isFleet = seat !== undefined
  const options = frontierOptionsOf(settings, { policyOf: (host) => registry.policyOf(host), isFleet, once })
  if (openFrontier !== undefined) return openFrontier(options)
  if (seat !== undefined) return (seat.connect ?? connectFleet)(seat.login, options, { clock })
  const bloom = { capacity: settings.bloomFilterSize, falsePositiveRate: settings.falsePositiveRate }
  return createFrontier({ ...options, store, clock, bloom })
}

export interface WatchedFrontier extends Frontier {
  /** When it will have something to do by itself (clock ms), as it said last; null for never. */
  readonly nextAt: number | null
}

export function watchFrontier(
  frontier: Frontier,
  deps: {
    readonly seedScope: Pick<SeedScope, 'has'>
    /** A seed was leased that nobody here has heard of: awaited before it is worked on. */
    onUnknownSeed(): Promise<void>
    onCommitted(): void
  },
): WatchedFrontier {
  let nextAt: number | null = null
  return {
    ...frontier,
    get nextAt() {
      return nextAt
    },
    async lease(request) {
      const answer = await frontier.lease(request)
      nextAt = answer.nextAt
      const seedsLeased = answer.leases.flatMap(({ tasks }) => tasks).filter(({ via }) => via === 'seed')
      if (seedsLeased.some(({ url }) => !deps.seedScope.has(url))) await deps.onUnknownSeed()
      return answer
    },
    async settle(settlements, output) {
      const answer = await frontier.settle(settlements, output)
      deps.onCommitted()
      return answer
    },
  }
}
