/** Looks before tasks are settled: which of them are held, and what must be known to settle them. See lua/weigh.lua. */
import type { HostKey, Origin, Task, Tier } from '../../model/index.ts'
import type { Settlement } from '../contract.ts'
import type { RecrawlState } from '../recrawl.ts'
import type { Slot } from '../storage.ts'
import { listOf, mapOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'
import type { TrapsCache } from './traps-cache.ts'
import { readRates, type PlannedHost } from './visits.ts'

const WEIGH = loadScript('weigh')

/** A task as its lease has it. */
export interface HeldTask {
  readonly name: string
  readonly host: HostKey
  readonly origin: Origin
  readonly tier: Tier
  /** Of a URL: its row, and the list that it came from. */
  readonly row?: string
  readonly slot?: Slot
  readonly rank?: number
  /** It was had before. */
  readonly last?: boolean
  /** What is kept from the last visit. */
  readonly visit?: string
  readonly parked?: 'held' | 'aside'
  readonly errand?: boolean
}

export interface Weighed {
  readonly settlement: Settlement
  /** Undefined when its lease is not held. */
  readonly held: HeldTask | undefined
  /** Held to be skipped for something that holds no more: it is stale, and its task is to be let go. */
  readonly isVoid: boolean
}

export interface Weighing {
  /** In the order of what was asked. */
  readonly weighed: readonly Weighed[]
  /** What plans of visits are made from; undefined where it was assumed that all are held (assuming.ts). */
  readonly planning: Planning | undefined
}

export interface Planning {
  /** The server's time. */
  readonly now: number
  readonly hosts: ReadonlyMap<HostKey, PlannedHost>
  readonly recrawl: Readonly<Record<Tier, RecrawlState>>
}

interface HostFacts {
  readonly delay: number
  readonly change_pages: number
  readonly change_rate: string
  readonly revisit_rate: string
  readonly importance: number
  readonly traps: number
  readonly learned?: string
}

interface WeighReply {
  readonly now: number
  readonly items: unknown
  readonly hosts: unknown
  readonly recrawl: unknown
}

type HeldReply = Omit<HeldTask, 'name'> & { readonly void?: boolean }

/** The name of a task on the servers. */
export function taskName(store: Store, task: Task): string {
  return task.kind === 'robots' ? `r:${task.origin}` : store.fingerprints.urlName(task.kind, task.url)
}

/** Names a task of a lease. */
export const taskKey = (fence: number | string, name: string): string => `${fence} ${name}`

/** `seen`: what was asked before for the same settling. A task that comes a second time is not held. */
export async function weigh(
  store: Store,
  partition: Partition,
  settlements: readonly Settlement[],
  seen: Set<string>,
  traps: TrapsCache | undefined,
): Promise<Weighing> {
  const keys = partition.keyList()
  const items = settlements.map((settlement) => {
    const parked = parkedHash(partition, settlement)
    const fence = String(settlement.lease.fence)
    return [fence, taskName(store, settlement.task), parked === undefined ? 0 : keys.at(parked)] as const
  })
  const areTwice = items.map(([fence, name]) => {
    const key = taskKey(fence, name)
    const isTwice = seen.has(key)
    seen.add(key)
    return isTwice
  })
  const versions: Record<string, number> = {}
  if (traps !== undefined)
    for (const { lease, sample } of settlements)
      if (sample !== undefined) versions[lease.host] = traps.version(lease.host) ?? -1
  const reply = (await partition.call(WEIGH, keys.names, { items, traps: versions })) as WeighReply
  const facts = Object.entries(mapOf<HostFacts>(reply.hosts)) as [HostKey, HostFacts][]
  for (const [host, { traps: version, learned }] of facts)
    if (learned !== undefined) traps?.read(host, version, learned === '' ? undefined : learned)
  const replies = listOf<HeldReply | 0>(reply.items)
  return {
    weighed: settlements.map((settlement, index) => {
      const [, name] = items[index] as (typeof items)[number]
      const found = replies[index]
      if (found === undefined || found === 0 || areTwice[index] === true || found.host !== settlement.lease.host)
        return { settlement, held: undefined, isVoid: false }
      const { void: isGone, ...held } = found
      return { settlement, held: { ...held, name }, isVoid: isGone === true || isDeepByMistake(settlement, held) }
    }),
    planning: {
      now: reply.now,
      hosts: new Map(facts.map(([host, fact]) => [host, plannedHost(fact)])),
      recrawl: {
        high: recrawlState(reply, 'high'),
        medium: recrawlState(reply, 'medium'),
        low: recrawlState(reply, 'low'),
      },
    },
  }
}

/** Where a URL must still be that is skipped for having been parked. */
export function parkedHash({ keys }: Partition, { task, outcome, lease }: Settlement): string | undefined {
  if (outcome.kind !== 'skipped') return undefined
  if (task.aside !== undefined) return keys.aside(lease.host)
  return outcome.reason === 'depth' ? keys.held(lease.host) : undefined
}

/** Only what is held for its depth can be skipped for it; anything else goes back to its queue. */
const isDeepByMistake = ({ outcome }: Settlement, { parked }: Pick<HeldTask, 'parked'>): boolean =>
  outcome.kind === 'skipped' && outcome.reason === 'depth' && parked === undefined

const plannedHost = (facts: HostFacts): PlannedHost => ({
  delayMs: facts.delay,
  importance: facts.importance,
  changePages: facts.change_pages,
  changeRate: Number(facts.change_rate),
  revisitRate: Number(facts.revisit_rate),
})

function recrawlState({ recrawl }: WeighReply, tier: Tier): RecrawlState {
  const [pages, price, rates] = mapOf<readonly [string, string, string]>(recrawl)[tier] ?? ['0', '0', '']
  return { pages: Number(pages), price: Number(price), rates: readRates(rates) }
}
