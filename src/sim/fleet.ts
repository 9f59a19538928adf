/**
 * The frontier's semantics at the size of a fleet: one home in memory, a thousand workers, a million hosts. Workers are
 * as light as can be (they lease, ask, settle, over a network with latency), so that the frontier and the laws of pace
 * and conservation are what is tested (fleet-books).
 */
import { createRng, type Rng } from '../base/index.ts'
import { createFrontier, type Frontier, type Lease, type Settlement } from '../frontier/index.ts'
import type { Task } from '../model/index.ts'
import { createFleetBooks } from './fleet-books.ts'
import { answerOf, hostOf, seedsOf } from './fleet-site.ts'
import { Violation } from './violation.ts'
import { createWorld, onGrid, WORLD_START, type SimProcess } from './world.ts'

export interface FleetOptions {
  readonly workers: number
  /** Fetches at once of each worker. */
  readonly slots?: number
  readonly hosts: number
  readonly pagesPerHost: number
  readonly seed: number
  /** 100 or more: with a shorter delay a lease would carry several tasks. */
  readonly delayMs?: number
  /** The share of workers that are killed on the way, each once, and come back. */
  readonly killed?: number
  readonly onProgress?: (done: number, total: number, simulatedMs: number) => void
}

export interface FleetReport {
  readonly requests: number
  readonly pages: number
  readonly simulatedMs: number
  readonly events: number
  readonly leases: number
  readonly digest: string
}

const LEASE_MS = 180_000
/** Seeds are added in portions. */
const PORTION = 10_000
const PROGRESS_EVERY = 50_000
/** What a host takes to answer, at most. */
const ANSWER_MS = 220
const FASTEST_ANSWER_MS = 20

interface Worker {
  readonly name: string
  process: SimProcess
  busy: number
  asking: boolean
  asked: number
}

/** Rejects with a `Violation` when a law is broken. */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const { hosts, pagesPerHost, slots = 10, delayMs = 1_000, killed = 0.05 } = options
  const rng: Rng = createRng(options.seed)
  const world = createWorld()
  const store = world.process('store')
  const frontier: Frontier = createFrontier({
    store: 'memory',
    clock: store.clock,
    policyOf: () => ({ delayMs, concurrency: 1 }),
    leaseMs: LEASE_MS,
  })
  const books = createFleetBooks({ hosts, pagesPerHost, delayMs, startAt: WORLD_START })
  const total = hosts * pagesPerHost
  /** By the pace of a host, or by what all slots can do together, whichever is longer. */
  const expectedMs = Math.max(
    (pagesPerHost + 1) * (delayMs + ANSWER_MS),
    ((total + hosts) * ANSWER_MS) / (options.workers * slots),
  )

  let requests = 0
  let leases = 0
  let isOver = false

  const latency = (): number => onGrid(1 + rng.next() * 9)
  const settle = async (settlement: Settlement, host: number): Promise<void> => {
    const { results } = await frontier.settle([settlement])
    if (results[0] !== 'settled') return
    const isPage = settlement.task.kind === 'page'
    books.settled(host, settlement.lease.fence, isPage)
    if (!isPage) return
    if (books.pages % PROGRESS_EVERY !== 0) return
    options.onProgress?.(books.pages, total, world.now() - WORLD_START)
    books.checkStats(await frontier.stats())
  }

  /** One request of a worker, from the start to the settlement. */
  const ask = (worker: Worker, lease: Lease, task: Task): void => {
    const host = hostOf(lease.host)
    const { process } = worker
    const startedAt = world.now()
    books.started(host, startedAt)
    requests += 1
    world.at(startedAt + FASTEST_ANSWER_MS + rng.int(ANSWER_MS - FASTEST_ANSWER_MS), () => {
      const at = world.now()
      books.answered(host, at)
      process.later(latency(), () => {
        const settlement: Settlement = {
          lease,
          task,
          // What travels is the age of the answer, so that it is never taken for older than it is.
          answeredAt: store.clock.now() - (world.now() - at),
          ...answerOf(task, { at, now: store.clock.now(), pagesPerHost }),
        }
        worker.busy -= 1
        settle(settlement, host).catch((error: unknown) => world.fail(error))
        pull(worker)
      })
    })
  }

  const pull = (worker: Worker): void => {
    if (worker.asking || isOver || worker.busy >= slots || !worker.process.alive) return
    worker.asking = true
    const { process } = worker
    const want = slots - worker.busy
    const request = String(worker.asked++)
    store.later(latency(), () => {
      frontier.lease({ worker: worker.name, want, request }).then(
        ({ leases: granted, nextAt, state }) => {
          if (state !== 'open') isOver = true
          leases += granted.length
          process.later(latency(), () => {
            worker.asking = false
            worker.busy += granted.length
            for (const lease of granted) for (const task of lease.tasks) ask(worker, lease, task)
            if (granted.length === want) pull(worker)
            else if (nextAt !== null)
              process.later(Math.max(nextAt - store.clock.now(), 5) + rng.int(50), () => pull(worker))
          })
        },
        (error: unknown) => world.fail(error),
      )
    })
  }

  const begin = (name: string): void => {
    const worker: Worker = { name, process: world.process(name), busy: 0, asking: false, asked: 0 }
    // Whatever has gone quiet asks again now and then, as a real worker does.
    const heartbeat = (): void => {
      pull(worker)
      if (!isOver) worker.process.later(1_000 + rng.int(1_000), heartbeat)
    }
    worker.process.later(rng.int(1_000), heartbeat)
    if (rng.next() >= killed) return
    world.at(world.now() + rng.int(expectedMs), () => {
      if (isOver) return
      worker.process.kill()
      world.at(world.now() + 5_000, () => begin(`${name} again`))
    })
  }

  for (let from = 0; from < hosts; from += PORTION) await frontier.add(seedsOf(from, Math.min(PORTION, hosts - from)))
  for (let number = 0; number < options.workers; number++) begin(`worker ${number}`)
  const limits = { done: () => isOver, untilMs: 365 * 86_400_000, maxEvents: 1_000 * (total + 1_000_000) }
  const end = await world.run(limits)
  if (end !== 'done') throw new Violation('termination', 'the fleet', `${end} with ${books.pages} of ${total} pages`)
  books.checkStats(await frontier.stats())
  books.checkEnd()
  const simulatedMs = world.now() - WORLD_START
  await frontier.close()
  world.trace.note('fleet', String(requests), simulatedMs)
  return { requests, pages: books.pages, simulatedMs, events: world.events, leases, digest: world.trace.digest() }
}
