/**
 * What a run tries of the frontier beside the crawl itself: tiers with rules and quotas, pages that are fetched again,
 * budgets, traps. Most runs try nothing of it. The draw is apart from all others, so what a seed stands for does not
 * change with the aspects that there are.
 */
import { createRng, type Rng } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import { TIERS, type Tier } from '../model/index.ts'
import type { WebWishes } from './web-maker.ts'
import type { HostSpec, PageLife, PageSpec, WebSpec } from './web-spec.ts'

export type Aspect =
  | 'plain'
  /** Many hosts that are due at once and few slots, with a tier for most URLs. */
  | 'tiers'
  /** Pages that change, go away and come back, and a crawl that goes on until it is stopped. */
  | 'recrawl'
  /** The same pages, and a crawl that is over and opened again after some time, to see what has changed. */
  | 'once'
  /** So many pages of each host and no more. */
  | 'budget'
  /** Endless pages that say the same, with nothing to end them but that somebody notices. */
  | 'trap'

/** How pages are fetched again. */
export type Revisits =
  /** As they come due, until the crawl is stopped. */
  | { readonly kind: 'on'; readonly forMs: number }
  /** After the end of the crawl, and so long after each end. */
  | { readonly kind: 'once'; readonly afterMs: readonly number[] }

export interface Aspects {
  readonly aspect: Aspect
  readonly revisits?: Revisits
  wishes(drawn: WebWishes): WebWishes
  settings(drawn: Settings): Settings
  web(made: WebSpec): WebSpec
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const FOLDER_RULES = ['re:/docs/', 're:/a/', 're:/private/', 're:/old/', 're:/p[0-9]']
const QUOTAS: readonly (readonly [high: number, medium: number, low: number])[] = [
  [40, 40, 20],
  [70, 20, 10],
  [10, 30, 60],
  [34, 33, 33],
]

export function aspectsOf(seed: number): Aspects {
  const rng = createRng(Math.imul(seed, 0xcc9e2d51) ^ 0x38b34ae5)
  const draw = rng.next()
  if (draw < 0.07) return tiers(rng)
  if (draw < 0.11) return recrawl(rng)
  if (draw < 0.16) return once(rng)
  if (draw < 0.21) return budget(rng)
  if (draw < 0.25) return trap(rng)
  return { aspect: 'plain', wishes: asDrawn, settings: asDrawn, web: asDrawn }
}

const asDrawn = <T>(drawn: T): T => drawn
const pickFrom =
  (rng: Rng) =>
  <T>(...values: readonly T[]): T =>
    values[rng.int(values.length)] as T
/** Without what ends a crawl before its time. */
function unlimited({ maxPages: _pages, maxDepth: _depth, ...rest }: Settings): Settings {
  return rest
}

function tiers(rng: Rng): Aspects {
  const pick = pickFrom(rng)
  const [high, medium, low] = pick(...QUOTAS)
  const first = rng.int(FOLDER_RULES.length)
  const rules = FOLDER_RULES.map((match, index) => ({ match, tier: TIERS[(first + index) % 3] as Tier }))
  const ageMs = pick(7 * DAY_MS, 6 * HOUR_MS)
  return {
    aspect: 'tiers',
    wishes: (drawn) => ({
      ...drawn,
      hosts: 8 + rng.int(8),
      pages: 50 + rng.int(60),
      illness: 0,
      traps: false,
      storms: false,
      slowHosts: 0,
    }),
    settings: (drawn) => ({
      ...unlimited(drawn),
      scope: 'any',
      delayMs: pick(20, 50, 250),
      perHost: 1,
      perIpDelayMs: 0,
      perDomainDelayMs: 0,
      latencyFactor: pick(0, 1),
      latencyMaxDelayMs: 2_000,
      concurrency: pick(1, 2, 3),
      tiers: rules,
      highPriorityQuotaPercent: high,
      mediumPriorityQuotaPercent: medium,
      lowPriorityQuotaPercent: low,
      scoreAgeHorizonMs: ageMs,
    }),
    // With all pages known from the start, every tier has work for most of the time.
    web: (made) => (rng.next() < 0.7 ? { ...made, seeds: made.hosts.flatMap(({ pages }) => [...pages.keys()]) } : made),
  }
}

/** Few pages, or so many visits would take too long. */
const fewPages =
  (rng: Rng) =>
  (drawn: WebWishes): WebWishes => ({
    ...drawn,
    hosts: 2 + rng.int(4),
    pages: 8 + rng.int(24),
    illness: pickFrom(rng)(0, 0, 0.1),
    traps: false,
  })

function intervals(rng: Rng, averageMs: number, drawn: Settings): Settings {
  const pick = pickFrom(rng)
  return {
    ...drawn,
    recrawlHighMs: averageMs / 2,
    recrawlMediumMs: averageMs,
    recrawlLowMs: 2 * averageMs,
    ...(rng.next() < 0.5 ? { recrawlShortestMs: averageMs / 4, recrawlLongestMs: 4 * averageMs } : {}),
    recrawlHostSharePercent: pick(20, 50, 100),
    robotsMaxAgeMs: pick(DAY_MS, DAY_MS, HOUR_MS),
    delayMs: pick(20, 250, 1_000, 2_500),
    ...(rng.next() < 0.3 ? { tiers: FOLDER_RULES.map((match) => ({ match, tier: pick(...TIERS) })) } : {}),
  }
}

/** Some limits, together with pages that come back. */
function sometimesLimited(rng: Rng, drawn: Settings): Settings {
  const { maxPages: _pages, maxDepth: _depth, ...rest } = drawn
  return {
    ...rest,
    ...(rng.next() < 0.25 ? { maxPages: 4 + rng.int(20) } : {}),
    ...(rng.next() < 0.25 ? { maxPagesPerHost: 2 + rng.int(6) } : {}),
    ...(rng.next() < 0.2 ? { maxDepth: 1 + rng.int(3) } : {}),
  }
}

function recrawl(rng: Rng): Aspects {
  const averageMs = pickFrom(rng)(4, 10, 20) * MINUTE_MS
  return {
    aspect: 'recrawl',
    revisits: { kind: 'on', forMs: Math.round((2.5 + 2 * rng.next()) * averageMs) + 2 * MINUTE_MS },
    wishes: fewPages(rng),
    settings: (drawn) => ({ ...sometimesLimited(rng, intervals(rng, averageMs, drawn)), recrawl: true }),
    web: (made) => enlivened(made, averageMs, rng),
  }
}

function once(rng: Rng): Aspects {
  const pick = pickFrom(rng)
  const averageMs = pick(10, 60) * MINUTE_MS
  const afterMs = Array.from({ length: 1 + rng.int(2) }, () => Math.round(averageMs * pick(0.5, 2, 10, 500, 500)))
  return {
    aspect: 'once',
    revisits: { kind: 'once', afterMs },
    wishes: fewPages(rng),
    settings: (drawn) => sometimesLimited(rng, intervals(rng, averageMs, drawn)),
    web: (made) => enlivened(made, averageMs, rng),
  }
}

function budget(rng: Rng): Aspects {
  return {
    aspect: 'budget',
    wishes: asDrawn,
    settings: (drawn) => ({ ...drawn, maxPagesPerHost: 1 + rng.int(12) }),
    web: asDrawn,
  }
}

function trap(rng: Rng): Aspects {
  return {
    aspect: 'trap',
    wishes: (drawn) => ({ ...drawn, traps: false, pages: 20 + rng.int(40), slowHosts: 0 }),
    settings: (drawn) => ({ ...unlimited(drawn), scope: 'any', traps: true }),
    web: (made) => ({ ...made, hosts: made.hosts.map((host, index) => (index === 0 ? withTrap(host) : host)) }),
  }
}

/** The first host leads into a trap from its front page. */
function withTrap(host: HostSpec): HostSpec {
  const front = `${host.origins[0]}/`
  const page = host.pages.get(front)
  if (page === undefined) return host
  const pages = new Map(host.pages).set(front, { ...page, links: ['/trap/1', ...page.links] })
  return { ...host, pages, hasTrap: true }
}

/** Pages that change with time, each in its own way. */
function enlivened(web: WebSpec, averageMs: number, rng: Rng): WebSpec {
  return {
    ...web,
    hosts: web.hosts.map((host) => ({
      ...host,
      pages: new Map([...host.pages].map(([url, page]) => [url, livelyPage(page, averageMs, rng)])),
    })),
  }
}

function livelyPage(page: PageSpec, averageMs: number, rng: Rng): PageSpec {
  const { kind } = page.answer
  return kind === 'html' || kind === 'flaky' ? { ...page, life: lifeOf(averageMs, rng) } : page
}

const wholeSeconds = (ms: number): number => 1_000 * Math.ceil(ms / 1_000)

function lifeOf(averageMs: number, rng: Rng): PageLife {
  const pick = pickFrom(rng)
  const periodMs = pick(Infinity, Infinity, wholeSeconds(averageMs * (0.1 + 3 * rng.next())))
  const fromMs = wholeSeconds(4 * averageMs * rng.next())
  const untilMs = fromMs + pick(Infinity, wholeSeconds(averageMs * (0.3 + 3 * rng.next())))
  return {
    periodMs,
    validator: pick('etag', 'date', 'none'),
    ...(rng.next() < 0.2 ? { gone: { fromMs, untilMs, status: pick(404, 404, 410) } } : {}),
  }
}
