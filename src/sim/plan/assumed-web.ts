/**
 * A web from assumptions, for a crawl that has not begun: so many hosts, so many pages on each, so long to answer. The
 * hosts of the seeds come first. Every page leads to ten others of its host until there are no more, every host is known
 * from the start, none has a sitemap, and no robots.txt asks for anything.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { hostKey, normalizeUrl, originOf, registrableDomain } from '../../url/index.ts'
import { NOT_FOUND, type PlannedAnswer, type PlannedHost, type PlannedWeb } from './planned-web.ts'
import { shrinkOf } from './shrink.ts'

const LINKS_PER_PAGE = 10

export interface Assumptions {
  readonly seeds: readonly NormalizedUrl[]
  /** In all; never fewer than the seeds have. */
  readonly hosts: number
  readonly pagesPerHost: number
  readonly latencyMs: number
  readonly bytesPerPage: number
  /** Whether further hosts are of the first seed's domain or each of a domain of its own. */
  readonly oneDomain: boolean
}

export function assumeWeb(assumptions: Assumptions): PlannedWeb {
  const { pagesPerHost, latencyMs, bytesPerPage } = assumptions
  const seedsByOrigin = new Map<string, NormalizedUrl[]>()
  for (const seed of assumptions.seeds) {
    const origin = originOf(seed)
    seedsByOrigin.set(origin, [...(seedsByOrigin.get(origin) ?? []), seed])
  }
  for (let number = seedsByOrigin.size + 1; seedsByOrigin.size < assumptions.hosts; number++) {
    const seed = furtherSeed(number, assumptions)
    seedsByOrigin.set(originOf(seed), [seed])
  }
  const hosts = seedsByOrigin.size
  const shrink = shrinkOf(hosts * pagesPerHost, hosts)
  const pages = Math.max(1, Math.round(pagesPerHost / shrink))
  const numberOfSeed = new Map<string, number>(
    [...seedsByOrigin.values()].flatMap((seeds) => seeds.map((seed, index) => [seed, index] as const)),
  )
  const seedsOf = (origin: string): number => seedsByOrigin.get(origin)?.length ?? 0
  const base = { kind: 'response', answerMs: latencyMs, transferMs: 0, links: [] } as const

  const answer = (url: NormalizedUrl, as: 'page' | 'robots' | 'sitemap'): PlannedAnswer => {
    if (as !== 'page') return { ...NOT_FOUND, answerMs: latencyMs }
    const origin = originOf(url)
    const number = numberOfSeed.get(url) ?? Number(url.slice(url.lastIndexOf('/') + 1))
    const links: NormalizedUrl[] = []
    // The seeds are the first pages of their host; the others hang below them as in a heap.
    const first = seedsOf(origin) + number * LINKS_PER_PAGE
    for (let link = first; link < Math.min(first + LINKS_PER_PAGE, pages); link++) {
      links.push(`${origin}/page/${link}` as NormalizedUrl)
    }
    return { ...base, status: 200, bytes: bytesPerPage, links }
  }

  return {
    seeds: [...seedsByOrigin.values()].flat(),
    answer,
    refusalOf: () => undefined,
    addressOf: () => undefined,
    *hosts(): Iterable<PlannedHost> {
      for (const [origin, seeds] of seedsByOrigin) {
        yield {
          host: hostKey(`${origin}/` as NormalizedUrl),
          pages: Math.max(pagesPerHost, seeds.length),
          latencyMs,
          crawlDelayMs: 0,
        }
      }
    },
    pages: [...seedsByOrigin.values()].reduce((sum, seeds) => sum + Math.max(pagesPerHost, seeds.length), 0),
    bytesPerPage,
    shrink,
  }
}

function furtherSeed(number: number, { seeds, oneDomain }: Assumptions): NormalizedUrl {
  const [first] = seeds
  const domain = oneDomain && first !== undefined ? `.${registrableDomain(hostKey(first))}` : '.example'
  return normalizeUrl(`https://host-${number}${domain}/`) as NormalizedUrl
}
