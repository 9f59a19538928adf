/**
 * Who works on a crawl: one engine or, where there are threads to be had, a crew that begins with one. What a settlement
 * points to is written where the page was read; what goes into an archive with it, in the thread of the frontier.
 */
import type { Clock, Rng } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import type { Frontier, Settlement } from '../frontier/index.ts'
import type { CrawlOutput } from './crawl-output.ts'
import { createCrew } from './crew/crew.ts'
import { createEngine, type Engine } from './engine.ts'
import type { Manners } from './manners.ts'
import type { RepetitionJudge } from './tasks/repetition.ts'
import { createRequestRate, type PermitsWanted } from './request-rate.ts'
import type { SeedScope } from './seed-scope.ts'
import { createSettler } from './settler.ts'
import type { Workshop } from './workshop.ts'

/** What other workers of a fleet have found is looked for so often, while there is a slot for it. */
const LOOK_AGAIN_MS = 1_000

export interface CrawlEngineOptions {
  readonly settings: Settings
  readonly worker: string
  readonly slots: number
  /** At most; of 0 and 1 the crawl works where it is. */
  readonly threads: number
  readonly wantsMarkdown: boolean
  readonly readyForMore: (() => Promise<void>) | undefined
  /** Others work on the crawl too: whether to wait for more when nothing is left. Absent where nobody does. */
  readonly stays: (() => Promise<boolean>) | undefined
  /** Counts requests, where a rate is set. */
  readonly permits: ((asked: PermitsWanted) => Promise<number>) | undefined
  onSettled(settlement: Settlement): void
}

export interface CrawlEngineDeps {
  readonly frontier: Frontier
  readonly output: CrawlOutput
  readonly manners: Manners
  readonly seedScope: SeedScope
  readonly repetitions: RepetitionJudge
  readonly workshop: Workshop
  readonly clock: Clock
  readonly clockOrigin: number
  readonly rng: Rng
}

export function createCrawlEngine(options: CrawlEngineOptions, deps: CrawlEngineDeps): Engine {
  const { settings, worker, slots, threads, readyForMore, stays, permits, onSettled } = options
  const { frontier, manners, clock } = deps
  const { written } = deps.output
  const { audit, registry } = manners
  const { maxTimeMs, maxBytes, maxRate } = settings
  const isFleet = stays !== undefined
  const isArchiving = written?.isArchiving ?? false
  const lookAgain = isFleet ? { lookAgainMs: LOOK_AGAIN_MS } : {}
  /** For whoever has the frontier. */
  const shared = {
    frontier,
    settler: createSettler(frontier, written?.output, { clock }),
    audit,
    worker,
    slots,
    onSettled,
    ...(maxTimeMs === undefined ? {} : { maxTimeMs }),
    // What all workers of a fleet have fetched together is for byte-limit.ts to watch.
    ...(maxBytes === undefined || isFleet ? {} : { maxBytes }),
    ...(stays === undefined ? {} : { stays }),
    ...(readyForMore === undefined ? {} : { readyForMore }),
  }
  /** For whoever works in this thread. */
  const own = {
    ...lookAgain,
    audit,
    worker,
    isArchiving,
    drainMs: settings.drainMs,
    ...(permits === undefined || maxRate === undefined
      ? {}
      : { rate: createRequestRate(permits, { clock, perSecond: maxRate }) }),
    tasks: deps.workshop.tasks,
  }
  if (threads <= 1) {
    const beforeSettling = async (settlement: Settlement): Promise<void> => {
      await written?.writeContent(settlement)
      await written?.prepare(settlement)
    }
    return createEngine({ ...shared, ...own, ...(written === undefined ? {} : { beforeSettling }) })
  }
  const beforeSettling = written === undefined ? {} : { beforeSettling: written.writeContent }
  return createCrew({
    ...shared,
    threads,
    own: (part) => createEngine({ ...own, ...part, ...beforeSettling }),
    relieve: () => deps.workshop.relieve(),
    settings,
    seedScope: deps.seedScope,
    registry,
    repetitions: deps.repetitions,
    clock,
    rng: deps.rng,
    ...(written === undefined ? {} : { prepare: written.prepare }),
    ...(permits === undefined ? {} : { permits }),
    thread: {
      ...lookAgain,
      ...(written === undefined ? {} : { outputFolder: written.path }),
      isArchiving,
      wantsMarkdown: options.wantsMarkdown || settings.sink !== 'files',
      clockOrigin: deps.clockOrigin,
    },
  })
}
