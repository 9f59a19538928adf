/** Reading a sitemap or feed: its pages and further sitemaps become URLs of the crawl. */
import type { FetchError, FetchResponse } from '../../fetch/index.ts'
import { LIMITS, type FoundUrl, type Task } from '../../model/index.ts'
import { SITEMAP_MAX_DECODED_BYTES } from '../../parse/index.ts'
import type { SitemapContents } from '../../reading/index.ts'
import { addressOf, type TaskContext, type TaskResult } from './context.ts'
import { afterAnswer, afterError, isOurOwnFault, refusalOf } from './host-change.ts'
import { interpret, tellingHeaders } from './interpretation.ts'
import { failed, skipped } from './records.ts'
import { redirectTarget } from './redirect.ts'
import { blameConnection, refusedByHost, retryLater } from './retry.ts'
import { conditionsOf, isNotModified, validatorsOf } from './revisit-conditions.ts'
import { isHopeless, isRevisit, notModified, visitOf } from './revisit.ts'

/** Index files above a sitemap, at most: the protocol allows one, real sites use two. */
const MAX_NESTING = LIMITS['sitemap-nesting'].value
/** URLs are handed over in portions, so that a sitemap of 50,000 does not hold up everything else. */
const PORTION = 1_000
/** Of an answer that is no sitemap: it is not to be asked for again under a condition. */
const NO_VALIDATORS = { etag: null, lastModified: null }

export async function runSitemapTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { fetcher, registry, clock, lease, signal } = context
  const verdict = await registry.verdict(task.url, lease.robotsVersion)
  if (verdict === undefined) return { outcome: { kind: 'returned' } }
  if (!verdict.allowed) return skipped(task, { reason: verdict.reason }, context)
  if (isHopeless(task, context)) return skipped(task, { reason: 'host-unavailable' }, context)
  const accept = 'application/xml,text/xml,text/plain;q=0.8,*/*;q=0.5'
  const maxBodyBytes = SITEMAP_MAX_DECODED_BYTES
  const request = { url: task.url, accept, maxBodyBytes, ...conditionsOf(task), ...addressOf(lease) }
  const fetched = await fetcher.fetch(request, signal)
  switch (fetched.kind) {
    case 'aborted':
      return { outcome: { kind: 'returned' }, answeredAt: clock.now() }
    case 'elsewhere':
      return { outcome: { kind: 'returned' }, host: { address: fetched.address } }
    case 'refused':
      return skipped(task, { reason: 'address', detail: fetched.detail }, context)
    case 'error':
      return { ...broke(task, fetched, context), ...(fetched.sent ? { answeredAt: fetched.answeredAt } : {}) }
    case 'response':
      return { ...(await answered(task, fetched, context)), answeredAt: fetched.answeredAt }
  }
}

function broke(task: Task, error: FetchError, context: TaskContext): TaskResult {
  const refusal = refusalOf(error)
  if (refusal !== undefined) return refusedByHost(task, refusal, context)
  const host = afterError(error, context)
  const again = retryLater(task, context)
  if (again !== undefined) return { ...again, ...host }
  if (isOurOwnFault(error, context)) return blameConnection(error.detail, context)
  return { ...failed(task, error, context), ...host }
}

async function answered(task: Task, response: FetchResponse, context: TaskContext): Promise<TaskResult> {
  const refusal = refusalOf(response)
  if (refusal !== undefined) return refusedByHost(task, refusal, context)
  return { ...(await responded(task, response, context)), host: afterAnswer(response, context) }
}

/** A sitemap that is missing or has moved may come back: it is looked at again like any other, and never retired. */
async function responded(task: Task, response: FetchResponse, context: TaskContext): Promise<TaskResult> {
  const { status } = response
  if (status >= 500) return retryLater(task, context) ?? failed(task, { code: 'http' }, context)
  if (isRevisit(task) && isNotModified(task, response)) return notModified(task, response, context)
  const done = { kind: 'done' } as const
  if (status >= 400) return { outcome: done, visit: visitOf(task, null, NO_VALIDATORS) }
  if (status >= 300) {
    const found = redirected(task, response, context)
    return { outcome: done, visit: visitOf(task, found[0]?.url ?? null, NO_VALIDATORS), found }
  }
  const { url } = task
  const { body } = response
  const knownHash = task.last?.hash ?? null
  const input = { kind: 'sitemap', url, body, headers: tellingHeaders(response), knownHash } as const
  const interpreted = await interpret(input, task, context)
  if (interpreted.reading === undefined) return interpreted.result
  const { reading } = interpreted
  const visit = visitOf(task, reading.contentHash, validatorsOf(response))
  // What it names is known from the last time.
  if (visit.change === 'unchanged') return { outcome: done, visit }
  return { outcome: done, visit, found: await admit(reading, task, context) }
}

function redirected(task: Task, response: FetchResponse, { settings }: TaskContext): FoundUrl[] {
  const url = redirectTarget(response, task.url)
  if (url === undefined || task.redirects >= settings.maxRedirects) return []
  const { nesting, redirects } = task
  return [{ url, kind: 'sitemap', depth: 0, via: 'redirect', redirects: redirects + 1, nesting }]
}

/** What the sitemap names and the scope admits; all but the last portion has been handed over already. */
async function admit(contents: SitemapContents, task: Task, context: TaskContext): Promise<FoundUrl[]> {
  let found: FoundUrl[] = []
  for (const [index, loc] of contents.urls.entries()) {
    const at = contents.modifiedAt[index] ?? NaN
    const modified = Number.isNaN(at) ? {} : { modifiedAt: at }
    if (contents.isSitemap[index] === 1) {
      if (task.nesting >= MAX_NESTING) continue
      const nesting = task.nesting + 1
      const referrer = task.url
      found.push({ url: loc, kind: 'sitemap', depth: 0, via: 'sitemap', referrer, nesting, ...modified })
    } else {
      const url = context.strip(loc)
      if (!context.scope.check(url).inScope) continue
      const tier = context.tierOf(url)
      const rule = tier === undefined ? {} : { tier }
      // As deep as a link from a seed: the sitemap is the site's own front page.
      found.push({ url, kind: 'page', depth: 1, via: 'sitemap', ...rule, ...modified })
    }
    if (found.length < PORTION) continue
    await context.addEarly(found)
    found = []
  }
  return found
}
