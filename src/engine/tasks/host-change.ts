/**
 * What the outcome of a request means for its host, as a change to settle with it: its health after any answer, a pause
 * after 429 or 503, an open circuit when it cannot be reached. The rules themselves are politeness/backoff.ts.
 */
import type { FetchError, FetchResponse } from '../../fetch/index.ts'
import type { HostChange } from '../../frontier/index.ts'
import { answered, longestRetryAfter, refused, unreachable, type Setback } from '../../politeness/index.ts'
import type { TaskContext } from './context.ts'

type Part = Pick<TaskContext, 'lease' | 'rng' | 'settings' | 'connection'>

function isOverloaded(status: number): boolean {
  return status === 429 || status === 503
}

/** After an answer other than 429 and 503. What the host was left alone for is over then. */
export function afterAnswer(
  answer: Pick<FetchResponse, 'startedAt' | 'answeredAt'>,
  { lease, settings }: Part,
): HostChange {
  const { answeredAt, startedAt } = answer
  const tookMs = answeredAt - startedAt
  // No request may take so long: the clock has leapt, and nothing is known of the host's latency.
  const latencyMs = tookMs > settings.timeoutMs ? lease.health.latencyMs : tookMs
  const health = answered(lease.health, { at: answeredAt, latencyMs })
  return lease.health.streak < 0 ? { health, blockedReason: null } : { health }
}

/** An answer of 429 or 503, with its Retry-After as far as there is one. */
export interface Refused extends Pick<FetchResponse, 'status' | 'startedAt' | 'answeredAt'> {
  readonly retryAfter: string | null
}

/** Undefined for any other outcome. An answer that broke off is an answer: what its head says counts. */
export function refusalOf(outcome: FetchResponse | FetchError): Refused | undefined {
  const { status, startedAt, answeredAt } = outcome
  if (status === undefined || !isOverloaded(status)) return undefined
  const retryAfter = longestRetryAfter(outcome.headers?.all('retry-after') ?? [], answeredAt)
  return { status, startedAt, answeredAt, retryAfter }
}

export function setbackOf({ status, startedAt, answeredAt, retryAfter }: Refused, { lease, rng }: Part): Setback {
  return refused(lease.health, { at: answeredAt, startedAt, status, retryAfter }, rng)
}

export function changeOf({ health, blockedUntil, blockedReason }: Setback): HostChange {
  return { health, blockedUntil, blockedReason }
}

/**
 * After a request that failed. A connection that could not be made or never answered opens the host's circuit, unless it
 * is this machine that may have no network; an answer that broke off is an answer.
 */
export function afterError(error: FetchError, context: Part): { readonly host?: HostChange } {
  if (error.status !== undefined) return { host: afterAnswer(error, context) }
  if (isOurOwnFault(error, context)) return {}
  const { retryDelayMs, backoffMultiplier: multiplier } = context.settings
  const { startedAt, answeredAt: at, detail } = error
  return {
    host: changeOf(unreachable(context.lease.health, { at, startedAt, detail, retryDelayMs, multiplier }, context.rng)),
  }
}

/** It seems that this machine has no network, and no host has ever shown the contrary. */
export function isOurOwnFault(error: Pick<FetchError, 'offline'>, { connection }: Pick<Part, 'connection'>): boolean {
  return error.offline && connection() !== 'up'
}
