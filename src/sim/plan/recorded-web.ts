/**
 * A web from the records of a crawl: the pages that it knows, on the hosts that they are on, found by way of the pages
 * that named them first, answering as fast or as badly as they did. What was never asked for, because robots.txt or the
 * depth forbids it, is not in it; what has not been found yet cannot be.
 *
 * Reading the folder is the caller's: it hands over rows and records one by one.
 */
import type { FetchErrorCode } from '../../fetch/index.ts'
import type { HostView } from '../../frontier/index.ts'
import type { FailRecord, NormalizedUrl, PageRecord, SkipRecord } from '../../model/index.ts'
import { hostKey, originOf } from '../../url/index.ts'
import { NOT_FOUND, type AskedAs, type PlannedAnswer, type PlannedHost, type PlannedWeb } from './planned-web.ts'
import { shrinkOf } from './shrink.ts'

/** The parts of a page's row that matter here. */
export interface RecordedUrl {
  readonly id: number
  readonly url: NormalizedUrl
  /** 0 for none. */
  readonly referrer: number
  readonly via: string
  readonly state: 'queued' | 'waiting' | 'held' | 'aside' | 'done' | 'failed' | 'skipped'
  readonly reason: string | null
}

export interface RecordedCrawl {
  hosts(): Iterable<HostView>
  /** In order of discovery. */
  urls(): Iterable<RecordedUrl>
  pages(): Iterable<Pick<PageRecord, 'url' | 'fetchedAt' | 'answerMs' | 'durationMs' | 'bytes' | 'attempts'>>
  failures(): Iterable<Pick<FailRecord, 'url' | 'error' | 'detail' | 'status'>>
  skips(): Iterable<Pick<SkipRecord, 'url' | 'reason' | 'location'>>
}

export interface RecordedWebOptions {
  /** `rest`: what is still queued. `whole`: all of it, from the seeds on. */
  readonly part: 'rest' | 'whole'
  /** Clock ms: pauses that end later are waited for. */
  readonly now: number
  /** The measured times include what the machine itself was busy with; then the quick ones are the hosts' own. */
  readonly wasBusy: boolean
}

/** Reasons for which a URL was asked for and yet skipped. */
const ASKED_AND_SKIPPED = new Set(['redirect', 'redirect-scope', 'redirect-limit'])
/** Of a busy machine's measurements, the share of the quickest that is taken for the host's own time. */
const QUICK_SHARE = 0.1
/** Measurements kept of one host, at most. */
const SAMPLES = 1_000

interface Page {
  status: number
  error?: { readonly code: FetchErrorCode; readonly afterMs: number | undefined }
  location?: string
  /** Attempts that it took. */
  attempts: number
  answerMs?: number
  transferMs: number
  bytes: number
  readonly links: NormalizedUrl[]
}

interface Site {
  pages: number
  readonly fromSitemap: NormalizedUrl[]
  answers: number[]
  latencyMs: number
  crawlDelayMs: number
  /** What its robots.txt came to where it could not be had. */
  robots: { readonly status: number | null } | undefined
}

export function recordWeb(crawl: RecordedCrawl, options: RecordedWebOptions): PlannedWeb {
  const sites = new Map<string, Site>()
  const siteOf = (origin: string): Site => {
    let site = sites.get(origin)
    if (site === undefined) sites.set(origin, (site = emptySite()))
    return site
  }
  const addresses = new Map<string, string>()
  const pauses = new Map<string, { readonly pauseMs: number; readonly site: Site }>()
  for (const host of crawl.hosts()) {
    if (host.address !== null) addresses.set(host.key, host.address)
    const [first] = host.lanes
    const pauseMs = pauseOf(host, options)
    if (first !== undefined && pauseMs > 0) pauses.set(host.key, { pauseMs, site: siteOf(first.origin) })
    for (const lane of host.lanes) {
      const site = siteOf(lane.origin)
      site.crawlDelayMs = lane.robots?.crawlDelayMs ?? 0
      if (lane.robots?.refusal === 'robots-unreachable') site.robots = { status: lane.robots.status }
    }
  }

  const rest = options.part === 'rest'
  const pages = new Map<string, Page>()
  const seeds: NormalizedUrl[] = []
  /** By row: who named whom is told by rows. */
  const byId = new Map<number, Page>()
  for (const row of crawl.urls()) {
    const site = siteOf(originOf(row.url))
    const isOpen = row.state === 'queued' || row.state === 'waiting'
    const wanted = rest ? isOpen : isOpen || wasAsked(row) || (site.robots !== undefined && site.pages === 0)
    if (!wanted) continue
    const page: Page = { status: 200, attempts: 1, transferMs: 0, bytes: 0, links: [] }
    pages.set(row.url, page)
    byId.set(row.id, page)
    site.pages += 1
    const parent = byId.get(row.referrer)
    if (rest || row.via === 'seed') seeds.push(row.url)
    else if (parent !== undefined) parent.links.push(row.url)
    else if (row.via === 'sitemap') site.fromSitemap.push(row.url)
    else seeds.push(row.url)
  }

  let bytes = 0
  let saved = 0
  for (const record of crawl.pages()) {
    const site = siteOf(originOf(record.url as NormalizedUrl))
    if (site.answers.length < SAMPLES) site.answers.push(record.answerMs)
    bytes += record.bytes
    saved += 1
    const page = pages.get(record.url)
    if (page === undefined) continue
    page.attempts = record.attempts
    page.answerMs = record.answerMs
    page.transferMs = options.wasBusy ? 0 : record.durationMs - record.answerMs
    page.bytes = record.bytes
  }
  const bytesPerPage = saved === 0 ? USUAL_BYTES : Math.round(bytes / saved)
  for (const record of crawl.failures()) {
    const page = pages.get(record.url)
    if (page === undefined) continue
    if (record.error === 'http') page.status = record.status ?? 500
    // What could not be read was an answer all the same.
    else if (record.error !== 'parse' && record.error !== 'redirect')
      page.error = { code: record.error, afterMs: timeoutIn(record.detail) }
    else page.status = 404
  }
  for (const record of crawl.skips()) {
    const page = pages.get(record.url)
    if (page === undefined || !ASKED_AND_SKIPPED.has(record.reason)) continue
    const isPlanned = record.reason === 'redirect' && record.location !== undefined && pages.has(record.location)
    page.status = isPlanned ? 302 : 404
    if (isPlanned) page.location = record.location
  }

  const all = [...sites.values()].flatMap(({ answers }) => answers)
  const usualMs = all.length === 0 ? USUAL_LATENCY_MS : typicalOf(all, options.wasBusy)
  for (const site of sites.values()) {
    site.latencyMs = site.answers.length === 0 ? usualMs : typicalOf(site.answers, options.wasBusy)
    site.answers = []
  }
  const working = [...sites].filter(([, site]) => site.pages > 0)
  const shrink = shrinkOf(pages.size, working.length)
  if (shrink > 1) thinOut(pages, shrink)

  return {
    seeds: seeds.filter((url) => pages.has(url)),
    pages: working.reduce((sum, [, site]) => sum + site.pages, 0),
    bytesPerPage,
    shrink,
    addressOf: (host) => addresses.get(host),
    refusalOf(host) {
      const pause = pauses.get(host)
      if (pause === undefined) return undefined
      const { pauseMs, site } = pause
      return { ...NOT_FOUND, answerMs: site.latencyMs, status: 503, retryAfterSeconds: Math.ceil(pauseMs / 1_000) }
    },
    *hosts(): Iterable<PlannedHost> {
      const byHost = new Map<string, PlannedHost>()
      for (const [origin, site] of working) {
        const host = hostKey(`${origin}/` as NormalizedUrl)
        const known = byHost.get(host)
        byHost.set(host, {
          host,
          pages: site.pages + (known?.pages ?? 0),
          latencyMs: site.latencyMs,
          crawlDelayMs: Math.max(site.crawlDelayMs, known?.crawlDelayMs ?? 0),
        })
      }
      yield* byHost.values()
    },
    answer(url, as, n) {
      const site = siteOf(originOf(url))
      const page = as === 'page' ? pages.get(url) : undefined
      if (page !== undefined) return pageAnswer(page, site, n, options.wasBusy, bytesPerPage)
      return otherAnswer(as, site)
    },
  }
}

const USUAL_BYTES = 30_000
const USUAL_LATENCY_MS = 200

function emptySite(): Site {
  return {
    pages: 0,
    fromSitemap: [],
    answers: [],
    latencyMs: 0,
    crawlDelayMs: 0,
    robots: undefined,
  }
}

function wasAsked({ state, reason }: RecordedUrl): boolean {
  return state === 'done' || state === 'failed' || (state === 'skipped' && ASKED_AND_SKIPPED.has(reason ?? ''))
}

/** How long the host will want to be left alone, or did when it last answered 429 or 503. */
function pauseOf(host: HostView, { part, now }: RecordedWebOptions): number {
  if (part === 'rest') return Math.max(0, host.blockedUntil - now)
  return /\b(?:429|503)\b/.test(host.blockedReason ?? '') ? host.blockedUntil - host.health.blockedAt : 0
}

/** `no answer after 20000 ms`. */
function timeoutIn(detail: string): number | undefined {
  const match = /after (\d{1,9}) ms/.exec(detail)
  return match === null ? undefined : Number(match[1])
}

function typicalOf(values: readonly number[], wasBusy: boolean): number {
  if (!wasBusy) return values.reduce((sum, value) => sum + value, 0) / values.length
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * QUICK_SHARE)] ?? 0
}

function pageAnswer(page: Page, site: Site, n: number, wasBusy: boolean, bytesPerPage: number): PlannedAnswer {
  const ownMs = page.answerMs ?? site.latencyMs
  const answerMs = wasBusy ? Math.min(ownMs, site.latencyMs) : ownMs
  if (page.error !== undefined) {
    const { code, afterMs } = page.error
    return { kind: 'error', code, retryable: RETRYABLE.has(code), answerMs: afterMs ?? answerMs }
  }
  // It was had in the end; what came before is taken to have been an error of the server.
  if (n < page.attempts) return { ...NOT_FOUND, answerMs, status: 500 }
  const { status, location, transferMs, links } = page
  const bytes = page.bytes === 0 ? bytesPerPage : page.bytes
  const response = { kind: 'response', status, answerMs, transferMs, bytes, links } as const
  return location === undefined ? response : { ...response, location }
}

const RETRYABLE: ReadonlySet<FetchErrorCode> = new Set(['connect', 'timeout', 'protocol'])

function otherAnswer(as: AskedAs, site: Site): PlannedAnswer {
  const { latencyMs: answerMs, robots, crawlDelayMs, fromSitemap } = site
  if (as === 'robots') {
    if (robots === undefined) return { ...NOT_FOUND, answerMs, status: 200, crawlDelayMs }
    if (robots.status === null) return { kind: 'error', code: 'protocol', retryable: true, answerMs }
    return { ...NOT_FOUND, answerMs, status: robots.status }
  }
  if (as === 'page' || fromSitemap.length === 0) return { ...NOT_FOUND, answerMs }
  return { kind: 'response', status: 200, answerMs, transferMs: 0, bytes: 0, links: fromSitemap }
}

/** Leaves one page of so many in the plan; those that lead to others are the last to go. */
function thinOut(pages: Map<string, Page>, shrink: number): void {
  let number = 0
  for (const [url, page] of pages) {
    if (page.links.length > 0) continue
    number += 1
    if (number % shrink !== 0) pages.delete(url)
  }
  for (const page of pages.values()) {
    const kept = page.links.filter((link) => pages.has(link))
    page.links.splice(0, page.links.length, ...kept)
  }
}
