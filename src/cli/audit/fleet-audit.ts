/**
 * A crawl on a store, checked by what is really there: the sums of all partitions against rows that are counted one by
 * one, and conservation over all of them. With the folders of its workers, that every settled URL has its record in one
 * of them and the reverse, by fingerprint, and the pace of every host over all of them together.
 *
 * A fleet that works meanwhile changes what is counted between two looks. So differences are only told of a crawl that was
 * the same before and after; of one that moves, only what can never be.
 */
import { openExportSource } from '../../export/index.ts'
import type { FleetInspector, FleetTally, PartitionView } from '../../frontier/index.ts'
import { readWorkerFolder } from '../../sink/index.ts'
import { sumOf } from '../count-words.ts'
import { openFleetView, type FleetView } from '../fleet-view.ts'
import { spareWords } from '../host-words.ts'
import type { Invocation } from '../invocation.ts'
import { judgeBook } from './book-pace.ts'
import { createFindings, type Findings, type Violation } from './findings.ts'
import type { PaceCoverage } from './pace-audit.ts'
import { readRecords, type BookedUrl, type RecordBook } from './record-book.ts'
import type { RecordCounts } from './records-audit.ts'

/** URLs of records that are looked up at a time. */
const URLS_AT_ONCE = 1_000

type Counters = Awaited<ReturnType<FleetInspector['counters']>>

export interface FleetAudit {
  readonly crawl: string
  readonly ok: boolean
  /** The crawl changed while it was looked at, so what was counted could not be compared. */
  readonly moving: boolean
  readonly urls: {
    readonly discovered: number
    readonly queued: number
    readonly leased: number
    readonly done: number
    readonly failed: number
    readonly skipped: number
  }
  readonly counted: FleetTally
  /** Messages between partitions that were under way. */
  readonly undelivered: number
  /** With streams, records are on the store, for others to read, and are not compared. */
  readonly recordsIn: 'folders' | 'streams'
  /** Null when no folder was given, and with streams. */
  readonly records: RecordCounts | null
  readonly pace: PaceCoverage | null
  /** Workers whose records were committed and whose folders were not given. */
  readonly missingWorkers: readonly string[]
  readonly watched: {
    readonly requests: number
    readonly violations: number
    readonly closest: { readonly host: string; readonly spareMs: number } | null
  }
  readonly warnings: readonly string[]
  readonly violations: readonly Violation[]
}

export async function auditFleet(
  place: string,
  folders: readonly string[],
  invocation: Invocation,
): Promise<FleetAudit> {
  const view = await openFleetView(place, invocation)
  try {
    return await auditOf(view, folders, invocation.version)
  } finally {
    await view.inspector.close()
  }
}

async function auditOf(view: FleetView, paths: readonly string[], version: string): Promise<FleetAudit> {
  const { inspector } = view
  const findings = createFindings()
  const before = await inspector.partitions()
  const counters = await inspector.counters()
  const counted = await inspector.tally()
  const outputs = await inspector.outputs()
  const recordsIn = view.settings.sink === 'redis-stream' ? 'streams' : 'folders'
  const isRead = paths.length > 0 && recordsIn === 'folders'
  const records = isRead ? await readBook(paths, view, outputs, version, findings) : undefined
  try {
    const missingWorkers = missingOf(outputs, records?.workers ?? [])
    const isWhole = records !== undefined && missingWorkers.length === 0 && hasOrigin(view, records.others)
    if (records !== undefined) await compareRecords(records.book, isWhole ? counters : undefined, view, findings)
    const pace = records === undefined ? null : await judgeBook(records.book, paceRules(view), findings)
    const after = await inspector.partitions()
    const moving = versionsOf(before) !== versionsOf(after)
    checkConservation(counters, findings)
    if (!moving) compareCounts(counters, counted, knownOf(after), findings)
    const { impolite, closest } = counters
    if (impolite > 0 && closest !== null) {
      findings.add('impolite', `${closest.host}: ${spareWords(closest.spareMs)} at the worst`, impolite)
    }
    const violations = findings.list()
    return {
      crawl: view.name,
      ok: violations.length === 0,
      moving,
      urls: {
        discovered: counters.discovered,
        queued: counters.open - counters.leased,
        leased: counters.leased,
        done: counters.done,
        failed: counters.failed,
        skipped: sumOf(counters.skipped),
      },
      counted,
      undelivered: after.reduce((sum, { undelivered }) => sum + undelivered, 0),
      recordsIn,
      records: records?.book.counts ?? null,
      pace,
      missingWorkers,
      watched: { requests: sumOf(counters.requests), violations: impolite, closest },
      warnings: records?.warnings ?? [],
      violations,
    }
  } finally {
    records?.book.close()
  }
}

interface Records {
  readonly book: RecordBook
  readonly workers: readonly string[]
  /** Folders that are no worker's: what the crawl was begun in. */
  readonly others: number
  readonly warnings: readonly string[]
}

async function readBook(
  paths: readonly string[],
  view: FleetView,
  outputs: ReadonlyMap<string, Readonly<Record<string, number>>>,
  version: string,
  findings: Findings,
): Promise<Records> {
  const positions = { crawl: view.crawl, positionOf: async (worker: string) => outputs.get(worker) ?? {} }
  const { folders, warnings } = await openExportSource(paths, { version, positions })
  const workers = folders.flatMap(({ path }) => readWorkerFolder(path)?.worker ?? [])
  return { book: readRecords(folders, findings), workers, others: folders.length - workers.length, warnings }
}

export function missingOf(
  outputs: ReadonlyMap<string, Readonly<Record<string, number>>>,
  given: readonly string[],
): string[] {
  return [...outputs].flatMap(([worker, position]) => (given.includes(worker) || sumOf(position) === 0 ? [] : [worker]))
}

/** Whether the folder is among them in which the crawl was begun, if it was begun in one. */
function hasOrigin({ inspector }: FleetView, others: number): boolean {
  return inspector.store.record['origin'] === undefined || others > 0
}

const versionsOf = (partitions: readonly PartitionView[]): string =>
  partitions.map(({ sums }) => sums['version'] ?? 0).join()

const knownOf = (partitions: readonly PartitionView[]): number =>
  partitions.reduce((sum, { sums }) => sum + (sums['known'] ?? 0), 0)

function paceRules({ inspector, registry, settings }: FleetView): Parameters<typeof judgeBook>[1] {
  return { registry, settings, hostOf: (key) => inspector.host(key) }
}

/** Holds at every instant of every partition, and each was looked at in one. */
function checkConservation({ discovered, open, done, failed, skipped }: Counters, findings: Findings): void {
  const sum = open + done + failed + sumOf(skipped)
  if (sum !== discovered) {
    findings.add('counter', `discovered ${discovered} is not queued + leased + done + failed + skipped, ${sum}`)
  }
}

function compareCounts(counters: Counters, counted: FleetTally, known: number, findings: Findings): void {
  const compare = (name: string, stored: number, found: number): void => {
    if (stored !== found) findings.add('counter', `${name}: the sums say ${stored}, there are ${found}`)
  }
  const { queued, leased, waiting, held, aside } = counted
  compare('open pages', counters.open, queued.pages + leased.pages + waiting.pages + held + aside)
  compare('leased', counters.leased, leased.pages + counted.leasedParked)
  compare('held', counters.held, held)
  compare('set aside', counters.aside, aside)
  compare('open sitemaps', counters.sitemapsOpen, queued.sitemaps + leased.sitemaps + waiting.sitemaps)
  compare('queued by tier', sumOf(tierQueues(counters)), queued.pages + queued.sitemaps)
  compare('fingerprints of open URLs', counters.open + counters.sitemapsOpen, counted.open)
  compare('fingerprints in all', known, counted.open + counted.final)
  const settled = counters.done + counters.failed + sumOf(counters.skipped)
  // Sitemaps that were read are final too, and are not counted otherwise.
  if (counted.final < settled) {
    findings.add('counter', `fingerprints of settled URLs: ${settled} pages are settled, there are ${counted.final}`)
  }
  compare('hosts', counters.hosts, counted.hosts)
  compare('pages of hosts', counters.done + counters.refreshing, counted.pagesOfHosts)
  for (const list of counted.wrongLists) findings.add('queue', list)
}

function tierQueues({ tiers }: Counters): Record<string, number> {
  return { high: tiers.high.queued, medium: tiers.medium.queued, low: tiers.low.queued }
}

/**
 * Every record is of a URL that the crawl knows and that is settled, or open for another visit. With all folders, it is
 * also the other way round: as many URLs have records of each sort as the sums say, so none lacks its own.
 */
async function compareRecords(
  book: RecordBook,
  counters: Counters | undefined,
  { inspector }: FleetView,
  findings: Findings,
): Promise<void> {
  const ended = { page: 0, fail: 0, refreshing: 0 }
  const skipped: Record<string, number> = {}
  const look = async (urls: readonly BookedUrl[]): Promise<void> => {
    const standings = await inspector.standing(urls.map(({ url }) => ({ kind: 'page', url })))
    urls.forEach((booked, index) => {
      const state = standings[index]?.state ?? 'unknown'
      if (state === 'unknown') findings.add('unknown-url', booked.url)
      else if (state === 'open') {
        if (booked.visits === 0 || booked.end !== 'page') findings.add('wrong-state', `${booked.url} is still open`)
        else ended.refreshing += 1
      } else if (booked.end === 'skip') skipped[booked.reason ?? ''] = (skipped[booked.reason ?? ''] ?? 0) + 1
      else ended[booked.end] += 1
    })
  }
  let portion: BookedUrl[] = []
  for (const url of book.urls()) {
    portion.push(url)
    if (portion.length < URLS_AT_ONCE) continue
    await look(portion)
    portion = []
  }
  if (portion.length > 0) await look(portion)
  if (counters === undefined) return
  const compare = (name: string, stored: number, found: number): void => {
    if (stored > found) findings.add('missing-record', `${name}: ${stored - found} have none`, stored - found)
    else if (stored < found) findings.add('wrong-state', `${name}: ${found} by their records, ${stored} by the sums`)
  }
  compare('saved', counters.done, ended.page)
  compare('to be fetched again', counters.refreshing, ended.refreshing)
  compare('failed', counters.failed, ended.fail)
  for (const reason of new Set([...Object.keys(counters.skipped), ...Object.keys(skipped)])) {
    compare(`skipped: ${reason}`, counters.skipped[reason] ?? 0, skipped[reason] ?? 0)
  }
  const totals = (name: string, stored: number, found: number): void => {
    if (stored !== found) findings.add('totals', `${name}: the store says ${stored}, the records ${found}`)
  }
  totals('bytes', counters.bytes, book.totals.bytes)
  totals('tokens', counters.tokens, book.totals.tokens)
  for (const change of Object.keys(book.revisits) as (keyof typeof book.revisits)[]) {
    totals(`fetched again and ${change}`, counters.revisits[change], book.revisits[change])
  }
}
