/**
 * One seed, from the first request to the last record: the real crawler on the simulated web, killed and opened again
 * as the scenario has it, with every checker looking on. A run ends in order or with the law that was broken.
 */
import { gzipSync } from 'node:zlib'
import { createRng, type Disk } from '../base/index.ts'
import { openCrawl, type Crawl } from '../engine/index.ts'
import {
  createFrontier,
  createMemoryDatabase,
  type Frontier,
  type FrontierOptions,
  type Output,
} from '../frontier/index.ts'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { createInlineReader } from '../reading/index.ts'
import { openOutputFolder, type OutputRecord } from '../sink/index.ts'
import { createCheckers } from './checkers.ts'
import { checkEnd, checkVisited, marksOf, type CrawlEnd, type Marks } from './end-check.ts'
import { createFaults } from './faults.ts'
import { createLink } from './link.ts'
import { scenarioOf, type Scenario } from './scenario.ts'
import { createSimDisk } from './sim-disk.ts'
import { createSimFetcher } from './sim-fetcher.ts'
import { createSteppedFrontier } from './stepped-frontier.ts'
import { Violation } from './violation.ts'
import { createWeb } from './web.ts'
import { createWorld, Killed, WORLD_START, type SimProcess } from './world.ts'

const OUT = '/out'
/** A crawl that takes longer than this does not end. */
const LONGEST_MS = 60 * 86_400_000
const MOST_EVENTS = 150_000
/** A crawl that is opened more often than this does not get on. */
const MOST_OPENINGS = 200

export interface SimReport {
  readonly seed: number
  readonly ok: boolean
  /** Present unless `ok`: which law was broken, where, and what exactly. */
  readonly violation?: { readonly law: string; readonly subject: string; readonly detail: string }
  /** The same seed always has the same digest. */
  readonly digest: string
  /** The last things that happened, oldest first. */
  readonly trace: readonly string[]
  readonly events: number
  readonly steps: number
  readonly openings: number
  readonly simulatedMs: number
  readonly urls: number
  readonly home: string
}

/** Parts that a test may break on purpose, to see that it is noticed. */
export interface Sabotage {
  readonly frontier?: (frontier: Frontier) => Frontier
  readonly disk?: (disk: Disk) => Disk
  readonly settings?: (scenario: Scenario) => Scenario
  /** What the frontier is told of policies and limits; the checkers go by the settings. */
  readonly options?: (options: FrontierOptions) => FrontierOptions
}

export async function runSeed(seed: number, sabotage: Sabotage = {}): Promise<SimReport> {
  const drawn = scenarioOf(seed)
  const scenario = sabotage.settings?.(drawn) ?? drawn
  return runScenario(scenario, sabotage)
}

/** Runs seeds one after another; stops early when `onReport` says so. */
export async function runSeeds(
  from: number,
  count: number,
  onReport: (report: SimReport) => boolean | void,
): Promise<void> {
  for (let seed = from; seed < from + count; seed++) if (onReport(await runSeed(seed)) === false) return
}

export async function runScenario(scenario: Scenario, sabotage: Sabotage = {}): Promise<SimReport> {
  const { settings, home, seed, revisits } = scenario
  const rng = createRng(seed ^ 0x2545f491)
  const world = createWorld()
  const web = createWeb(scenario.web, createRng(seed ^ 0x1b873593))
  const disk = createSimDisk()
  const seeds = scenario.web.seeds as readonly NormalizedUrl[]
  /** Ends that the crawl has had, to be opened once more after each. */
  let ends = 0
  const {
    pace,
    records,
    frontier: checker,
  } = createCheckers(scenario, {
    world,
    web,
    disk,
    folder: OUT,
    recrawlMode: () => (revisits?.kind === 'on' ? 'on' : ends > 0 ? 'once' : 'off'),
  })

  let uuids = 0
  const archive = {
    newUuid: () => `00000000-0000-4000-8000-${String(++uuids).padStart(12, '0')}`,
    // Threads of the machine have a time of their own, which is not the world's.
    compress: async (...args: Parameters<typeof gzipSync>) => gzipSync(...args),
  }
  const crawls = new Map<SimProcess, Crawl>()
  const breaking = new Map<SimProcess, 'before' | 'after'>()
  let openings = 0
  let wallOffsetMs = 0
  let end: CrawlEnd | undefined
  let isStopping = false
  let marks: Marks = new Map()
  let finalStats: Awaited<ReturnType<Frontier['stats']>> | undefined

  const faults = createFaults(scenario.faults, world, {
    killed(process, power) {
      wallOffsetMs = process.clock.wall() - world.now()
      pace.clockLost(Math.max(0, process.clock.wall() - process.clock.now() - checker.skewCommitted))
      crawls.delete(process)
      if (home.kind === 'embedded') checker.forgetLeases()
      if (power) disk.cutPower(rng)
      world.at(world.now() + 20 + rng.int(rng.next() < 0.5 ? 500 : 5_000), () => open())
    },
    stop: (process) => crawls.get(process)?.stop(),
    fillDisk(ms) {
      disk.setFull(true)
      world.at(world.now() + ms, () => disk.setFull(false))
    },
    breakStore: (process, committed) => void breaking.set(process, committed ? 'after' : 'before'),
  })

  const database = home.kind === 'embedded' ? createMemoryDatabase() : undefined
  const sabotaged = (frontier: Frontier): Frontier => sabotage.frontier?.(frontier) ?? frontier

  // A fleet's frontier lives on a machine of its own, with the output beside it.
  const store = home.kind === 'fleet' ? world.process('store', { wallOffsetMs: 3_600_000 }) : undefined
  let shared: { readonly frontier: Frontier; readonly output: Output } | undefined
  const openShared = (options: FrontierOptions, machine: SimProcess): NonNullable<typeof shared> => {
    if (shared !== undefined) return shared
    const inner = createFrontier({ ...options, store: 'memory', clock: machine.clock })
    const folder = openOutputFolder(OUT, {}, { disk: disk.of(machine, () => {}) })
    const append: Output['append'] = (accepted) =>
      folder.append(accepted.flatMap(({ record }) => (record === undefined ? [] : [record as OutputRecord])))
    const output = { append, sync: () => folder.sync() }
    shared = { frontier: checker.watch(sabotaged(inner), machine.clock), output }
    return shared
  }

  const openFrontier = (options: FrontierOptions, process: SimProcess): Frontier => {
    const wanted = sabotage.options?.(options) ?? options
    const step = (what: string): void => faults.step(process, what)
    if (home.kind === 'fleet' && store !== undefined) {
      const { frontier, output } = openShared(wanted, store)
      return createLink(frontier, output, home.link, {
        world,
        worker: process,
        store,
        rng: createRng(rng.int(2 ** 31)),
        step,
      })
    }
    const inner = (database as NonNullable<typeof database>).open(wanted, {
      clock: process.clock,
      rng: createRng(rng.int(2 ** 31)),
    })
    const watched = checker.watch(sabotaged(inner), process.clock)
    return createSteppedFrontier(watched, {
      process,
      step,
      breaks() {
        const how = breaking.get(process)
        breaking.delete(process)
        return how
      },
    })
  }

  const work = async (process: SimProcess): Promise<string> => {
    const step = (what: string): void => faults.step(process, what)
    const crawl = await openCrawl({
      settings,
      seeds,
      store: 'memory',
      once: ends > 0,
      ...(home.kind === 'embedded' ? { outputFolder: OUT } : {}),
      worker: process.name,
      clock: process.clock,
      rng: createRng(rng.int(2 ** 31)),
      fetcher: createSimFetcher({
        world,
        web,
        process,
        timeouts: { connectMs: settings.connectTimeoutMs, readMs: settings.readTimeoutMs, totalMs: settings.timeoutMs },
        step,
      }),
      reader: createInlineReader(),
      openFrontier: (options) => openFrontier(options, process),
      disk: sabotage.disk?.(disk.of(process, step)) ?? disk.of(process, step),
      archive,
    })
    crawls.set(process, crawl)
    if (isStopping) crawl.stop()
    crawl.events.on('impolite', ({ host, kind, detail }) => {
      // What another worker has in flight is not for this one to know; nor how long its machine slept; nor that a shorter
      // Crawl-delay was accepted from it, if the answer to that was lost.
      const isUnsure = settings.perHost > 1 || process.freezes > 0 || scenario.wishes.changing
      if (!process.alive || (home.kind === 'fleet' && isUnsure)) return
      world.fail(new Violation('audit', host, `${kind}: ${detail}`))
    })
    let result: string
    try {
      result = await crawl.run()
      if (process.alive) finalStats = await (shared?.frontier ?? crawl).stats()
    } finally {
      if (process.alive) await crawl.close()
    }
    return result
  }

  /** A crawl that came to its end is over, or is opened once more after some time. */
  const conclude = (how: CrawlEnd): void => {
    if (revisits?.kind !== 'once') {
      end = how
      return
    }
    const afterMs = revisits.afterMs[ends - 1]
    if (afterMs !== undefined) {
      try {
        checkVisited(scenario, marks, afterMs, checker.pages, pace)
      } catch (error) {
        return world.fail(error)
      }
    }
    const pauseMs = revisits.afterMs[ends]
    if (pauseMs === undefined) {
      end = how
      return
    }
    ends += 1
    marks = marksOf(checker.pages)
    checker.forgetLeases()
    world.at(world.now() + pauseMs, () => open())
  }

  const ended = (process: SimProcess, result: string): void => {
    world.trace.note('end', process.name, result)
    crawls.delete(process)
    wallOffsetMs = process.clock.wall() - world.now()
    if (result === 'finished' || result === 'limit') return conclude(result)
    if (isStopping && result === 'stopped') {
      end = 'stopped'
      return
    }
    if (home.kind === 'embedded') checker.forgetLeases()
    world.at(world.now() + 20 + rng.int(rng.next() < 0.5 ? 500 : 20_000), () => open())
  }

  const open = (): void => {
    openings += 1
    if (openings > MOST_OPENINGS) return world.fail(new Violation('termination', 'the crawl', `${openings} openings`))
    const offset =
      home.kind === 'fleet' && home.clocksDiffer ? rng.int(7_200_000) : home.kind === 'fleet' ? 0 : wallOffsetMs
    const process = world.process(home.kind === 'fleet' ? `worker ${openings}` : `run ${openings}`, {
      wallOffsetMs: offset,
    })
    world.trace.note('open', process.name, offset)
    work(process).then(
      (result) => {
        if (process.alive) ended(process, result)
      },
      (error: unknown) => {
        if (!process.alive || error instanceof Killed) return
        if (error instanceof TiptoeError) ended(process, `${error.code}: ${error.message}`)
        else world.fail(error)
      },
    )
  }

  const start = (): void => {
    for (let count = home.kind === 'fleet' ? home.workers : 1; count > 0; count--) open()
  }
  world.at(world.now(), start)
  if (revisits?.kind === 'on') {
    world.at(world.now() + revisits.forMs, () => {
      isStopping = true
      for (const crawl of crawls.values()) crawl.stop()
    })
  }

  const isDone = (): boolean => end !== undefined && (home.kind === 'embedded' || crawls.size === 0)
  let violation: Violation | undefined
  try {
    const how = await world.run({ done: isDone, untilMs: LONGEST_MS, maxEvents: MOST_EVENTS })
    if (how !== 'done')
      throw new Violation(
        'termination',
        'the crawl',
        `${how} after ${world.events} events, ${[...checker.pages.values()].filter(({ fate }) => fate === undefined).length} URLs left`,
      )
    finish()
  } catch (error) {
    violation =
      error instanceof Violation
        ? error
        : new Violation('crash', 'the crawl', error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    database?.close()
  }

  function finish(): void {
    if (finalStats !== undefined) records.finish(finalStats.output)
    if (end !== undefined) checkEnd(scenario, end, checker.pages)
  }

  return {
    seed,
    ok: violation === undefined,
    ...(violation === undefined
      ? {}
      : { violation: { law: violation.law, subject: violation.subject, detail: violation.message } }),
    digest: world.trace.digest(),
    trace: world.trace.lines(),
    events: world.events,
    steps: faults.steps,
    openings,
    simulatedMs: world.now() - WORLD_START,
    urls: checker.pages.size,
    home: home.kind === 'fleet' ? `fleet of ${home.workers}` : 'embedded',
  }
}
