/**
 * Which URLs belong to a crawl, and why. The mode draws the border around the seeds; `include` and `exclude` narrow
 * it. The seeds themselves are always in: whoever names a page wants it. Looking up a URL does not depend on the
 * number of seeds.
 */
import type { NormalizedUrl } from '../model/index.ts'
import { keyOfNormalized } from './key.ts'
import { hostKey, pathStart, queryStart, registrableDomain, siteOf } from './parts.ts'
import { compileTargetTest, patternTarget, type TargetTest } from './pattern.ts'
import { createPrefixTree, type PrefixTree } from './prefix-tree.ts'

export const SCOPE_MODES = ['prefix', 'host', 'domain', 'any'] as const
/**
 * `prefix`: on a seed's host, in its folder. `host`: on a seed's host. `domain`: under a seed's registrable domain, on
 * any port. `any`: everywhere. For the first two http and https are one site on their default ports, since sites
 * move to https; any other port must be the same.
 */
export type ScopeMode = (typeof SCOPE_MODES)[number]

export interface ScopeOptions {
  readonly mode: ScopeMode
  readonly seeds: readonly NormalizedUrl[]
  /** If there are any, a URL must match one of them. */
  readonly include: readonly string[]
  /** Wins over `include`. */
  readonly exclude: readonly string[]
}

export interface Scope {
  check(url: NormalizedUrl): ScopeVerdict
}

export interface ScopeVerdict {
  readonly inScope: boolean
  /** What decided, as a phrase for people. */
  readonly rule: string
}

/** Throws a `TiptoeError` with the code `usage` for a pattern that cannot be read. */
export function createScope({ mode, seeds, include, exclude }: ScopeOptions): Scope {
  const checkMode = createModeCheck(mode, seeds)
  const seedKeys = new Set<string>(seeds.map(keyOfNormalized))
  const includes = compileAll(include)
  const excludes = compileAll(exclude)
  const hasPatterns = includes.length > 0 || excludes.length > 0

  return {
    check(url) {
      if (seedKeys.has(keyOfNormalized(url))) return SEED
      const verdict = checkMode(url)
      if (!verdict.inScope || !hasPatterns) return verdict
      const target = patternTarget(url)
      const excluded = excludes.find(({ test }) => test(target))
      if (excluded !== undefined) return { inScope: false, rule: `excluded by "${excluded.text}"` }
      if (includes.length === 0) return verdict
      const included = includes.find(({ test }) => test(target))
      if (included === undefined) return NOT_INCLUDED
      return { inScope: true, rule: `${verdict.rule}, included by "${included.text}"` }
    },
  }
}

const SEED: ScopeVerdict = { inScope: true, rule: 'seed' }
const NOT_INCLUDED: ScopeVerdict = { inScope: false, rule: 'matches no include pattern' }
const ANYWHERE: ScopeVerdict = { inScope: true, rule: 'scope any' }

const compileAll = (texts: readonly string[]): { text: string; test: TargetTest }[] =>
  texts.map((text) => ({ text, test: compileTargetTest(text) }))

type Check = (url: NormalizedUrl) => ScopeVerdict

function createModeCheck(mode: ScopeMode, seeds: readonly NormalizedUrl[]): Check {
  if (mode === 'prefix') return createPrefixCheck(seeds)
  if (mode === 'host') return createHostCheck(seeds)
  if (mode === 'domain') return createDomainCheck(seeds)
  return () => ANYWHERE
}

const keyPath = (key: string): string => key.slice(pathStart(key), queryStart(key))

function createPrefixCheck(seeds: readonly NormalizedUrl[]): Check {
  const sites = new Map<string, PrefixTree>()
  for (const seed of seeds) {
    const site = siteOf(seed)
    let tree = sites.get(site)
    if (tree === undefined) sites.set(site, (tree = createPrefixTree()))
    tree.add(keyPath(keyOfNormalized(seed)))
  }
  return (url) => {
    const site = siteOf(url)
    const tree = sites.get(site)
    if (tree === undefined) return { inScope: false, rule: `scope prefix: no seed on ${site}` }
    const folder = tree.find(keyPath(keyOfNormalized(url)))
    if (folder === undefined) return { inScope: false, rule: `scope prefix: in no seed's folder on ${site}` }
    return { inScope: true, rule: `scope prefix: under ${url.slice(0, url.indexOf('/'))}//${site}${folder}` }
  }
}

function createHostCheck(seeds: readonly NormalizedUrl[]): Check {
  const sites = new Set(seeds.map(siteOf))
  return (url) => {
    const site = siteOf(url)
    return sites.has(site)
      ? { inScope: true, rule: `scope host: on ${site}` }
      : { inScope: false, rule: `scope host: no seed on ${site}` }
  }
}

function createDomainCheck(seeds: readonly NormalizedUrl[]): Check {
  const domains = new Set(seeds.map((seed) => registrableDomain(hostKey(seed))))
  return (url) => {
    const domain = registrableDomain(hostKey(url))
    return domains.has(domain)
      ? { inScope: true, rule: `scope domain: in ${domain}` }
      : { inScope: false, rule: `scope domain: no seed in ${domain}` }
  }
}
