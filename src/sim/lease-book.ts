/**
 * Leases as the checker has them: what is out, until when, and when each host may be asked next. It outlives the process
 * that has the frontier, and asks nobody but what was granted and settled.
 *
 * - No task is out twice, and a host has no more leases than it may.
 * - A lease is never given before its host's time, whatever its holder makes of it.
 * - The same asking gets the same leases.
 */
import type { Lease, LeaseRef, LeaseRequest, Settlement } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import type { PaceChecker } from './pace-checker.ts'
import { Violation } from './violation.ts'

/** What was stored by an earlier run may be by a clock that was so much behind or ahead; smaller steps shift nothing. */
export const CLOCK_LAG_MS = 1_002

export interface LeaseBookOptions {
  readonly pace: PaceChecker
  concurrencyOf(host: string): number
  /** The delay that a latency asks for. */
  latencyDelayMs(latencyMs: number): number
}

export interface LeaseBook {
  /** A lease of an answer; `isParked` when nothing is to be sent under it. Names of its tasks are out from now on. */
  granted(lease: Lease, isParked: boolean, now: number): void
  /** The task is out, by this lease. */
  takeOut(task: Task, lease: Lease): void
  checkAsking(request: LeaseRequest, answered: readonly Lease[]): void
  extended(ref: LeaseRef, now: number): void
  /** A settlement was accepted, or was stale: either way the task is not out any more. */
  ended(settlement: Pick<Settlement, 'lease' | 'task'>): void
  /** What the settlement says of its host is in force. */
  takeTurn(settlement: Settlement): void
  takeBackExpired(now: number): void
  /** Whatever was out is not any more. */
  forget(): void
  isOut(fence: number): boolean
  isLeased(host: string): boolean
  isPageOut(url: string): boolean
  /** Tasks that are out to be asked for. */
  tasks(): Iterable<Task>
  /** When the host may be asked next, groups aside. With several under way, only pauses are known here. */
  earliestOf(host: string): number
  /** Whether the host is known to have answered its last request well. */
  isProven(host: string): boolean
  /** Another clock: what was to happen is so much later by it, at the least. */
  shift(ms: number): void
}

interface Out {
  readonly fence: number
  readonly host: string
  readonly tasks: Map<string, Task>
  readonly lastsMs: number
  readonly isParked: boolean
  expiresAt: number
}

/** When a host was last asked, as the frontier was told; by the clock of the process that has it now. */
interface Turn {
  answeredAt: number
  blockedUntil: number
  /** When the last pause was imposed, and the smoothed latency. */
  blockedAt: number
  latencyMs: number
  isProven: boolean
}

const nameOf = (task: Task): string => (task.kind === 'robots' ? `robots ${task.origin}` : `${task.kind} ${task.url}`)

export function createLeaseBook(options: LeaseBookOptions): LeaseBook {
  const leases = new Map<number, Out>()
  const out = new Map<string, Out>()
  const turns = new Map<string, Turn>()
  const askings = new Map<string, { readonly request: string; readonly fences: readonly number[] }>()
  let lastFence = 0

  const turnOf = (host: string): Turn => {
    let turn = turns.get(host)
    if (turn === undefined) {
      turn = { answeredAt: -Infinity, blockedUntil: -Infinity, blockedAt: -Infinity, latencyMs: 0, isProven: false }
      turns.set(host, turn)
    }
    return turn
  }

  const close = (lease: Out, name: string): void => {
    lease.tasks.delete(name)
    if (out.get(name) === lease) out.delete(name)
    if (lease.tasks.size === 0) leases.delete(lease.fence)
  }

  const openOn = (host: string): number => {
    let open = 0
    for (const lease of leases.values()) if (lease.host === host) open += 1
    return open
  }

  const earliestOf = (host: string): number => {
    const { answeredAt, blockedUntil, latencyMs } = turnOf(host)
    if (options.concurrencyOf(host) > 1) return blockedUntil
    return Math.max(answeredAt + Math.max(options.pace.delayOf(host), options.latencyDelayMs(latencyMs)), blockedUntil)
  }

  const checkTurn = ({ host, tasks, health }: Lease, now: number): void => {
    const early = earliestOf(host) - now
    if (early > 0) throw new Violation('turn', host, `${tasks[0]?.url} was leased ${early} ms before its time`)
    if (health.blockedAt < turnOf(host).blockedAt - CLOCK_LAG_MS)
      throw new Violation('health', host, 'its last pause is forgotten')
    // Several leases keep no delay between each other's tasks.
    if (options.concurrencyOf(host) > 1 && tasks.length > 1 && options.pace.delayOf(host) > 0)
      throw new Violation('turn', host, `${tasks.length} tasks in one of several leases, with a delay`)
  }

  return {
    earliestOf,
    granted(lease, isParked, now) {
      if (lease.fence <= lastFence) throw new Violation('fence', lease.host, `${lease.fence} after ${lastFence}`)
      lastFence = lease.fence
      if (lease.tasks.length === 0) throw new Violation('lease', lease.host, 'without a task')
      const open = openOn(lease.host)
      if (open >= options.concurrencyOf(lease.host))
        throw new Violation('in-flight', lease.host, `${open + 1} leases at once`)
      if (!isParked) checkTurn(lease, now)
      leases.set(lease.fence, {
        fence: lease.fence,
        host: lease.host,
        tasks: new Map(),
        isParked,
        lastsMs: lease.expiresAt - lease.grantedAt,
        expiresAt: lease.expiresAt,
      })
    },
    takeOut(task, { fence }) {
      const name = nameOf(task)
      const other = out.get(name)
      if (other !== undefined)
        throw new Violation('handed-out', task.url, `twice: with ${other.fence} and with ${fence}`)
      const lease = leases.get(fence)
      if (lease === undefined) return
      out.set(name, lease)
      lease.tasks.set(name, task)
    },
    checkAsking({ worker, request }, answered) {
      const before = askings.get(worker)
      if (request !== undefined && before?.request === request && before.fences.some((fence) => leases.has(fence))) {
        for (const { fence, host, expiresAt } of answered) {
          if (!before.fences.includes(fence))
            throw new Violation('asking', host, `another lease for the same request of ${worker}`)
          if (expiresAt > (leases.get(fence)?.expiresAt ?? Infinity))
            throw new Violation('asking', host, 'a lease grew longer by being asked for again')
        }
        return
      }
      if (request !== undefined) askings.set(worker, { request, fences: answered.map(({ fence }) => fence) })
    },
    extended({ fence }, now) {
      const lease = leases.get(fence)
      if (lease !== undefined) lease.expiresAt = now + lease.lastsMs
    },
    ended({ lease, task }) {
      const entry = leases.get(lease.fence)
      if (entry !== undefined) close(entry, nameOf(task))
    },
    takeTurn({ task, answeredAt, host }) {
      const turn = turnOf(task.host)
      turn.answeredAt = Math.max(turn.answeredAt, answeredAt ?? -Infinity)
      turn.blockedUntil = Math.max(turn.blockedUntil, host?.blockedUntil ?? -Infinity)
      const health = host?.health
      if (health === undefined) return
      turn.isProven = false
      // What was worked out before the last pause says nothing of it.
      if (health.blockedAt !== 0 && health.blockedAt < turn.blockedAt - CLOCK_LAG_MS) return
      turn.isProven = health.streak > 0
      if (health.blockedAt !== 0) turn.blockedAt = health.blockedAt
      if (options.concurrencyOf(task.host) === 1) turn.latencyMs = health.latencyMs
    },
    takeBackExpired(now) {
      for (const lease of leases.values()) {
        if (lease.expiresAt > now) continue
        // Its holder may have sent something at the very last moment.
        if (!lease.isParked) turnOf(lease.host).answeredAt = Math.max(turnOf(lease.host).answeredAt, lease.expiresAt)
        for (const name of lease.tasks.keys()) close(lease, name)
      }
    },
    forget() {
      leases.clear()
      out.clear()
    },
    isOut: (fence) => leases.has(fence),
    isLeased: (host) => openOn(host) > 0,
    isPageOut: (url) => out.has(`page ${url}`),
    *tasks() {
      for (const lease of leases.values()) if (!lease.isParked) yield* lease.tasks.values()
    },
    isProven: (host) => turnOf(host).isProven,
    shift(ms) {
      for (const turn of turns.values()) {
        turn.answeredAt += ms
        turn.blockedUntil += ms
        turn.blockedAt += ms
      }
    },
  }
}
