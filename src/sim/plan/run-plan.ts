/**
 * One planned crawl: the engine and the frontier that a real one has, on a planned web, a planned machine and a clock
 * that does not wait. What it says is what the same crawl would take if the web behaves as planned.
 */
import { createRng } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import { openCrawl, type EndReason } from '../../engine/index.ts'
import { createFrontier, type Frontier, type FrontierOptions } from '../../frontier/index.ts'
import { createInlineReader } from '../../reading/index.ts'
import { createMachine, type Machine, type MachineCosts } from './machine.ts'
import { createPlanClock } from './plan-clock.ts'
import { createPlannedFetcher } from './planned-fetcher.ts'
import type { PlannedWeb } from './planned-web.ts'
import { stretchOf } from './shrink.ts'
import { createSlices, type Slices } from './slices.ts'

export interface PlanOptions {
  readonly settings: Settings
  readonly web: PlannedWeb
  readonly costs: MachineCosts
  /** Pages fetched at once. */
  readonly slots: number
}

export interface Plan {
  readonly slots: number
  readonly end: EndReason
  readonly durationMs: number
  /** Saved; the crawl's own, also where the plan was made with fewer. */
  readonly pages: number
  readonly failed: number
  readonly requests: number
  readonly bytes: number
  /** Pages saved in each slice of time. */
  readonly slices: Slices
  /** Shares of the time: of all slots, waiting for an answer; of the machine, working. */
  readonly slotUse: number
  readonly machineUse: number
  /** By host: requests, and when the last of them was answered, from the start. */
  readonly hosts: ReadonlyMap<string, { readonly requests: number; readonly endMs: number; readonly waitedMs: number }>
}

export async function runPlan(options: PlanOptions): Promise<Plan> {
  const { web, costs, slots } = options
  const clock = createPlanClock(costs.timerLagMs)
  const machine = createMachine(clock)
  const fetcher = createPlannedFetcher(web, costs, { clock, machine })
  const startedAt = clock.now()
  const hosts = [...web.hosts()].length
  const stretch = stretchOf(web.pages, hosts, web.shrink)
  const settings = plannedSettings(options, stretch)
  const slices = createSlices()
  const crawl = await openCrawl({
    settings,
    seeds: web.seeds,
    store: 'memory',
    clock,
    rng: createRng(1),
    fetcher,
    reader: createInlineReader(),
    worker: 'plan',
    openFrontier: (wanted) => costlyFrontier(wanted, costs, { clock, machine }),
  })
  crawl.events.on('page', () => slices.count(clock.now() - startedAt))
  const end = await clock.drive(crawl.run())
  const stats = await crawl.stats()
  await crawl.close()
  const spentMs = clock.now() - startedAt
  return {
    slots,
    end,
    durationMs: spentMs * stretch + costs.startMs,
    pages: web.shrink === 1 ? stats.done : Math.min(stats.done * web.shrink, web.pages),
    failed: stats.failed,
    requests: Math.round(fetcher.requests * stretch),
    bytes: fetcher.bytes * web.shrink,
    slices: slices.take(spentMs, stretch, web.shrink),
    slotUse: spentMs === 0 ? 0 : Math.min(1, fetcher.waitedMs / (spentMs * slots)),
    machineUse: spentMs === 0 ? 0 : Math.min(1, machine.busyMs / spentMs),
    hosts: new Map(
      [...fetcher.visits].map(([host, visit]) => [
        host,
        {
          requests: Math.round(visit.requests * stretch),
          endMs: (visit.lastAnswerAt - startedAt) * stretch,
          waitedMs: visit.waitedMs * stretch,
        },
      ]),
    ),
  }
}

/**
 * The settings of the crawl, without what the planned web has decided already: which pages there are. Each of them is
 * fetched once, or there would be no end to plan; and since they all look alike, none is taken for a trap.
 */
function plannedSettings({ settings, web, slots }: PlanOptions, stretch: number): Settings {
  const { maxDepth: _maxDepth, maxBytes, maxPages, maxPagesPerHost, maxTimeMs, ...rest } = settings
  const byBytes = maxBytes === undefined ? Infinity : Math.ceil(maxBytes / Math.max(1, web.bytesPerPage))
  const most = Math.min(maxPages ?? Infinity, byBytes)
  return {
    ...rest,
    scope: 'any',
    include: [],
    exclude: [],
    workers: 1,
    concurrency: slots,
    recordLinks: false,
    recrawl: false,
    traps: false,
    ...(most === Infinity ? {} : { maxPages: Math.max(1, Math.round(most / web.shrink)) }),
    ...(maxPagesPerHost === undefined
      ? {}
      : { maxPagesPerHost: Math.max(1, Math.round(maxPagesPerHost / web.shrink)) }),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs: Math.max(1, maxTimeMs / stretch) }),
  }
}

/** The frontier in memory, with commits that cost what they cost on a disk. */
function costlyFrontier(
  options: FrontierOptions,
  costs: MachineCosts,
  { clock, machine }: { readonly clock: ReturnType<typeof createPlanClock>; readonly machine: Machine },
): Frontier {
  const frontier = createFrontier({ ...options, store: 'memory', clock })
  return {
    ...frontier,
    async settle(settlements, output) {
      await machine.work(costs.commitMs)
      return frontier.settle(settlements, output)
    },
  }
}
