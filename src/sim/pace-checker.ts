/**
 * Pace, from the web's own log: no request before its time, none inside a pause that the host asked for, none beyond
 * the number that may be in flight; by host, by registrable domain and by address. Nothing of the crawler is asked for
 * its opinion but what it has committed, and there is no tolerance.
 *
 * A process that was frozen while a request of it was under way hears of the answer late. What counts then is when the
 * host answered, and the request is not counted as in flight: nobody could have cut it off.
 */
import type { Settlement } from '../frontier/index.ts'
import type { HostKey, HostPolicy } from '../model/index.ts'
import { registrableDomain } from '../url/index.ts'
import type { Reaction, Visit, Web, WebObserver } from './web.ts'
import type { RetryAfter } from './web-spec.ts'
import { Violation } from './violation.ts'

const DAY_MS = 86_400_000
const FIRST_PAUSE_MS = 60_000
const QUIET_MS = 600_000
const LONGEST_CIRCUIT_MS = 300_000

export interface PacePolicy {
  policyOf(host: HostKey): HostPolicy
  readonly domainDelayMs: number
  readonly addressDelayMs: number
  /**
   * Whether requests to a host that may have several in flight start a delay apart. Workers that each have a lease on it
   * do not know when the others come to use theirs.
   */
  readonly startsApart: boolean
  readonly retryDelayMs: number
  readonly backoffMultiplier: number
  /** What is made of a Crawl-delay. */
  crawlDelayMs(askedMs: number): number
}

export interface PaceChecker extends WebObserver {
  /** A settlement was committed: what it says of its host is in force. */
  committed(settlement: Settlement): void
  /** The delay of a host as far as it is committed; what its latency adds is not counted. */
  delayOf(host: string): number
  /** The wall clock was set forward so far that no store could know of it: pauses may end so much sooner. */
  clockLost(ms: number): void
}

/** What a policy is kept for: a host, a domain or an address. */
interface Party {
  readonly name: string
  /** Requests that the crawler has not given up on. */
  readonly open: Set<Visit>
  lastKnownAt: number
  lastStartAt: number
  lastArrivalAt: number
}

interface HostState extends Party {
  pausedUntil: number
  pauseReason: string
  /** Refusals and failures in a row, and pauses that are not forgiven. */
  failures: number
  strikes: number
  readonly crawlDelays: Map<string, { readonly askedMs: number; readonly since: number }>
  /** What the last visit to a URL came to, until that is committed. */
  readonly heard: Map<string, Heard>
}

interface Heard {
  readonly at: number
  /** By the clock of the process that heard it. */
  readonly localAt: number
  readonly reaction: Reaction | undefined
}

export function createPaceChecker(web: Web, policy: PacePolicy, now: () => number): PaceChecker {
  const hosts = new Map<string, HostState>()
  const groups = new Map<string, Party>()

  const party = (name: string): Party => ({
    name,
    open: new Set(),
    lastKnownAt: -Infinity,
    lastStartAt: -Infinity,
    lastArrivalAt: -Infinity,
  })
  const hostOf = (name: string): HostState => {
    let state = hosts.get(name)
    if (state === undefined) {
      state = {
        ...party(name),
        pausedUntil: 0,
        pauseReason: '',
        failures: 0,
        strikes: 0,
        crawlDelays: new Map(),
        heard: new Map(),
      }
      hosts.set(name, state)
    }
    return state
  }
  const groupOf = (name: string): Party => {
    let state = groups.get(name)
    if (state === undefined) groups.set(name, (state = party(name)))
    return state
  }
  const groupsOf = (visit: Visit): [Party, number][] => {
    const found: [Party, number][] = []
    const { name } = visit.host.spec
    if (policy.domainDelayMs > 0)
      found.push([groupOf(`domain ${registrableDomain(name as HostKey)}`), policy.domainDelayMs])
    if (policy.addressDelayMs > 0)
      found.push([groupOf(`address ${web.addressOf(visit.host, visit.startedAt)}`), policy.addressDelayMs])
    return found
  }
  let clockLostMs = 0
  /** What was in force when each request was sent. */
  const delayAtStart = new WeakMap<Visit, number>()
  const delayOf = (state: HostState): number => {
    let delay = policy.policyOf(state.name as HostKey).delayMs
    for (const { askedMs, since } of state.crawlDelays.values()) {
      // With several in flight, some leases were given before it was known.
      if (policy.policyOf(state.name as HostKey).concurrency > 1 && now() < since + askedMs + 1_000) continue
      delay = Math.max(delay, policy.crawlDelayMs(askedMs))
    }
    return delay
  }
  const isCounted = (visit: Visit): boolean =>
    visit.process.alive && visit.process.freezes === visit.freezes && !visit.over

  const inFlight = (state: Party): number => {
    let count = 0
    for (const visit of state.open) {
      if (isCounted(visit)) count += 1
      else state.open.delete(visit)
    }
    return count
  }
  const tooSoon = (subject: string, visit: Visit, since: number, delay: number, what: string): never => {
    throw new Violation(
      'pace',
      subject,
      `${visit.url} by ${visit.process.name} ${visit.startedAt - since} ms after ${what}, with a delay of ${delay} ms`,
    )
  }

  const checkStart = (state: Party, visit: Visit, delay: number, limit: number): void => {
    if (inFlight(state) >= limit) {
      const others = [...state.open].map(({ url, process }) => `${url} by ${process.name}`).join(', ')
      throw new Violation('in-flight', state.name, `${visit.url} by ${visit.process.name} while ${others}`)
    }
    // With several in flight nobody waits for an answer, only for the start of the one before.
    if (limit === 1 && visit.startedAt < state.lastKnownAt + delay)
      tooSoon(state.name, visit, state.lastKnownAt, delay, 'the last answer')
    if ((limit === 1 || policy.startsApart) && visit.startedAt < state.lastStartAt + delay)
      tooSoon(state.name, visit, state.lastStartAt, delay, 'the last start')
    state.open.add(visit)
    state.lastStartAt = visit.startedAt
  }

  const knownAt = (visit: Visit): number =>
    visit.process.freezes === visit.freezes
      ? (visit.heardAt ?? visit.startedAt)
      : (visit.answeredAt ?? visit.arrivedAt ?? visit.startedAt)

  return {
    delayOf: (host) => delayOf(hostOf(host)),
    clockLost(ms) {
      clockLostMs += ms
    },
    started(visit) {
      const state = hostOf(visit.host.spec.name)
      const { concurrency } = policy.policyOf(state.name as HostKey)
      const delay = delayOf(state)
      delayAtStart.set(visit, delay)
      checkStart(state, visit, delay, concurrency)
      for (const [group, delayMs] of groupsOf(visit)) checkStart(group, visit, delayMs, 1)
      if (concurrency === 1 && visit.startedAt < state.pausedUntil - clockLostMs) {
        const left = state.pausedUntil - visit.startedAt
        throw new Violation(
          'pause',
          state.name,
          `${visit.url} by ${visit.process.name} ${left} ms before the end of its pause (${state.pauseReason})`,
        )
      }
    },
    arrived(visit) {
      const state = hostOf(visit.host.spec.name)
      const at = visit.arrivedAt ?? 0
      const { concurrency } = policy.policyOf(state.name as HostKey)
      // One way to a host always takes the same time here, so the host sees the gaps that we kept.
      if (concurrency === 1 && at < state.lastArrivalAt + (delayAtStart.get(visit) ?? 0)) {
        throw new Violation(
          'pace',
          state.name,
          `${visit.url} arrived ${at - state.lastArrivalAt} ms after the one before`,
        )
      }
      state.lastArrivalAt = at
    },
    heard(visit, reaction) {
      const state = hostOf(visit.host.spec.name)
      const at = knownAt(visit)
      state.lastKnownAt = Math.max(state.lastKnownAt, at)
      for (const [group] of groupsOf(visit)) group.lastKnownAt = Math.max(group.lastKnownAt, at)
      state.heard.set(visit.url, { at, localAt: visit.process.clock.now(), reaction })
    },
    ended(visit) {
      const state = hostOf(visit.host.spec.name)
      state.open.delete(visit)
      const heard = state.heard.get(visit.url)
      // Of an answer that broke off only the status is known.
      if (visit.brokeOff && heard?.reaction?.kind === 'answer') {
        state.heard.set(visit.url, { ...heard, reaction: { ...heard.reaction, retryAfter: { kind: 'none' } } })
      }
      for (const [group] of groupsOf(visit)) group.open.delete(visit)
    },
    committed(settlement) {
      const { task, robots, answeredAt } = settlement
      if (robots !== undefined)
        hostOf(hostNameOf(robots.origin)).crawlDelays.set(robots.origin, { askedMs: robots.crawlDelayMs, since: now() })
      const state = hostOf(task.host)
      const heard = state.heard.get(task.url)
      if (heard === undefined || answeredAt === undefined) return
      state.heard.delete(task.url)
      judge(state, heard, settlement)
    },
  }

  /** What a committed answer asks of us from now on, at the least. */
  function judge(state: HostState, { at, localAt, reaction }: Heard, { task, outcome }: Settlement): void {
    if (outcome.kind === 'returned') return
    const pause = (pauseMs: number, reason: string): void => {
      if (at + pauseMs <= state.pausedUntil) return
      state.pausedUntil = at + pauseMs
      state.pauseReason = reason
    }
    if (reaction?.kind === 'answer' && reaction.status !== 429 && reaction.status !== 503) {
      state.failures = 0
      return
    }
    state.failures += 1
    if (reaction?.kind === 'answer') {
      const asked = askedMs(reaction.retryAfter ?? { kind: 'none' }, reaction, localAt)
      // Quiet for ten minutes forgives; whether it was is only known for sure when the last pause is not that old.
      const isForgiven = at >= state.pausedUntil + QUIET_MS
      const strikes = isForgiven ? 0 : state.strikes
      state.strikes = strikes + 1
      if (task.kind === 'robots' && asked === undefined) return
      pause(
        asked ?? Math.min(FIRST_PAUSE_MS * 2 ** Math.min(strikes, 30), DAY_MS),
        `${reaction.status}, Retry-After ${JSON.stringify(reaction.retryAfter)}`,
      )
      return
    }
    const circuitMs = policy.retryDelayMs * policy.backoffMultiplier ** (state.failures - 1)
    pause(Math.min(circuitMs, LONGEST_CIRCUIT_MS), 'connection failure')
  }
}

/** What a Retry-After asks for, at the least; undefined when it says nothing that can be used. */
function askedMs(
  retryAfter: RetryAfter,
  reaction: Extract<Reaction, { kind: 'answer' }>,
  localAt: number,
): number | undefined {
  switch (retryAfter.kind) {
    case 'none':
    case 'text':
      return undefined
    case 'seconds':
      return Math.min(retryAfter.seconds * 1_000, DAY_MS)
    case 'date':
      return Math.min(Math.max(0, Date.parse(reaction.headers['retry-after'] ?? '') - localAt), DAY_MS)
  }
}

function hostNameOf(origin: string): string {
  return origin.replace(/^https?:\/\//, '').replace(/:\d+$/, '')
}
