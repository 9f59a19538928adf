/**
 * A part of a fleet, simulated: some partitions on the real rules of the frontier, the workers that prefer them, and the
 * masters on which they lie, all on one virtual clock. A worker does what the engine does: it looks and leases for its
 * free slots, asks, gathers what it has to settle for a moment, settles, and delivers what belongs elsewhere. Every
 * call goes over the network and waits for its turn on a master (fleet-master). The books look on (fleet-books).
 *
 * Left aside: what a page costs its worker, spill-over of workers to partitions that others prefer, and failovers.
 */
import { createRng } from '../base/index.ts'
import { createFrontier, type Lease, type Settlement } from '../frontier/index.ts'
import { UNKNOWN_HEALTH, type FoundUrl, type NormalizedUrl, type RobotsRecord, type Task } from '../model/index.ts'
import { createFleetBooks } from './fleet-books.ts'
import { costMs, ROUND_TRIP_MS, wireBytes, type StoreCosts, type VerbCost } from './fleet-costs.ts'
import { createMaster, type Master } from './fleet-master.ts'
import type { FleetProtocol } from './fleet-protocol.ts'
import { createQuantiles } from './fleet-quantiles.ts'
import type { FleetShape, SampleShape } from './fleet-shape.ts'
import { Violation } from './violation.ts'
import { createWorld, onGrid, WORLD_START, type SimProcess } from './world.ts'

export interface SampleReport {
  readonly partitions: number
  readonly hosts: number
  readonly pagesPerHost: number
  readonly isWhole: boolean
  readonly requests: number
  readonly simulatedMs: number
  /** Of the sample, while all of it is at work. */
  readonly requestsPerS: number
  /** The share of the time in which each of its masters is busy; more than 1 while a backlog grows. */
  readonly busy: readonly number[]
  /** Time of a master for one request. */
  readonly storeMsPerRequest: number
  readonly wireBytesPerRequest: number
  readonly leasesPerCall: number
  readonly settlementsPerCall: number
  /** Hosts that were due when looked at, and somebody else's when leased; as a share of all leases. */
  readonly taken: number
  /** From asking to the leases, and from the beginning of a commit to its end. */
  readonly leaseMs: Spread
  readonly settleMs: Spread
  /** From the moment a host is due to the start of its request. */
  readonly lagMs: Spread
}

export interface Spread {
  readonly p50: number
  readonly p99: number
}

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
/** Orders of hosts that have any that are due: those of one tier, proven and not. */
const BUSY_ORDERS = 2
/** One answer of so many is slow, and its lease has to be extended. */
const SLOW_EVERY = 1_000
const SLOW_MS = 20_000
/** Whatever has gone quiet asks again after so long, as a real worker does. */
const QUIET_MS = 1_000
/** Seeds are added in portions. */
const PORTION = 5_000
const ROBOTS_MS = 86_400_000
/** What is counted lies between these shares of all requests: behind the start, before hosts run short. */
const COUNTED_FROM = 0.1
const COUNTED_TO = 0.8
const CHECK_EVERY = 25_000

interface Worker {
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

/** What was counted up to a moment. */
interface Mark {
  readonly at: number
  readonly requests: number
  readonly workMs: readonly number[]
}

/** Rejects with a `Violation` when a law is broken. */
export async function runSample(options: SampleOptions): Promise<SampleReport> {
  const { shape, sample, costs, protocol, killed } = options
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
  const partitions = Array.from({ length: sample.partitions }, (_, partition) => partition)
  const expected = Math.min(sample.hosts * (sample.pagesPerHost + 1), options.requests ?? Infinity)
  const expectedMs = Math.max(
    (sample.pagesPerHost + 1) * (delayMs + answerMs),
    (expected * answerMs) / sample.workers.reduce((sum, slots) => sum + slots, 0),
  )
  const gatherMs = Math.min(protocol.gatherMostMs, Math.max(protocol.gatherLeastMs, delayMs / 2))

  const leaseMs = createQuantiles()
  const settleMs = createQuantiles()
  const lagMs = createQuantiles()
  let requests = 0
  let bytes = 0
  let granted = 0
  let grants = 0
  let leaseCalls = 0
  let taken = 0
  let settled = 0
  let settleCalls = 0
  let isOver = false
  let from: Mark | undefined
  let to: Mark | undefined

  const hostOf = (key: string): number => Number(key.slice(1, -5))
  const partitionOf = (host: number): number => host % sample.partitions
  const urlOf = (host: number, page: number): NormalizedUrl => `https://h${host}.test/${page}` as NormalizedUrl
  const oneWayMs = (): number => onGrid(ROUND_TRIP_MS * (0.25 + rng.next() * 0.5))
  const isCounted = (): boolean => from !== undefined && to === undefined

  const mark = (): Mark => ({ at: world.now(), requests, workMs: masters.map(({ workMs }) => workMs) })
  const noteRequest = (): void => {
    requests += 1
    if (from === undefined && requests >= COUNTED_FROM * expected) from = mark()
    if (to === undefined && requests >= COUNTED_TO * expected) to = mark()
    if (requests % CHECK_EVERY !== 0) return
    options.onProgress?.(requests, expected)
    frontier.stats().then(books.checkStats).catch(world.fail)
  }

  /** A script: there, in its turn, and back. `run` says what it came to, and how many items were in it. */
  const call = <T>(
    { process }: Worker,
    partition: number,
    cost: VerbCost,
    run: () => Promise<{ readonly items: number; readonly extraMs?: number; readonly value: T }>,
  ): Promise<T> =>
    new Promise((resolve) => {
      world.at(world.now() + oneWayMs(), () => {
        const master = masterOf[partition] as Master
        const waitMs = master.enter(world.now(), costMs(cost, 0))
        const serve = async (): Promise<void> => {
          const { items, extraMs = 0, value } = await run()
          bytes += wireBytes(cost, items)
          master.prolong(costMs(cost, items) - costMs(cost, 0))
          process.later(costMs(cost, items) + extraMs + oneWayMs(), () => resolve(value))
        }
        world.at(world.now() + waitMs, () => void serve().catch(world.fail))
      })
    })

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
    const page = Number(task.url.slice(task.url.lastIndexOf('/') + 1)) + 1
    return page >= sample.pagesPerHost
      ? []
      : [{ url: urlOf(host, page), kind: 'page', depth: task.depth + 1, via: 'link' }]
  }

  /** URLs for other partitions: as many calls as partitions are named. As many come in as go out. */
  const deliver = async (worker: Worker, partition: number, urls: number): Promise<void> => {
    const abroad = shape.partitions * (1 - (1 - 1 / shape.partitions) ** urls)
    const calls = Math.floor(abroad) + (rng.next() < abroad % 1 ? 1 : 0)
    if (calls === 0) return
    const master = masterOf[partition] as Master
    const each = urls / calls
    bytes += calls * wireBytes(costs.deliver, each)
    const waitMs = master.backlog(world.now()) + costMs(costs.deliver, each)
    master.scatter(world.now(), calls, costMs(costs.deliver, each))
    await new Promise<void>((resolve) => worker.process.later(waitMs + 2 * oneWayMs(), resolve))
    await call(worker, partition, costs.ack, async () => ({ items: calls, value: undefined }))
  }

  /** One partition after another, since the position of the output goes with each. */
  const commit = async (worker: Worker): Promise<void> => {
    const batch = worker.gathered.splice(0, protocol.batch)
    const byPartition = Map.groupBy(batch, ({ lease }) => partitionOf(hostOf(lease.host)))
    const begun = world.now()
    await Promise.all(
      [...byPartition].map(([partition, { length }]) =>
        call(worker, partition, costs.weigh, async () => ({ items: length, value: undefined })),
      ),
    )
    for (const [partition, part] of byPartition) {
      const pages = part.filter(({ task, outcome }) => task.kind === 'page' && outcome.kind === 'done').length
      const linksWithin = pages * shape.linksWithin
      bytes += wireBytes(costs.found, linksWithin)
      await call(worker, partition, costs.settle, async () => {
        settleCalls += 1
        const { results } = await frontier.settle(part)
        part.forEach(({ lease, task, outcome }, index) => {
          if (results[index] !== 'settled') return
          settled += 1
          books.settled(hostOf(lease.host), lease.fence, outcome.kind === 'done' && task.kind === 'page')
        })
        const foundMs = costMs(costs.found, linksWithin)
        ;(masterOf[partition] as Master).prolong(foundMs)
        return { items: part.length, extraMs: foundMs, value: undefined }
      })
      await deliver(worker, partition, pages * shape.linksAbroad)
    }
    if (isCounted()) settleMs.note(world.now() - begun)
    worker.unsettled -= batch.length
    worker.isNews = true
    pull(worker)
  }
  const flush = (worker: Worker): void => {
    if (worker.isCommitting || worker.gathered.length === 0) return
    worker.isCommitting = true
    const again = (): void => {
      worker.isCommitting = false
      if (worker.gathered.length >= protocol.batch) flush(worker)
      else gather(worker)
    }
    commit(worker).then(again).catch(world.fail)
  }
  const gather = (worker: Worker): void => {
    if (worker.isGathering || worker.isCommitting || worker.gathered.length === 0) return
    worker.isGathering = true
    worker.process.later(gatherMs, () => {
      worker.isGathering = false
      flush(worker)
    })
  }

  /** One request of a worker, from its start until it is handed over to be settled. */
  const ask = (worker: Worker, lease: Lease, task: Task): void => {
    const host = hostOf(lease.host)
    const isProven = lease.health.streak > 0
    // It came so late that a request could not begin under it any more.
    if (world.now() >= lease.expiresAt - protocol.leaseMarginMs) {
      worker.busy -= 1
      return hand(worker, { lease, task, outcome: { kind: 'returned' } })
    }
    const late = books.started(host, world.now())
    if (isCounted()) lagMs.note(late)
    noteRequest()
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
    const tookMs = onGrid(isSlow ? SLOW_MS : answerMs * (0.1 + 1.8 * rng.next()))
    const extendMs = Math.max(0, lease.grantedAt + protocol.extendAfterMs - world.now())
    if (tookMs > extendMs) worker.process.later(extendMs, () => void extend(worker, lease, end).catch(world.fail))
    worker.process.later(tookMs, () => {
      const at = world.now()
      if (!end()) return
      hand(worker, {
        lease,
        task,
        outcome: { kind: 'done' },
        answeredAt: at,
        host: { health: { ...UNKNOWN_HEALTH, streak: 1, streakSince: at } },
        ...(task.kind === 'robots' ? { robots: robotsOf(task) } : { found: foundOn(task, host) }),
      })
      pull(worker)
    })
  }
  const hand = (worker: Worker, settlement: Settlement): void => {
    worker.unsettled += 1
    worker.gathered.push(settlement)
    if (worker.gathered.length >= protocol.batch) flush(worker)
    else gather(worker)
  }
  /** Without an extension in time the request is broken off. */
  const extend = async (worker: Worker, lease: Lease, breakOff: () => boolean): Promise<void> => {
    const host = hostOf(lease.host)
    if (!worker.inFlight.has(host)) return
    const held = await call(worker, partitionOf(host), costs.extend, async () => {
      const value = await frontier.extend(lease)
      if (value) books.extended(host, world.now() + protocol.leaseMs)
      return { items: 1, value }
    })
    if (!held) breakOff()
  }

  /** How many hosts a look names: as many as might be wanted or, where there were too few last time, a few. */
  const namedFor = (worker: Worker, want: number): number => {
    const ofOrder = Math.min(want, Math.ceil((2 * want) / sample.partitions) + protocol.extraHosts, protocol.mostHosts)
    return worker.wasShort ? Math.min(ofOrder, protocol.extraHosts) : BUSY_ORDERS * ofOrder
  }
  const relookedFor = (worker: Worker, wanted: number): number =>
    worker.wasShort ? protocol.extraHosts : BUSY_ORDERS * Math.min(wanted + protocol.moreHosts, protocol.mostHosts)
  /** Nothing is due in the worker's own partitions: it looks at others. As many look here as look from here. */
  const lookElsewhere = async (worker: Worker): Promise<void> => {
    const elsewhere = Math.min(protocol.elsewhere, shape.partitions - sample.partitions)
    if (elsewhere <= 0 || world.now() < worker.elsewhereAt) return
    worker.elsewhereAt = world.now() + protocol.elsewhereMs
    const looks = elsewhere / sample.partitions
    const ms = costMs(costs.look, 0)
    bytes += elsewhere * wireBytes(costs.look, 0)
    let waitMs = 0
    for (const master of masters) {
      waitMs = Math.max(waitMs, master.backlog(world.now()))
      master.scatter(world.now(), looks, ms)
    }
    await new Promise<void>((resolve) => worker.process.later(waitMs + ms + 2 * oneWayMs(), resolve))
  }

  /**
   * The look and then the leases, for all partitions of the worker at once. Workers of a partition choose the hosts that
   * are due longest: what others were granted since the look is gone, and the rest is tried again, in rounds.
   */
  const lease = async (worker: Worker): Promise<number | null> => {
    const want = worker.slots - worker.busy
    const mostUnproven = worker.slots - Math.floor(worker.slots / protocol.provenShare) - worker.unproven
    const unproven = Math.max(0, Math.min(want, mostUnproven))
    const begun = world.now()
    const named = namedFor(worker, want)
    const looks = partitions.map((partition) =>
      call(worker, partition, costs.look, async () => ({ items: named, value: grants })),
    )
    let seen = Math.min(...(await Promise.all(looks)))
    const leases: Lease[] = []
    let nextAt: number | null = null
    for (let round = 0; round < protocol.rounds && leases.length < want && !isOver; round++) {
      const first = worker.asked % sample.partitions
      const wanted = want - leases.length
      const answer = await call(worker, first, costs.lease, async () => {
        const spare = round === 0 ? 0 : protocol.moreHosts
        const gone = Math.min(wanted, Math.max(0, grants - seen - spare))
        taken += gone
        const relookMs = gone === 0 ? 0 : (costs.look.itemUs * relookedFor(worker, wanted)) / 1_000
        ;(masterOf[first] as Master).prolong(relookMs)
        if (gone === wanted) {
          seen = grants
          return { items: 0, extraMs: relookMs, value: undefined }
        }
        const value = await frontier.lease({
          worker: worker.name,
          want: wanted - gone,
          unproven: Math.min(wanted - gone, Math.max(0, unproven - unprovenOf(leases))),
          request: String(worker.asked),
        })
        worker.asked += 1
        grants += value.leases.length
        seen = grants
        for (const { host, fence, expiresAt } of value.leases) books.leased(hostOf(host), fence, expiresAt, world.now())
        const otherMs = leaseElsewhere(value.leases, first)
        return { items: value.leases.length - otherMs.items, extraMs: relookMs + otherMs.ms, value }
      })
      if (answer === undefined) continue
      if (answer.state !== 'open') isOver = true
      leases.push(...answer.leases)
      nextAt = answer.nextAt
      worker.wasShort = leases.length < want
      if (answer.leases.length === 0) break
    }
    if (isCounted()) leaseMs.note(world.now() - begun)
    granted += leases.length
    worker.busy += leases.length
    worker.isNews = leases.length >= want || (unproven > 0 && unprovenOf(leases) >= unproven)
    for (const each of leases) for (const task of each.tasks) ask(worker, each, task)
    if (leases.length === 0 && !isOver) await lookElsewhere(worker)
    return nextAt
  }
  const unprovenOf = (leases: readonly Lease[]): number => leases.filter(({ health }) => health.streak <= 0).length
  /** Leases of one asking on other partitions than the first: calls of their own, at the same time. */
  const leaseElsewhere = (leases: readonly Lease[], first: number): { items: number; ms: number } => {
    leaseCalls += 1
    if (sample.partitions === 1) return { items: 0, ms: 0 }
    let items = 0
    let ms = 0
    for (const [partition, { length }] of Map.groupBy(leases, ({ host }) => partitionOf(hostOf(host)))) {
      if (partition === first) continue
      leaseCalls += 1
      items += length
      bytes += wireBytes(costs.lease, length)
      const tookMs = costMs(costs.lease, length)
      ms = Math.max(ms, (masterOf[partition] as Master).enter(world.now(), tookMs) + tookMs)
    }
    return { items, ms }
  }
  const pull = (worker: Worker): void => {
    if (
      worker.isAsking ||
      isOver ||
      worker.busy >= worker.slots ||
      !worker.isNews ||
      worker.unsettled > protocol.unsettled
    )
      return
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
    lease(worker).then(answered).catch(world.fail)
  }

  const begin = (name: string, slots: number): void => {
    const worker: Worker = {
      name,
      slots,
      process: world.process(name),
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
    worker.process.later(rng.int(1_000), () => pull(worker))
    if (rng.next() >= killed) return
    world.at(world.now() + rng.int(expectedMs), () => {
      if (isOver) return
      worker.process.kill()
      // Its connections close with it.
      for (const host of worker.inFlight) books.answered(host, world.now())
      world.at(world.now() + BACK_MS, () => begin(`${name} again`, slots))
    })
  }

  for (let first = 0; first < sample.hosts; first += PORTION) {
    const length = Math.min(PORTION, sample.hosts - first)
    await frontier.add(
      Array.from({ length }, (_, index) => ({ url: urlOf(first + index, 0), kind: 'page', depth: 0, via: 'seed' })),
    )
  }
  sample.workers.forEach((slots, index) => begin(`worker ${index}`, slots))
  const isEnough = (): boolean => requests >= (options.requests ?? Infinity)
  const limits = {
    done: () => isOver || isEnough(),
    untilMs: 365 * 86_400_000,
    maxEvents: 200 * (expected + 1_000_000),
  }
  const end = await world.run(limits)
  if (end !== 'done') throw new Violation('termination', 'the fleet', `${end} with ${books.pages} pages`)
  books.checkStats(await frontier.stats())
  if (isOver) books.checkEnd()
  await frontier.close()

  const start: Mark = from ?? { at: WORLD_START, requests: 0, workMs: masters.map(() => 0) }
  const stop = to ?? mark()
  const countedMs = Math.max(1, stop.at - start.at)
  const counted = Math.max(1, stop.requests - start.requests)
  const workMs = stop.workMs.map((work, index) => work - (start.workMs[index] ?? 0))
  /** Of the sample's own partitions. */
  const ownWorkMs = workMs.reduce((sum, work, index) => {
    const { partitions: all, simulated } = sample.masters[index] as SampleShape['masters'][number]
    return sum + (work * simulated) / all
  }, 0)
  const spread = ({ at }: ReturnType<typeof createQuantiles>): Spread => ({ p50: at(0.5), p99: at(0.99) })
  return {
    partitions: sample.partitions,
    hosts: sample.hosts,
    pagesPerHost: sample.pagesPerHost,
    isWhole: sample.isWhole,
    requests,
    simulatedMs: world.now() - WORLD_START,
    requestsPerS: (counted / countedMs) * 1_000,
    busy: workMs.map((work) => work / countedMs),
    storeMsPerRequest: ownWorkMs / counted,
    wireBytesPerRequest: bytes / Math.max(1, requests),
    leasesPerCall: granted / Math.max(1, leaseCalls),
    settlementsPerCall: settled / Math.max(1, settleCalls),
    taken: taken / Math.max(1, granted),
    leaseMs: spread(leaseMs),
    settleMs: spread(settleMs),
    lagMs: spread(lagMs),
  }
}
