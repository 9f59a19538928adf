/**
 * The Redis home: the contract over partitions on one server or many, for any number of processes at once. Here its parts
 * are put together; the crawl is opened on the servers when the first verb is called.
 */
import type { FoundUrl, HostKey } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import type { AddAnswer, Frontier, FrontierOptions, HostChange } from '../contract.ts'
import { withLinksSpelledOut } from '../settled-links.ts'
import { createCrawlRecord, type FleetCrawl } from './crawl-record.ts'
import { createExtending } from './extending.ts'
import { createGranting } from './granting.ts'
import { createHeldLeases } from './held-leases.ts'
import { hostOf } from './hosts.ts'
import { createIntake, type Intake } from './intake.ts'
import { createLeasing } from './leasing.ts'
import { createLimits } from './limits.ts'
import type { LinkTrouble } from './link.ts'
import { lookAt, type Look } from './look.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createParking } from './parking.ts'
import { createPassing } from './passing.ts'
import { createRecentAdds } from './recent-adds.ts'
import { createReclaiming } from './reclaiming.ts'
import { createRest } from './rest.ts'
import { loadScript } from './scripts.ts'
import { createSeals } from './seals.ts'
import { createRedisSettling } from './settling.ts'
import { readStats } from './stats.ts'
import { crawlCaller, openStore, type OpenStoreOptions, type Partition, type StoreDeps } from './store.ts'
import { createTrapsCache } from './traps-cache.ts'
import { createVisits } from './visits.ts'

/** How often it is made sure that the crawl's own record is still there, and that the same servers answer. */
const CHECK_MS = 5_000
/** Messages that were not delivered for so long were left behind by somebody who died. */
const LEFT_BEHIND_MS = 5_000
/** How long leases may take to be given back. */
const RELEASE_MS = 3_000
/** Tending without anything to do is worth another look after this time. */
const TEND_MS = 5_000

export interface FleetFrontier extends Frontier {
  /** What is known of the crawl as a whole, kept on the store. */
  readonly crawl: FleetCrawl
  /** As far as is known: the number that was asked for, until the crawl was opened. */
  readonly partitions: number
  onTrouble(listener: (trouble: LinkTrouble) => void): void
  /**
   * Housekeeping that any process may do, bounded: takes back expired leases, delivers what the dead left undelivered,
   * queues visits that are due, splits sets that have grown. Says when it is worth doing again.
   */
  tend(partitions: readonly number[]): Promise<{ readonly nextAt: number | null }>
  /** Which partitions this worker asks first; all when empty. */
  prefer(partitions: readonly number[]): void
  /**
   * A process that worked under this worker's name is dead, for certain: its leases run out within seconds. To be called
   * before anything is leased.
   */
  disown(): Promise<void>
}

export interface RedisFrontierOptions extends FrontierOptions {
  readonly crawl: string
  /** Whose output is meant, stable over restarts. */
  readonly worker: string
  readonly partitions: number
  /** Records go to a stream as well. */
  readonly stream: boolean
  /** The servers are told the time by the clock. For tests. */
  readonly isTimeTold: boolean
}

const DISOWN = loadScript('disown')

type Inside = Awaited<ReturnType<typeof open>>

async function open(options: RedisFrontierOptions, deps: StoreDeps) {
  const { crawl, worker, partitions, isTimeTold, stream, ...settings } = options
  const asked: OpenStoreOptions = { crawl, worker, partitions, settings: { ...settings, stream }, isTimeTold }
  const store = await openStore(asked, deps)
  const held = createHeldLeases()
  const outbox: Outbox = createOutbox({ store, intake: () => intake })
  const intake: Intake = createIntake({ store, deliver: (from, sent) => outbox.deliver(from, sent) })
  const adds = createRecentAdds(deps.clock)
  const limits = createLimits({ store })
  const traps = createTrapsCache()
  const parking = createParking(store, traps, held)
  const visits = createVisits(store, intake)
  const passing = createPassing(store)
  const settling = createRedisSettling(store, { intake, outbox, parking, traps, held, passing })
  const reclaiming = createReclaiming(store, visits, held)
  const granting = createGranting(store, { held, limits, parking })
  const rest = createRest(store, reclaiming)
  const seals = createSeals()
  const { clock } = deps

  /** A partition whose server changed is told again what it may have lost. */
  const noticeRestarts = async (partition: Partition, restarts: number): Promise<void> => {
    if (restarts <= partition.restarts) return
    partition.restarts = restarts
    intake.forget()
    await intake.add(adds.all().filter(({ url }) => store.partitionOf(hostKey(url)) === partition))
    await extending.assertAll(partition)
    await settling.replay(partition)
    await outbox.tellAgain(partition)
  }
  const extending = createExtending(store, held, noticeRestarts)
  const notice = ({ partition, sums }: Look): Promise<void> => noticeRestarts(partition, sums.restarts)

  const everyWhile = (): (() => boolean) => {
    let last = clock.now()
    return () => {
      const isTime = clock.now() - last >= CHECK_MS
      if (isTime) last = clock.now()
      return isTime
    }
  }
  const isTimeToCheck = everyWhile()
  const check = async (): Promise<void> => {
    if (isTimeToCheck()) await store.check()
  }
  const isTimeToJudge = everyWhile()
  const parts = { granting, reclaiming, rest, seals, outbox, parking, held, notice, isTimeToJudge }
  const leasing = createLeasing(store, parts)
  const host = (key: HostKey, change?: HostChange) => hostOf(store, key, change)
  const add = async (found: readonly FoundUrl[]): Promise<AddAnswer> => {
    const answer = await intake.add(found)
    adds.keep(found)
    return answer
  }
  return { store, add, intake, outbox, passing, settling, reclaiming, extending, leasing, seals, host, notice, check }
}

export function createRedisFrontier(options: RedisFrontierOptions, deps: StoreDeps): FleetFrontier {
  const { clock, link } = deps
  let inside: Promise<Inside> | undefined
  let opened: Inside | undefined
  let preferred: readonly number[] = []
  let closed = false
  const enter = async (): Promise<Inside> => {
    if (closed) throw new Error('the frontier is closed')
    inside ??= open(options, deps).then((all) => {
      opened = all
      all.leasing.prefer(partitionsOf(all, preferred))
      return all
    })
    return inside
  }

  /** Servers that are away must not keep anybody from leaving: what is leased runs out by itself. */
  const release = async (all: Inside): Promise<void> => {
    let cancel = (): void => undefined
    const patience = new Promise<void>((resolve) => void (cancel = clock.timer(RELEASE_MS, resolve)))
    const farewell = all.passing.tell(true).then(() => all.extending.releaseAll())
    await Promise.race([farewell, patience]).catch(() => undefined)
    cancel()
  }

  const tend = async (all: Inside, partition: Partition): Promise<number | null> => {
    const asked = { count: 0, classes: 'all' } as const
    const look = await lookAt(partition, { ...asked, judge: true })
    await all.notice(look)
    const after = await all.reclaiming.tidy(look, asked)
    if (after.undelivered > 0) await all.outbox.flush(partition, LEFT_BEHIND_MS)
    if (await all.intake.split(partition, true)) return clock.now()
    await all.seals.check(partition)
    return after.expiry === undefined ? null : partition.times.toWorker(after.expiry)
  }

  return {
    crawl: createCrawlRecord({ callCrawl: crawlCaller(options, deps) }),
    get partitions() {
      return opened?.store.partitions.length ?? options.partitions
    },
    onTrouble: (listener) => link.onTrouble(listener),
    prefer(partitions) {
      preferred = partitions
      if (opened !== undefined) opened.leasing.prefer(partitionsOf(opened, partitions))
    },
    async tend(partitions) {
      const all = await enter()
      await all.store.check()
      const times = await Promise.all(partitionsOf(all, partitions).map((partition) => tend(all, partition)))
      const later = clock.now() + TEND_MS
      return { nextAt: Math.min(later, ...times.flatMap((at) => at ?? [])) }
    },
    async disown() {
      const { store } = await enter()
      const { worker } = store
      await Promise.all(store.partitions.map((partition) => partition.call(DISOWN, partition.keys.fixed, { worker })))
    },
    async add(found) {
      return (await enter()).add(found)
    },
    async lease(request) {
      const all = await enter()
      await all.check()
      return all.leasing.lease(request)
    },
    async settle(settlements, output) {
      return (await enter()).settling.settle(settlements.map(withLinksSpelledOut), output)
    },
    async extend(lease) {
      return (await enter()).extending.extend(lease)
    },
    async host(key, change) {
      return (await enter()).host(key, change)
    },
    async stats() {
      return readStats((await enter()).store)
    },
    async close() {
      if (closed) return
      closed = true
      if (opened !== undefined) await release(opened)
      await link.close()
    },
  }
}

function partitionsOf(all: Inside, numbers: readonly number[]): Partition[] {
  return numbers.flatMap((number) => all.store.partitions[number] ?? [])
}
