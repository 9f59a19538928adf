/**
 * What a plan is made from: the folder of a crawl, or what a crawl would be given and assumptions about the rest. Says
 * in words what is assumed, since a number without that is worth nothing.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileLines, formatBytes, formatDuration, parseObject, type Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import { readSeed, readSeedFile, requireCrawlFolder } from '../../engine/index.ts'
import {
  TiptoeError,
  type FailRecord,
  type NormalizedUrl,
  type PageRecord,
  type SkipRecord,
} from '../../model/index.ts'
import { assumeWeb, recordWeb, type PlannedWeb, type RecordedCrawl } from '../../sim/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { originOf } from '../../url/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import type { Invocation } from '../invocation.ts'
import { typedSettings } from '../typed-settings.ts'
import { countIn, durationIn, sizeIn } from './switch-values.ts'

export interface PlanSource {
  /** What is planned, in words: `tiptoe-example.com: what is left of the crawl`. */
  readonly what: string
  readonly settings: Settings
  readonly assumptions: readonly string[]
  /** Of the crawl that the records are from, for as long as it lasted; 0 when there is none. */
  readonly pagesPerSecond: number
  web(options: { readonly wasBusy: boolean }): PlannedWeb
  /** Lets go of the folder. */
  close(): void
}

const PAGES_PER_HOST = 100
const LATENCY_MS = 200
const BYTES_PER_PAGE = 30_000
/** What the largest plan may have. */
const MOST_HOSTS = 1_000_000
const MOST_PAGES = 1_000_000_000

export function planSource(invocation: Invocation, clock: Clock): PlanSource {
  const { operands } = invocation.parsed
  const folder = operands.find(isFolder)
  if (folder === undefined) return assumedSource(invocation)
  if (operands.length > 1) {
    throw new TiptoeError('usage', `${folder} is a folder: a plan is made from one folder or from URLs`, {
      hint: `tiptoe simulate ${folder}`,
    })
  }
  return recordedSource(folder, invocation, clock)
}

/** A word that could not be a host, or is there on the disk, is taken for a folder. */
function isFolder(word: string): boolean {
  return existsSync(word) || /^[./~]/.test(word) || !/[.:/]/.test(word.replace('localhost', '.'))
}

function assumedSource(invocation: Invocation): PlanSource {
  const { parsed } = invocation
  const { switches, operands } = parsed
  if (switches.whole === true) {
    throw new TiptoeError('usage', '--whole goes with the folder of a crawl', { hint: 'tiptoe simulate DIR --whole' })
  }
  const flags = operands.length === 0 ? parsed.flags : { ...parsed.flags, seeds: operands }
  const settings = typedSettings({ ...invocation, parsed: { ...parsed, flags } })
  const seeds: readonly NormalizedUrl[] = [
    ...new Set([
      ...settings.seeds.map(readSeed),
      ...(settings.inputFile === undefined ? [] : readSeedFile(settings.inputFile)),
    ]),
  ]
  if (seeds.length === 0) {
    throw new TiptoeError('usage', 'nothing to simulate', {
      hint: 'name the folder of a crawl, or URLs, or a configuration that has some: tiptoe simulate https://example.com/',
    })
  }
  const origins = new Set(seeds.map(originOf)).size
  const hosts =
    switches.hosts === undefined
      ? origins
      : Math.max(origins, countIn(switches.hosts, '--hosts', { least: 1, most: MOST_HOSTS }))
  const pagesPerHost =
    switches.pages === undefined
      ? PAGES_PER_HOST
      : countIn(switches.pages, '--pages', { least: 1, most: Math.floor(MOST_PAGES / hosts) })
  const latencyMs = switches.latency === undefined ? LATENCY_MS : durationIn(switches.latency, '--latency')
  const bytesPerPage = switches.size === undefined ? BYTES_PER_PAGE : sizeIn(switches.size, '--size')
  const word = (typed: string | undefined): string => (typed === undefined ? ', by default' : '')
  const oneDomain = settings.scope === 'domain'
  return {
    what: `${countOf(seeds.length, 'seed')}: a crawl that has not begun`,
    settings,
    pagesPerSecond: 0,
    assumptions: [
      `${countOf(hosts, 'host')}${hosts > origins ? `, ${formatCount(origins)} of them named by the seeds` : ', those of the seeds'}; all known from the start`,
      `${countOf(pagesPerHost, 'page')} on each host (--pages${word(switches.pages)}), each leading to ten others`,
      `${formatDuration(latencyMs)} to every answer (--latency${word(switches.latency)})`,
      `pages of ${formatBytes(bytesPerPage)} (--size${word(switches.size)})`,
      'no host asks for a Crawl-delay, refuses or fails: robots.txt was not read',
    ],
    close: () => {},
    web: () => assumeWeb({ seeds, hosts, pagesPerHost, latencyMs, bytesPerPage, oneDomain }),
  }
}

function recordedSource(folder: string, invocation: Invocation, clock: Clock): PlanSource {
  const { switches } = invocation.parsed
  const assumed = (['hosts', 'pages', 'latency', 'size'] as const).find((name) => switches[name] !== undefined)
  if (assumed !== undefined) {
    throw new TiptoeError('usage', `--${assumed} is an assumption, and ${folder} has records to go by`, {
      hint: `tiptoe simulate ${folder}`,
    })
  }
  const { configuration } = requireCrawlFolder(folder, invocation.version)
  const settings = typedSettings(invocation, configuration)
  const view = openCrawlView(folder, invocation.version)
  const part = switches.whole === true ? 'whole' : 'rest'
  const isWhole = part === 'whole'
  const open = view.inspector.counters().open
  const records = recordsOf(folder, view)
  return {
    what: `${folder}: ${isWhole ? 'the whole crawl, from its start' : 'what is left of the crawl'}`,
    // What is left was found by sitemaps too, and those that were read are not read again.
    settings: isWhole ? settings : { ...settings, ...withoutLimits(settings, view), sitemaps: false },
    pagesPerSecond: pagesPerSecond(records),
    assumptions: [
      'hosts answer as fast as they did, by the records; those never asked, as the others',
      ...(isWhole ? ['pages are found by way of the pages that named them first'] : []),
      ...(isWhole && open === 0
        ? []
        : ['links that were not found yet are not in it: every page that is fetched may name more']),
      'pages that failed fail again, and each host that asked for a pause asks for its last one once',
    ].filter((line) => isWhole || !line.startsWith('pages that failed')),
    close: () => view.inspector.close(),
    web: ({ wasBusy }) => recordWeb(records, { part, now: clock.now(), wasBusy }),
  }
}

/** Of the page limit, what is left too. */
function withoutLimits({ maxPages }: Settings, { inspector }: CrawlView): Partial<Settings> {
  return maxPages === undefined ? {} : { maxPages: Math.max(0, maxPages - inspector.counters().done) }
}

function recordsOf(folder: string, { inspector }: CrawlView): RecordedCrawl {
  const { output } = inspector.counters()
  const records = function* <T>(name: string): Generator<T> {
    for (const { bytes, complete } of fileLines(join(folder, name), output[name] ?? 0)) {
      const record = complete ? parseObject(bytes) : undefined
      if (record !== undefined && typeof record['url'] === 'string') yield record as T
    }
  }
  return {
    hosts: () => inspector.hosts(),
    urls: () => inspector.pages(),
    pages: () => records<PageRecord>(RECORD_FILES.page),
    failures: () => records<FailRecord>(RECORD_FILES.fail),
    skips: () => records<SkipRecord>(RECORD_FILES.skip),
  }
}

/** Over the time in which pages were fetched at all: a crawl may have been stopped for days. 0 for fewer than two. */
function pagesPerSecond(crawl: RecordedCrawl): number {
  let pages = 0
  let activeMs = 0
  let last: number | undefined
  for (const { fetchedAt } of crawl.pages()) {
    const at = Date.parse(fetchedAt)
    const gapMs = last === undefined ? 0 : at - last
    if (gapMs > 0 && gapMs <= LONGEST_GAP_MS) activeMs += gapMs
    // Records are in order of their end, not of their start.
    last = Math.max(at, last ?? at)
    pages += 1
  }
  return activeMs === 0 ? 0 : (pages * 1_000) / activeMs
}

/** A longer time without a page is taken for a pause of the whole crawl. */
const LONGEST_GAP_MS = 60_000
