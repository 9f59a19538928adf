/**
 * Whether something may still be sent under a lease. Its time counts from the moment *before* it was asked for, by our
 * own steady clock, so neither a slow answer of the store nor a clock that differs from the store's makes it last longer
 * than the store thinks; and the wall clock must agree, since a machine that slept has a steady clock that stood still.
 * After a leap of the steady clock nothing is certain, and nothing more is begun.
 *
 * A request may take longer than a lease lasts. It keeps true that a lease whose extension was refused, or was not
 * heard of in time, is lost before the store gives its host to somebody else: then `signal` is aborted. When to see to
 * that is for lease-keeper.ts.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Lease } from '../frontier/index.ts'
import type { Pulse } from './pulse.ts'

/** Wall and steady clock may drift apart by this much before nothing more is begun. */
const SUSPENDED_MS = 2_000
/** A lease ends for us so much before it ends for the store: time to take back what is on the wire. */
const MARGIN_MS = 1_000
/** But never more than this share of it. */
const MARGIN_SHARE = 0.25
/** It is extended when half of it is over: an extension may then take as long as the other half. */
const EXTENDED_AT = 0.5
/** A lease of several tasks is not worked on for longer than so many times its length: others wait for its slot. */
const LIVES = 3

/** The clocks as they stood before leases were asked for. */
export interface AskedAt {
  readonly now: number
  readonly skewMs: number
  readonly leaptAt: number
}

export interface Permit {
  /** Whether one more request may be begun; extends the lease first where little of it is left. */
  ask(): boolean | Promise<boolean>
  /** Whether a request may start at this moment, for whoever is about to send it. */
  holds(): boolean
  /** Aborted when the lease is lost: what is under way under it must end. */
  readonly signal: AbortSignal
}

export interface KeptPermit extends Permit {
  /** When it has to be attended to; Infinity when that can help no more. */
  dueAt(): number
  /** Extends the lease if that is due by `until`, and gives it up if its time is over. */
  attend(now: number, until: number): void
  /** Whatever the lease says: what is under way ends. */
  abort(): void
}

export interface PermitDeps {
  readonly clock: Clock
  readonly frontier: Pick<Frontier, 'extend'>
  readonly pulse: Pick<Pulse, 'leaptAt'>
  /** How long a lease lasts that is extended, as far as that is known; told how long this one lasted when granted. */
  renewedMs(grantedMs: number): number
  /** The store failed, which is more than a lease that is lost. */
  onFailure(error: unknown): void
}

export function askedAt(clock: Clock, pulse: Pick<Pulse, 'leaptAt'>): AskedAt {
  const leaptAt = pulse.leaptAt()
  const now = clock.now()
  return { now, skewMs: clock.wall() - now, leaptAt }
}

export function createPermit(lease: Lease, asked: AskedAt, deps: PermitDeps): KeptPermit {
  const { clock, frontier, pulse } = deps
  const controller = new AbortController()
  const grantedMs = lease.expiresAt - lease.grantedAt
  let lastsMs = grantedMs
  let expiresAt = asked.now + grantedMs
  let extending: Promise<void> | undefined
  const workUntil = asked.now + LIVES * deps.renewedMs(grantedMs)

  const { signal } = controller
  const endsAt = (): number => expiresAt - Math.min(MARGIN_MS, MARGIN_SHARE * lastsMs)
  const extendAt = (): number => expiresAt - (1 - EXTENDED_AT) * lastsMs
  const awake = (): boolean =>
    Math.abs(clock.wall() - clock.now() - asked.skewMs) <= SUSPENDED_MS && pulse.leaptAt() === asked.leaptAt
  const holds = (): boolean => !signal.aborted && clock.now() < endsAt() && awake()

  const extend = async (): Promise<void> => {
    const before = clock.now()
    try {
      if (await frontier.extend(lease)) {
        lastsMs = deps.renewedMs(grantedMs)
        expiresAt = before + lastsMs
      } else controller.abort()
    } catch (error) {
      controller.abort()
      deps.onFailure(error)
    }
    extending = undefined
  }
  /** Resolves when the lease was extended or is lost, be it that no answer came. */
  const extended = (): Promise<void> =>
    new Promise((resolve) => {
      extending ??= extend()
      void extending.then(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return {
    ask() {
      if (!holds() || clock.now() >= workUntil) return false
      return clock.now() < extendAt() || extended().then(holds)
    },
    holds,
    signal,
    dueAt() {
      if (signal.aborted) return Infinity
      return extending === undefined ? Math.min(extendAt(), endsAt()) : endsAt()
    },
    attend(now, until) {
      if (signal.aborted) return
      if (now >= endsAt()) controller.abort()
      else if (extending === undefined && extendAt() <= until) extending = extend()
    },
    abort: () => controller.abort(),
  }
}
