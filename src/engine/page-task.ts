/** One page: may it be asked for, what did it answer, and what follows from that. */
import type { FetchOutcome, FetchResponse } from '../fetch/index.ts'
import type { FoundUrl, Task } from '../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { readPage } from './page-reader.ts'
import { failed, skipped } from './records.ts'
import { redirectTarget } from './redirect.ts'
import { backOff, blameConnection, isOverloaded, retryLater, STRIKES_TO_GIVE_UP } from './retry.ts'

/** How much longer than its host a URL waits that was answered with 429 or 503. */
const ILL_URL_MS = 100
/** A URL that a host in good health answers so this often is given up on; at least, whatever `attempts` says. */
const ILL_ATTEMPTS = 3

export async function runPageTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { settings, registry, fetcher, lease, signal } = context
  if (settings.maxDepth !== undefined && task.depth > settings.maxDepth)
    return skipped(task, { reason: 'depth' }, context)
  const verdict = await registry.verdict(task.url)
  // The record went away between the lease and now: the frontier asks for it anew.
  if (verdict === undefined) return { outcome: { kind: 'returned' } }
  if (!verdict.allowed) return skipped(task, verdict, context)
  if (lease.strikes >= STRIKES_TO_GIVE_UP) return skipped(task, { reason: 'host-unavailable' }, context)
  return judge(task, await fetcher.fetch({ url: task.url }, signal), context)
}

function judge(task: Task, fetched: FetchOutcome, context: TaskContext): TaskResult {
  switch (fetched.kind) {
    case 'aborted':
      // The request may have reached the host: its pace counts from now.
      return { outcome: { kind: 'returned' }, answeredAt: context.clock.now() }
    case 'refused':
      return skipped(task, { reason: 'address', detail: fetched.detail }, context)
    case 'error': {
      const times = fetched.sent ? { answeredAt: fetched.answeredAt } : {}
      const again = fetched.retryable ? retryLater(task, context) : undefined
      if (again !== undefined) return { ...again, ...times }
      if (fetched.offline && context.connection() !== 'up') {
        return { ...blameConnection(fetched.detail, context), ...times }
      }
      const { code, detail, status } = fetched
      return { ...failed(task, { code, detail, ...(status === undefined ? {} : { status }) }, context), ...times }
    }
    case 'response':
      return { ...answered(task, fetched, context), answeredAt: fetched.answeredAt }
  }
}

function answered(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  if (isOverloaded(status)) {
    return overloaded(task, response, context)
  }
  const result = responded(task, response, context)
  return context.lease.strikes === 0 ? result : { ...result, host: { strikes: 0, blockedReason: null } }
}

/**
 * The host asks to be left alone, and every URL of it waits. This one waits a little longer, so that another is tried
 * first: if that succeeds and this one does not, again and again, it is this URL that is ill and not its host.
 */
function overloaded(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  const host = backOff(response, context)
  const healthy = context.lease.strikes === 0
  if (healthy && task.attempts + 1 >= Math.max(ILL_ATTEMPTS, context.settings.attempts)) {
    return { ...failed(task, { code: 'http', status, detail: `HTTP ${status}` }, context), host }
  }
  const notBefore = (host.blockedUntil ?? context.clock.now()) + ILL_URL_MS
  return { outcome: { kind: 'retry', notBefore, counts: healthy }, host }
}

function responded(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  if (status >= 200 && status < 300) return readPage(task, response, context)
  if (status >= 300 && status < 400 && status !== 304) return redirected(task, response, context)
  const again = status >= 500 || status === 408 ? retryLater(task, context) : undefined
  return again ?? failed(task, { code: 'http', status, detail: `HTTP ${status}` }, context)
}

/** The target is a URL of its own: scope, robots.txt and pace are checked again when its turn comes. */
function redirected(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  const target = redirectTarget(response, task.url)
  if (target === undefined) {
    const location = response.headers.get('location')
    const detail =
      location === null ? `HTTP ${status} without a Location` : `HTTP ${status} to ${location.slice(0, 500)}`
    return failed(task, { code: 'redirect', status, detail }, context)
  }
  const skip = (reason: 'redirect' | 'redirect-scope' | 'redirect-limit', detail: string): TaskResult =>
    skipped(task, { reason, detail, location: target, status }, context)
  if (task.redirects >= context.settings.maxRedirects)
    return skip('redirect-limit', `after ${task.redirects} redirects`)
  const { inScope, rule } = context.scope.check(target)
  if (!inScope) return skip('redirect-scope', rule)
  const tier = context.tierOf(target)
  const found: FoundUrl = {
    url: target,
    kind: 'page',
    depth: task.depth,
    via: 'redirect',
    referrer: task.url,
    redirects: task.redirects + 1,
    ...(tier === undefined ? {} : { tier }),
  }
  return { ...skip('redirect', `HTTP ${status}`), found: [found] }
}
