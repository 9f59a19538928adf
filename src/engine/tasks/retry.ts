/** When to try one URL again, and when to stop trying. What its answer means for the whole host is in host-change.ts. */
import type { Task } from '../../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { changeOf, setbackOf, type Refused } from './host-change.ts'
import { failed } from './records.ts'

/** How long a host waits for another to tell whether there is a network at all. */
const CONNECTION_MS = 1_000
/** A refused URL lets this many others of its host go first, and waits a moment longer where there is no delay. */
const TURNS_LEFT_TO_OTHERS = 5
const MOMENT_MS = 100
/** A host is well when it answered this many in a row; then a 503 is the URL's own fault. */
const WELL_STREAK = 3
/** A URL that a host in good health answers so this often is given up on; at least, whatever `attempts` says. */
const ILL_ATTEMPTS = 3

/** The result of an attempt that may be repeated; undefined when it was the last one. `patience` stretches the wait. */
export function retryLater(
  task: Task,
  context: Pick<TaskContext, 'settings' | 'clock' | 'rng'>,
  patience = 1,
): TaskResult | undefined {
  const { attempts, retryDelayMs, backoffMultiplier } = context.settings
  if (task.attempts + 1 >= attempts) return undefined
  const delay = patience * retryDelayMs * backoffMultiplier ** task.attempts
  // A little late, never early, so that many failures at one moment do not all come back at another.
  const notBefore = context.clock.now() + delay * (1 + 0.1 * context.rng.next())
  return { outcome: { kind: 'retry', notBefore, counts: true } }
}

/** The attempts are used up, but it may be this machine that has no network, and then nothing is decided. */
export function blameConnection(detail: string, context: Pick<TaskContext, 'connection' | 'clock'>): TaskResult {
  if (context.connection() === 'down') return { outcome: { kind: 'returned' }, offline: detail }
  return { outcome: { kind: 'retry', notBefore: context.clock.now() + CONNECTION_MS, counts: false } }
}

/**
 * A URL whose host answered 429 or 503: the host is paused, and every URL of it waits. None is failed for that; this one
 * lets others go first. Only a URL that is answered 503 again and again, while the others around it are answered well,
 * is itself ill.
 */
export function refusedByHost(task: Task, answer: Refused, context: TaskContext): TaskResult {
  const { lease, settings } = context
  const { status } = answer
  const setback = setbackOf(answer, context)
  const host = changeOf(setback)
  const ill = status === 503 && lease.health.streak >= WELL_STREAK
  if (ill && task.attempts + 1 >= Math.max(ILL_ATTEMPTS, settings.attempts)) {
    return { ...failed(task, { code: 'http', status, detail: `HTTP ${status}` }, context), host }
  }
  const turnsMs = TURNS_LEFT_TO_OTHERS * lease.delayMs + MOMENT_MS
  // A 429 is the host's own and not this URL's, so there is no need to wait for longer than the host asked for.
  const waitMs = status === 503 ? turnsMs : Math.min(Math.max(setback.pauseMs, MOMENT_MS), turnsMs)
  return { outcome: { kind: 'retry', notBefore: setback.blockedUntil + waitMs, counts: ill }, host }
}
