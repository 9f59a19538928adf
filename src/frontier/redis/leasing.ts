/**
 * The verb `lease` over all partitions: look at all at once, tidy up where something ran out or came due, grant, and if there
 * is nothing to grant say what the crawl waits for. A worker asks the partitions that it prefers first, and the others only
 * when these have nothing for it.
 */
import type { HostKey } from '../../model/index.ts'
import type { Lease, LeaseAnswer, LeaseRequest } from '../contract.ts'
import { classOfOrder, HOST_CLASSES, type HostClass } from '../storage.ts'
import type { Granting } from './granting.ts'
import type { HeldLeases } from './held-leases.ts'
import { leaseOf } from './lease-tasks.ts'
import { lookAt, type Look, type LookAsked } from './look.ts'
import type { Outbox } from './outbox.ts'
import type { Parking } from './parking.ts'
import type { Reclaiming } from './reclaiming.ts'
import type { Rest } from './rest.ts'
import type { Seals } from './seals.ts'
import type { Partition, Store } from './store.ts'

/** How soon it is worth asking again while partitions do not stand still. */
const MOVING_MS = 50
/** How often a worker whose own partitions have nothing for it looks at those of the others. */
const OTHERS_MS = 1_000
/** How often a crawl that seems to be at rest is looked at again, after something was done about it. */
const RESTING_ROUNDS = 4
/** Before a crawl is called finished, it is made sure that nothing of it is missing. */
const LOOK_ONLY: LookAsked = { count: 0, classes: 'all', judge: true }

export interface LeasingDeps {
  readonly granting: Granting
  readonly reclaiming: Reclaiming
  readonly rest: Rest
  readonly seals: Seals
  readonly outbox: Outbox
  readonly parking: Parking
  readonly held: HeldLeases
  /** Told of every look: a server may have changed. */
  notice(look: Look): Promise<void>
  /** Whether it is time to look for that, though nothing be due. */
  isTimeToJudge(): boolean
}

export interface Leasing {
  lease(request: LeaseRequest): Promise<LeaseAnswer>
  /** Partitions that are asked first; all when empty. */
  prefer(partitions: readonly Partition[]): void
}

export function createLeasing(store: Store, deps: LeasingDeps): Leasing {
  const { granting, reclaiming, rest, seals, outbox, parking, held } = deps
  const { mode } = store.settings.recrawl
  let preferred: readonly Partition[] = []
  let othersAt = -Infinity
  let last: Promise<unknown> = Promise.resolve()

  const lookAll = async (partitions: readonly Partition[], asked: LookAsked): Promise<Look[]> => {
    const judge = deps.isTimeToJudge()
    return Promise.all(
      partitions.map(async (partition) => {
        const look = await lookAt(partition, { ...asked, judge })
        await deps.notice(look)
        return reclaiming.tidy(look, asked)
      }),
    )
  }

  /** When something will change by itself, by the worker's clock; null when nothing will. */
  const nextAt = (looks: readonly Look[], classes: readonly HostClass[]): number | null => {
    let soonest = Infinity
    for (const look of looks) {
      const { partition, upcoming, visit, now } = look
      const consider = (at: number | undefined): void => {
        if (at !== undefined) soonest = Math.min(soonest, partition.times.toWorker(Math.ceil(at)))
      }
      consider(look.waiting)
      consider(look.expiry)
      if (look.quiet > now) consider(look.quiet)
      // With `once`, what is due later is left to another run.
      if (visit !== undefined && (mode === 'on' || visit <= reclaiming.visitsUntil(look))) consider(visit)
      for (const [order, due] of upcoming) if (classes.includes(classOfOrder(order))) consider(due)
    }
    return soonest === Infinity ? null : soonest
  }

  const recalled = (looks: readonly Look[]): Lease[] =>
    looks
      .flatMap((look) => (look.recalled ?? []).map((reply) => ({ partition: look.partition, reply })))
      .toSorted((a, b) => (a.reply.turn ?? 0) - (b.reply.turn ?? 0))
      .map(({ partition, reply }) => leaseOf(store, partition, reply))

  /** Of all hosts with something parked, the first: what is too deep goes before what is aside. */
  const leaseParked = async (request: LeaseRequest, looks: readonly Look[]): Promise<Lease | undefined> => {
    const [first] = looks
      .flatMap(({ partition, parked }) => (parked === undefined ? [] : { partition, parked }))
      .toSorted((a, b) => (a.parked < b.parked ? -1 : 1))
    if (first === undefined) return undefined
    const { partition, parked } = first
    const host = parked.slice(parked.indexOf(' ') + 1) as HostKey
    const reply = await parking.leaseParked(partition, host, request.worker)
    if (reply === undefined) return undefined
    held.hold(partition, request.worker, reply)
    return leaseOf(store, partition, reply)
  }

  /** Nothing could be granted anywhere: is it over, is something parked, or does it wait? */
  const atRest = async (
    request: LeaseRequest,
    seen: readonly Look[],
    classes: readonly HostClass[],
  ): Promise<LeaseAnswer | 'again'> => {
    const open = (looks: readonly Look[]): LeaseAnswer => ({
      leases: [],
      nextAt: nextAt(looks, classes),
      state: 'open',
    })
    let before = seen
    for (let round = 0; round < RESTING_ROUNDS; round++) {
      const undelivered = before.filter((look) => look.undelivered > 0)
      // Whoever sent them may have died.
      if (undelivered.length > 0 && before.every(({ leases }) => leases === 0)) {
        await Promise.all(undelivered.map(({ partition }) => outbox.flush(partition, 0)))
        return 'again'
      }
      if (!rest.isIdle(before)) return open(before)
      const isParked = rest.isOnlyParkedLeft(before)
      const state = isParked ? 'open' : rest.state(before)
      if (!isParked && state === 'open') return open(before)
      const after = await Promise.all(store.partitions.map((partition) => lookAt(partition, LOOK_ONLY)))
      if (rest.isIdle(after) && rest.isSame(before, after)) {
        if (!isParked) {
          await Promise.all(store.partitions.map((partition) => seals.check(partition)))
          return { leases: [], nextAt: null, state }
        }
        const lease = await leaseParked(request, after)
        // Those were freed: they are queued now.
        if (lease === undefined) return { leases: [], nextAt: store.clock.now(), state: 'open' }
        return { leases: [lease], nextAt: nextAt(after, HOST_CLASSES), state: 'open' }
      }
      before = after
    }
    return { leases: [], nextAt: store.clock.now() + MOVING_MS, state: 'open' }
  }

  /** Undefined: these have nothing, but others may. */
  const ask = async (
    request: LeaseRequest,
    partitions: readonly Partition[],
  ): Promise<LeaseAnswer | 'again' | undefined> => {
    const asked = granting.asked(request, partitions.length)
    const first = await lookAll(partitions, asked)
    const before = recalled(first)
    if (before.length > 0) return { leases: before, nextAt: nextAt(first, HOST_CLASSES), state: 'open' }
    const { leases, looks, open, hasMore } = await granting.grant(request, first, asked)
    if (leases.length > 0 || hasMore)
      return { leases, nextAt: hasMore ? store.clock.now() : nextAt(looks, open), state: 'open' }
    if (partitions.length === store.partitions.length) return atRest(request, looks, open)
    const now = store.clock.now()
    if (now >= othersAt) {
      othersAt = now + OTHERS_MS
      return undefined
    }
    return { leases: [], nextAt: Math.min(nextAt(looks, open) ?? Infinity, othersAt), state: 'open' }
  }

  const lease = async (request: LeaseRequest): Promise<LeaseAnswer> => {
    let answer = preferred.length > 0 ? await ask(request, preferred) : undefined
    for (let round = 0; round < RESTING_ROUNDS; round++) {
      if (answer !== undefined && answer !== 'again') return answer
      answer = await ask(request, store.partitions)
    }
    const moving: LeaseAnswer = { leases: [], nextAt: store.clock.now() + MOVING_MS, state: 'open' }
    return answer === undefined || answer === 'again' ? moving : answer
  }

  return {
    lease(request) {
      // One after another: a partition remembers the last call of this process, should its reply be lost.
      const answer = last.then(() => lease(request))
      last = answer.catch(() => undefined)
      return answer
    },
    prefer: (partitions) => void (preferred = partitions),
  }
}
