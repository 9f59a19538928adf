/**
 * How a worker of a simulated fleet settles: what it has done is gathered for a moment and committed together, partition by
 * partition; then what was found of other partitions is delivered there.
 */
import type { Settlement } from '../frontier/index.ts'
import { costMs, wireBytes } from './fleet-costs.ts'
import { hostOf } from './fleet-site.ts'
import type { FleetPart, FleetWork, FleetWorker } from './fleet-worker.ts'

export function createSettling(part: FleetPart, work: Pick<FleetWork, 'pull'>): FleetWork['hand'] {
  const { shape, sample, costs, protocol, rng, world, frontier, books, wire, tally } = part
  const gatherMs = Math.min(protocol.gatherMostMs, Math.max(protocol.gatherLeastMs, shape.delayMs / 2))

  /** URLs for other partitions: as many calls as partitions are named. */
  const deliver = async ({ process }: FleetWorker, partition: number, urls: number): Promise<void> => {
    const abroad = shape.partitions * (1 - (1 - 1 / shape.partitions) ** urls)
    const calls = Math.floor(abroad) + (rng.next() < abroad % 1 ? 1 : 0)
    if (calls === 0) return
    await wire.callAbroad(process, partition, costs.deliver, calls, urls / calls)
    await wire.call(process, partition, costs.ack, async () => ({ items: calls, value: undefined }))
  }

  const settlePart = (
    { process }: FleetWorker,
    partition: number,
    settlements: readonly Settlement[],
    linksWithin: number,
  ): Promise<void> => {
    tally.wireBytes += wireBytes(costs.found, linksWithin)
    return wire.call(process, partition, costs.settle, async () => {
      tally.settleCalls += 1
      const { results } = await frontier.settle(settlements)
      settlements.forEach(({ lease, task, outcome }, index) => {
        if (results[index] !== 'settled') return
        tally.settled += 1
        books.settled(hostOf(lease.host), lease.fence, outcome.kind === 'done' && task.kind === 'page')
      })
      const foundMs = costMs(costs.found, linksWithin)
      wire.prolong(partition, foundMs)
      return { items: settlements.length, extraMs: foundMs, value: undefined }
    })
  }

  /** One partition after another, since the position of the output goes with each. */
  const commit = async (worker: FleetWorker): Promise<void> => {
    const batch = worker.gathered.splice(0, protocol.batch)
    const byPartition = Map.groupBy(batch, ({ lease }) => hostOf(lease.host) % sample.partitions)
    const begun = world.now()
    await Promise.all(
      [...byPartition].map(([partition, { length }]) =>
        wire.call(worker.process, partition, costs.weigh, async () => ({ items: length, value: undefined })),
      ),
    )
    for (const [partition, settlements] of byPartition) {
      const pages = settlements.filter(({ task, outcome }) => task.kind === 'page' && outcome.kind === 'done').length
      await settlePart(worker, partition, settlements, pages * shape.linksWithin)
      await deliver(worker, partition, pages * shape.linksAbroad)
    }
    tally.noteSettle(world.now() - begun)
    worker.unsettled -= batch.length
    worker.isNews = true
    work.pull(worker)
  }

  const flush = (worker: FleetWorker): void => {
    if (worker.isCommitting || worker.gathered.length === 0) return
    worker.isCommitting = true
    const again = (): void => {
      worker.isCommitting = false
      flushOrGather(worker)
    }
    commit(worker).then(again).catch(world.fail)
  }
  const gather = (worker: FleetWorker): void => {
    if (worker.isGathering || worker.isCommitting || worker.gathered.length === 0) return
    worker.isGathering = true
    worker.process.later(gatherMs, () => {
      worker.isGathering = false
      flush(worker)
    })
  }
  const flushOrGather = (worker: FleetWorker): void => {
    if (worker.gathered.length >= protocol.batch) flush(worker)
    else gather(worker)
  }

  return (worker, settlement) => {
    worker.unsettled += 1
    worker.gathered.push(settlement)
    flushOrGather(worker)
  }
}
