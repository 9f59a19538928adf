/** Settled tasks that never became a page, as records. */
import {
  FAILURES,
  RECORD_SCHEMA,
  SKIP_REASONS,
  type FailureCode,
  type SkipReason,
  type Task,
} from '../../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { isRevisit, missed } from './revisit.ts'
import { timestamp } from './timestamp.ts'

interface Skip {
  readonly reason: SkipReason
  readonly detail?: string
  readonly location?: string
  readonly status?: number
}

/** A host in trouble has withdrawn nothing: by the next visit it may be over. */
const PASSING: ReadonlySet<SkipReason> = new Set(['host-unavailable', 'robots-unreachable'])

/**
 * A task that ends as skipped; what was fetched before is only missed this time, if the reason may pass. Only pages are
 * recorded; a sitemap that is skipped just ends.
 */
export function skipped(task: Task, skip: Skip, context: Pick<TaskContext, 'clock'>): TaskResult {
  const { reason, detail, location, status } = skip
  if (isRevisit(task) && PASSING.has(reason)) return missed(task, { detail: detail ?? SKIP_REASONS[reason] }, context)
  const outcome = { kind: 'skipped', reason } as const
  if (task.kind !== 'page') return { outcome }
  const record = {
    schema: RECORD_SCHEMA,
    url: task.url,
    reason,
    detail: detail ?? SKIP_REASONS[reason],
    ...(location === undefined ? {} : { location }),
    ...(status === undefined ? {} : { status }),
    depth: task.depth,
    referrer: task.referrer ?? null,
    via: task.via,
    at: timestamp(context.clock.now()),
  } as const
  return { outcome, record: { kind: 'skip', record } }
}

interface Failure {
  readonly code: FailureCode
  readonly detail?: string
  readonly status?: number
}

/** A task that is given up on. What was fetched before is only missed this time. */
export function failed(task: Task, failure: Failure, context: Pick<TaskContext, 'clock'>): TaskResult {
  const { code, detail, status } = failure
  if (isRevisit(task)) {
    return missed(task, { detail: detail ?? FAILURES[code], ...(status === undefined ? {} : { status }) }, context)
  }
  const outcome = { kind: 'failed', code } as const
  if (task.kind !== 'page') return { outcome }
  const record = {
    schema: RECORD_SCHEMA,
    url: task.url,
    error: code,
    detail: detail ?? FAILURES[code],
    ...(status === undefined ? {} : { status }),
    attempts: task.attempts + 1,
    depth: task.depth,
    referrer: task.referrer ?? null,
    via: task.via,
    at: timestamp(context.clock.now()),
  } as const
  return { outcome, record: { kind: 'fail', record } }
}
