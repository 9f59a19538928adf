/**
 * The frontier's semantics at the size of a fleet: one home in memory, a thousand workers, a million hosts. Workers are
 * as light as can be (they lease, ask, settle, over a network with latency), so that the frontier and the laws of pace
 * and conservation are what is tested. The books take a few bytes for each host.
 */
import { createRng, type Rng } from '../base/index.ts'
import { createFrontier, type Frontier, type Lease, type Settlement } from '../frontier/index.ts'
import { UNKNOWN_HEALTH, type FoundUrl, type NormalizedUrl, type RobotsRecord, type Task } from '../model/index.ts'
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
const ROBOTS_MS = 86_400_000
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
  const nameOf = (host: number): string => `h${host}.test`
  const indexOf = (host: string): number => Number(host.slice(1, -5))
  const total = hosts * pagesPerHost
  /** By the pace of a host, or by what all slots can do together, whichever is longer. */
  const expectedMs = Math.max(
    (pagesPerHost + 1) * (delayMs + ANSWER_MS),
    ((total + hosts) * ANSWER_MS) / (options.workers * slots),
  )

  /** For each host: when it last answered, whether it is being asked, and how many of its pages are settled. */
  const answeredAt = new Float64Array(hosts).fill(-Infinity)
  const asking = new Uint8Array(hosts)
  const settledPages = new Uint16Array(hosts)
  let requests = 0
  let pages = 0
  let leases = 0
  let isOver = false

  const latency = (): number => onGrid(1 + rng.next() * 9)
  const robotsOf = (task: Task): RobotsRecord => ({
    origin: task.origin,
    state: 'allow-all',
    refusal: null,
    status: 404,
    detail: 'HTTP 404',
    fetchedAt: store.clock.now(),
    version: '0',
    staleSince: null,
    expiresAt: store.clock.now() + ROBOTS_MS,
    body: '',
    crawlDelayMs: 0,
  })
  /** Each page names the next one of its host. */
  const foundOn = (task: Task, host: number): FoundUrl[] => {
    const page = Number(task.url.slice(task.url.lastIndexOf('/') + 1))
    if (page + 1 >= pagesPerHost) return []
    const url = `https://${nameOf(host)}/${page + 1}` as NormalizedUrl
    return [{ url, kind: 'page', depth: task.depth + 1, via: 'link' }]
  }

  const settle = async (settlement: Settlement, host: number): Promise<void> => {
    const { results } = await frontier.settle([settlement])
    if (results[0] !== 'settled' || settlement.task.kind !== 'page') return
    pages += 1
    settledPages[host] = (settledPages[host] ?? 0) + 1
    if ((settledPages[host] ?? 0) > pagesPerHost) throw new Violation('settled', nameOf(host), 'more pages than it has')
    if (pages % PROGRESS_EVERY !== 0) return
    options.onProgress?.(pages, total, world.now() - WORLD_START)
    await checkLaw()
  }
  const checkLaw = async (): Promise<void> => {
    const stats = await frontier.stats()
    if (stats.discovered !== stats.queued + stats.leased + stats.done) {
      throw new Violation('conservation', 'the frontier', JSON.stringify({ ...stats, hosts: undefined }))
    }
    if (stats.done !== pages)
      throw new Violation('conservation', 'the frontier', `${stats.done} done, ${pages} settled`)
  }

  /** One request of a worker, from the start to the settlement. */
  const ask = (worker: Worker, lease: Lease, task: Task): void => {
    const host = indexOf(lease.host)
    const { process } = worker
    const startedAt = world.now()
    if (asking[host] === 1) throw new Violation('in-flight', lease.host, `${task.url} by ${worker.name}`)
    if (startedAt < (answeredAt[host] ?? 0) + delayMs) {
      throw new Violation(
        'pace',
        lease.host,
        `${startedAt - (answeredAt[host] ?? 0)} ms after its answer, by ${worker.name}`,
      )
    }
    asking[host] = 1
    requests += 1
    world.at(startedAt + FASTEST_ANSWER_MS + rng.int(ANSWER_MS - FASTEST_ANSWER_MS), () => {
      asking[host] = 0
      answeredAt[host] = world.now()
      const at = world.now()
      process.later(latency(), () => {
        const settlement: Settlement = {
          lease,
          task,
          outcome: { kind: 'done' },
          // What travels is the age of the answer, so that it is never taken for older than it is.
          answeredAt: store.clock.now() - (world.now() - at),
          host: { health: { ...UNKNOWN_HEALTH, streak: 1, streakSince: at } },
          ...(task.kind === 'robots' ? { robots: robotsOf(task) } : { found: foundOn(task, host) }),
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

  for (let from = 0; from < hosts; from += PORTION) {
    const count = Math.min(PORTION, hosts - from)
    const url = (host: number): NormalizedUrl => `https://${nameOf(host)}/0` as NormalizedUrl
    await frontier.add(
      Array.from({ length: count }, (_, index) => ({ url: url(from + index), kind: 'page', depth: 0, via: 'seed' })),
    )
  }
  for (let number = 0; number < options.workers; number++) begin(`worker ${number}`)
  const limits = { done: () => isOver, untilMs: 365 * 86_400_000, maxEvents: 1_000 * (total + 1_000_000) }
  const end = await world.run(limits)
  if (end !== 'done') throw new Violation('termination', 'the fleet', `${end} with ${pages} of ${total} pages`)
  await checkLaw()
  for (let host = 0; host < hosts; host++) {
    if (settledPages[host] !== pagesPerHost)
      throw new Violation('settled', nameOf(host), `${settledPages[host]} pages of ${pagesPerHost}`)
  }
  const simulatedMs = world.now() - WORLD_START
  await frontier.close()
  world.trace.note('fleet', String(requests), simulatedMs)
  return { requests, pages, simulatedMs, events: world.events, leases, digest: world.trace.digest() }
}
