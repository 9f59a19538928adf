/** Settled tasks that never became a page, as records. */
import { FAILURES, RECORD_SCHEMA, SKIP_REASONS, type FailureCode, type SkipReason, type Task } from '../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'

interface Skip {
  readonly reason: SkipReason
  readonly detail?: string
  readonly location?: string
  readonly status?: number
}

/** A page task that ends as skipped. Only pages are recorded; a sitemap that is skipped just ends. */
export function skipped(task: Task, skip: Skip, context: Pick<TaskContext, 'clock'>): TaskResult {
  const { reason, detail, location, status } = skip
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

/** A page task that is given up on. */
export function failed(task: Task, failure: Failure, context: Pick<TaskContext, 'clock'>): TaskResult {
  const { code, detail, status } = failure
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

/** ISO 8601 in UTC, to the millisecond. */
export function timestamp(time: number): string {
  return new Date(time).toISOString()
}
