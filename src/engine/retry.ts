/** When to try again, and when to stop trying: for one URL after a failure, for a whole host after 429 or 503. */
import type { FetchResponse } from '../fetch/index.ts'
import type { HostChange } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'

/** The host is left alone this long after its first 429 or 503 without a Retry-After, then twice as long each time. */
const BACKOFF_MS = 60_000
/** The longest that a host is left alone, whatever it asks for. */
const BACKOFF_LONGEST_MS = 86_400_000
/** How long a host waits for another to tell whether there is a network at all. */
const CONNECTION_MS = 1_000
/** After this many blocks in a row the host is not asked any more. */
export const STRIKES_TO_GIVE_UP = 5

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

export function isOverloaded(status: number): boolean {
  return status === 429 || status === 503
}

/** What a 429 or 503 does to its host. Answers that were under way when the host was blocked do not count again. */
export function backOff(response: FetchResponse, context: Pick<TaskContext, 'clock' | 'rng' | 'lease'>): HostChange {
  const now = context.clock.now()
  const strikes = context.lease.strikes + 1
  const asked = retryAfterMs(response.headers.get('retry-after'), now)
  const exponential = BACKOFF_MS * 2 ** (strikes - 1) * (1 + 0.1 * context.rng.next())
  const pause = asked ?? Math.min(exponential, BACKOFF_LONGEST_MS)
  return { blockedUntil: now + pause, blockedReason: `HTTP ${response.status}`, strikes }
}

/** Retry-After in seconds or as a date (RFC 9110 §10.2.3), at most a day; undefined for anything else. A past date is no wait. */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, BACKOFF_LONGEST_MS)
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), BACKOFF_LONGEST_MS)
}
