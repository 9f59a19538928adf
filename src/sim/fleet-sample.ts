/**
 * A part of a fleet, simulated: some partitions on the real rules of the frontier, the workers that prefer them, and the
 * masters on which they lie, all on one virtual clock. Every call goes over the network and waits for its turn on a master
 * (fleet-wire, fleet-master); workers do what the engine does (fleet-worker); the books look on (fleet-books).
 *
 * Left aside: what a page costs its worker, spill-over of workers to partitions that others prefer, and failovers.
 */
import { createRng } from '../base/index.ts'
import { createFrontier } from '../frontier/index.ts'
import { createFleetBooks } from './fleet-books.ts'
import type { StoreCosts } from './fleet-costs.ts'
import { createLeasing } from './fleet-leasing.ts'
import { createMaster, type Master } from './fleet-master.ts'
import type { FleetProtocol } from './fleet-protocol.ts'
import { createSettling } from './fleet-settling.ts'
import type { FleetShape, SampleShape } from './fleet-shape.ts'
import { seedsOf } from './fleet-site.ts'
import { createFleetTally, type SampleReport } from './fleet-tally.ts'
import { createFleetWire } from './fleet-wire.ts'
import { createPulling, createRequesting, newWorker, type FleetPart, type FleetWork } from './fleet-worker.ts'
import { Violation } from './violation.ts'
import { createWorld, WORLD_START } from './world.ts'

export interface SampleOptions {
  readonly shape: FleetShape
  readonly sample: SampleShape
  readonly costs: StoreCosts
  readonly protocol: FleetProtocol
  readonly seed: number
  /** The share of workers that are killed on the way, each once, and come back. */
  readonly killed: number
  /** The end, be it that there is more to do; only when all is done when absent. */
  readonly requests?: number
  readonly onProgress?: (requests: number, expected: number) => void
}

/** A worker that was killed is back after so long. */
const BACK_MS = 5_000
/** Seeds are added in portions. */
const PORTION = 5_000
const CHECK_EVERY = 25_000

/** Rejects with a `Violation` when a law is broken. */
export async function runSample(options: SampleOptions): Promise<SampleReport> {
  const { shape, sample, costs, protocol } = options
  const { delayMs, answerMs } = shape
  const rng = createRng(options.seed)
  const world = createWorld()
  const store = world.process('store')
  const frontier = createFrontier({
    store: 'memory',
    clock: store.clock,
    policyOf: () => ({ delayMs, concurrency: 1 }),
    leaseMs: protocol.leaseMs,
  })
  const books = createFleetBooks({ ...sample, delayMs, startAt: WORLD_START })
  const masters = sample.masters.map((master) => createMaster(master, WORLD_START, rng))
  const masterOf: Master[] = sample.masters.flatMap(({ simulated }, index) =>
    Array.from({ length: simulated }, () => masters[index] as Master),
  )
  const expected = Math.min(sample.hosts * (sample.pagesPerHost + 1), options.requests ?? Infinity)
  const expectedMs = Math.max(
    (sample.pagesPerHost + 1) * (delayMs + answerMs),
    (expected * answerMs) / sample.workers.reduce((sum, slots) => sum + slots, 0),
  )
  const tally = createFleetTally({ sample, masters, expected, startAt: WORLD_START, now: world.now })
  const wire = createFleetWire({ world, rng, masters, masterOf, tally })
  const part: FleetPart = {
    shape,
    sample,
    costs,
    protocol,
    rng,
    world,
    store,
    frontier,
    books,
    wire,
    tally,
    isOver: false,
    onRequest() {
      if (tally.requests % CHECK_EVERY !== 0) return
      options.onProgress?.(tally.requests, expected)
      frontier.stats().then(books.checkStats).catch(world.fail)
    },
  }
  const work: FleetWork = {
    pull: (worker) => pull(worker),
    ask: (worker, lease, task) => ask(worker, lease, task),
    hand: (worker, settlement) => hand(worker, settlement),
    lease: (worker) => lease(worker),
  }
  const pull = createPulling(part, work)
  const ask = createRequesting(part, work)
  const hand = createSettling(part, work)
  const lease = createLeasing(part, work)

  const begin = (name: string, slots: number): void => {
    const worker = newWorker(name, slots, world.process(name))
    worker.process.later(rng.int(1_000), () => pull(worker))
    if (rng.next() >= options.killed) return
    world.at(world.now() + rng.int(expectedMs), () => {
      if (part.isOver) return
      worker.process.kill()
      // Its connections close with it.
      for (const host of worker.inFlight) books.answered(host, world.now())
      world.at(world.now() + BACK_MS, () => begin(`${name} again`, slots))
    })
  }

  for (let first = 0; first < sample.hosts; first += PORTION)
    await frontier.add(seedsOf(first, Math.min(PORTION, sample.hosts - first)))
  sample.workers.forEach((slots, index) => begin(`worker ${index}`, slots))
  const isEnough = (): boolean => tally.requests >= (options.requests ?? Infinity)
  const limits = {
    done: () => part.isOver || isEnough(),
    untilMs: 365 * 86_400_000,
    maxEvents: 200 * (expected + 1_000_000),
  }
  const end = await world.run(limits)
  if (end !== 'done') throw new Violation('termination', 'the fleet', `${end} with ${books.pages} pages`)
  books.checkStats(await frontier.stats())
  if (part.isOver) books.checkEnd()
  await frontier.close()
  return tally.report()
}
