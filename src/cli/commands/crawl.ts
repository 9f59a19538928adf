/**
 * `tiptoe URL…`: begins a crawl, or goes on with the one that the folder holds. With a store on servers it begins the
 * crawl there, or joins it, and works on it like any other worker.
 */
import { createSystemClock, type Clock } from '../../base/index.ts'
import { withoutPassword, type Settings } from '../../config/index.ts'
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
  type FleetSeat,
  type StoredCrawl,
} from '../../engine/index.ts'
import type { FrontierStats } from '../../frontier/index.ts'
import { TiptoeError, type Change, type FailureCode, type NormalizedUrl } from '../../model/index.ts'
import { createRateMeter } from '../../telemetry/index.ts'
import { tellAlarms } from '../alarms.ts'
import { sumOf } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import { troubleWords, type FleetDeps } from '../fleet-place.ts'
import { workOnStore } from '../fleet-work.ts'
import { serveHealth } from '../health.ts'
import type { Invocation } from '../invocation.ts'
import { programName } from '../program-name.ts'
import { renderProgress } from '../progress.ts'
import { typedSettings } from '../typed-settings.ts'
import { listenForSignals, type Signals } from '../signals.ts'
import { renderSummary } from '../summary.ts'
import { escapeForTerminal, type Terminal } from '../terminal.ts'

const PROGRESS_MS = 250
const FLEET_PROGRESS_MS = 1_000
/** Seeds that came to nothing, named one by one at most. */
const SEEDS_TOLD = 5
/** Rates are shown over the last seconds. */
const RATE_WINDOW_MS = 5_000

export interface CrawlPlan {
  readonly settings: Settings
  readonly seeds: readonly NormalizedUrl[]
  readonly folder: string
  /** Present: the crawl is kept on servers. */
  readonly fleet?: FleetSeat
}

export async function crawlCommand(invocation: Invocation, deps: FleetDeps = {}): Promise<number> {
  refuseContradictions(invocation)
  const joined = storeOf(invocation)
  if (joined === undefined) {
    const plan = planCrawl(invocation)
    return runCrawl(plan, invocation, { resumeCommand: resumeCommand(invocation, plan) })
  }
  const { settings, seeds } = joined
  const crawl = settings.crawlName ?? crawlNameOf(seeds)
  const folder = settings.outDirectory ?? (seeds.length > 0 ? defaultFolder(seeds) : `tiptoe-${crawl}`)
  const place = { store: settings.store, crawl }
  const work = { settings, seeds, folder, begins: seeds.length > 0, keep: false }
  return workOnStore(place, work, invocation, deps, (plan) =>
    runCrawl(plan, invocation, { resumeCommand: resumeCommand(invocation, plan) }),
  )
}

/** What was typed, when it names a store; or, where no seeds are named, when the folder does. */
function storeOf(
  invocation: Invocation,
): { readonly settings: Settings & { readonly store: string }; readonly seeds: readonly NormalizedUrl[] } | undefined {
  const typed = typedSettings(invocation)
  const { store } = typed
  if (store !== undefined) {
    if (invocation.parsed.switches.fresh === true) {
      throw new TiptoeError('usage', '--fresh forgets what a folder holds, and not a crawl on a store', {
        hint: 'give the new crawl another name with --crawl, and another folder with --out',
      })
    }
    return { settings: { ...typed, store }, seeds: seedsOf(typed) }
  }
  if (typed.sink !== 'files') {
    throw new TiptoeError('usage', `--sink ${typed.sink} needs a store`, { hint: 'name one with --store redis://…' })
  }
  const stored =
    typed.outDirectory === undefined || invocation.parsed.switches.fresh === true
      ? undefined
      : readCrawlFolder(typed.outDirectory, invocation.version)
  const kept = stored?.settings.store
  if (stored === undefined || kept === undefined) return undefined
  const seeds = seedsOf(typed)
  if (seeds.length > 0) {
    throw new TiptoeError('usage', `${typed.outDirectory} is the folder of a worker of a crawl on ${kept}`, {
      hint: 'name the store with --store to go on, or choose another folder with --out',
    })
  }
  return { settings: { ...typedSettings(invocation, stored.configuration), store: kept }, seeds }
}

/** The name of a crawl that was given none. */
function crawlNameOf(seeds: readonly NormalizedUrl[]): string {
  const [first] = seeds
  if (first === undefined) throw nothingToCrawl()
  return new URL(first).host.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 64)
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
  const seeds = seedsOf(typed)
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

/** As they were named and as the file has them, each once. */
export function seedsOf({ seeds, inputFile }: Settings): NormalizedUrl[] {
  return [...new Set([...seeds.map(readSeed), ...(inputFile === undefined ? [] : readSeedFile(inputFile))])]
}

/** The same command again, without what would start over or be seen by others, and with what else it needs. */
export function typedAgain({ words, env }: Invocation, more: readonly string[] = []): string {
  const again = [...words.filter((word) => word !== '--fresh').map(withoutSecret), ...more]
  return [programName(env), ...again.map(quote)].join(' ')
}

/** Seeds that came by stdin are in the folder. */
export function resumeCommand(invocation: Invocation, plan: CrawlPlan): string {
  const { env, parsed } = invocation
  const program = programName(env)
  if (plan.settings.inputFile === '-') {
    return `${program} -o ${quote(plan.folder)}${parsed.switches.once === true ? ' --once' : ''}`
  }
  // A folder or a store that a variable or a file names is named again, since those may be gone by then.
  const folder = parsed.flags.out === undefined && plan.settings.outDirectory !== undefined ? ['-o', plan.folder] : []
  const { fleet } = plan
  const store =
    fleet === undefined || parsed.flags.store !== undefined ? [] : ['--store', withoutPassword(fleet.login.store)]
  const crawl = fleet === undefined || parsed.flags.crawl !== undefined ? [] : ['--crawl', fleet.login.crawl]
  return typedAgain(invocation, [...folder, ...store, ...crawl])
}

/** A password is given again by its variable. */
function withoutSecret(word: string): string {
  const [, flag = '', value = word] = /^(--store=)(.*)$/.exec(word) ?? []
  return isStore(value) ? `${flag}${withoutPassword(value)}` : word
}

function isStore(word: string): boolean {
  return /^rediss?(?:-cluster)?:/i.test(word)
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
  const { fleet } = plan
  let opened: Crawl | undefined
  const health =
    fleet === undefined || settings.healthAddress === undefined
      ? undefined
      : await serveHealth(settings.healthAddress, () => ({
          role: 'worker',
          crawl: fleet.login.crawl,
          id: fleet.login.worker,
          ready: opened?.isStoreInReach ?? false,
          slots: opened?.slots ?? 0,
          inFlight: opened?.inFlight ?? 0,
        }))
  if (health !== undefined) terminal.note(`answering /healthz and /readyz at ${health.address}`)
  const crawl = await openCrawl({
    settings,
    seeds: plan.seeds,
    store: stateFolder(folder),
    outputFolder: folder,
    once,
    ...(fleet === undefined
      ? {}
      : { fleet: { ...fleet, onTrouble: ({ kind, detail }) => terminal.note(troubleWords(kind, detail)) } }),
  })
  opened = crawl
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
  // Asking a store on servers for numbers costs a message to each of its parts.
  const everyMs = fleet === undefined ? PROGRESS_MS : FLEET_PROGRESS_MS
  const stopProgress = showProgress(crawl, terminal, { clock, startedAt, fetched, recrawling, everyMs })
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
  await health?.close()
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
  if (end === 'halted') terminal.note(`the crawl was ended for all of its workers: ${crawl.haltedBecause ?? ''}`)
  if (fleet !== undefined && (end === 'limit' || end === 'bytes' || end === 'halted')) {
    const place = `--store ${withoutPassword(fleet.login.store)} --crawl ${fleet.login.crawl}`
    terminal.note(`to go on, when all workers have ended: tiptoe seed ${place}, with another limit, then workers again`)
  } else if (end === 'limit') terminal.note('to go on, raise --max-pages or leave it out')
  else if (end === 'bytes') terminal.note('to go on, raise --max-bytes or leave it out')
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
  run: {
    readonly clock: Clock
    readonly startedAt: number
    readonly fetched: Fetched
    readonly recrawling: boolean
    readonly everyMs: number
  },
): () => void {
  const { clock, startedAt, fetched, recrawling, everyMs } = run
  if (!terminal.isLive) return () => {}
  const pages = createRateMeter(RATE_WINDOW_MS)
  const bytes = createRateMeter(RATE_WINDOW_MS)
  let cancel = (): void => {}
  let stopped = false
  const draw = async (): Promise<void> => {
    // A store that gives out is told of by the crawl itself.
    const stats = await crawl.stats().catch(() => undefined)
    if (stopped || stats === undefined) return
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
    cancel = clock.timer(everyMs, () => void draw())
  }
  void draw()
  return () => {
    stopped = true
    cancel()
  }
}
