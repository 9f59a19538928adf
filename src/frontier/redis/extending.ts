/** The leases that are held here: made longer, asserted where a server that took over may not know them, given back. */
import type { LeaseRef } from '../contract.ts'
import type { HeldLease, HeldLeases } from './held-leases.ts'
import type { KeyList } from './key-list.ts'
import { loadScript } from './scripts.ts'
import type { TaskReply } from './look.ts'
import type { Partition, Store } from './store.ts'

const EXTEND = loadScript('extend')
const RELEASE = loadScript('release')

/** Leases that are given back in one call. */
const RELEASED_AT_ONCE = 128

export interface Extending {
  extend(lease: LeaseRef): Promise<boolean>
  /** Asserts all leases of a partition, while it keeps quiet. */
  assertAll(partition: Partition): Promise<void>
  /** Gives everything back that is not settled, and has what was asked last forgotten. */
  releaseAll(): Promise<void>
}

/** `notice` is told of the last change of a partition's server. */
export function createExtending(
  store: Store,
  held: HeldLeases,
  notice: (partition: Partition, restarts: number) => Promise<void>,
): Extending {
  const listOf = ({ keys }: Partition, { origin, slot, rank }: TaskReply, list: KeyList): number =>
    slot === undefined || rank === undefined ? 0 : list.at(keys.queue(origin, slot, rank))

  const openTasks = ({ reply, open }: HeldLease): TaskReply[] => reply.tasks.filter(({ name }) => open.has(name))

  const extend = async ({ host, fence }: LeaseRef): Promise<boolean> => {
    const partition = store.partitionOf(host)
    const lease = held.get(fence)
    const keys = partition.keyList()
    const mayAssert = lease !== undefined && lease.reply.parked === undefined
    const tasks = mayAssert ? openTasks(lease) : []
    const asked = {
      fence: String(fence),
      host,
      stepped: partition.times.takeStep(),
      ...(tasks.length === 0
        ? {}
        : {
            assert: {
              worker: lease?.worker,
              version: lease?.reply.version,
              tasks,
              lists: tasks.map((task) => listOf(partition, task, keys)),
            },
          }),
    }
    const { extended, restarts } = (await partition.call(EXTEND, keys.names, asked)) as {
      readonly extended: boolean
      readonly restarts: number
    }
    if (!extended) held.drop(fence)
    await notice(partition, restarts)
    return extended
  }

  const release = async (partition: Partition, leases: readonly HeldLease[]): Promise<void> => {
    for (let start = 0; start === 0 || start < leases.length; start += RELEASED_AT_ONCE) {
      const portion = leases.slice(start, start + RELEASED_AT_ONCE)
      const keys = partition.keyList()
      const asked = portion.map((lease) => [
        lease.reply.fence,
        openTasks(lease).map((task) => listOf(partition, task, keys)),
      ])
      await partition.call(RELEASE, keys.names, { client: store.client, leases: asked })
    }
  }

  return {
    extend,
    async assertAll(partition) {
      const refs = held.of(partition).map(({ reply }) => ({ host: reply.host, fence: Number(reply.fence) }))
      await Promise.all(refs.map(extend))
    },
    async releaseAll() {
      await Promise.all(store.partitions.map((partition) => release(partition, held.of(partition))))
    },
  }
}
