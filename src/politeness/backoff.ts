/**
 * How a host's answers change how we treat it: pure rules from the health that came with the lease to the health that
 * goes back with its settlement. A host that refuses is paused, a host that cannot be reached is kept away from for a
 * while, and both apply to every URL of it.
 *
 * It keeps true that a pause is never shorter than the host asked for and never longer than a day, and that answers to
 * requests that were under way when a pause was imposed do not count again. Where health is kept, and that the longest
 * of several pauses counts, is the frontier's.
 */
import { formatDuration, type Rng } from '../base/index.ts'
import type { HostHealth } from '../model/index.ts'
import { LONGEST_PAUSE_MS, retryAfterMs } from './retry-after.ts'

/** The first pause after a 429 or 503 that names none; then twice as long for each strike. */
export const FIRST_PAUSE_MS = 60_000
/** Strikes are forgotten when a host has not refused anything for so long since its pause was over. */
export const QUIET_MS = 600_000
/** A host that cannot be reached is tried again after this at the latest. */
export const LONGEST_CIRCUIT_MS = 300_000
/** Refusals or failures in a row after which a host may be given up, if they have lasted for long enough. */
export const REFUSALS_TO_GIVE_UP = 5
/** Rows longer than this are not counted further. */
const LONGEST_STREAK = 1_000
/** Enough doublings for any cap, few enough to stay a number. */
const MOST_DOUBLINGS = 64
/** How much of a new latency goes into the smoothed one. */
const LATENCY_WEIGHT = 0.2
/** Waits are up to this part longer, so that what failed at one moment does not all come back at another. */
const JITTER = 0.1
/** A host that refuses and asks for no wait at all is believed this often in a row; then it is given this, doubled each time. */
const NO_WAIT_BELIEVED = 4
const NO_WAIT_PAUSE_MS = 1_000

/** What becomes of a host after a refusal or a failure. */
export interface Setback {
  readonly health: HostHealth
  /** Nothing may be sent to the host before. */
  readonly blockedUntil: number
  /** In words, with the wait: `HTTP 429, Retry-After 2m 00s`. */
  readonly blockedReason: string
  /** From the answer to `blockedUntil`. */
  readonly pauseMs: number
}

/** An HTTP answer other than 429 and 503. Strikes stay until the host has been quiet for long. */
export function answered(health: HostHealth, answer: { readonly at: number; readonly latencyMs: number }): HostHealth {
  const latencyMs = Math.max(0, answer.latencyMs)
  return {
    ...health,
    streak: Math.min(Math.max(health.streak, 0) + 1, LONGEST_STREAK),
    streakSince: health.streak > 0 ? health.streakSince : answer.at,
    latencyMs: health.latencyMs === 0 ? latencyMs : health.latencyMs + LATENCY_WEIGHT * (latencyMs - health.latencyMs),
  }
}

export interface Refusal {
  readonly at: number
  /** When the request was sent. */
  readonly startedAt: number
  /** 429 or 503. */
  readonly status: number
  /** The value of Retry-After, if there is one. */
  readonly retryAfter: string | null
}

/** A 429 or 503: the host asks to be left alone. */
export function refused(health: HostHealth, refusal: Refusal, rng: Rng): Setback {
  const { at, status } = refusal
  const askedMs = retryAfterMs(refusal.retryAfter, at)
  const next = setBack(isQuiet(health, at) ? { ...health, strikes: 0 } : health, refusal, 1)
  const pauseMs = askedMs === undefined ? grownPauseMs(next, rng) : Math.max(askedMs, disbeliefMs(askedMs, next))
  const reason = askedMs === undefined ? `HTTP ${status}` : `HTTP ${status}, Retry-After ${formatDuration(askedMs)}`
  return { health: next, blockedUntil: at + pauseMs, blockedReason: reason, pauseMs }
}

export interface Unreachability {
  readonly at: number
  readonly startedAt: number
  /** What happened, in words. */
  readonly detail: string
  /** The wait after the first failure, and how many times longer each further one is. */
  readonly retryDelayMs: number
  readonly multiplier: number
}

/** No connection, or no answer on it: the circuit to the host is opened for a while. */
export function unreachable(health: HostHealth, failure: Unreachability, rng: Rng): Setback {
  const { at, retryDelayMs, multiplier } = failure
  const next = setBack(health, failure, 0)
  const failures = Math.min(Math.max(1, -next.streak), MOST_DOUBLINGS)
  const pauseMs = Math.min(jittered(retryDelayMs * multiplier ** (failures - 1), rng), LONGEST_CIRCUIT_MS)
  return { health: next, blockedUntil: at + pauseMs, blockedReason: failure.detail, pauseMs }
}

/** Whether a host has refused or failed everything for so long that it is not asked any more; never without a patience. */
export function isGivenUp(health: HostHealth, now: number, patienceMs: number | undefined): boolean {
  if (patienceMs === undefined || health.streak > -REFUSALS_TO_GIVE_UP) return false
  return now - health.streakSince >= patienceMs
}

/** One more refusal or failure in the row, unless its request was under way when the last one was counted. */
function setBack(
  health: HostHealth,
  { at, startedAt }: { readonly at: number; readonly startedAt: number },
  strikes: 0 | 1,
): HostHealth {
  if (startedAt < health.blockedAt) return health
  return {
    ...health,
    strikes: Math.min(health.strikes + strikes, LONGEST_STREAK),
    streak: Math.max(Math.min(health.streak, 0) - 1, -LONGEST_STREAK),
    streakSince: health.streak < 0 ? health.streakSince : at,
    blockedAt: at,
  }
}

/**
 * When a pause ended is not kept. It was over when the host first answered well again; and if it never did, it was over
 * a day after it began, since no pause is longer.
 */
function isQuiet(health: HostHealth, now: number): boolean {
  const since = health.streak > 0 ? Math.max(health.streakSince, health.blockedAt) : health.blockedAt + LONGEST_PAUSE_MS
  return now - since >= QUIET_MS
}

/** By the strikes before this one. */
function grownPauseMs({ strikes }: HostHealth, rng: Rng): number {
  const doublings = Math.min(Math.max(0, strikes - 1), MOST_DOUBLINGS)
  return Math.min(jittered(FIRST_PAUSE_MS * 2 ** doublings, rng), LONGEST_PAUSE_MS)
}

/** A clock that is wrong makes every date one that has passed; such a host is not asked again at once for ever. */
function disbeliefMs(askedMs: number, { streak }: HostHealth): number {
  const tooMany = -streak - NO_WAIT_BELIEVED
  if (askedMs > 0 || tooMany <= 0) return 0
  return Math.min(NO_WAIT_PAUSE_MS * 2 ** Math.min(tooMany - 1, MOST_DOUBLINGS), LONGEST_PAUSE_MS)
}

/** A little late, never early. */
function jittered(ms: number, rng: Rng): number {
  return ms * (1 + JITTER * rng.next())
}
