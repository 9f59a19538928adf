/** `tiptoe URL…`: begins a crawl, or goes on with the one that the folder holds. */
import { createSystemClock, type Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import {
  clearCrawlFolder,
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
  type StoredCrawl,
} from '../../engine/index.ts'
import type { FrontierStats } from '../../frontier/index.ts'
import { TiptoeError, type Change, type FailureCode, type NormalizedUrl } from '../../model/index.ts'
import { createRateMeter } from '../../telemetry/index.ts'
import { tellAlarms } from '../alarms.ts'
import { sumOf } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { programName } from '../program-name.ts'
import { renderProgress } from '../progress.ts'
import { typedSettings } from '../typed-settings.ts'
import { listenForSignals, type Signals } from '../signals.ts'
import { renderSummary } from '../summary.ts'
import { escapeForTerminal, type Terminal } from '../terminal.ts'

const PROGRESS_MS = 250
/** Seeds that came to nothing, named one by one at most. */
const SEEDS_TOLD = 5
/** Rates are shown over the last seconds. */
const RATE_WINDOW_MS = 5_000

export interface CrawlPlan {
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
  readonly folder: string
}

export async function crawlCommand(invocation: Invocation): Promise<number> {
  refuseContradictions(invocation)
  const plan = planCrawl(invocation)
  return runCrawl(plan, invocation, { resumeCommand: resumeCommand(invocation, plan) })
}

function refuseContradictions({ parsed: { flags, switches } }: Invocation): void {
  if (switches.once !== true) return
  if (flags.recrawl === true) {
    throw new TiptoeError('usage', '--once and --recrawl cannot be given together', {
      hint: '--once ends when what is due has been fetched again; --recrawl goes on until it is stopped',
    })
  }
  if (switches.fresh === true) {
    throw new TiptoeError('usage', '--once and --fresh cannot be given together', {
      hint: '--once refreshes the crawl that the folder holds; --fresh forgets it',
    })
  }
}

/** What to crawl and where, from what was typed and what the folder holds; nothing is started. */
export function planCrawl(invocation: Invocation): CrawlPlan {
  const { parsed, version, terminal } = invocation
  const typed = typedSettings(invocation)
  const seeds = unique([
    ...typed.seeds.map(readSeed),
    ...(typed.inputFile === undefined ? [] : readSeedFile(typed.inputFile)),
  ])
  const folder = typed.outDirectory ?? defaultFolder(seeds)
  const fresh = parsed.switches.fresh === true
  // A crawl that is started over with seeds of its own need not even be readable.
  const stored = fresh && seeds.length > 0 ? undefined : readCrawlFolder(folder, version)
  // Where no seeds are named, everything is as the folder has it, but for what is said anew.
  const identity = seeds.length > 0 ? { settings: typed, seeds } : storedIdentity(invocation, stored)
  if (fresh) clearCrawlFolder(folder)
  prepareCrawlFolder(folder, identity, fresh ? undefined : stored)
  if (stored !== undefined && !fresh) terminal.note(`resuming the crawl in ${folder}`)
  return { ...identity, folder }
}

function storedIdentity(invocation: Invocation, stored: StoredCrawl | undefined): Omit<CrawlPlan, 'folder'> {
  if (stored === undefined) throw nothingToCrawl()
  return { settings: typedSettings(invocation, stored.configuration), seeds: stored.seeds }
}

function nothingToCrawl(): TiptoeError {
  return new TiptoeError('usage', 'no URL to crawl', { hint: 'tiptoe https://example.com/docs/' })
}

function defaultFolder(seeds: readonly NormalizedUrl[]): string {
  const [first] = seeds
  if (first === undefined) throw nothingToCrawl()
  // The port too: two servers of one machine are two crawls.
  return `tiptoe-${new URL(first).host.replaceAll(/[^a-z0-9.-]/g, '_')}`
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}

/** The same command again, without what would start over. Seeds that came by stdin are in the folder. */
function resumeCommand({ words, env, parsed }: Invocation, plan: CrawlPlan): string {
  const program = programName(env)
  if (plan.settings.inputFile === '-') {
    return `${program} -o ${quote(plan.folder)}${parsed.switches.once === true ? ' --once' : ''}`
  }
  // A folder that a variable or a file names is named again, since those may be gone by then.
  const folder = parsed.flags.out === undefined && plan.settings.outDirectory !== undefined ? ['-o', plan.folder] : []
  const again = [...words.filter((word) => word !== '--fresh'), ...folder]
  return [program, ...again.map(quote)].join(' ')
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Runs the crawl to its end, with progress, signals and a summary; returns the exit code. */
export async function runCrawl(
  plan: CrawlPlan,
  invocation: Invocation,
  { resumeCommand }: { readonly resumeCommand: string },
): Promise<number> {
  const { terminal } = invocation
  const { settings, folder } = plan
  const once = invocation.parsed.switches.once === true
  const clock = createSystemClock()
  const startedAt = clock.now()
  const crawl = await openCrawl({
    settings,
    seeds: plan.seeds,
    store: stateFolder(folder),
    outputFolder: folder,
    once,
    clock,
  })
  const fetched = countFetched(crawl)
  const failures = new Map<FailureCode, number>()
  crawl.events.on('fail', (record) => failures.set(record.error, (failures.get(record.error) ?? 0) + 1))
  const alarms = tellAlarms(crawl.events, terminal)
  tellDetails(crawl, terminal)
  tellSeeds(crawl, terminal)
  if (settings.ignoreRobotsBecause !== undefined) {
    terminal.warn(`robots.txt is ignored: ${settings.ignoreRobotsBecause}`)
  }
  const signals = listenForSignals(crawl, { drainMs: settings.drainMs, resumeCommand }, terminal)
  const recrawling = settings.recrawl && !once
  const stopProgress = showProgress(crawl, terminal, { clock, startedAt, fetched, recrawling })
  const end = await crawl.run().catch(async (error: unknown) => {
    stopProgress()
    // What broke the crawl is the news, not what closing it runs into because of that.
    await crawl.close().catch(() => {})
    throw error
  })
  stopProgress()
  terminal.done()
  const stats = await crawl.stats()
  await crawl.close()
  signals.release()
  const elapsedMs = clock.now() - startedAt
  const totals = totalsOf(stats, elapsedMs, settings, end)
  const { new: saved, ...again } = fetched
  writeStats(folder, totals)
  const interrupted = end === 'stopped'
  terminal.report(
    renderSummary({
      stats,
      elapsedMs,
      savedThisRun: saved,
      revisitsThisRun: again,
      out: folder,
      reason: end === 'stopped' ? 'interrupted' : end,
      // A limit that is reached would be reached again at once.
      ...(end === 'stopped' || end === 'time' ? { resumeCommand } : {}),
      topFailures: [...failures].map(([code, count]) => ({ code, count })),
      impolite: Math.max(alarms.impolite, stats.impolite),
      color: terminal.color,
    }),
    { evenQuiet: interrupted },
  )
  if (invocation.parsed.switches.json === true) terminal.data(JSON.stringify(totals))
  if (end === 'limit') terminal.note('to go on, raise --max-pages or leave it out')
  if (end === 'bytes') terminal.note('to go on, raise --max-bytes or leave it out')
  if (!interrupted) giveHints(stats, terminal)
  const code = exitCode(end, stats, settings, signals)
  return code === EXIT.done && alarms.impolite > 0 ? EXIT.failures : code
}

/** Pages that this run has fetched, by what came of them. */
type Fetched = Record<Change, number>

function countFetched(crawl: Crawl): Fetched {
  const fetched: Fetched = { new: 0, changed: 0, unchanged: 0, gone: 0, missed: 0 }
  const count = ({ change }: { readonly change: Change }): void => {
    fetched[change] += 1
  }
  crawl.events.on('page', count)
  crawl.events.on('revisit', count)
  return fetched
}

function exitCode(end: EndReason, stats: FrontierStats, settings: Settings, signals: Signals): number {
  if (end === 'stopped') return signals.exitCode ?? EXIT.interrupt
  if (end !== 'finished') return EXIT.limit
  const lost = stats.failed + unreached(stats)
  const tried = stats.done + stats.refreshing + lost
  return tried > 0 && (lost * 100) / tried > settings.failOnPercent ? EXIT.failures : EXIT.done
}

/** URLs that nothing is wrong with, on hosts that could not be asked. */
function unreached({ skipped }: FrontierStats): number {
  return (skipped['robots-unreachable'] ?? 0) + (skipped['host-unavailable'] ?? 0) + (skipped.address ?? 0)
}

/** A seed that comes to nothing is news, unlike one broken link among thousands. */
function tellSeeds(crawl: Crawl, terminal: Terminal): void {
  let told = 0
  const tell = ({ url, via, detail }: { url: string; via: string; detail: string | null }): void => {
    if (via !== 'seed') return
    told += 1
    if (told <= SEEDS_TOLD) terminal.warn(`nothing can be read from ${url}: ${detail ?? 'no reason given'}`)
    else if (told === SEEDS_TOLD + 1) terminal.warn('nor from other seeds; skipped.jsonl and failed.jsonl name them')
  }
  crawl.events.on('fail', tell)
  crawl.events.on('skip', (record) => {
    if (record.reason !== 'redirect') tell(record)
  })
}

function giveHints(stats: FrontierStats, terminal: Terminal): void {
  if (stats.done === 0 && stats.failed + unreached(stats) > 0) {
    terminal.warn('no page was saved', 'once the hosts can be reached, start over with --fresh')
  }
  if ((stats.skipped.address ?? 0) > 0) {
    terminal.warn(
      'some hosts are at private or loopback addresses, which are not dialled',
      'if they are yours, name them: --allow-address 127.0.0.0/8',
    )
  }
  if (stats.done === 0 && (stats.skipped['redirect-scope'] ?? 0) > 0) {
    terminal.warn(
      'the seeds redirect out of the scope',
      'skipped.jsonl says where to: give that URL, or a wider --scope',
    )
  }
}

function tellDetails(crawl: Crawl, terminal: Terminal): void {
  crawl.events.on('page', (page) => terminal.detail(`${page.status} ${escapeForTerminal(page.url)}`))
  crawl.events.on('revisit', ({ url, change }) => terminal.detail(`${change} ${escapeForTerminal(url)}`))
  crawl.events.on('skip', ({ url, reason, detail }) =>
    terminal.detail(`skipped ${escapeForTerminal(url)}: ${reason} (${escapeForTerminal(detail ?? '')})`),
  )
  crawl.events.on('fail', ({ url, error, detail }) =>
    terminal.detail(`failed ${escapeForTerminal(url)}: ${error} (${escapeForTerminal(detail)})`),
  )
  crawl.events.on('blocked', ({ host, reason }) => terminal.detail(`${host} is left alone: ${reason}`))
}

function showProgress(
  crawl: Crawl,
  terminal: Terminal,
  run: { readonly clock: Clock; readonly startedAt: number; readonly fetched: Fetched; readonly recrawling: boolean },
): () => void {
  const { clock, startedAt, fetched, recrawling } = run
  if (!terminal.isLive) return () => {}
  const pages = createRateMeter(RATE_WINDOW_MS)
  const bytes = createRateMeter(RATE_WINDOW_MS)
  let cancel = (): void => {}
  let stopped = false
  const draw = async (): Promise<void> => {
    const stats = await crawl.stats()
    if (stopped) return
    const now = clock.now()
    const { drainUntil } = crawl
    const view = {
      now,
      elapsedMs: now - startedAt,
      stats,
      inFlight: crawl.inFlight,
      slots: crawl.slots,
      pagesPerSecond: pages.read(now, sumOf(fetched)),
      bytesPerSecond: bytes.read(now, stats.bytes),
      ...(recrawling ? { nextVisit: crawl.nextAt } : {}),
      phase: drainUntil === undefined ? ('crawling' as const) : ('draining' as const),
      ...(drainUntil === undefined ? {} : { drainUntil }),
    }
    terminal.live(renderProgress(view, terminal.columns, terminal.color))
    cancel = clock.timer(PROGRESS_MS, () => void draw())
  }
  void draw()
  return () => {
    stopped = true
    cancel()
  }
}
