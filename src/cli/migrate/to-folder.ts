/**
 * From a store back to a folder, to go on with on one machine. The folders of the workers, and that in which the crawl was
 * begun, give the records: they are merged into the new folder, each once, with the content that they point to, and tell
 * what became of every settled URL. Everything else comes from the store. Once begun, nobody can go on with the crawl on
 * the store; until all is there, nobody in the folder.
 *
 * Archives (WARC) stay with the workers, and so do fingerprints of texts: repetitions are judged anew from here on.
 * Sitemaps that were read are known again as far as a revisit of them is planned.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import { frontierOptionsOf, prepareCrawlFolder, readCrawlFolder, stateFolder } from '../../engine/index.ts'
import { openExportSource, type SourceFolder } from '../../export/index.ts'
import {
  barPartitions,
  countsOf,
  createCrawlRecord,
  createInspector,
  differenceOf,
  openEmbeddedTarget,
  totalsOf,
  type Bar,
  type EmbeddedTarget,
  type FleetInspector,
  type MovingStore,
} from '../../frontier/index.ts'
import { TiptoeError, type NormalizedUrl } from '../../model/index.ts'
import { openOutputFolder, readWorkerFolder, type OutputRecord } from '../../sink/index.ts'
import { createContentCheck } from '../audit/content-check.ts'
import { missingOf } from '../audit/fleet-audit.ts'
import {
  connectStore,
  MOVING_PATIENCE_MS,
  keptSettings,
  openCrawlOnStore,
  registryOf,
  type StorePlace,
} from '../store-operand.ts'
import { carriedHost, carriedOpenUrl, openUrls } from './carried-fleet.ts'
import { carriedRecord, type CarryingRules } from './carried-record.ts'
import { mergeRecords, type MergedRecord, type MergedRecords } from './merged-records.ts'
import { inPortions } from './portions.ts'
import { settleDown, workersGone } from './settle-down.ts'

/** Records, hosts and URLs of one portion. */
const RECORDS_AT_ONCE = 500
const HOSTS_AT_ONCE = 200
const URLS_AT_ONCE = 1_000

export interface MoveToFolder {
  readonly folder: string
  readonly place: StorePlace
  /** Folders with records of the crawl. */
  readonly from: readonly string[]
  readonly version: string
  readonly clock: Clock
  onProgress(text: string): void
  onWait(text: string): void
}

export interface MovedBack {
  readonly hosts: number
  readonly urls: number
  readonly records: number
  /** Records that were left out, since another one tells of the same. */
  readonly doubled: number
}

/** How far it has come: the step, and in the step of records how many there are. */
interface Progress {
  readonly step: 'hosts' | 'records' | 'rows'
  readonly records: number
}

export async function moveToFolder(asked: MoveToFolder): Promise<MovedBack> {
  const { place, version, clock } = asked
  const link = connectStore(place, { clock, patienceMs: MOVING_PATIENCE_MS })
  try {
    const usual = keptSettings(undefined, place.crawl, version)
    const first = await openCrawlOnStore(place.crawl, usual, { link, clock })
    const record = createCrawlRecord(first)
    const settings = keptSettings(await record.config(), place.crawl, version)
    const seeds = (await record.seeds()) as readonly NormalizedUrl[]
    const store = await openCrawlOnStore(place.crawl, settings, { link, clock })
    const move = `${place.name} → ${resolve(asked.folder)}`
    const gone = `the crawl ${place.crawl} was moved to ${resolve(asked.folder)}, and goes on there`
    const { barred } = store.record
    const isBegun = store.record['move'] === move
    const inspector = await createInspector(store, clock, async () => undefined)
    if (barred === gone && hasArrived(asked, move)) {
      const sources = await sourcesOf(asked, inspector, store)
      return await carry(asked, { settings, inspector, sources, move })
    }
    if (!isBegun && barred !== undefined) throw new TiptoeError('usage', barred)
    if (settings.sink === 'redis-stream') {
      throw new TiptoeError(
        'usage',
        `the records of the crawl ${place.crawl} are in streams, and a folder would lack them`,
      )
    }
    // What cannot end well is not begun.
    await sourcesOf(asked, inspector, store)
    const identity = { settings: { ...settings, outDirectory: asked.folder }, seeds }
    prepareCrawlFolder(asked.folder, identity, readCrawlFolder(asked.folder, version))
    openTarget(asked, move).close()
    if (isBegun) await barPartitions(store, { bar: goingWords(place, asked.folder) })
    else await begin(asked, { store, settings, inspector, move })
    const sources = await sourcesOf(asked, inspector, store)
    const moved = await carry(asked, { settings, inspector, sources, move })
    await barPartitions(store, { bar: gone })
    await store.note({ set: { barred: gone }, unset: ['move'] })
    return moved
  } finally {
    await link.close()
  }
}

const goingWords = ({ crawl }: StorePlace, folder: string): string =>
  `the crawl ${crawl} is being moved to ${resolve(folder)}: the same tiptoe migrate goes on`

/** Nobody works on the crawl any more, nothing is under way, and from then on nobody can begin to. */
async function begin(
  { place, folder, clock, onWait }: MoveToFolder,
  crawl: {
    readonly store: MovingStore
    readonly settings: Settings
    readonly inspector: FleetInspector
    readonly move: string
  },
): Promise<void> {
  const { store, settings, inspector, move } = crawl
  await workersGone(place, createCrawlRecord(store), { clock, onWait })
  await settleDown(place, settings, inspector, { clock, onWait })
  await store.note({ set: { barred: goingWords(place, folder), move } })
  const { leases } = await barPartitions(store, { bar: goingWords(place, folder) })
  if (leases === 0) return
  await barPartitions(store, { lift: true })
  await store.note({ unset: ['barred', 'move'] })
  throw new TiptoeError('busy', `somebody began to work on the crawl ${place.crawl}`, {
    hint: 'stop them, and try again',
  })
}

/** The folders with their committed ends. None may be missing that has records of the crawl. */
async function sourcesOf(
  { from, version, place }: MoveToFolder,
  inspector: FleetInspector,
  store: MovingStore,
): Promise<readonly SourceFolder[]> {
  const outputs = await inspector.outputs()
  const positions = { crawl: place.crawl, positionOf: async (worker: string) => outputs.get(worker) ?? {} }
  const folders = from.length === 0 ? [] : (await openExportSource(from, { version, positions })).folders
  const workers = folders.flatMap(({ path }) => readWorkerFolder(path)?.worker ?? [])
  const missing = missingOf(outputs, workers).map((worker) => `the folder of worker ${worker}`)
  const origin = store.record['origin']
  if (origin !== undefined && workers.length === folders.length) {
    missing.push(`${(JSON.parse(origin) as { folder: string }).folder}, in which the crawl was begun`)
  }
  if (missing.length === 0) return folders
  throw new TiptoeError('usage', `records of the crawl ${place.crawl} are missing: ${missing.join('; ')}`, {
    hint: 'name each of these folders with --from: without them nobody knows which URLs were settled',
  })
}

interface Carrying {
  readonly settings: Settings
  readonly inspector: FleetInspector
  readonly sources: readonly SourceFolder[]
  readonly move: string
}

async function carry(asked: MoveToFolder, { settings, inspector, sources, move }: Carrying): Promise<MovedBack> {
  const { folder, onProgress } = asked
  const counters = await inspector.counters()
  const target = openTarget(asked, move)
  try {
    const at = (): Progress => JSON.parse(target.progress ?? '{"step":"hosts","records":0}') as Progress
    const merged = mergeRecords(sources)
    const moved = { hosts: counters.hosts, urls: counters.discovered, records: merged.count, doubled: merged.doubled }
    try {
      if (target.arrivedBy === move) return moved
      if (at().step === 'hosts') {
        await carryHosts(inspector, target, asked.clock.now())
        onProgress(`${counters.hosts} hosts`)
        target.portion(JSON.stringify({ step: 'records', records: 0 }), () => undefined)
      }
      if (at().step === 'records') {
        await carryRecords(folder, merged, target, at().records, rulesOf(settings), onProgress)
        target.portion(JSON.stringify({ step: 'rows', records: merged.count }), () => undefined)
      }
      await carryOpen(inspector, target)
      const differences = differenceOf(countsOf(counters), target.counts)
      if (differences.length > 0) {
        throw new TiptoeError(
          'store',
          `the records do not tell of all that the store knows: ${differences.join('; ')}`,
          {
            hint: 'the folders lack records, or hold more than the crawl: tiptoe audit STORE DIR… says which',
          },
        )
      }
      target.complete(totalsOf(counters))
      return moved
    } finally {
      merged.close()
    }
  } finally {
    target.close()
  }
}

/** Whether all of it came before, so that the same command has nothing left to do. */
function hasArrived(asked: MoveToFolder, move: string): boolean {
  if (!existsSync(join(stateFolder(asked.folder), 'crawl.db'))) return false
  const target = openTarget(asked, move)
  try {
    return target.arrivedBy === move
  } finally {
    target.close()
  }
}

/** Barred until all has come. A folder that holds anything but this move is refused. */
function openTarget({ folder, place, clock }: MoveToFolder, move: string): EmbeddedTarget {
  const bar: Bar = {
    message: `the crawl in ${folder} is being moved here from ${place.name}, and not all of it has come`,
    hint: 'go on with the same tiptoe migrate, or start over with --fresh',
    move,
  }
  const target = openEmbeddedTarget(stateFolder(folder), bar, { clock })
  if (target.bar?.move === move || target.arrivedBy === move) return target
  target.close()
  throw new TiptoeError('usage', `${folder} holds another crawl`, { hint: 'move the crawl to a new folder' })
}

function rulesOf(settings: Settings): CarryingRules {
  const registry = registryOf(settings, { load: async () => undefined })
  const { recrawl } = frontierOptionsOf(settings, {
    policyOf: (host) => registry.policyOf(host),
    isFleet: false,
    once: false,
  })
  return { recrawl, delayMs: settings.delayMs }
}

const HOSTS_STEP = JSON.stringify({ step: 'hosts', records: 0 })

async function carryHosts(inspector: FleetInspector, target: EmbeddedTarget, movedAt: number): Promise<void> {
  const quiet = (await inspector.partitions()).map(({ quietUntil }) => quietUntil)
  await inPortions(inspector.hosts(true), HOSTS_AT_ONCE, (hosts) =>
    target.portion(HOSTS_STEP, (writer) => {
      for (const host of hosts) {
        writer.host(carriedHost(host, { movedAt, quietUntil: quiet[host.partition] ?? null }))
      }
    }),
  )
}

/** Content first, then the records, then what they say of their URLs together with how long the files are. */
async function carryRecords(
  folder: string,
  merged: MergedRecords,
  target: EmbeddedTarget,
  done: number,
  rules: CarryingRules,
  onProgress: (text: string) => void,
): Promise<void> {
  const output = openOutputFolder(folder, target.output)
  try {
    let [place, portion]: [number, MergedRecord[]] = [done, []]
    const write = (): void => {
      for (const each of portion) copyContent(each, folder)
      const position = output.append(portion.map(outputRecord))
      output.sync()
      place += portion.length
      target.portion(JSON.stringify({ step: 'records', records: place }), (writer) => {
        for (const each of portion) writer.url(carriedRecord(each, rules))
        writer.output(position)
      })
      portion = []
      onProgress(`${place} of ${merged.count} records`)
    }
    for (const each of merged.from(done)) {
      portion.push(each)
      if (portion.length >= RECORDS_AT_ONCE) write()
    }
    if (portion.length > 0) write()
  } finally {
    output.close()
  }
}

function outputRecord(merged: MergedRecord): OutputRecord {
  return merged.kind === 'page'
    ? { kind: 'page', record: merged.record, markdown: null }
    : ({ kind: merged.kind, record: merged.record } as OutputRecord)
}

/** A page that was fetched again has one file for all its visits: that of the last one. */
function copyContent(merged: MergedRecord, folder: string): void {
  if (merged.kind !== 'page' || !merged.isNewest) return
  const { record } = merged
  const check = createContentCheck(merged.folder)
  for (const [path, extension] of [
    [record.markdownPath, 'md'],
    [record.htmlPath, 'html'],
  ] as const) {
    if (path === undefined) continue
    const problem = check(record.url as NormalizedUrl, path, extension)
    if (problem !== undefined) {
      throw new TiptoeError('output', `the content of ${record.url} in ${merged.folder} cannot be had: ${problem}`, {
        hint: 'tiptoe audit says what is wrong with the folder',
      })
    }
    const to = join(folder, path)
    if (existsSync(to)) continue
    mkdirSync(dirname(to), { recursive: true })
    rmSync(`${to}.part`, { force: true })
    copyFileSync(join(merged.folder, path), `${to}.part`)
    renameSync(`${to}.part`, to)
  }
}

const ROWS_STEP = (records: number): string => JSON.stringify({ step: 'rows', records })

/** What is open, what is planned, and what depth depends on. All of it may be written again. */
async function carryOpen(inspector: FleetInspector, target: EmbeddedTarget): Promise<void> {
  const progress = ROWS_STEP((JSON.parse(target.progress ?? '{}') as Partial<Progress>).records ?? 0)
  await inPortions(openUrls(inspector), URLS_AT_ONCE, async (rows) => {
    const known = await inspector.standing(rows.map(({ row }) => ({ kind: row.kind, url: row.url })))
    const urls = rows.map((open, index) => carriedOpenUrl(open, known[index]))
    target.portion(progress, (writer) => urls.forEach((url) => writer.url(url)))
  })
  await inPortions(inspector.visits(), URLS_AT_ONCE, (visits) =>
    target.portion(progress, (writer) => {
      for (const { row, visit } of visits) {
        // A sitemap that was read has no record, but its next visit is planned.
        if (writer.has(row.kind, row.url)) writer.visit(row.kind, row.url, visit)
        else writer.url({ ...carriedOpenUrl({ row, state: 'done', at: visit.checkedAt }, undefined), visit })
      }
    }),
  )
  await inPortions(inspector.children(), URLS_AT_ONCE, (pages) =>
    target.portion(progress, (writer) => {
      for (const { url, depth, children } of pages) writer.children(url, depth, children)
    }),
  )
}
