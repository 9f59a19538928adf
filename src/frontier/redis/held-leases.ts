/**
 * The leases that this process holds, as they were granted: what it takes to give them back in order, and to assert them
 * where a server that took over does not know them. Bounded by what is leased at once; those that ran out long ago go.
 *
 * With them, what is out of hosts that may have several: which of their pages wait for others is told from that. Of leases
 * that other processes have nothing is known here.
 */
import type { HostKey } from '../../model/index.ts'
import { createUnderWay, type UnderWay } from '../traps/index.ts'
import type { LeaseReply, TaskReply } from './look.ts'
import { readRow } from './row.ts'
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
  /** Its time is over by the server: nothing waits for what it has any more. */
  ranOut(fence: number): void
  drop(fence: number): void
  of(partition: Partition): readonly HeldLease[]
  /** Pages of a host that are out. Those that are added here are to be held, or else taken from it. */
  underWay(host: HostKey): UnderWay
  /** These tasks, which were to be held, are not. */
  renounce(reply: LeaseReply): void
  /** Nothing more of this host may be asked for before something of it is settled. */
  wait(host: HostKey): void
  /** The hosts of which that is so. */
  readonly waiting: ReadonlySet<HostKey>
}

export function createHeldLeases(): HeldLeases {
  const held = new Map<number, HeldLease>()
  const out = new Map<HostKey, UnderWay>()
  const waiting = new Set<HostKey>()

  const land = (host: HostKey, tasks: readonly TaskReply[]): void => {
    waiting.delete(host)
    const underWay = out.get(host)
    if (underWay === undefined) return
    for (const { row } of tasks) if (row !== undefined) underWay.delete(readRow(row).url)
    if (underWay.size === 0) out.delete(host)
  }
  const ranOut = (fence: number): void => {
    const lease = held.get(fence)
    if (lease === undefined) return
    const { host, tasks } = lease.reply
    land(
      host,
      tasks.filter(({ name }) => lease.open.has(name)),
    )
  }
  const drop = (fence: number): void => {
    ranOut(fence)
    held.delete(fence)
  }
  return {
    hold(partition, worker, reply) {
      held.set(Number(reply.fence), { partition, worker, reply, open: new Set(reply.tasks.map(({ name }) => name)) })
      if (held.size <= MOST_HELD) return
      for (const fence of held.keys()) {
        drop(fence)
        break
      }
    },
    get: (fence) => held.get(fence),
    settled(fence, name) {
      const lease = held.get(fence)
      if (lease?.open.delete(name) !== true) return
      const { host, tasks } = lease.reply
      land(
        host,
        tasks.filter((task) => task.name === name),
      )
      if (lease.open.size === 0) held.delete(fence)
    },
    ranOut,
    drop,
    of: (partition) => [...held.values()].filter((lease) => lease.partition === partition),
    underWay(host) {
      const known = out.get(host) ?? createUnderWay()
      out.set(host, known)
      return known
    },
    renounce: ({ host, tasks }) => land(host, tasks),
    wait: (host) => void waiting.add(host),
    waiting,
  }
}
