/** Fetching a robots.txt, and what its answer means for the origin (RFC 9309 §2.3.1). */
import type { FetchError, FetchResponse } from '../fetch/index.ts'
import type { FoundUrl, NormalizedUrl, RobotsRecord, Task } from '../model/index.ts'
import { parseRobots, ROBOTS_MAX_BYTES } from '../robots/index.ts'
import { normalizeUrl } from '../url/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { redirectTarget } from './redirect.ts'
import { blameConnection, isOverloaded, retryAfterMs, retryLater } from './retry.ts'

/** RFC 9309 §2.4: not to be used for longer than a day. */
const FRESH_MS = 86_400_000
/** How long an origin whose robots.txt could not be had is left alone before it is asked again. */
const REFUSED_MS = 3_600_000
/** RFC 9309 §2.3.1.2: at least five; beyond them the file counts as unavailable. */
const MAX_REDIRECTS = 5
/** A server in trouble is given longer to recover than a page, since all of its pages depend on this one answer. */
const PATIENCE = 5
/** Sitemap lines taken from one file. */
const MAX_SITEMAPS = 200

export async function runRobotsTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { settings, fetcher, clock, signal } = context
  if (settings.ignoreRobotsBecause !== undefined) {
    return unavailable(task, null, `robots.txt is not asked for: ${settings.ignoreRobotsBecause}`, context)
  }
  const accept = 'text/plain,*/*;q=0.5'
  const fetched = await fetcher.fetch({ url: task.url, accept, maxBodyBytes: ROBOTS_MAX_BYTES }, signal)
  switch (fetched.kind) {
    case 'aborted':
      return { outcome: { kind: 'returned' }, answeredAt: clock.now() }
    case 'refused':
      return refuse(task, { status: null, detail: fetched.detail, refusal: 'address' }, context)
    case 'error':
      return { ...unreachable(task, fetched, context), ...(fetched.sent ? { answeredAt: fetched.answeredAt } : {}) }
    case 'response':
      return { ...answered(task, fetched, context), answeredAt: fetched.answeredAt }
  }
}

function unreachable(task: Task, error: FetchError, context: TaskContext): TaskResult {
  const again = retryLater(task, context)
  if (again !== undefined) return again
  if (error.offline && context.connection() !== 'up') return blameConnection(error.detail, context)
  return refuse(task, { status: null, detail: error.detail, refusal: 'robots-unreachable' }, context)
}

function answered(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  if (status >= 200 && status < 300) return readRules(task, response, context)
  if (status >= 300 && status < 400) {
    const target = redirectTarget(response, task.url)
    if (target !== undefined && task.redirects < MAX_REDIRECTS) return { outcome: { kind: 'moved', url: target } }
    const why = target === undefined ? 'a redirect without a target' : `more than ${MAX_REDIRECTS} redirects`
    return unavailable(task, status, `no robots.txt: ${why}`, context)
  }
  if (status >= 400 && status < 500 && status !== 429) {
    return unavailable(task, status, `no robots.txt: HTTP ${status}`, context)
  }
  const again = retryLater(task, context, PATIENCE)
  if (again?.outcome.kind !== 'retry') {
    return refuse(
      task,
      { status, detail: `robots.txt answered HTTP ${status}`, refusal: 'robots-unreachable' },
      context,
    )
  }
  const now = context.clock.now()
  const asked = isOverloaded(status) ? retryAfterMs(response.headers.get('retry-after'), now) : undefined
  const notBefore = Math.max(again.outcome.notBefore, now + (asked ?? 0))
  return { outcome: { ...again.outcome, notBefore } }
}

function readRules(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { settings, productToken } = context
  const { status } = response
  const body = new TextDecoder().decode(response.body)
  const rules = parseRobots(body)
  const askedMs = rules.crawlDelayMs(productToken) ?? 0
  if (settings.respectCrawlDelay && askedMs > settings.maxCrawlDelayMs && settings.crawlDelayOverMax === 'skip') {
    const limit = settings.maxCrawlDelayMs / 1_000
    const detail = `Crawl-delay ${askedMs / 1_000}s is longer than max_crawl_delay ${limit}s`
    return refuse(task, { status, detail, refusal: 'crawl-delay', body }, context)
  }
  const detail = `HTTP ${status}, ${body.length} characters`
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
  const expiresAt = context.clock.now() + REFUSED_MS
  return conclude(task, { state: 'disallow-all', expiresAt, ...why }, undefined, context)
}

/** The record for everyone, and the sitemaps to be read: those the file names and the usual place; or none. */
function conclude(
  task: Task,
  part: Pick<RobotsRecord, 'state' | 'status' | 'detail'> & Partial<RobotsRecord>,
  sitemaps: readonly string[] | undefined,
  { clock, registry, settings, isOurs }: TaskContext,
): TaskResult {
  const now = clock.now()
  const record: RobotsRecord = {
    origin: task.origin,
    refusal: null,
    fetchedAt: now,
    expiresAt: now + FRESH_MS,
    body: '',
    crawlDelayMs: 0,
    ...part,
  }
  registry.learn(record)
  // Where a foreign server only keeps a sitemap for us, its own sitemaps are no business of this crawl.
  if (!settings.sitemaps || sitemaps === undefined || !isOurs(task.origin))
    return { outcome: { kind: 'done' }, robots: record }
  const named = sitemaps.slice(0, MAX_SITEMAPS).flatMap((line) => normalizeUrl(line, `${task.origin}/`) ?? [])
  const urls = new Set([...named, `${task.origin}/sitemap.xml` as NormalizedUrl])
  const found = [...urls].map((url): FoundUrl => ({ url, kind: 'sitemap', depth: 0, via: 'sitemap' }))
  return { outcome: { kind: 'done' }, robots: record, found }
}
