/**
 * What a seed stands for: a web, a configuration, a home for the frontier, and what goes wrong. Everything is drawn from
 * the seed and nothing else.
 */
import { createRng, type Rng } from '../base/index.ts'
import { settingsFromLibrary, type Settings } from '../config/index.ts'
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

export function scenarioOf(seed: number): Scenario {
  const rng = createRng(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995)
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  const isFleet = rng.next() < 0.4
  const wishes: WebWishes = {
    hosts: 3 + rng.int(12),
    pages: 20 + rng.int(110),
    illness: pick(0, 0, 0.1, 0.3),
    changing: rng.next() < 0.3,
    traps: rng.next() < 0.15,
    storms: rng.next() < 0.5,
    namesPerAddress: pick(1, 1, 2, 4),
    slowHosts: rng.next() < 0.3,
  }
  const web = makeWeb(wishes, rng)
  const settings = settingsOf(wishes, rng)
  const isCalm = rng.next() < 0.25
  const kinds = isFleet ? FLEET_FAULTS : ALL_FAULTS
  // Some runs have one kind of fault only, so that each has its say.
  const chosen = rng.next() < 0.4 ? [pick(...kinds)] : kinds
  const faults = isCalm ? [] : planFaults(chosen, 1 + rng.int(8), pick(20, 100, 300), rng)
  const home: Home = isFleet
    ? {
        kind: 'fleet',
        workers: 2 + rng.int(pick(3, 3, 19)),
        link: {
          latencyMs: pick(0.01, 5, 40),
          loss: isCalm ? 0 : pick(0, 0.05, 0.2),
          doubling: isCalm ? 0 : pick(0, 0.05, 0.2),
          resendMs: 1_000,
        },
        clocksDiffer: rng.next() < 0.7,
      }
    : { kind: 'embedded' }
  return { seed, home, settings, web, faults, wishes }
}

function settingsOf(wishes: WebWishes, rng: Rng): Settings {
  const pick = <T>(...values: readonly T[]): T => values[rng.int(values.length)] as T
  const base = settingsFromLibrary({}, '0')
  const needsLimit = wishes.traps
  const hasDepth = rng.next() < 0.3
  const hasPages = rng.next() < 0.15
  const timeoutMs = pick(5_000, 20_000, 60_000)
  const { patienceMs: _patience, ...rest } = base
  return {
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
}
