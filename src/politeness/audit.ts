/**
 * The politeness audit: sees every request at the moment it is sent and checks it against the policy itself. It knows
 * nothing of leases, slots or due times, so whatever goes wrong with those shows here. It only watches: it delays and
 * forbids nothing.
 *
 * The rule, that of the frontier's `earliestStart`: a request starts no sooner than the delay after the last answer of
 * its host (first byte or failure) and no sooner than the delay after the last start, whichever is later; outside of any
 * pause; and with fewer requests under way than the host may have. With one request under way at most, the answer always
 * comes after the start, and the delay counts from it alone. The delay is the policy's or the longest Crawl-delay in
 * force, whichever is longer; what latency adds on top is not asked for here.
 *
 * It keeps true that a request costs constant time, and that a host is forgotten only when nothing is under way to it
 * and its delay and pause have passed, so that forgetting it can hide nothing. A Crawl-delay is remembered beyond that,
 * for a bounded number of hosts.
 */
import { createLru, formatDuration, type Clock } from '../base/index.ts'
import type { HostKey, HostPolicy, ImpoliteRequest, Origin } from '../model/index.ts'

/** Hosts whose Crawl-delay is remembered. Of more, those used longest ago are held to their configured delay alone. */
const CRAWL_DELAYS_KEPT = 50_000
/** Origins of one host whose Crawl-delay is remembered, the newest; a host may have one on every port. */
const ORIGINS_PER_HOST = 16
/** Hosts looked at with each request, to forget what can be forgotten: more than one, so that the idle never pile up. */
const SWEPT_PER_REQUEST = 2

export interface PolitenessAuditOptions {
  readonly clock: Clock
  /** The pace of a host by configuration. */
  policyOf(host: HostKey): HostPolicy
  onViolation(request: ImpoliteRequest): void
}

export interface PolitenessAudit {
  /**
   * A request is about to be sent. Answers how much later than the pace required it starts, below zero when too early;
   * undefined when the host's last request is unknown or forgotten. `at` is when, for one that another thread has sent.
   */
  started(host: HostKey, at?: number): number | undefined
  /** The first byte of an answer, or the failure, was there at that time. */
  answered(host: HostKey, at: number): void
  /** A request is over, its body included. */
  ended(host: HostKey): void
  /** Instead of `ended`, when nothing was sent after all: the host is due as it was before. */
  withdrawn(host: HostKey): void
  /** What the robots.txt of one of the host's origins makes us wait, as much of it as is obeyed; 0 for nothing. */
  crawlDelay(host: HostKey, origin: Origin, delayMs: number): void
  /** The host is to be left alone until then; the longest of several counts, and 0 ends them. */
  paused(host: HostKey, until: number): void
  /** When the next request to the host would be in order, in-flight limit aside. */
  freeAt(host: HostKey): number
  /** Requests seen, but for those withdrawn. */
  readonly requests: number
  readonly violations: number
  /** Hosts watched at present. */
  readonly hosts: number
}

interface Watched {
  inFlight: number
  /** The last start and the last answer; -Infinity when there is none. */
  startedAt: number
  answeredAt: number
  /** Both as they were before the one request that is under way; undefined while there are several, or none. */
  before: { readonly startedAt: number; readonly answeredAt: number } | undefined
  pausedUntil: number
}

export function createPolitenessAudit(options: PolitenessAuditOptions): PolitenessAudit {
  const { clock } = options
  const hosts = new Map<HostKey, Watched>()
  const crawlDelays = createLru<HostKey, Map<Origin, number>>(CRAWL_DELAYS_KEPT)
  let requests = 0
  let violations = 0
  let hand = hosts.entries()

  const watch = (host: HostKey): Watched => {
    let watched = hosts.get(host)
    if (watched === undefined) {
      watched = {
        inFlight: 0,
        startedAt: -Infinity,
        answeredAt: -Infinity,
        before: undefined,
        pausedUntil: -Infinity,
      }
      hosts.set(host, watched)
    }
    return watched
  }

  const delayOf = (host: HostKey): number =>
    Math.max(options.policyOf(host).delayMs, ...(crawlDelays.get(host)?.values() ?? []))

  const lastOf = ({ startedAt, answeredAt }: Watched): number => Math.max(startedAt, answeredAt)

  const isForgettable = (host: HostKey, watched: Watched, now: number): boolean =>
    watched.inFlight === 0 && watched.pausedUntil <= now && lastOf(watched) + delayOf(host) <= now

  /** Like the hand of a clock, which goes over all hosts again and again, a few with each request. */
  const sweep = (now: number): void => {
    for (let looked = 0; looked < SWEPT_PER_REQUEST; looked++) {
      const next = hand.next()
      if (next.done === true) {
        hand = hosts.entries()
        return
      }
      const [host, watched] = next.value
      if (isForgettable(host, watched, now)) hosts.delete(host)
    }
  }

  const report = (host: HostKey, kind: ImpoliteRequest['kind'], at: number, detail: string): void => {
    violations += 1
    options.onViolation({ host, kind, at, detail })
  }

  const check = (host: HostKey, watched: Watched, now: number): number | undefined => {
    const delayMs = delayOf(host)
    const { concurrency } = options.policyOf(host)
    const { startedAt, answeredAt } = watched
    // A thread may tell of a request after another has told of what came later: an answer asks nothing of requests before
    // it, and of two starts the later one has to be the delay after the earlier.
    const later = Math.max(now, startedAt)
    const last = now < startedAt ? now : now < answeredAt ? startedAt : lastOf(watched)
    // In this order the sum is rounded as the frontier rounds it, and what it calls due is never early by a rounding.
    const spareMs = later - (last + delayMs)
    if (watched.inFlight >= concurrency) {
      report(host, 'in-flight', now, `asked with ${watched.inFlight} under way, of ${concurrency} permitted`)
    }
    if (spareMs < 0) {
      const since = last === watched.answeredAt ? 'its answer' : 'its last request'
      const words = `asked ${exactly(later - last)} after ${since}, with a delay of ${formatDuration(delayMs)}`
      report(host, 'pace', now, words)
    }
    if (now < watched.pausedUntil) {
      report(host, 'pause', now, `asked ${exactly(watched.pausedUntil - now)} before the end of its pause`)
    }
    return last === -Infinity ? undefined : spareMs
  }

  return {
    started(host, now = clock.now()) {
      const watched = watch(host)
      const spareMs = check(host, watched, now)
      requests += 1
      const { inFlight, startedAt, answeredAt } = watched
      watched.before = inFlight === 0 ? { startedAt, answeredAt } : undefined
      watched.inFlight += 1
      watched.startedAt = Math.max(watched.startedAt, now)
      sweep(now)
      return spareMs
    },
    answered(host, at) {
      const watched = watch(host)
      watched.answeredAt = Math.max(watched.answeredAt, at)
    },
    ended(host) {
      const watched = watch(host)
      watched.inFlight = Math.max(0, watched.inFlight - 1)
    },
    withdrawn(host) {
      const watched = watch(host)
      requests -= 1
      // With others under way it is not known whose start and answer were the last; then they count.
      if (watched.before !== undefined) Object.assign(watched, watched.before)
      watched.inFlight = Math.max(0, watched.inFlight - 1)
    },
    crawlDelay(host, origin, delayMs) {
      const delays = crawlDelays.get(host) ?? new Map<Origin, number>()
      delays.delete(origin)
      if (delayMs > 0) delays.set(origin, delayMs)
      const [oldest] = delays.keys()
      if (delays.size > ORIGINS_PER_HOST && oldest !== undefined) delays.delete(oldest)
      if (delays.size > 0) crawlDelays.set(host, delays)
      else crawlDelays.delete(host)
    },
    paused(host, until) {
      const watched = watch(host)
      watched.pausedUntil = until === 0 ? -Infinity : Math.max(watched.pausedUntil, until)
    },
    freeAt(host) {
      const watched = hosts.get(host)
      return watched === undefined ? -Infinity : Math.max(lastOf(watched) + delayOf(host), watched.pausedUntil)
    },
    get requests() {
      return requests
    },
    get violations() {
      return violations
    },
    get hosts() {
      return hosts.size
    },
  }
}

/** A millisecond more or less decides here, so short times are not rounded away. */
function exactly(ms: number): string {
  return ms < 10_000 ? `${Math.floor(ms * 1_000) / 1_000} ms` : formatDuration(ms)
}
