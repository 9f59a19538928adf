/**
 * What it takes to work on tasks, made from the settings and the seeds: the network, reading, and the rules that say what
 * belongs to the crawl. The same in the thread that has the frontier and in one that only works.
 */
import { createRng, type Clock, type Rng } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import type { Fetcher, FetcherOptions } from '../fetch/index.ts'
import type { NormalizedUrl, Tier } from '../model/index.ts'
import type { HostRegistry } from '../politeness/index.ts'
import {
  createGuardedReader,
  createInlineReader,
  createReader,
  createRelievedReader,
  type Reader,
  type RelievedReader,
} from '../reading/index.ts'
import { compilePattern, createParameterStripper } from '../url/index.ts'
import { createAdmission } from './tasks/admission.ts'
import { createSampling } from './tasks/sampling.ts'
import type { EngineOptions } from './engine.ts'
import { createFetcherOf } from './fetcher.ts'
import { productTokenOf } from './product-token.ts'
import type { RepetitionJudge } from './tasks/repetition.ts'
import type { SeedScope } from './seed-scope.ts'

export interface Workshop {
  readonly tasks: EngineOptions['tasks']
  /** Leaves a part of the reading to another thread; false when it does already, or nothing can be left to one. */
  relieve(): boolean
  /** Lets go of sockets and threads. */
  close(): Promise<void>
}

export interface WorkshopDeps {
  readonly clock: Clock
  readonly registry: HostRegistry
  readonly seedScope: SeedScope
  readonly repetitions: RepetitionJudge
  /** Those of the machine, unless others are passed in. */
  readonly rng?: Rng | undefined
  readonly fetcher?: Fetcher | undefined
  readonly reader?: Reader | undefined
  readonly lookup?: FetcherOptions['lookup']
}

export function createWorkshop(settings: Settings, deps: WorkshopDeps): Workshop {
  const { clock, registry, seedScope, repetitions, lookup } = deps
  const fetcher = deps.fetcher ?? createFetcherOf(settings, { clock, lookup })
  const tierOf = createTierRules(settings)
  const strip = createParameterStripper(settings.stripParameters)
  const relieved = deps.reader === undefined && settings.threads !== 0 ? createOwnReader(clock) : undefined
  const reader = deps.reader ?? relieved ?? createInlineReader()
  return {
    tasks: {
      settings,
      clock,
      rng: deps.rng ?? createRng(randomSeed()),
      fetcher,
      reader,
      registry,
      get scope() {
        return seedScope.scope
      },
      productToken: productTokenOf(settings.userAgent),
      tierOf,
      strip,
      admission: createAdmission({
        get scope() {
          return seedScope.scope
        },
        tierOf,
        strip,
      }),
      wantsSample: createSampling(settings),
      isOurs: seedScope.isOurs,
      repetitions,
    },
    // Without content there is nothing to leave to another.
    relieve: () => settings.content && relieved !== undefined && relieved.relieve(),
    async close() {
      await fetcher.close()
      await reader.close()
    },
  }
}

/** Without threads nothing guards against a page that hangs its parser. */
function createOwnReader(clock: Clock): RelievedReader {
  const guarded = createGuardedReader(createReader({ threads: 1 }, { clock }), { clock })
  return createRelievedReader(guarded, createReader({ threads: 1, ahead: Infinity }, { clock }))
}

export function createTierRules(settings: Settings): (url: NormalizedUrl) => Tier | undefined {
  const rules = settings.tiers.map(({ match, tier }) => ({ pattern: compilePattern(match), tier }))
  if (rules.length === 0) return () => undefined
  return (url) => rules.find(({ pattern }) => pattern.matches(url))?.tier
}

export function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number
}
