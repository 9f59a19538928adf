/**
 * How tasks end on the servers: settlements are taken apart by partition and committed one partition after another, each
 * in one atomic step with the position that the output has by then. So the committed end of a worker's output is the
 * furthest that any partition has for it, and what lies beyond was never committed.
 *
 * Tasks whose leases are held here are assumed to be held (assuming.ts); of others, partitions are first asked (`weigh`),
 * all at once. Their records are appended, those of one partition after those of another, and then they are settled, in
 * the same order and one by one. Where it turns out that not all is as was assumed, nothing is settled: what was appended
 * is taken back, and it begins anew with what is held.
 *
 * Leases that were weighed are left alone in between; and should one be lost all the same (this process was held up, or a
 * server took over that did not know it), the settlement is accepted as long as the URL has not ended. If it has, it
 * begins anew likewise.
 */
import { TiptoeError, type FoundUrl, type HostKey, type Task } from '../../model/index.ts'
import type { Output, OutputPosition, Settlement, SettleAnswer } from '../contract.ts'
import { namedUrls } from '../settled-links.ts'
import type { HeldLeases } from './held-leases.ts'
import type { ChosenUrls, Intake } from './intake.ts'
import type { Outbox } from './outbox.ts'
import type { Parking } from './parking.ts'
import { assume } from './assuming.ts'
import { createReplay } from './replay.ts'
import { listOf, mapOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import type { Passing } from './passing.ts'
import { itemOf, otherHosts, planOf, type ItemInput } from './settlement-item.ts'
import type { Partition, Store } from './store.ts'
import type { Telling, TrapsCache } from './traps-cache.ts'
import { taskName, weigh, type HeldTask, type Weighed, type Weighing } from './weighing.ts'

const SETTLE = loadScript('settle')

/** A script holds up its server while it runs: one call takes at most so many settlements, and so many links in all. */
const MOST_SETTLEMENTS = 64
const MOST_LINKS = 4_000

/** What settle.lua answers for each settlement. */
const SETTLED = 1

export interface RedisSettling {
  settle(settlements: readonly Settlement[], output: Output | undefined): Promise<SettleAnswer>
  /** Another server answers for the partition: settles again what was settled lately, as far as it does not know. */
  replay(partition: Partition): Promise<void>
}

/** A settlement that is accepted, with what its lease has. */
interface Accepted {
  readonly settlement: Settlement
  readonly held: HeldTask
}

export interface SettlingDeps {
  readonly intake: Intake
  readonly outbox: Outbox
  readonly parking: Parking
  readonly traps: TrapsCache
  readonly held: HeldLeases
  readonly passing: Passing
}

interface SettleReply {
  readonly restarts: string
  readonly results: unknown
  readonly hosts: unknown
  readonly traps: unknown
  readonly sent?: unknown
  readonly passed?: unknown
  /** It was answered before, and what was sent then is not repeated. */
  readonly again?: boolean
  /** Nothing was settled: one of them has ended by another hand, or is not held as was assumed. */
  readonly ended?: boolean
}

interface HostAfter {
  readonly aside: number
  readonly idle: boolean
}

export function createRedisSettling(store: Store, deps: SettlingDeps): RedisSettling {
  const { intake, outbox, parking, traps, held, passing } = deps
  const replay = createReplay(store.clock, store.settings.stream)
  const learns = store.settings.traps
  let calls = 0
  /** What the scripts of the settling under way have sent. */
  const undelivered = new Map<Partition, readonly unknown[]>()
  const deliverAll = async (): Promise<void> => {
    const all = [...undelivered]
    undelivered.clear()
    await outbox.deliverMany(all)
  }

  /** One call to settle.lua, made anew if it does not fit the state of the partition. */
  const call = async (
    partition: Partition,
    inputs: readonly ItemInput[],
    more: {
      readonly output?: OutputPosition
      readonly strict?: boolean
      readonly assumed?: boolean
      readonly traps?: readonly (readonly [HostKey, number, string])[]
    },
  ): Promise<SettleReply> => {
    calls += 1
    const name = `${store.client}:${calls}`
    for (;;) {
      const keys = partition.keyList()
      const batch = intake.batch(partition, keys)
      const items = inputs.map((input) => itemOf(input, { store, partition, keys, batch }))
      const asked = { call: name, worker: store.worker, items, ...more, ...batch.tables() }
      const reply = await partition.call(SETTLE, keys.names, asked)
      if (intake.isRefused(partition, reply)) continue
      const answer = reply as SettleReply
      if (answer.ended === true) return answer
      listOf<number>(answer.passed).forEach((amount, index) => {
        if (amount > 0) passing.pass(otherHosts((inputs[index] as ItemInput).settlement), amount)
      })
      if (answer.again === true) await outbox.flush(partition, 0)
      else undelivered.set(partition, [...(undelivered.get(partition) ?? []), ...listOf(answer.sent)])
      await intake.split(partition)
      return answer
    }
  }

  const chosenOf = (task: Task, found: readonly FoundUrl[] | undefined): ChosenUrls | undefined =>
    found === undefined ? undefined : intake.choose(found, task)

  /**
   * An answer may name more than one script should take: the rest is told before, since it does no harm to know a URL
   * early. Answers what is left to be told of these. Where depth is limited, all links of a page belong together.
   */
  const tellMany = async (accepted: readonly Accepted[]): Promise<Map<Settlement, readonly FoundUrl[]>> => {
    const left = new Map<Settlement, readonly FoundUrl[]>()
    if (store.settings.maxDepth !== undefined) return left
    for (const { settlement } of accepted) {
      const { found = [] } = settlement
      if (found.length <= MOST_LINKS) continue
      await intake.add(found.slice(MOST_LINKS))
      left.set(settlement, found.slice(0, MOST_LINKS))
    }
    return left
  }

  /** What the pages say of their hosts' traps; what is worth writing down, and hosts where something may be freed. */
  const learn = (settled: readonly Accepted[]): { tellings: readonly Telling[]; acquitted: Set<HostKey> } => {
    const acquitted = new Set<HostKey>()
    const taught = new Set<HostKey>()
    for (const { settlement } of settled) {
      const { task, sample, lease } = settlement
      if (task.kind !== 'page' || sample === undefined) continue
      taught.add(lease.host)
      const page = { url: task.url, sample, referrer: task.referrer, links: namedUrls(settlement) }
      if (traps.learn(lease.host, page)) acquitted.add(lease.host)
    }
    return { tellings: [...taught].flatMap((host) => traps.tell(host) ?? []), acquitted }
  }

  /** Nothing was settled: what was chosen to be told, and learned, is told and learned with what is settled instead. */
  const unlearn = (accepted: readonly Accepted[], tellings: readonly Telling[]): void => {
    intake.forget()
    for (const telling of tellings) traps.refused(telling)
    const urls = new Set(accepted.map(({ settlement }) => settlement.task.url))
    for (const host of new Set(accepted.map(({ settlement }) => settlement.lease.host))) traps.unlearn(host, urls)
  }

  const review = async (
    partition: Partition,
    settled: readonly Accepted[],
    acquitted: ReadonlySet<HostKey>,
    reply: SettleReply,
  ): Promise<void> => {
    const pages = new Set(
      settled.flatMap(({ settlement: { task, lease } }) => (task.kind === 'page' ? lease.host : [])),
    )
    for (const [key, { idle }] of Object.entries(mapOf<HostAfter>(reply.hosts))) {
      const host = key as HostKey
      if (!pages.has(host)) continue
      const freed = acquitted.has(host) ? await parking.review(partition, host) : 0
      if (idle && freed === 0) await parking.probe(partition, host)
    }
  }

  /** Settles some tasks of one partition; answers what came of each, or that nothing was done since they must be weighed. */
  const settlePortion = async ({
    partition,
    weighing,
    position,
  }: WeighedPortion): Promise<('settled' | 'stale')[] | 'ended'> => {
    const isAssumed = weighing.planning === undefined
    const known = weighing.weighed.filter(isHeld)
    const accepted = acceptedOf(weighing)
    if (known.length === 0) return weighing.weighed.map(() => 'stale')
    const links = await tellMany(accepted)
    const { tellings, acquitted } = learns ? learn(accepted) : { tellings: [], acquitted: new Set<HostKey>() }
    const inputs = known.map(({ settlement, held, isVoid }) => ({
      settlement,
      held,
      plan: isVoid ? undefined : planOf(settlement, held, weighing.planning, store.settings),
      found: isVoid ? undefined : chosenOf(settlement.task, links.get(settlement) ?? settlement.found),
      isSure: !isAssumed && position !== undefined && !isVoid && isFinal(settlement),
    }))
    const reply = await call(partition, inputs, {
      ...(position === undefined ? {} : { output: position, strict: !isAssumed }),
      ...(isAssumed ? { assumed: true } : {}),
      ...(tellings.length === 0 ? {} : { traps: tellings.map(({ host, version, text }) => [host, version, text]) }),
    })
    if (reply.ended === true) {
      unlearn(accepted, tellings)
      return 'ended'
    }
    const versions = mapOf<number>(reply.traps)
    for (const telling of tellings) {
      const version = versions[telling.host]
      if (version !== undefined) traps.told(telling, version)
      else if (reply.again === true) traps.forget(telling.host)
      else traps.refused(telling)
    }
    const answers = listOf<number>(reply.results)
    const results = new Map(inputs.map(({ settlement }, index) => [settlement, answers[index]]))
    const settled = inputs.filter(({ settlement }) => results.get(settlement) === SETTLED)
    // What was chosen to be told, and then was not, must be told another time.
    if (settled.length < accepted.length) intake.forget()
    replay.keep(
      partition,
      settled.filter(({ settlement }) => isFinal(settlement)),
      position,
    )
    if (learns) await review(partition, settled, acquitted, reply)
    // The same settlement twice in one call: only the first was held.
    return weighing.weighed.map(({ settlement, held, isVoid }) =>
      held !== undefined && !isVoid && results.get(settlement) === SETTLED ? 'settled' : 'stale',
    )
  }

  /** Appends what these are to record, and says in each where the output ends by then. All is on the disk afterwards. */
  const append = (of: readonly WeighedPortion[], output: Output | undefined): void => {
    if (output === undefined) return
    for (const portion of of) {
      const accepted = acceptedOf(portion.weighing).map(({ settlement }) => settlement)
      portion.position = accepted.length === 0 ? undefined : output.append(accepted)
    }
    output.sync?.()
  }

  /** Some have ended meanwhile, and are held no more, or were never weighed: those that are left are. */
  const weighAgain = async ({ partition, weighing }: WeighedPortion): Promise<Weighing> => {
    const held = weighing.weighed.filter(isHeld)
    const settlements = held.map(({ settlement }) => settlement)
    const again = await weigh(store, partition, settlements, new Set(), learns ? traps : undefined)
    const byBefore = new Map(held.map((each, index) => [each as Weighed, again.weighed[index] as Weighed]))
    return { ...again, weighed: weighing.weighed.map((each) => byBefore.get(each) ?? each) }
  }

  const settleAll = async (settlements: readonly Settlement[], output: Output | undefined): Promise<SettleAnswer> => {
    const results: ('settled' | 'stale')[] = settlements.map(() => 'stale')
    const seen = new Set<string>()
    const mayAssume = output === undefined || output.takeBack !== undefined
    const all = await Promise.all(
      portions(store, settlements).map(async ({ partition, numbers }): Promise<WeighedPortion> => {
        const portion = numbers.map((number) => settlements[number] as Settlement)
        const weighing =
          (mayAssume ? assume(store, partition, portion, seen, { held, traps }) : undefined) ??
          (await weigh(store, partition, portion, seen, learns ? traps : undefined))
        return { partition, numbers, weighing, position: undefined }
      }),
    )
    append(all, output)
    for (let number = 0; number < all.length;) {
      const portion = all[number] as WeighedPortion
      const answers = await settlePortion(portion)
      if (answers === 'ended') {
        const rest = all.slice(number)
        const appended = rest.filter(({ position }) => position !== undefined).length
        if (appended > 0) takeBack(output, appended)
        portion.weighing = await weighAgain(portion)
        append(rest, output)
        continue
      }
      answers.forEach((answer, index) => (results[portion.numbers[index] as number] = answer))
      number += 1
    }
    for (const { lease, task } of settlements) held.settled(lease.fence, taskName(store, task))
    return { results }
  }

  const settleAgain = async (partition: Partition): Promise<void> => {
    // What it names may be lost as well.
    intake.forget()
    const { settled, position } = replay.of(partition)
    for (let start = 0; start < settled.length; start += MOST_SETTLEMENTS) {
      const inputs = settled.slice(start, start + MOST_SETTLEMENTS).map((each) => {
        const { found, task } = each.settlement
        return { ...each, isSure: true, found: chosenOf(task, found) }
      })
      await call(partition, inputs, position === undefined ? {} : { output: position })
    }
  }

  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const answer = last.then(async () => {
      try {
        return await work()
      } finally {
        await deliverAll()
      }
    })
    // After a failure it is not known what was told.
    last = answer.catch(() => intake.forget())
    return answer
  }
  return {
    settle(settlements, output) {
      // One after another: positions of the output grow, and so must what is committed of them.
      return inTurn(async () => {
        const answer = await settleAll(settlements, output)
        await passing.tell()
        return answer
      })
    },
    replay: (partition) => inTurn(() => settleAgain(partition)),
  }
}

/** What was appended last is not committed, and must not be found there. */
function takeBack(output: Output | undefined, appends: number): void {
  if (output?.takeBack === undefined)
    throw new TiptoeError('store', 'another worker ended a URL while its record was being written here', {
      hint: 'start this worker again: it goes on from what was committed',
    })
  output.takeBack(appends)
}

const isFinal = ({ outcome }: Settlement): boolean =>
  outcome.kind === 'done' || outcome.kind === 'skipped' || outcome.kind === 'failed'

const isHeld = (each: Weighed): each is Weighed & Accepted => each.held !== undefined

const acceptedOf = ({ weighed }: Weighing): (Weighed & Accepted)[] =>
  weighed.filter(isHeld).filter(({ isVoid }) => !isVoid)

/** Some tasks of one partition, with what it said of them. */
interface WeighedPortion {
  readonly partition: Partition
  /** Of the settlements, in order. */
  readonly numbers: readonly number[]
  weighing: Weighing
  /** Where the output ends with their records; undefined when they have none. */
  position: OutputPosition | undefined
}

interface Portion {
  readonly partition: Partition
  /** Of the settlements, in order. */
  readonly numbers: number[]
  links: number
}

/** Settlements by partition, no more at once than a script should take. One lease is in one partition. */
function portions(store: Store, settlements: readonly Settlement[]): Portion[] {
  const all: Portion[] = []
  const open = new Map<Partition, Portion>()
  settlements.forEach(({ lease, found }, number) => {
    const partition = store.partitionOf(lease.host)
    const links = found?.length ?? 0
    let portion = open.get(partition)
    if (portion === undefined || portion.numbers.length >= MOST_SETTLEMENTS || portion.links + links > MOST_LINKS) {
      portion = { partition, numbers: [], links: 0 }
      open.set(partition, portion)
      all.push(portion)
    }
    portion.numbers.push(number)
    portion.links += links
  })
  return all
}
