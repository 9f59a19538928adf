/**
 * The leases that this process holds, as they were granted: what it takes to give them back in order, and to assert them
 * where a server that took over does not know them. Bounded by what is leased at once; those that ran out long ago go.
 */
import type { LeaseReply } from './look.ts'
import type { Partition } from './store.ts'

/** More leases than any process has slots; beyond, the oldest are forgotten, and run out by themselves. */
const MOST_HELD = 100_000

export interface HeldLease {
  readonly partition: Partition
  readonly worker: string
  readonly reply: LeaseReply
  /** Names of its tasks that are not settled. */
  readonly open: Set<string>
}

export interface HeldLeases {
  hold(partition: Partition, worker: string, reply: LeaseReply): void
  get(fence: number): HeldLease | undefined
  /** A task of the lease was settled, or is not ours any more. */
  settled(fence: number, name: string): void
  drop(fence: number): void
  of(partition: Partition): readonly HeldLease[]
}

export function createHeldLeases(): HeldLeases {
  const held = new Map<number, HeldLease>()
  return {
    hold(partition, worker, reply) {
      held.set(Number(reply.fence), { partition, worker, reply, open: new Set(reply.tasks.map(({ name }) => name)) })
      if (held.size <= MOST_HELD) return
      for (const fence of held.keys()) {
        held.delete(fence)
        break
      }
    },
    get: (fence) => held.get(fence),
    settled(fence, name) {
      const lease = held.get(fence)
      lease?.open.delete(name)
      if (lease?.open.size === 0) held.delete(fence)
    },
    drop: (fence) => void held.delete(fence),
    of: (partition) => [...held.values()].filter((lease) => lease.partition === partition),
  }
}
