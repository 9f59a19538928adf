/**
 * What a weighing would answer, from what this process was told when it was given its leases. So tasks whose leases are
 * held here, which is nearly all of them, are settled in one call instead of two: settle.lua does nothing unless all that
 * was assumed is so, and then they are weighed after all.
 *
 * Only what the granting of a lease tells can be assumed: not what plans of visits are made from, nor whether what was
 * parked still is.
 */
import type { HostKey } from '../../model/index.ts'
import type { Settlement } from '../contract.ts'
import type { HeldLeases } from './held-leases.ts'
import type { Partition, Store } from './store.ts'
import type { TrapsCache } from './traps-cache.ts'
import { parkedHash, taskKey, taskName, type HeldTask, type Weighing } from './weighing.ts'

export interface AssumingDeps {
  readonly held: HeldLeases
  readonly traps: TrapsCache
}

/** Undefined when it takes a weighing. `seen`: as for that; what is assumed here is added. */
export function assume(
  store: Store,
  partition: Partition,
  settlements: readonly Settlement[],
  seen: Set<string>,
  { held, traps }: AssumingDeps,
): Weighing | undefined {
  const { settings } = store
  if (settings.recrawl.mode !== 'off') return undefined

  const heldTask = (settlement: Settlement): HeldTask | undefined => {
    const { lease, task, sample } = settlement
    const known = held.get(lease.fence)
    const name = taskName(store, task)
    if (known === undefined || known.reply.host !== lease.host || known.reply.parked !== undefined) return undefined
    if (!known.open.has(name) || parkedHash(partition, settlement) !== undefined) return undefined
    if (settings.traps && sample !== undefined && !hasLessons(lease.host, known.reply.traps)) return undefined
    const found = known.reply.tasks.find((each) => each.name === name)
    if (found === undefined || found.last !== undefined) return undefined
    const { origin, tier, row, slot, rank } = found
    return {
      name,
      host: lease.host,
      origin,
      tier: tier as HeldTask['tier'],
      ...(row === undefined ? {} : { row }),
      ...(slot === undefined ? {} : { slot }),
      ...(rank === undefined ? {} : { rank }),
    }
  }
  /** Whether what was learned of a host's traps is here, or there is nothing to know. */
  const hasLessons = (host: HostKey, version = 0): boolean => version === 0 || traps.version(host) !== undefined

  const keys = settlements.map(({ lease, task }) => taskKey(lease.fence, taskName(store, task)))
  if (new Set(keys).size < keys.length || keys.some((key) => seen.has(key))) return undefined
  const tasks = settlements.flatMap((settlement) => heldTask(settlement) ?? [])
  if (tasks.length < settlements.length) return undefined
  for (const key of keys) seen.add(key)
  return {
    weighed: settlements.map((settlement, index) => ({ settlement, held: tasks[index], isVoid: false })),
    planning: undefined,
  }
}
