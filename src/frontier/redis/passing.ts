/**
 * Importance that pages pass on to other hosts, on its way. Nearly every page has some for a few hosts, and each of them
 * would have to be read and written for it; so it is gathered for a while, and a host is told once. What a process has
 * not told when it dies is lost to nobody in particular: importance compares hosts with their average.
 */
import type { HostKey } from '../../model/index.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'

const CASH = loadScript('cash')

/** How long it is gathered, and for how many hosts. */
const GATHER_MS = 30_000
const MOST_HOSTS = 10_000
/** Hosts in one call. */
const HOSTS_AT_ONCE = 500

export interface Passing {
  /** A page passes so much on to each of these. */
  pass(hosts: Iterable<HostKey>, amount: number): void
  /** Tells them, if it is time to or `now` says so. */
  tell(now?: boolean): Promise<void>
}

export function createPassing(store: Store): Passing {
  let gathered = new Map<HostKey, number>()
  let since = store.clock.now()
  let calls = 0

  const tellSome = (partition: Partition, hosts: readonly (readonly [HostKey, number])[]): Promise<unknown> => {
    calls += 1
    return partition.call(CASH, partition.keys.fixed, { client: store.client, call: String(calls), hosts })
  }

  return {
    pass(hosts, amount) {
      for (const host of hosts) gathered.set(host, (gathered.get(host) ?? 0) + amount)
    },
    async tell(now = false) {
      const isTime = now || gathered.size >= MOST_HOSTS || store.clock.now() - since >= GATHER_MS
      if (!isTime || gathered.size === 0) return
      const all = [...gathered]
      gathered = new Map()
      since = store.clock.now()
      const portions = [...Map.groupBy(all, ([host]) => store.partitionOf(host))]
      await Promise.all(
        portions.map(async ([partition, hosts]) => {
          for (let start = 0; start < hosts.length; start += HOSTS_AT_ONCE)
            await tellSome(partition, hosts.slice(start, start + HOSTS_AT_ONCE))
        }),
      )
    },
  }
}
