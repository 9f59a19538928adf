/**
 * What belongs to the crawl, by its seeds. A crawl that several processes work on may be given more seeds while it runs:
 * whoever leases a seed that it has not heard of must hear of it before the links of that page are judged.
 */
import type { Settings } from '../config/index.ts'
import type { NormalizedUrl, Origin } from '../model/index.ts'
import { createScope, hostKey, registrableDomain, type Scope } from '../url/index.ts'

export interface SeedScope {
  readonly seeds: readonly NormalizedUrl[]
  /** How many there are. */
  readonly size: number
  readonly scope: Scope
  has(seed: NormalizedUrl): boolean
  /** Whether pages of this origin can be in scope. */
  isOurs(origin: Origin): boolean
  /** These are all seeds now, beside those that were known. */
  add(seeds: readonly NormalizedUrl[]): void
}

export function createSeedScope(settings: Settings, given: readonly NormalizedUrl[]): SeedScope {
  const { scope: mode, include, exclude } = settings
  const known = new Set<NormalizedUrl>()
  const sites = new Set<string>()
  const siteOf = (url: NormalizedUrl): string => (mode === 'domain' ? registrableDomain(hostKey(url)) : hostKey(url))
  let scope = createScope({ mode, seeds: [], include, exclude })

  const add = (seeds: readonly NormalizedUrl[]): void => {
    const before = known.size
    for (const seed of seeds) {
      known.add(seed)
      sites.add(siteOf(seed))
    }
    if (known.size > before) scope = createScope({ mode, seeds: [...known], include, exclude })
  }
  add(given)
  return {
    get seeds() {
      return [...known]
    },
    get size() {
      return known.size
    },
    get scope() {
      return scope
    },
    has: (seed) => known.has(seed),
    isOurs: (origin) => mode === 'any' || sites.has(siteOf(`${origin}/` as NormalizedUrl)),
    add,
  }
}
