/**
 * Whether something may still be sent under a lease. Its time counts from the moment *before* it was asked for, by our
 * own steady clock, so neither a slow answer of the store nor a clock that differs from the store's makes it last longer
 * than the store thinks; and the wall clock must agree, since a machine that slept has a steady clock that stood still.
 * After a leap of the steady clock nothing is certain, and the lease is void.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Lease } from '../frontier/index.ts'
import type { Pulse } from './pulse.ts'

/** Wall and steady clock may drift apart by this much before a lease is dropped. */
const SUSPENDED_MS = 2_000

/** The clocks as they stood before leases were asked for. */
export interface AskedAt {
  readonly now: number
  readonly skewMs: number
  readonly leaptAt: number
}

export interface Permit {
  /** Whether a request may start and end before the lease runs out; extends the lease where that helps. */
  ask(): Promise<boolean>
  /** Whether a request may start at this moment, for whoever is about to send it. */
  holds(): boolean
}

export function askedAt(clock: Clock, pulse: Pick<Pulse, 'leaptAt'>): AskedAt {
  const leaptAt = pulse.leaptAt()
  const now = clock.now()
  return { now, skewMs: clock.wall() - now, leaptAt }
}

/** `requestMs` is how long a request may take. */
export function createPermit(
  lease: Lease,
  asked: AskedAt,
  requestMs: number,
  deps: {
    readonly clock: Clock
    readonly frontier: Pick<Frontier, 'extend'>
    readonly pulse: Pick<Pulse, 'leaptAt'>
  },
): Permit {
  const { clock, frontier, pulse } = deps
  const lastsMs = lease.expiresAt - lease.grantedAt
  let expiresAt = asked.now + lastsMs
  const fits = (): boolean => clock.now() + requestMs <= expiresAt
  const awake = (): boolean =>
    Math.abs(clock.wall() - clock.now() - asked.skewMs) <= SUSPENDED_MS && pulse.leaptAt() === asked.leaptAt
  return {
    async ask() {
      if (!awake()) return false
      if (fits()) return true
      const before = clock.now()
      if (!(await frontier.extend(lease))) return false
      expiresAt = before + lastsMs
      return fits() && awake()
    },
    holds: () => awake() && fits(),
  }
}
