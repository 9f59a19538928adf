/**
 * A worker of a simulated fleet does what the engine does: it asks for leases when there is news, makes its requests, and
 * hands them over to be settled. How it comes to leases is fleet-leasing.ts, and how it settles fleet-settling.ts.
 */
import type { Rng } from '../base/index.ts'
import type { Frontier, Lease, Settlement } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import type { FleetBooks } from './fleet-books.ts'
import type { StoreCosts } from './fleet-costs.ts'
import type { FleetProtocol } from './fleet-protocol.ts'
import type { FleetShape, SampleShape } from './fleet-shape.ts'
import { answerOf, hostOf } from './fleet-site.ts'
import type { FleetTally } from './fleet-tally.ts'
import type { FleetWire } from './fleet-wire.ts'
import { onGrid, type SimProcess, type World } from './world.ts'

export interface FleetWorker {
  readonly name: string
  readonly slots: number
  readonly process: SimProcess
  readonly inFlight: Set<number>
  readonly gathered: Settlement[]
  unsettled: number
  busy: number
  unproven: number
  asked: number
  isAsking: boolean
  isCommitting: boolean
  isGathering: boolean
  /** As in the engine: something changed, or there were as many leases as room for them. */
  isNews: boolean
  /** The last asking found fewer hosts than there was room for. */
  wasShort: boolean
  /** Partitions of others are not looked at before. */
  elsewhereAt: number
}

/** What all workers of a sample share. */
export interface FleetPart {
  readonly shape: FleetShape
  readonly sample: SampleShape
  readonly costs: StoreCosts
  readonly protocol: FleetProtocol
  readonly rng: Rng
  readonly world: World
  readonly store: SimProcess
  readonly frontier: Frontier
  readonly books: FleetBooks
  readonly wire: FleetWire
  readonly tally: FleetTally
  /** Nothing is left to do. */
  isOver: boolean
  /** Told of every request. */
  onRequest(): void
}

/** What a worker does, each part in a file of its own. */
export interface FleetWork {
  /** Asks for leases if that is worth it. */
  pull(worker: FleetWorker): void
  /** One request of a worker, from its start until it is handed over to be settled. */
  ask(worker: FleetWorker, lease: Lease, task: Task): void
  /** Hands over what is to be settled. */
  hand(worker: FleetWorker, settlement: Settlement): void
  /** Looks and leases for the free slots, and asks; when there will be more. */
  lease(worker: FleetWorker): Promise<number | null>
}

/** One answer of so many is slow, and its lease has to be extended. */
const SLOW_EVERY = 1_000
const SLOW_MS = 20_000
/** Whatever has gone quiet asks again after so long, as a real worker does. */
const QUIET_MS = 1_000

export function newWorker(name: string, slots: number, process: SimProcess): FleetWorker {
  return {
    name,
    slots,
    process,
    inFlight: new Set(),
    gathered: [],
    unsettled: 0,
    busy: 0,
    unproven: 0,
    asked: 0,
    isAsking: false,
    isCommitting: false,
    isGathering: false,
    isNews: true,
    wasShort: false,
    elsewhereAt: 0,
  }
}

export function createPulling(part: FleetPart, work: Pick<FleetWork, 'lease'>): FleetWork['pull'] {
  const { world, store, protocol } = part
  const isWorthIt = (worker: FleetWorker): boolean =>
    !worker.isAsking &&
    !part.isOver &&
    worker.busy < worker.slots &&
    worker.isNews &&
    worker.unsettled <= protocol.unsettled
  const pull = (worker: FleetWorker): void => {
    if (!isWorthIt(worker)) return
    worker.isAsking = true
    worker.isNews = false
    const answered = (nextAt: number | null): void => {
      worker.isAsking = false
      if (worker.isNews) return pull(worker)
      const waitMs = nextAt === null ? QUIET_MS : Math.min(QUIET_MS, Math.max(nextAt - store.clock.now(), 0))
      worker.process.later(waitMs, () => {
        worker.isNews = true
        pull(worker)
      })
    }
    work.lease(worker).then(answered).catch(world.fail)
  }
  return pull
}

export function createRequesting(part: FleetPart, work: Pick<FleetWork, 'pull' | 'hand'>): FleetWork['ask'] {
  const { shape, sample, costs, protocol, rng, world, store, frontier, books, wire, tally } = part

  /** Without an extension in time the request is broken off. */
  const extend = async (worker: FleetWorker, lease: Lease, breakOff: () => boolean): Promise<void> => {
    const host = hostOf(lease.host)
    if (!worker.inFlight.has(host)) return
    const held = await wire.call(worker.process, host % sample.partitions, costs.extend, async () => {
      const value = await frontier.extend(lease)
      if (value) books.extended(host, world.now() + protocol.leaseMs)
      return { items: 1, value }
    })
    if (!held) breakOff()
  }

  return (worker, lease, task) => {
    const host = hostOf(lease.host)
    const isProven = lease.health.streak > 0
    // It came so late that a request could not begin under it any more.
    if (world.now() >= lease.expiresAt - protocol.leaseMarginMs) {
      worker.busy -= 1
      return work.hand(worker, { lease, task, outcome: { kind: 'returned' } })
    }
    tally.noteLag(books.started(host, world.now()))
    tally.request()
    part.onRequest()
    worker.inFlight.add(host)
    if (!isProven) worker.unproven += 1
    const end = (): boolean => {
      if (!worker.inFlight.delete(host)) return false
      books.answered(host, world.now())
      worker.busy -= 1
      if (!isProven) worker.unproven -= 1
      return true
    }
    const isSlow = rng.int(SLOW_EVERY) === 0
    const tookMs = onGrid(isSlow ? SLOW_MS : shape.answerMs * (0.1 + 1.8 * rng.next()))
    const extendMs = Math.max(0, lease.grantedAt + protocol.extendAfterMs - world.now())
    if (tookMs > extendMs) worker.process.later(extendMs, () => void extend(worker, lease, end).catch(world.fail))
    worker.process.later(tookMs, () => {
      const at = world.now()
      if (!end()) return
      const { pagesPerHost } = sample
      const answer = answerOf(task, { at, now: store.clock.now(), pagesPerHost })
      work.hand(worker, { lease, task, answeredAt: at, ...answer })
      work.pull(worker)
    })
  }
}
