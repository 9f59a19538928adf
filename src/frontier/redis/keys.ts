/**
 * The names of everything that is kept on the servers. All keys of one partition share a hash tag, hence a slot, so that
 * every verb is one script on one node. The fixed keys of a partition are declared by every script, in this order; names
 * of queues, of sets of known URLs and of what is parked are made here too, since scripts never make names.
 */
import type { HostKey, Origin } from '../../model/index.ts'
import { HOST_ORDERS, type Slot } from '../storage.ts'

/**
 * Fixed keys of a partition, as partition.lua knows them. Behind them come the orders of hosts, `due:0` to `due:15`, and
 * then `records`, a stream of records where they are wanted there, which alone may go away while nobody looks.
 */
export const FIXED = [
  'meta', // hash: layout, generation, server, quiet, fence, counters
  'hosts', // hash: host → its state
  'leases', // hash: fence → lease
  'expiry', // sorted set: fence → when it runs out
  'askings', // hash: worker → its last named asking
  'waiting', // sorted set: row → time of its next attempt
  'visits', // hash: fingerprint → what the next visit should know
  'revisits', // sorted set: fingerprint → when its next visit is due
  'undelivered', // hash: entry of the outbox that its partition has not taken yet → the call that sent it
  'moved', // hash: fingerprint → the queue in which the row counts, where a copy stands in another
  'robots', // hash: origin → text of its robots.txt
  'traps', // hash: host → what was learned of its traps
  'groups', // hash: group → its state
  'depths', // hash: fingerprint → depth and children, where depth is limited
  'parked', // sorted set: host → how many of its URLs are held or aside
  'outbox', // stream: what is to be told to other partitions
  'inbox', // hash: partition → the last of its messages that was taken
  'outputs', // hash: worker → the committed end of its output
] as const
export type FixedKey = (typeof FIXED)[number]

export interface PartitionKeys {
  /** Every fixed key, in order, then the orders of hosts, then records. */
  readonly fixed: readonly string[]
  queue(origin: Origin, slot: Slot, rank: number): string
  /** A bucket of a level: of URLs that are final, and of those that are open. */
  known(level: number, bucket: number): string
  open(level: number, bucket: number): string
  held(host: HostKey): string
  aside(host: HostKey): string
}

/** What begins all names of a crawl. */
export const crawlKey = (crawl: string, name: string): string => `tiptoe:{${crawl}}:${name}`

/** What is declared when a partition is opened: its first set of final URLs is made with it. */
export const openingKeys = (keys: PartitionKeys): string[] => [...keys.fixed, keys.known(0, 0)]

export function partitionKeys(crawl: string, partition: number): PartitionKeys {
  const prefix = `tiptoe:{${crawl}:${partition}}:`
  const orders = Array.from({ length: HOST_ORDERS }, (_, order) => `due:${order}`)
  return {
    fixed: [...FIXED, ...orders, 'records'].map((name) => `${prefix}${name}`),
    queue: (origin, slot, rank) => `${prefix}q:${origin}|${slot}|${rank}`,
    known: (level, bucket) => `${prefix}k:${level}:${bucket}`,
    open: (level, bucket) => `${prefix}o:${level}:${bucket}`,
    held: (host) => `${prefix}held:${host}`,
    aside: (host) => `${prefix}aside:${host}`,
  }
}
