/** The seeds of a crawl: how they are handed over, and how those that others have added are heard of. */
import type { FleetFrontier, Frontier } from '../frontier/index.ts'
import type { FoundUrl, NormalizedUrl, Tier } from '../model/index.ts'
import type { SeedScope } from './seed-scope.ts'

/** Seeds are handed over in portions, so that a long list does not stand in one transaction. */
const SEED_PORTION = 1_000

type TierOf = (url: NormalizedUrl) => Tier | undefined

/** A seed as the frontier is given it. */
export function seedFound(url: NormalizedUrl, tierOf: TierOf): FoundUrl {
  const tier = tierOf(url)
  return { url, kind: 'page', depth: 0, via: 'seed', ...(tier === undefined ? {} : { tier }) }
}

/** `fleet`: that of a crawl that others work on too. */
export async function addSeeds(
  seeds: readonly NormalizedUrl[],
  to: { readonly frontier: Frontier; readonly fleet: FleetFrontier | undefined; readonly tierOf: TierOf },
): Promise<void> {
  // First of all: whoever leases one of their pages must know what belongs to it.
  if (seeds.length > 0) await to.fleet?.crawl.addSeeds(seeds)
  for (let start = 0; start < seeds.length; start += SEED_PORTION) {
    await to.frontier.add(seeds.slice(start, start + SEED_PORTION).map((url) => seedFound(url, to.tierOf)))
  }
}

/** Those of a crawl on a store may have been added by others. */
export async function refreshSeeds(
  seedScope: SeedScope,
  from: { readonly fleet: FleetFrontier | undefined; strip(url: NormalizedUrl): NormalizedUrl },
): Promise<void> {
  if (from.fleet === undefined) return
  seedScope.add((await from.fleet.crawl.seeds()).map((seed) => from.strip(seed as NormalizedUrl)))
}
