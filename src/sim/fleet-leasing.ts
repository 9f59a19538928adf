/**
 * How a worker of a simulated fleet comes to its leases: the look and then the leases, for all partitions of the worker at
 * once. Workers of a partition choose the hosts that are due longest: what others were granted since the look is gone, and
 * the rest is tried again, in rounds.
 */
import type { Lease, LeaseAnswer } from '../frontier/index.ts'
import { hostOf } from './fleet-site.ts'
import type { FleetPart, FleetWork, FleetWorker } from './fleet-worker.ts'

/** Orders of hosts that have any that are due: those of one tier, proven and not. */
const BUSY_ORDERS = 2

interface Round {
  /** Undefined where all of its hosts were gone. */
  readonly answer: LeaseAnswer | undefined
  /** Grants up to then, which the next round knows of. */
  readonly seen: number
}

export function createLeasing(part: FleetPart, work: Pick<FleetWork, 'ask'>): FleetWork['lease'] {
  const { shape, sample, costs, protocol, world, frontier, books, wire, tally } = part
  const partitions = Array.from({ length: sample.partitions }, (_, partition) => partition)
  /** Leases that were granted to anybody so far. */
  let grants = 0

  /** How many hosts a look names: as many as might be wanted or, where there were too few last time, a few. */
  const namedFor = (worker: FleetWorker, want: number): number => {
    const ofOrder = Math.min(want, Math.ceil((2 * want) / sample.partitions) + protocol.extraHosts, protocol.mostHosts)
    return worker.wasShort ? Math.min(ofOrder, protocol.extraHosts) : BUSY_ORDERS * ofOrder
  }
  const relookedFor = (worker: FleetWorker, wanted: number): number =>
    worker.wasShort ? protocol.extraHosts : BUSY_ORDERS * Math.min(wanted + protocol.moreHosts, protocol.mostHosts)
  /** Nothing is due in the worker's own partitions: it looks at others. As many look here as look from here. */
  const lookElsewhere = async (worker: FleetWorker): Promise<void> => {
    const elsewhere = Math.min(protocol.elsewhere, shape.partitions - sample.partitions)
    if (elsewhere <= 0 || world.now() < worker.elsewhereAt) return
    worker.elsewhereAt = world.now() + protocol.elsewhereMs
    await wire.callElsewhere(worker.process, costs.look, elsewhere)
  }

  const unprovenOf = (leases: readonly Lease[]): number => leases.filter(({ health }) => health.streak <= 0).length
  /** Leases of one asking on other partitions than the first: calls of their own, at the same time. */
  const leaseElsewhere = (leases: readonly Lease[], first: number): { items: number; ms: number } => {
    tally.leaseCalls += 1
    if (sample.partitions === 1) return { items: 0, ms: 0 }
    let items = 0
    let ms = 0
    for (const [partition, { length }] of Map.groupBy(leases, ({ host }) => hostOf(host) % sample.partitions)) {
      if (partition === first) continue
      tally.leaseCalls += 1
      items += length
      ms = Math.max(ms, wire.callBeside(partition, costs.lease, length))
    }
    return { items, ms }
  }

  const round = async (
    worker: FleetWorker,
    { wanted, unproven, spare, seen }: { wanted: number; unproven: number; spare: number; seen: number },
  ): Promise<Round> => {
    const first = worker.asked % sample.partitions
    return wire.call<Round>(worker.process, first, costs.lease, async () => {
      const gone = Math.min(wanted, Math.max(0, grants - seen - spare))
      tally.taken += gone
      const relookMs = gone === 0 ? 0 : (costs.look.itemUs * relookedFor(worker, wanted)) / 1_000
      wire.prolong(first, relookMs)
      if (gone === wanted) return { items: 0, extraMs: relookMs, value: { answer: undefined, seen: grants } }
      const answer = await frontier.lease({
        worker: worker.name,
        want: wanted - gone,
        unproven: Math.min(wanted - gone, unproven),
        request: String(worker.asked),
      })
      worker.asked += 1
      grants += answer.leases.length
      for (const { host, fence, expiresAt } of answer.leases) books.leased(hostOf(host), fence, expiresAt, world.now())
      const others = leaseElsewhere(answer.leases, first)
      return {
        items: answer.leases.length - others.items,
        extraMs: relookMs + others.ms,
        value: { answer, seen: grants },
      }
    })
  }

  return async (worker) => {
    const want = worker.slots - worker.busy
    const mostUnproven = worker.slots - Math.floor(worker.slots / protocol.provenShare) - worker.unproven
    const unproven = Math.max(0, Math.min(want, mostUnproven))
    const begun = world.now()
    const named = namedFor(worker, want)
    const looks = partitions.map((partition) =>
      wire.call(worker.process, partition, costs.look, async () => ({ items: named, value: grants })),
    )
    let seen = Math.min(...(await Promise.all(looks)))
    const leases: Lease[] = []
    let nextAt: number | null = null
    for (let rounds = 0; rounds < protocol.rounds && leases.length < want && !part.isOver; rounds++) {
      const spare = rounds === 0 ? 0 : protocol.moreHosts
      const left = Math.max(0, unproven - unprovenOf(leases))
      const granted = await round(worker, { wanted: want - leases.length, unproven: left, spare, seen })
      seen = granted.seen
      const { answer } = granted
      if (answer === undefined) continue
      if (answer.state !== 'open') part.isOver = true
      leases.push(...answer.leases)
      nextAt = answer.nextAt
      worker.wasShort = leases.length < want
      if (answer.leases.length === 0) break
    }
    tally.noteLease(world.now() - begun)
    tally.granted += leases.length
    worker.busy += leases.length
    worker.isNews = leases.length >= want || (unproven > 0 && unprovenOf(leases) >= unproven)
    for (const lease of leases) for (const task of lease.tasks) work.ask(worker, lease, task)
    if (leases.length === 0 && !part.isOver) await lookElsewhere(worker)
    return nextAt
  }
}
