/**
 * Fetching a robots.txt, and what its answer means for the origin (RFC 9309 §2.3.1). A file that cannot be had forbids
 * everything, unless there is a last good copy, which then stays in force; how long is robots-record.ts.
 */
import type { FetchError, FetchResponse } from '../../fetch/index.ts'
import type { HostChange } from '../../frontier/index.ts'
import { LIMITS, type FoundUrl, type NormalizedUrl, type RobotsRecord, type Task } from '../../model/index.ts'
import { isGivenUp } from '../../politeness/index.ts'
import { parseRobots, ROBOTS_MAX_BYTES } from '../../robots/index.ts'
import { normalizeUrl } from '../../url/index.ts'
import { addressOf, type TaskContext, type TaskResult } from './context.ts'
import { afterAnswer, afterError, changeOf, isOurOwnFault, refusalOf, setbackOf } from './host-change.ts'
import { redirectTarget } from './redirect.ts'
import { blameConnection, retryLater } from './retry.ts'
import { lastGood, recordOf } from './robots-record.ts'
import { isHtmlPage, robotsText } from './robots-text.ts'

/** RFC 9309 §2.3.1.2: at least five; beyond them the file counts as unavailable. */
const MAX_REDIRECTS = LIMITS['robots-redirects'].value
/** A server in trouble is given longer to recover than a page, since all of its pages depend on this one answer. */
const PATIENCE = 5
/** Sitemap lines taken from one file. */
const MAX_SITEMAPS = LIMITS['robots-sitemaps'].value

export async function runRobotsTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { settings, fetcher, clock, lease, signal } = context
  if (settings.ignoreRobotsBecause !== undefined) {
    return unavailable(task, null, `robots.txt is not asked for: ${settings.ignoreRobotsBecause}`, context)
  }
  if (isGivenUp(lease.health, clock.now(), settings.patienceMs)) {
    const why = { status: null, detail: 'robots.txt is not asked for any more: the host refused or failed everything' }
    return unreachable(task, why, undefined, context)
  }
  const accept = 'text/plain,*/*;q=0.5'
  const request = { url: task.url, accept, maxBodyBytes: ROBOTS_MAX_BYTES, ...addressOf(lease) }
  const fetched = await fetcher.fetch(request, signal)
  switch (fetched.kind) {
    case 'aborted':
      return { outcome: { kind: 'returned' }, answeredAt: clock.now() }
    case 'elsewhere':
      return { outcome: { kind: 'returned' }, host: { address: fetched.address } }
    case 'refused':
      return refuse(task, { status: null, detail: fetched.detail, refusal: 'address' }, context)
    case 'error':
      return { ...(await broke(task, fetched, context)), ...(fetched.sent ? { answeredAt: fetched.answeredAt } : {}) }
    case 'response':
      return { ...(await answered(task, fetched, context)), answeredAt: fetched.answeredAt }
  }
}

/** No answer, or one that broke off: half a file is no file. */
async function broke(task: Task, error: FetchError, context: TaskContext): Promise<TaskResult> {
  const refusal = refusalOf(error)
  if (refusal !== undefined) return overloaded(task, setbackOf(refusal, context), refusal.status, context)
  const { detail } = error
  if (isOurOwnFault(error, context)) return retryLater(task, context) ?? blameConnection(detail, context)
  return {
    ...(await unreachable(task, { status: null, detail }, retryLater(task, context), context)),
    ...afterError(error, context),
  }
}

async function answered(task: Task, response: FetchResponse, context: TaskContext): Promise<TaskResult> {
  const refusal = refusalOf(response)
  if (refusal !== undefined) return overloaded(task, setbackOf(refusal, context), refusal.status, context)
  const result = await responded(task, response, context)
  // A host whose pages are refused may well answer for its robots.txt, again and again: that ends no row of refusals.
  return context.lease.health.streak < 0 ? result : { ...result, host: afterAnswer(response, context) }
}

/** A 429 or 503: the host is paused, and its robots.txt counts as one that cannot be had. */
async function overloaded(
  task: Task,
  setback: ReturnType<typeof setbackOf>,
  status: number,
  context: TaskContext,
): Promise<TaskResult> {
  const host: HostChange = changeOf(setback)
  const again = retryLater(task, context)
  const later: TaskResult | undefined =
    again?.outcome.kind === 'retry' ? { outcome: { ...again.outcome, notBefore: setback.blockedUntil } } : undefined
  return { ...(await unreachable(task, { status, detail: answerWords(status) }, later, context)), host }
}

async function responded(task: Task, response: FetchResponse, context: TaskContext): Promise<TaskResult> {
  const { status } = response
  if (isPart(response)) {
    const why = { status, detail: `robots.txt answered HTTP ${status} with a part of it` }
    return unreachable(task, why, retryLater(task, context, PATIENCE), context)
  }
  if (status >= 200 && status < 300) return readRules(task, response, context)
  if (status >= 300 && status < 400) {
    const target = redirectTarget(response, task.url)
    if (target !== undefined && task.redirects < MAX_REDIRECTS) return { outcome: { kind: 'moved', url: target } }
    const why = target === undefined ? 'a redirect without a target' : `more than ${MAX_REDIRECTS} redirects`
    // It says nothing of a file that was there, so rules that were had stay; without any, it is a file that is not there.
    return (await keepLastGood(task, why, context)) ?? unavailable(task, status, `no robots.txt: ${why}`, context)
  }
  if (status >= 400 && status < 500) return unavailable(task, status, `no robots.txt: HTTP ${status}`, context)
  return unreachable(task, { status, detail: answerWords(status) }, retryLater(task, context, PATIENCE), context)
}

const answerWords = (status: number): string => `robots.txt answered HTTP ${status}`

/** A 206 that nobody asked for, and that says itself that it is not all of the file. */
function isPart({ status, headers }: FetchResponse): boolean {
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(headers.get('content-range')?.trim() ?? '')
  return status === 206 && range !== null && (Number(range[1]) > 0 || Number(range[2]) + 1 < Number(range[3]))
}

/** The last good copy, at once and with no page waiting; without one another try; and after the last of them nothing may be asked. */
async function unreachable(
  task: Task,
  why: Pick<RobotsRecord, 'status' | 'detail'>,
  again: TaskResult | undefined,
  context: TaskContext,
): Promise<TaskResult> {
  const kept = await keepLastGood(task, why.detail, context)
  return kept ?? again ?? refuse(task, { ...why, refusal: 'robots-unreachable' }, context)
}

/** What was had before stays in force for a while longer; undefined when there is nothing, or it is too old. */
async function keepLastGood(task: Task, why: string, context: TaskContext): Promise<TaskResult | undefined> {
  const { registry, clock, settings } = context
  const kept = lastGood(await registry.recordOf(task.origin), why, clock.now(), settings.robotsMaxAgeMs)
  if (kept === undefined) return undefined
  registry.learn(kept)
  return { outcome: { kind: 'done' }, robots: kept }
}

function readRules(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { settings, productToken } = context
  const { status } = response
  const body = robotsText(response.body, response.truncated)
  if (isHtmlPage(body)) return unavailable(task, status, `no robots.txt: HTTP ${status} with an HTML page`, context)
  const rules = parseRobots(body)
  const askedMs = rules.crawlDelayMs(productToken) ?? 0
  if (settings.respectCrawlDelay && askedMs > settings.maxCrawlDelayMs && settings.crawlDelayOverMax === 'skip') {
    const limit = settings.maxCrawlDelayMs / 1_000
    const detail = `Crawl-delay ${askedMs / 1_000}s is longer than max_crawl_delay ${limit}s`
    return refuse(task, { status, detail, refusal: 'crawl-delay', body }, context)
  }
  const detail = `HTTP ${status}, ${body.length} characters${response.truncated ? ' and more, which were not read' : ''}`
  return conclude(task, { state: 'rules', status, detail, body, crawlDelayMs: askedMs }, rules.sitemaps, context)
}

/** There is no such file: everything is allowed. */
function unavailable(task: Task, status: number | null, detail: string, context: TaskContext): TaskResult {
  return conclude(task, { state: 'allow-all', status, detail }, [], context)
}

/** The file could not be understood by us: nothing of the origin may be asked. */
export function refuseOrigin(task: Task, detail: string, context: TaskContext): TaskResult {
  return refuse(task, { status: null, detail, refusal: 'robots-unreachable' }, context)
}

/** Nothing of the origin may be asked. */
function refuse(
  task: Task,
  why: Pick<RobotsRecord, 'status' | 'detail' | 'refusal'> & { readonly body?: string },
  context: TaskContext,
): TaskResult {
  return conclude(task, { state: 'disallow-all', ...why }, undefined, context)
}

/** The record for everyone, and the sitemaps to be read: those the file names and the usual place; or none. */
function conclude(
  task: Task,
  said: Omit<Parameters<typeof recordOf>[0], 'origin'>,
  sitemaps: readonly string[] | undefined,
  { clock, registry, settings, isOurs }: TaskContext,
): TaskResult {
  const record = recordOf({ origin: task.origin, ...said }, clock.now(), settings.robotsMaxAgeMs)
  registry.learn(record)
  // Where a foreign server only keeps a sitemap for us, its own sitemaps are no business of this crawl.
  if (!settings.sitemaps || sitemaps === undefined || !isOurs(task.origin))
    return { outcome: { kind: 'done' }, robots: record }
  const named = sitemaps.slice(0, MAX_SITEMAPS).flatMap((line) => normalizeUrl(line, `${task.origin}/`) ?? [])
  const urls = new Set([...named, `${task.origin}/sitemap.xml` as NormalizedUrl])
  const found = [...urls].map((url): FoundUrl => ({ url, kind: 'sitemap', depth: 0, via: 'sitemap' }))
  return { outcome: { kind: 'done' }, robots: record, found }
}
