/**
 * The way from the workers of a simulated fleet to the masters and back. A script goes there, waits for its turn on the
 * master that has the partition, takes its time there, and its reply comes back. Partitions that are not simulated are
 * asked too: those calls are only so much work, since as many come from elsewhere as go there.
 */
import type { Rng } from '../base/index.ts'
import { costMs, ROUND_TRIP_MS, wireBytes, type VerbCost } from './fleet-costs.ts'
import type { Master } from './fleet-master.ts'
import type { FleetTally } from './fleet-tally.ts'
import { onGrid, type SimProcess, type World } from './world.ts'

/** What a script came to, with how many items were in it, and how much longer than these take. */
export interface Served<T> {
  readonly items: number
  readonly extraMs?: number
  readonly value: T
}

export interface FleetWire {
  /** A script: there, in its turn, and back. */
  call<T>(by: SimProcess, partition: number, cost: VerbCost, run: () => Promise<Served<T>>): Promise<T>
  /** The script that is running on the partition takes so much longer. */
  prolong(partition: number, ms: number): void
  /** A call beside the one that is running, on another partition of the sample: when it is over, from now. */
  callBeside(partition: number, cost: VerbCost, items: number): number
  /** Calls from this partition to others, at once, and as many that come in. */
  callAbroad(by: SimProcess, partition: number, cost: VerbCost, calls: number, itemsEach: number): Promise<void>
  /** Calls to partitions that are not of the sample, at once, and as many that come in. */
  callElsewhere(by: SimProcess, cost: VerbCost, calls: number): Promise<void>
}

export function createFleetWire(options: {
  readonly world: Pick<World, 'now' | 'at' | 'fail'>
  readonly rng: Rng
  readonly masters: readonly Master[]
  /** The master of each partition of the sample. */
  readonly masterOf: readonly Master[]
  readonly tally: FleetTally
}): FleetWire {
  const { world, rng, masters, tally } = options
  const masterOf = (partition: number): Master => options.masterOf[partition] as Master
  const oneWayMs = (): number => onGrid(ROUND_TRIP_MS * (0.25 + rng.next() * 0.5))
  const waited = (by: SimProcess, ms: number): Promise<void> =>
    new Promise((resolve) => by.later(ms + 2 * oneWayMs(), resolve))

  return {
    call: (by, partition, cost, run) =>
      new Promise((resolve) => {
        world.at(world.now() + oneWayMs(), () => {
          const master = masterOf(partition)
          const waitMs = master.enter(world.now(), costMs(cost, 0))
          const serve = async (): Promise<void> => {
            const { items, extraMs = 0, value } = await run()
            tally.wireBytes += wireBytes(cost, items)
            master.prolong(costMs(cost, items) - costMs(cost, 0))
            by.later(costMs(cost, items) + extraMs + oneWayMs(), () => resolve(value))
          }
          world.at(world.now() + waitMs, () => void serve().catch(world.fail))
        })
      }),
    prolong: (partition, ms) => masterOf(partition).prolong(ms),
    callBeside(partition, cost, items) {
      tally.wireBytes += wireBytes(cost, items)
      const tookMs = costMs(cost, items)
      return masterOf(partition).enter(world.now(), tookMs) + tookMs
    },
    callAbroad(by, partition, cost, calls, itemsEach) {
      const master = masterOf(partition)
      const tookMs = costMs(cost, itemsEach)
      tally.wireBytes += calls * wireBytes(cost, itemsEach)
      const waitMs = master.backlog(world.now())
      master.scatter(world.now(), calls, tookMs)
      return waited(by, waitMs + tookMs)
    },
    callElsewhere(by, cost, calls) {
      const tookMs = costMs(cost, 0)
      tally.wireBytes += calls * wireBytes(cost, 0)
      let waitMs = 0
      for (const master of masters) {
        waitMs = Math.max(waitMs, master.backlog(world.now()))
        master.scatter(world.now(), calls / options.masterOf.length, tookMs)
      }
      return waited(by, waitMs + tookMs)
    },
  }
}
