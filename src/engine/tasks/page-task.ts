/** One page: may it be asked for, what did it answer, and what follows from that. */
import type { FetchError, FetchResponse } from '../../fetch/index.ts'
import type { ContentSignals, FoundUrl, Task } from '../../model/index.ts'
import { addressOf, type TaskContext, type TaskResult } from './context.ts'
import { afterAnswer, afterError, isOurOwnFault, refusalOf } from './host-change.ts'
import { readPage } from './page-reader.ts'
import { failed, skipped } from './records.ts'
import { redirectTarget } from './redirect.ts'
import { blameConnection, refusedByHost, retryLater } from './retry.ts'
import { conditionsOf, isNotModified } from './revisit-conditions.ts'
import { gone, isHopeless, isRevisit, notModified } from './revisit.ts'

export async function runPageTask(task: Task, context: TaskContext): Promise<TaskResult> {
  const { settings, registry, fetcher, lease, signal } = context
  if (task.aside !== undefined) return skipped(task, task.aside, context)
  if (settings.maxDepth !== undefined && task.depth > settings.maxDepth)
    return skipped(task, { reason: 'depth' }, context)
  const asked = registry.verdict(task.url, lease.robotsVersion)
  const verdict = asked instanceof Promise ? await asked : asked
  // The record went away between the lease and now: the frontier asks for it anew.
  if (verdict === undefined) return { outcome: { kind: 'returned' } }
  if (!verdict.allowed) return skipped(task, verdict, context)
  if (isHopeless(task, context)) return skipped(task, { reason: 'host-unavailable' }, context)
  const fetched = await fetcher.fetch({ url: task.url, ...conditionsOf(task), ...addressOf(lease) }, signal)
  switch (fetched.kind) {
    case 'aborted':
      // The request may have reached the host: its pace counts from now.
      return { outcome: { kind: 'returned' }, answeredAt: context.clock.now() }
    case 'elsewhere':
      return { outcome: { kind: 'returned' }, host: { address: fetched.address } }
    case 'refused':
      return skipped(task, { reason: 'address', detail: fetched.detail }, context)
    case 'error':
      return { ...broke(task, fetched, context), ...(fetched.sent ? { answeredAt: fetched.answeredAt } : {}) }
    case 'response': {
      const { answeredAt } = fetched
      const refusal = refusalOf(fetched)
      if (refusal !== undefined) return { ...refusedByHost(task, refusal, context), answeredAt }
      const heard = { host: afterAnswer(fetched, context), answeredAt }
      context.onHeard?.(heard)
      return Object.assign(await responded(task, fetched, verdict.signals, context), heard)
    }
  }
}

function broke(task: Task, error: FetchError, context: TaskContext): TaskResult {
  const refusal = refusalOf(error)
  if (refusal !== undefined) return refusedByHost(task, refusal, context)
  const { code, detail, status } = error
  const host = afterError(error, context)
  const again = error.retryable ? retryLater(task, context) : undefined
  if (again !== undefined) return { ...again, ...host }
  if (isOurOwnFault(error, context)) return blameConnection(detail, context)
  return { ...failed(task, { code, detail, ...(status === undefined ? {} : { status }) }, context), ...host }
}

/** What an answer that is no refusal comes to, as an object that nobody else has. */
function responded(
  task: Task,
  response: FetchResponse,
  signals: ContentSignals | undefined,
  context: TaskContext,
): TaskResult | Promise<TaskResult> {
  const { status } = response
  if (status >= 200 && status < 300) return readPage(task, response, signals, context)
  if (isRevisit(task) && isNotModified(task, response)) return notModified(task, response, context)
  if (status >= 300 && status < 400 && status !== 304) return redirected(task, response, context)
  if (isRevisit(task) && (status === 404 || status === 410)) return gone(task, response, context)
  const again = status >= 500 || status === 408 ? retryLater(task, context) : undefined
  return again ?? failed(task, { code: 'http', status, detail: `HTTP ${status}` }, context)
}

/** The target is a URL of its own: scope, robots.txt and pace are checked again when its turn comes. */
function redirected(task: Task, response: FetchResponse, context: TaskContext): TaskResult {
  const { status } = response
  const target = redirectTarget(response, task.url, context.strip)
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
