/**
 * The crawler for programs: seeds in, pages out, one at a time, at the pace of whoever reads them.
 *
 * It keeps true: nothing is opened before the first page is asked for; whatever was opened is closed when the iteration
 * ends, however it ends; the crawl takes no new work while more than `PAGES_AHEAD` pages wait to be read; two
 * crawlers share nothing. What is crawled, and how politely, is the engine's; the folder is the command line's own, so
 * that either can go on with what the other began.
 */
import { createSystemClock, VERSION } from './base/index.ts'
import { settingsFromLibrary, type CrawlerOptions as TableOptions, type Settings } from './config/index.ts'
import {
  type Crawl,
  type EndReason,
  openCrawl,
  prepareCrawlFolder,
  readCrawlFolder,
  readSeed,
  readSeedFile,
  stateFolder,
  writeStats,
  totalsOf,
  type CrawlTotals,
} from './engine/index.ts'
import { TiptoeError, type CrawlEvents, type NormalizedUrl, type Page } from './model/index.ts'
import { createEventBus, type EventBus } from './telemetry/index.ts'

/**
 * New work is taken only while at most this many pages wait to be read. What is under way by then still arrives: up to
 * `concurrency` leases of 16 pages at the most.
 */
export const PAGES_AHEAD = 32

/** A program crawls alone: what only the workers of a fleet have is for the command line. */
const FLEET_OPTIONS = [
  'crawl',
  'partitions',
  'leaseTime',
  'storeCa',
  'workerId',
  'health',
  'sink',
  'maxRate',
] as const satisfies readonly (keyof TableOptions)[]
type FleetOption = (typeof FLEET_OPTIONS)[number] | 'store'

/** Every option is optional; the defaults are those of the command line. */
export interface CrawlerOptions extends Omit<TableOptions, FleetOption> {
  /**
   * The folder of a store that remembers which URLs are known and done, without writing records: the next run with the
   * same folder, seeds and options goes on where this one ended. `memory` unless given; `out` brings its own.
   */
  store?: string | undefined
  /**
   * Fetch again what is due in the folder or store, and whatever was still queued, then end. Cannot be given together
   * with `recrawl`, which goes on.
   */
  once?: boolean | undefined
  /** Aborting it stops the crawl as `stop()` does; a run that is begun later ends at once. */
  signal?: AbortSignal | undefined
  /** Called with every page before the iteration hands it out, one at a time; the next page waits for its promise. */
  onPage?: ((page: Page) => void | Promise<void>) | undefined
}

/** One URL or several; https is assumed where no scheme is given. */
export type Seeds = string | URL | Iterable<string | URL>

export interface Crawler {
  /**
   * Crawls from the seeds and hands out each page as it is saved, and again when a later visit finds it changed. The
   * iteration ends when the crawl is finished, has reached a limit or was stopped; its return value, and `end`, say
   * which. It throws a TiptoeError when the store, the output or the network gives out, and whatever `onPage` or a
   * listener threw. Leaving it early stops the crawl and closes everything. One run at a time; without seeds, those of
   * the options or of the folder in `out` are used.
   */
  run(seeds?: Seeds): AsyncGenerator<Page, EndReason, undefined>
  /** The same for whoever needs no iteration: pages go to `onPage`, to the listeners and into `out`. */
  runToEnd(seeds?: Seeds): Promise<EndReason>
  /**
   * Listens to what happens as it happens, also to pages that are not read yet; nothing waits for a listener. One that
   * throws, or whose promise rejects, stops the crawl with its error. Returns how to stop listening.
   */
  on<Name extends keyof CrawlEvents>(
    name: Name,
    listener: (event: CrawlEvents[Name]) => void | Promise<void>,
  ): () => void
  /** Nothing new starts, what runs may end within `drain`, and the iteration ends with what there is. */
  stop(): void
  /** Totals of the run under way, or else of the last one. */
  stats(): Promise<CrawlTotals>
  /** Why the last run ended; undefined before, meanwhile and after an error. */
  readonly end: EndReason | undefined
}

const EVENT_NAMES = [
  'page',
  'skip',
  'fail',
  'retry',
  'blocked',
  'impolite',
  'revisit',
] as const satisfies readonly (keyof CrawlEvents)[]

export function createCrawler(options: CrawlerOptions = {}): Crawler {
  const { store, signal, onPage, once = false, ...table } = checkedOptions(options)
  const settings = settingsFromLibrary(table, VERSION)
  if (store !== undefined && settings.outDirectory !== undefined) {
    throw new TiptoeError('usage', 'store and out cannot be given together', {
      hint: 'out keeps its store in a folder of its own: leave store away',
    })
  }
  if (once && settings.recrawl) {
    throw new TiptoeError('usage', 'once and recrawl cannot be given together', {
      hint: 'once ends when nothing is due any more; recrawl goes on until it is stopped',
    })
  }
  const events = createEventBus<CrawlEvents>()
  let active: Run | undefined
  let end: EndReason | undefined
  let stats: CrawlTotals = NO_STATS

  const open = (seeds: readonly NormalizedUrl[], readyForMore: () => Promise<void>): Promise<Crawl> => {
    const folder = settings.outDirectory
    if (folder === undefined)
      return openCrawl({ settings, seeds, store: store ?? 'memory', once, readyForMore, wantsMarkdown: true })
    const stored = readCrawlFolder(folder, VERSION)
    const all = seeds.length > 0 ? seeds : (stored?.seeds ?? [])
    if (all.length === 0) throw noSeeds()
    const plan = { settings: { ...settings, seeds: all }, seeds: all }
    prepareCrawlFolder(folder, plan, stored)
    return openCrawl({
      ...plan,
      store: stateFolder(folder),
      outputFolder: folder,
      once,
      readyForMore,
      wantsMarkdown: true,
    })
  }

  async function* iterate(
    seeds: readonly NormalizedUrl[],
    begun: (run: Run) => void,
  ): AsyncGenerator<Page, EndReason, undefined> {
    if (active !== undefined) {
      throw new TiptoeError('usage', 'this crawler is already running', {
        hint: 'wait for its run to end, or create another crawler: two in one process are fine',
      })
    }
    end = undefined
    if (signal?.aborted === true) return (end = 'stopped')
    const run = createRun((readyForMore) => open(seeds, readyForMore), { settings, events })
    active = run
    begun(run)
    signal?.addEventListener('abort', run.stop, { once: true })
    try {
      await run.start()
      for (let page = await run.next(); page !== undefined; page = await run.next()) {
        await onPage?.(page)
        yield page
      }
    } catch (error) {
      run.fail(error)
    } finally {
      // Also when the reader leaves at the yield above.
      try {
        end = await run.close()
      } finally {
        stats = await run.stats()
        signal?.removeEventListener('abort', run.stop)
        active = undefined
      }
    }
    return end
  }

  const fail = (error: unknown): void => {
    // Too late for the run that it belongs to: then it is nobody's but the process's.
    if (active === undefined) throw error
    active.fail(error)
  }

  const run = (given?: Seeds): AsyncGenerator<Page, EndReason, undefined> => {
    const seeds = seedsOf(settings, given)
    if (seeds.length === 0 && settings.outDirectory === undefined) throw noSeeds()
    let own: Run | undefined
    const pages = iterate(seeds, (begun) => {
      own = begun
    })
    const leave = pages.return.bind(pages)
    // A generator that waits for a page would not hear of its end before that page has come.
    pages.return = (value) => {
      own?.stop()
      return leave(value)
    }
    return pages
  }

  return {
    run,
    async runToEnd(seeds) {
      const pages = run(seeds)
      for (;;) {
        const step = await pages.next()
        if (step.done === true) return step.value
      }
    },
    on(name, listener) {
      if (!EVENT_NAMES.includes(name)) {
        throw new TiptoeError('usage', `there is no event ${JSON.stringify(name)}`, { hint: EVENT_NAMES.join(', ') })
      }
      if (typeof listener !== 'function') throw new TiptoeError('usage', 'a listener must be a function')
      return events.on(name, (event) => {
        try {
          const result = listener(event)
          if (result instanceof Promise) result.catch(fail)
        } catch (error) {
          fail(error)
        }
      })
    },
    stop: () => active?.stop(),
    stats: async () => (active === undefined ? stats : active.stats()),
    get end() {
      return end
    },
  }
}

/** One run: the crawl, and the pages between it and whoever reads them. */
interface Run {
  start(): Promise<void>
  /** The next page; undefined when there will be none. */
  next(): Promise<Page | undefined>
  stop(): void
  /** Stops the crawl; `close` throws the first such error. */
  fail(error: unknown): void
  /** Ends the crawl, if it has not ended, and lets go of everything. */
  close(): Promise<EndReason>
  stats(): Promise<CrawlTotals>
}

function createRun(
  open: (readyForMore: () => Promise<void>) => Promise<Crawl>,
  { settings, events }: { readonly settings: Settings; readonly events: EventBus<CrawlEvents> },
): Run {
  const folder = settings.outDirectory
  const clock = createSystemClock()
  const startedAt = clock.now()
  const waiting: Page[] = []
  let crawl: Crawl | undefined
  let ended: Promise<void> = Promise.resolve()
  let end: EndReason = 'stopped'
  let totals = NO_STATS
  let failure: { readonly error: unknown } | undefined
  let isOver = false
  let isStopping = false
  let isAbandoned = false
  let wakeReader = (): void => {}
  let wakeCrawl = (): void => {}

  const readyForMore = (): Promise<void> =>
    isStopping || waiting.length <= PAGES_AHEAD
      ? Promise.resolve()
      : new Promise((resolve) => {
          wakeCrawl = resolve
        })
  const stop = (): void => {
    isStopping = true
    if (!isOver) crawl?.stop()
    wakeCrawl()
  }
  const fail = (error: unknown): void => {
    failure ??= { error }
    stop()
  }
  const take = (page: Page): void => {
    if (isAbandoned) return
    waiting.push(page)
    wakeReader()
  }
  const readStats = async (): Promise<void> => {
    if (crawl !== undefined) totals = totalsOf(await crawl.stats(), clock.now() - startedAt, settings)
  }
  const listen = (to: Crawl): void => {
    to.events.on('page', (saved) => {
      // No file is written without an output folder, so the page names none.
      const page = asPrinted(folder === undefined ? { ...saved, markdownPath: undefined } : saved)
      events.emit('page', page)
      take(page)
    })
    for (const name of EVENT_NAMES) if (name !== 'page') to.events.on(name, (event) => events.emit(name, event))
  }
  const release = async (opened: Crawl): Promise<void> => {
    try {
      await readStats()
      if (failure === undefined) totals = { end, ...totals }
    } finally {
      crawl = undefined
      await opened.close()
    }
    if (folder !== undefined && failure === undefined) writeStats(folder, totals)
  }

  return {
    stop,
    fail,
    async start() {
      crawl = await open(readyForMore)
      listen(crawl)
      if (isStopping) crawl.stop()
      ended = crawl
        .run()
        .then((reason) => {
          end = reason
        }, fail)
        .finally(() => {
          isOver = true
          wakeReader()
        })
    },
    async next() {
      if (waiting.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve
        })
      }
      const page = waiting.shift()
      if (waiting.length <= PAGES_AHEAD) wakeCrawl()
      return page
    },
    async close() {
      isAbandoned = true
      waiting.length = 0
      stop()
      await ended
      if (crawl !== undefined) await release(crawl).catch(fail)
      if (failure !== undefined) throw failure.error
      return end
    },
    async stats() {
      await readStats()
      return totals
    },
  }
}

function checkedOptions(options: CrawlerOptions): CrawlerOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TiptoeError('usage', 'the options of a crawler must be an object')
  }
  const given = FLEET_OPTIONS.find((name) => (options as TableOptions)[name] !== undefined)
  if (given !== undefined) {
    throw new TiptoeError('usage', `${given}: only the workers of a fleet have this option`, {
      hint: 'start them with tiptoe worker',
    })
  }
  const { store, signal, onPage, once } = options
  if (once !== undefined && typeof once !== 'boolean') {
    throw new TiptoeError('usage', 'once: true or false is expected')
  }
  if (store !== undefined && (typeof store !== 'string' || store === '' || store.includes('://'))) {
    throw new TiptoeError('usage', 'store: the path of a folder, or memory, is expected', {
      hint: 'a crawl on Redis is worked on by tiptoe worker; createFrontier opens its frontier',
    })
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new TiptoeError('usage', 'signal: an AbortSignal is expected')
  }
  if (onPage !== undefined && typeof onPage !== 'function') {
    throw new TiptoeError('usage', 'onPage: a function is expected')
  }
  return options
}

/** The seeds of this run, of the options and of the file that they name; each once. */
function seedsOf(settings: Settings, given: Seeds | undefined): readonly NormalizedUrl[] {
  const listed = given === undefined ? [] : typeof given === 'string' || given instanceof URL ? [given] : given
  if (typeof listed[Symbol.iterator] !== 'function') {
    throw new TiptoeError('usage', 'seeds: a URL or a list of URLs is expected')
  }
  const typed = Array.from(listed, (seed) => (seed instanceof URL ? seed.href : seed))
  for (const seed of typed) {
    if (typeof seed !== 'string') throw new TiptoeError('usage', `seeds: a URL is expected, not ${String(seed)}`)
  }
  const { inputFile } = settings
  const fromFile = inputFile === undefined ? [] : readSeedFile(inputFile)
  return [...new Set([...[...typed, ...settings.seeds].map(readSeed), ...fromFile])]
}

function noSeeds(): TiptoeError {
  return new TiptoeError('usage', 'no URL to crawl', { hint: "crawler.run(['https://example.com/docs/'])" })
}

/** Without the fields that have nothing to say, as in `pages.jsonl`. */
function asPrinted(page: object): Page {
  return Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined)) as unknown as Page
}

const NO_STATS: CrawlTotals = {
  saved: 0,
  failed: 0,
  skipped: {},
  queued: 0,
  discovered: 0,
  bytes: 0,
  tokens: 0,
  seconds: 0,
  requests: { page: 0, sitemap: 0, robots: 0 },
  tiers: {
    high: { queued: 0, requests: 0 },
    medium: { queued: 0, requests: 0 },
    low: { queued: 0, requests: 0 },
  },
  revisits: { changed: 0, unchanged: 0, gone: 0, missed: 0 },
  aside: 0,
  bloomFalsePositives: 0,
  hosts: 0,
  impolite: 0,
  closest: null,
}
