/** What there is to do in a partition, as look.lua says it. Times are the server's, unless their name says otherwise. */
import type { HostKey, Origin } from '../../model/index.ts'
import { originOf } from '../../url/index.ts'
import type { HostOrder, Slot } from '../storage.ts'
import { listOf } from './replies.ts'
import { readRow } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Partition } from './store.ts'

const LOOK = loadScript('look')

/** Of a lane: its origin, and then slot and rank of each of the first lists of its queue. */
export type LaneLists = readonly [origin: Origin, ...lists: (Slot | number)[]]

export interface DueHost {
  readonly key: HostKey
  /** By the worker's clock; below 1 for a host that was never asked. */
  readonly dueAt: number
  /** When it was found. */
  readonly seq: number
  /** Leases that it may have at once, as far as that can be told. */
  readonly spare: number
  readonly lanes: readonly LaneLists[]
}

/** A task as a lease carries it. Of a URL, scripts answer its row, its tier and what was left, and `readLease` the rest. */
export interface TaskReply {
  /** The fingerprint of its URL, or `r:` and the origin. */
  readonly name: string
  readonly kind: 'p' | 's' | 'r'
  readonly tier: string
  readonly origin: Origin
  /** Of a page or sitemap: its row, and the list that it came from. */
  readonly row?: string
  readonly slot?: Slot
  readonly rank?: number
  /** What the last visit left; absent for what is fetched for the first time. */
  readonly last?: string
  /** Of a robots.txt. */
  readonly url?: string
  readonly redirects?: number
  readonly attempts?: number
}

export interface LeaseReply {
  /** In digits: it may have more of them than JSON of Lua keeps. */
  readonly fence: string
  readonly host: HostKey
  readonly tasks: readonly TaskReply[]
  readonly granted: number
  readonly expires: number
  readonly delay: number
  readonly address?: string
  readonly version?: string
  /** Its tasks are to be skipped, without a request. */
  readonly parked?: 'held' | 'aside'
  /** Its place in the answer that it was part of. */
  readonly turn?: number
  /** The version of what was learned of the host's traps. */
  readonly traps?: number
  readonly health: readonly [strikes: number, streak: number, since: number, blockedAt: number, latencyMs: number]
}

/** A lease as a script answers it, with what the rows of its tasks say. */
export function readLease(reply: unknown): LeaseReply {
  const lease = reply as LeaseReply
  return {
    ...lease,
    tasks: lease.tasks.map((task) => {
      if (task.row === undefined) return task
      const { name, kind, slot, rank, url } = readRow(task.row)
      return { ...task, name, kind: kind === 'page' ? 'p' : 's', slot, rank, origin: originOf(url) }
    }),
  }
}

export interface LookSums {
  readonly open: number
  readonly held: number
  readonly aside: number
  readonly sitemaps_open: number
  readonly done: number
  readonly refreshing: number
  readonly leased: number
  readonly leased_new: number
  readonly version: number
  readonly restarts: number
  readonly level: number
}

export interface Look {
  readonly partition: Partition
  readonly now: number
  readonly sums: LookSums
  /** The partition grants nothing before this time. */
  readonly quiet: number
  readonly due: ReadonlyMap<HostOrder, readonly DueHost[]>
  /** Orders of which more may be due than were read. */
  readonly cut: ReadonlySet<HostOrder>
  /** The first due time after now, of each order that has one. */
  readonly upcoming: ReadonlyMap<HostOrder, number>
  readonly expired: readonly (readonly [fence: string, lists: unknown])[]
  /** Rows whose next attempt is due. */
  readonly retries: readonly string[]
  /** Open leases. */
  readonly leases: number
  readonly expiry?: number
  readonly waiting?: number
  readonly visit?: number
  /** Messages to partitions that have not taken them yet. */
  readonly undelivered: number
  /** One of its hosts with something held or aside: `1 host` or `2 host`. */
  readonly parked?: string
  /** The open leases of the asking that was named; undefined when it is not known. */
  readonly recalled?: readonly LeaseReply[]
}

export interface LookAsked {
  /** Hosts of each order, at most. */
  readonly count: number
  readonly classes: 'all' | 'proven' | 'unproven'
  readonly worker?: string
  readonly request?: string
  /** Finds out, too, whether another server answers by now. */
  readonly judge?: boolean
}

export async function lookAt(partition: Partition, asked: LookAsked): Promise<Look> {
  return readLook(partition, await partition.call(LOOK, partition.keys.fixed, asked), asked.count)
}

type DueReply = readonly [HostKey, string, string, number, unknown]

/** `count`: hosts of each order that were asked for. */
export function readLook(partition: Partition, reply: unknown, count: number): Look {
  const look = reply as Omit<Look, 'partition'>
  const { times } = partition
  const due = new Map<HostOrder, DueHost[]>()
  for (const [order, hosts] of listOf<readonly [HostOrder, readonly DueReply[]]>(look.due)) {
    due.set(
      order,
      hosts.map(([key, at, seq, spare, lanes]) => ({
        key,
        dueAt: Number(at) < 1 ? Number(at) : times.toWorker(Number(at)),
        seq: Number(seq),
        spare,
        lanes: listOf<LaneLists>(lanes),
      })),
    )
  }
  partition.level = look.sums.level
  return {
    ...look,
    partition,
    due,
    cut: new Set([...due].flatMap(([order, hosts]) => (hosts.length >= count ? order : []))),
    upcoming: new Map(listOf<readonly [HostOrder, number]>(look.upcoming)),
    expired: listOf(look.expired),
    retries: listOf(look.retries),
    ...(look.recalled === undefined ? {} : { recalled: listOf(look.recalled).map(readLease) }),
  }
}

/** A later look that read no hosts, with those of an earlier one that are left when these are taken away. */
export function withHostsOf(later: Look, earlier: Look, without: ReadonlySet<HostKey>): Look {
  const due = [...earlier.due].map(([order, hosts]) => [order, hosts.filter(({ key }) => !without.has(key))] as const)
  return { ...later, due: new Map(due), cut: earlier.cut }
}
