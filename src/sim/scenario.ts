/**
 * What a seed stands for: a web, a configuration, a home for the frontier, and what goes wrong. Everything is drawn from
 * the seed and nothing else.
 */
import { createRng, type Rng } from '../base/index.ts'
import { settingsFromLibrary, type Settings } from '../config/index.ts'
import { aspectsOf, type Aspect, type Revisits } from './aspects.ts'
import { planFaults, type Fault, type PlannedFault } from './faults.ts'
import type { LinkQuality } from './link.ts'
import { makeWeb, type WebWishes } from './web-maker.ts'
import type { WebSpec } from './web-spec.ts'

export interface Scenario {
  readonly seed: number
  readonly home: Home
  readonly settings: Settings
  readonly web: WebSpec
  readonly faults: readonly PlannedFault[]
  /** How the web was made, for people. */
  readonly wishes: WebWishes
  /** What it tries of the frontier beside the crawl itself. */
  readonly aspect: Aspect
  /** How pages are fetched again; absent: not at all. */
  readonly revisits?: Revisits
}

export type Home =
  /** One process on the embedded store, opened again after every end. */
  | { readonly kind: 'embedded' }
  /** A shared frontier in memory, and workers that reach it over a network. */
  | { readonly kind: 'fleet'; readonly workers: number; readonly link: LinkQuality; readonly clocksDiffer: boolean }

const ALL_FAULTS: readonly Fault['kind'][] = [
  'kill',
  'kill',
  'power',
  'freeze',
  'suspend',
  'wall',
  'stop',
  'full',
  'store-error',
]
/** The disk and the store are not the workers' own in a fleet. */
const FLEET_FAULTS: readonly Fault['kind'][] = ['kill', 'kill', 'freeze', 'freeze', 'suspend', 'wall', 'stop']

/** What a run is mostly about. */
type Theme =
  /** A bit of everything. */
  | 'mixed'
  /** Few hosts with many pages, short leases, and workers that stand still for about as long as a lease lasts. */
  | 'standstill'
  /** Slow hosts without a delay: leases of many tasks, which have to be extended. */
  | 'endurance'

export function scenarioOf(seed: number): Scenario {
  const rng = createRng(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995)
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  const aspects = aspectsOf(seed)
  const { aspect, revisits } = aspects
  const draw = rng.next()
  const theme: Theme = aspect !== 'plain' || draw >= 0.16 ? 'mixed' : draw < 0.1 ? 'standstill' : 'endurance'
  // What was in memory is gone when a crawl is over: only a store can be opened once more.
  const isFleet = rng.next() < (theme === 'mixed' ? 0.4 : 0.8) && revisits?.kind !== 'once'
  const wishes = aspects.wishes(wishesOf(theme, rng))
  const web = aspects.web(makeWeb(wishes, rng))
  const settings = aspects.settings(settingsOf(theme, wishes, rng))
  const isCalm = theme !== 'standstill' && rng.next() < 0.25
  const faults = isCalm ? [] : faultsOf(theme, isFleet, rng)
  const home: Home = isFleet
    ? {
        kind: 'fleet',
        workers: theme === 'mixed' ? 2 + rng.int(pick(3, 3, 19)) : 4,
        link: {
          latencyMs: pick(0.01, 5, 40),
          loss: isCalm || theme === 'standstill' ? 0 : pick(0, 0.05, 0.2),
          doubling: isCalm ? 0 : pick(0, 0.05, 0.2),
          resendMs: 1_000,
        },
        clocksDiffer: rng.next() < 0.7,
      }
    : { kind: 'embedded' }
  return {
    seed,
    home,
    settings: { ...settings, ...outputOf(settings, home, seed) },
    web,
    faults,
    wishes,
    aspect,
    ...(revisits === undefined ? {} : { revisits }),
  }
}

/** The draw is apart from all others, so that what a seed stands for does not change with the forms of output there are. */
function outputOf({ formats }: Settings, home: Home, seed: number): Partial<Settings> {
  const rng = createRng(Math.imul(seed, 0x85ebca6b) ^ 0x27d4eb2f)
  const hasHtml = rng.next() < 0.1
  // Workers of a fleet have no output of their own to archive in.
  const hasArchive = rng.next() < 0.35 && home.kind === 'embedded'
  return {
    formats: [...formats, ...(hasHtml ? (['html'] as const) : []), ...(hasArchive ? (['warc'] as const) : [])],
    archiveBytes: rng.next() < 0.5 ? 30_000 : 1024 ** 3,
    // As many pages as the largest web has; room for more would only have to be cleared.
    nearDuplicates: 10_000,
  }
}

function wishesOf(theme: Theme, rng: Rng): WebWishes {
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  const mixed: WebWishes = {
    hosts: 3 + rng.int(12),
    pages: 20 + rng.int(110),
    illness: pick(0, 0, 0.1, 0.3),
    changing: rng.next() < 0.3,
    traps: rng.next() < 0.15,
    storms: rng.next() < 0.5,
    namesPerAddress: pick(1, 1, 2, 4),
    slowHosts: rng.next() < 0.3 ? 0.2 : 0,
  }
  if (theme === 'mixed') return mixed
  const calm = { ...mixed, illness: 0, changing: false, traps: false, storms: false }
  return theme === 'standstill'
    ? { ...calm, hosts: 1 + rng.int(2), pages: 90 + rng.int(60) }
    : { ...calm, hosts: 1 + rng.int(3), pages: 40 + rng.int(40), slowHosts: 1 }
}

function faultsOf(theme: Theme, isFleet: boolean, rng: Rng): PlannedFault[] {
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  if (theme === 'standstill') {
    const kind = pick('freeze', 'suspend')
    let atStep = 0
    return Array.from({ length: 6 }, () => {
      atStep += 40 + rng.int(160)
      return { atStep, fault: { kind, ms: 60_000 + rng.int(50_000) } }
    })
  }
  const kinds = isFleet ? FLEET_FAULTS : ALL_FAULTS
  // Some runs have one kind of fault only, so that each has its say.
  const chosen = rng.next() < 0.4 ? [pick(...kinds)] : kinds
  return planFaults(chosen, 1 + rng.int(8), pick(20, 100, 300), rng)
}

function settingsOf(theme: Theme, wishes: WebWishes, rng: Rng): Settings {
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  const base = settingsFromLibrary({}, '0')
  const needsLimit = wishes.traps
  const hasDepth = rng.next() < 0.3
  const hasPages = rng.next() < 0.15
  const timeoutMs = theme === 'standstill' ? 5_000 : theme === 'endurance' ? 40_000 : pick(5_000, 20_000, 60_000)
  const { patienceMs: _patience, ...rest } = base
  const mixed: Settings = {
    ...rest,
    scope: pick('any', 'any', 'any', 'any', 'domain', 'host'),
    sitemaps: rng.next() < 0.7,
    delayMs: pick(0, 20, 50, 250, 1_000, 1_000, 2_500),
    perHost: pick(1, 1, 1, 1, 2, 3),
    perIpDelayMs: pick(0, 0, 0, 300, 1_500),
    perDomainDelayMs: pick(0, 0, 0, 400, 2_000),
    latencyFactor: pick(0, 0, 1, 2.5),
    latencyMaxDelayMs: pick(2_000, 30_000),
    maxCrawlDelayMs: pick(60_000, 60_000, 2_000),
    crawlDelayOverMax: pick('skip', 'clamp'),
    robotsMaxAgeMs: pick(86_400_000, 86_400_000, 20_000, 600_000),
    patienceMs: pick(60_000, 1_800_000),
    concurrency: pick(1, 2, 5, 20),
    workers: 1,
    connectTimeoutMs: timeoutMs / 4,
    readTimeoutMs: timeoutMs / 2,
    timeoutMs,
    attempts: 1 + rng.int(4),
    retryDelayMs: pick(200, 1_000),
    maxRedirects: pick(2, 10),
    formats: pick(['jsonl'], ['jsonl', 'markdown']),
    ...(hasDepth || (needsLimit && !hasPages) ? { maxDepth: rng.int(6) } : {}),
    ...(hasPages ? { maxPages: 1 + rng.int(wishes.pages) } : {}),
  }
  const whole = { scope: 'any', robotsMaxAgeMs: base.robotsMaxAgeMs, attempts: 4, perIpDelayMs: 0 } as const
  if (theme === 'standstill')
    return { ...mixed, ...whole, delayMs: pick(250, 1_000, 2_500), perHost: 1, concurrency: 2, latencyFactor: 0 }
  if (theme === 'endurance')
    return { ...mixed, ...whole, delayMs: pick(0, 2), perHost: pick(1, 2), perDomainDelayMs: 0 }
  return mixed
}
