/**
 * A look at a crawl on its servers from outside, for `status`, `why`, `audit` and whoever moves it: read-only, also while a
 * fleet works on it, and in bounded portions. One answer is one moment of one partition; over all of them it is about one
 * moment. Times are translated to the clock of whoever looks.
 */
import type { Clock } from '../../base/index.ts'
import type { HostKey, NormalizedUrl } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import type { OutputPosition } from '../contract.ts'
import { emptyCounters, type Counters, type Slot, type VisitRow } from '../storage.ts'
import { fleetHost, type FleetHost, type HostState, type OurTime } from './inspected-host.ts'
import { addSums, sumsOf } from './inspected-sums.ts'
import { listOf, mapOf } from './replies.ts'
import { readReferrer, readRow, type Row } from './row.ts'
import { loadScript } from './scripts.ts'
import type { MovingPartition, MovingStore } from './transfer-store.ts'
import { readVisit } from './visits.ts'

export type { FleetHost }

const SCRIPT = {
  partition: loadScript('inspect-partition'),
  hosts: loadScript('inspect-hosts'),
  rows: loadScript('inspect-rows'),
  scan: loadScript('inspect-scan'),
  known: loadScript('inspect-known'),
}

/** Rows, hosts, leases and buckets that are read in one call. */
const ROWS_AT_ONCE = 1_000
const HOSTS_AT_ONCE = 100
const ITEMS_AT_ONCE = 500
const BUCKETS_AT_ONCE = 500
const URLS_AT_ONCE = 200

export interface FleetLease {
  readonly host: HostKey
  readonly worker: string
  readonly until: number
  readonly isParked: boolean
  readonly tasks: readonly { readonly kind: 'p' | 's' | 'r'; readonly name: string; readonly row?: Row }[]
}

export interface PartitionView {
  readonly index: number
  /** Fields of its meta that are sums. */
  readonly sums: Readonly<Record<string, number>>
  readonly quietUntil: number | null
  readonly restarts: number
  readonly undelivered: number
  readonly leases: number
  readonly waiting: number
  readonly hosts: { readonly known: number; readonly due: number; readonly later: number }
  readonly nextVisit: number | null
  readonly barred: string | null
}

/** What is really there, by counting. */
export interface FleetTally {
  readonly queued: { readonly pages: number; readonly sitemaps: number }
  readonly leased: { readonly pages: number; readonly sitemaps: number }
  /** Of those that are held or aside, so many are leased to be skipped. */
  readonly leasedParked: number
  readonly waiting: { readonly pages: number; readonly sitemaps: number }
  readonly held: number
  readonly aside: number
  /** Fingerprints of open and of final URLs, pages and sitemaps together. */
  readonly open: number
  readonly final: number
  readonly hosts: number
  /** Sum of the pages that hosts say they have. */
  readonly pagesOfHosts: number
  /** Lists whose length is another than their host says. */
  readonly wrongLists: readonly string[]
}

export type Standing =
  | { readonly state: 'unknown' | 'final' }
  | { readonly state: 'open'; readonly depth: number; readonly referrers: number; readonly slot: Slot }

export interface FleetInspector {
  readonly crawl: string
  readonly store: MovingStore
  partitions(): Promise<readonly PartitionView[]>
  /** Sums over all partitions, in the form that the embedded home has. */
  counters(): Promise<Counters & { readonly leased: number; readonly waiting: number }>
  /** The committed end of each worker's output. */
  outputs(): Promise<ReadonlyMap<string, OutputPosition>>
  hosts(whole?: boolean): AsyncIterable<FleetHost>
  host(key: HostKey): Promise<FleetHost | undefined>
  standing(urls: readonly { readonly kind: Row['kind']; readonly url: NormalizedUrl }[]): Promise<Standing[]>
  leases(): AsyncIterable<FleetLease & { readonly partition: number }>
  rowsOf(host: FleetHost): AsyncIterable<Row>
  parkedOf(host: FleetHost, state: 'held' | 'aside'): AsyncIterable<Row>
  waiting(): AsyncIterable<{ readonly row: Row; readonly at: number }>
  visits(): AsyncIterable<{ readonly name: string; readonly row: Row; readonly visit: VisitRow }>
  /** What pages name, where the depth of that depends on them. */
  children(): AsyncIterable<{
    readonly url: NormalizedUrl
    readonly depth: number
    readonly children: readonly { readonly kind: Row['kind']; readonly url: NormalizedUrl; readonly step: 0 | 1 }[]
  }>
  tally(): Promise<FleetTally>
  close(): Promise<void>
}

interface PartitionReply {
  readonly now: number
  readonly meta: Readonly<Record<string, string>>
  readonly sizes: Readonly<Record<string, number>>
  readonly outputs: unknown
  readonly due: number
  readonly later: number
  readonly visit?: number
}

/** `close` lets go of whatever the store was opened with. */
export async function createInspector(
  store: MovingStore,
  clock: Clock,
  close: () => Promise<void>,
): Promise<FleetInspector> {
  const call = async <T>(partition: MovingPartition, ...rest: Parameters<MovingPartition['call']>): Promise<T> =>
    (await partition.call(...rest)) as T
  const look = (partition: MovingPartition): Promise<PartitionReply> =>
    call<PartitionReply>(partition, SCRIPT.partition, partition.keys.fixed, {})
  const first = store.partitions[0] as MovingPartition
  const before = clock.now()
  const { now: serverNow } = await look(first)
  /** To be added to times of the server. Half of the way there and back is as good as it gets. */
  const offsetMs = Math.round((before + clock.now()) / 2 - serverNow)
  const ours: OurTime = <T extends number | null>(time: T): T =>
    (time === null || time === 0 ? time : time + offsetMs) as T

  const views = (): Promise<[MovingPartition, PartitionReply][]> =>
    Promise.all(store.partitions.map(async (partition) => [partition, await look(partition)]))

  async function* scan<T>(partition: MovingPartition, what: string, key?: string): AsyncGenerator<T> {
    for (let cursor = '0'; ;) {
      const keys = partition.keyList()
      const number = key === undefined ? {} : { key: keys.at(key) }
      const reply = await call<{ cursor: string; items: unknown }>(partition, SCRIPT.scan, keys.names, {
        what,
        cursor,
        count: ITEMS_AT_ONCE,
        ...number,
      })
      yield* listOf<T>(reply.items)
      cursor = reply.cursor
      if (cursor === '0') return
    }
  }

  async function* hostsOf(partition: MovingPartition, whole: boolean): AsyncGenerator<FleetHost> {
    for (let cursor = '0'; ;) {
      const reply = await call<{ cursor: string; hosts: unknown }>(partition, SCRIPT.hosts, partition.keys.fixed, {
        cursor,
        count: HOSTS_AT_ONCE,
        whole,
      })
      for (const state of listOf<HostState>(reply.hosts)) yield fleetHost(state, partition.index, ours)
      cursor = reply.cursor
      if (cursor === '0') return
    }
  }

  interface Stretch {
    readonly length: number
    readonly pages: number
    readonly sitemaps: number
    readonly ghosts: number
    readonly rows: unknown
  }
  async function* stretches(host: FleetHost, list: FleetHost['lists'][number], rows: boolean): AsyncGenerator<Stretch> {
    const partition = store.partitions[host.partition] as MovingPartition
    for (let from = 0; ; from += ROWS_AT_ONCE) {
      const keys = partition.keyList()
      const number = keys.at(partition.keys.queue(list.origin, list.slot, list.rank))
      const { origin, slot, rank } = list
      const asked = { list: number, origin, slot, rank, from, count: ROWS_AT_ONCE, rows }
      const reply = await call<Stretch>(partition, SCRIPT.rows, keys.names, asked)
      yield reply
      if (from + ROWS_AT_ONCE >= reply.length) return
    }
  }

  /** The buckets of a fingerprint, and of all of them, at the level that the partition has. */
  interface Levels {
    readonly level: number
    readonly splitting: boolean
  }
  const levelOf = async (partition: MovingPartition): Promise<Levels> => {
    const reply = await call<{ level: number; split?: number }>(partition, SCRIPT.known, partition.keys.fixed, {
      final: [],
      open: [],
      urls: [],
    })
    return { level: reply.level, splitting: reply.split !== undefined }
  }
  const levelsInUse = ({ level, splitting }: Levels): number[] =>
    splitting && level > 0 ? [level, level - 1] : [level]

  const countKnown = async (partition: MovingPartition): Promise<{ open: number; final: number }> => {
    const sum = { open: 0, final: 0 }
    for (const level of levelsInUse(await levelOf(partition))) {
      for (let bucket = 0; bucket < 2 ** level; bucket += BUCKETS_AT_ONCE) {
        const keys = partition.keyList()
        const numbers = Array.from({ length: Math.min(BUCKETS_AT_ONCE, 2 ** level - bucket) }, (_, at) => bucket + at)
        const reply = await call<{ open: number; final: number }>(partition, SCRIPT.known, keys.names, {
          final: numbers.map((at) => keys.at(partition.keys.known(level, at))),
          open: numbers.map((at) => keys.at(partition.keys.open(level, at))),
          urls: [],
        })
        sum.open += reply.open
        sum.final += reply.final
      }
    }
    return sum
  }

  const standing: FleetInspector['standing'] = async (urls) => {
    const answers: Standing[] = urls.map(() => ({ state: 'unknown' }))
    const byPartition = Map.groupBy(
      urls.map((url, index) => ({ ...url, index })),
      ({ url }) => store.partitionOf(hostKey(url)),
    )
    for (const [partition, items] of byPartition) {
      const levels = levelsInUse(await levelOf(partition))
      for (let from = 0; from < items.length; from += URLS_AT_ONCE) {
        const portion = items.slice(from, from + URLS_AT_ONCE)
        const keys = partition.keyList()
        const asked = portion.map(({ kind, url }) => {
          const { name, low } = store.fingerprints.ofUrl(kind, url)
          const buckets = levels.map((level) => [level, bucketOf(low, level)] as const)
          return [
            name,
            buckets.map(([level, bucket]) => keys.at(partition.keys.known(level, bucket))),
            buckets.map(([level, bucket]) => keys.at(partition.keys.open(level, bucket))),
          ]
        })
        const reply = await call<{ states: unknown; depths: unknown }>(partition, SCRIPT.known, keys.names, {
          final: [],
          open: [],
          urls: asked,
        })
        const states = listOf<'open' | 'final' | 'unknown'>(reply.states)
        const depths = listOf<readonly [number, number, Slot, number] | false>(reply.depths)
        portion.forEach(({ index }, at) => {
          const [state = 'unknown', known] = [states[at], depths[at]]
          if (state !== 'open') answers[index] = { state }
          else if (known) answers[index] = { state, depth: known[0], referrers: known[1], slot: known[2] }
        })
      }
    }
    return answers
  }

  const inspector: FleetInspector = {
    crawl: store.identity.crawl,
    store,
    async partitions() {
      const replies = await views()
      return replies.map(([{ index }, { meta, sizes, due, later, visit, now }]) => {
        const quiet = Number(meta['quiet'] ?? 0)
        return {
          index,
          sums: sumsOf(meta),
          quietUntil: quiet > now ? ours(quiet) : null,
          restarts: Number(meta['restarts'] ?? 0),
          undelivered: sizes['undelivered'] ?? 0,
          leases: sizes['leases'] ?? 0,
          waiting: sizes['waiting'] ?? 0,
          hosts: { known: sizes['hosts'] ?? 0, due, later },
          nextVisit: visit === undefined ? null : ours(visit),
          barred: meta['barred'] ?? null,
        }
      })
    },
    async counters() {
      const replies = await views()
      const counters = emptyCounters()
      const more = { leased: 0, waiting: 0 }
      for (const [, { meta, sizes }] of replies) {
        addSums(counters, meta)
        more.leased += Number(meta['leased'] ?? 0)
        more.waiting += sizes['waiting'] ?? 0
      }
      return { ...counters, ...more }
    },
    async outputs() {
      const outputs = new Map<string, Record<string, number>>()
      for (const [, { outputs: found }] of await views()) {
        for (const [worker, text] of Object.entries(mapOf<string>(found))) {
          const position = JSON.parse(text) as Record<string, number>
          const known = outputs.get(worker) ?? {}
          for (const [name, length] of Object.entries(position)) known[name] = Math.max(known[name] ?? 0, length)
          outputs.set(worker, known)
        }
      }
      return outputs
    },
    async *hosts(whole = false) {
      for (const partition of store.partitions) yield* hostsOf(partition, whole)
    },
    async host(key) {
      const partition = store.partitionOf(key)
      const reply = await call<{ hosts: unknown }>(partition, SCRIPT.hosts, partition.keys.fixed, {
        host: key,
        whole: true,
      })
      const [state] = listOf<HostState>(reply.hosts)
      return state === undefined ? undefined : fleetHost(state, partition.index, ours)
    },
    standing,
    async *leases() {
      for (const partition of store.partitions) {
        for await (const lease of scan<LeaseState>(partition, 'leases')) {
          yield {
            host: lease.host,
            worker: lease.worker,
            until: ours(lease.expires),
            isParked: lease.parked !== undefined,
            partition: partition.index,
            tasks: listOf<TaskState>(lease.tasks).map(({ kind, name, row }) => ({
              kind,
              name,
              ...(row === undefined ? {} : { row: readRow(row) }),
            })),
          }
        }
      }
    },
    async *rowsOf(host) {
      for (const list of host.lists) {
        for await (const { rows } of stretches(host, list, true))
          for (const row of listOf<string>(rows)) yield readRow(row)
      }
    },
    async *parkedOf(host, state) {
      const partition = store.partitions[host.partition] as MovingPartition
      for await (const row of scan<string>(partition, 'parked', partition.keys[state](host.key))) yield readRow(row)
    },
    async *waiting() {
      for (const partition of store.partitions) {
        for await (const [row, at] of scan<readonly [string, number]>(partition, 'waiting')) {
          yield { row: readRow(row), at: ours(at) }
        }
      }
    },
    async *visits() {
      for (const partition of store.partitions) {
        for await (const [name, text, due] of scan<readonly [string, string, number?]>(partition, 'visits')) {
          const { visit, row } = readVisit(text, 0)
          yield {
            name,
            row: readRow(row),
            visit: {
              ...visit,
              firstAt: ours(visit.firstAt),
              checkedAt: ours(visit.checkedAt),
              changedAt: ours(visit.changedAt),
              dueAt: due === undefined ? null : ours(due),
            },
          }
        }
      }
    },
    async *children() {
      for (const partition of store.partitions) {
        for await (const [depth, url, children] of scan<readonly [number, NormalizedUrl, unknown]>(
          partition,
          'depths',
        )) {
          yield { url, depth, children: listOf<string>(children).flatMap((child) => childOf(url, child)) }
        }
      }
    },
    async tally() {
      const queued = { pages: 0, sitemaps: 0 }
      const leased = { pages: 0, sitemaps: 0 }
      const waiting = { pages: 0, sitemaps: 0 }
      const sum = { open: 0, final: 0, leasedParked: 0, held: 0, aside: 0, hosts: 0, pagesOfHosts: 0 }
      const wrongLists: string[] = []
      for await (const host of inspector.hosts()) {
        sum.hosts += 1
        sum.pagesOfHosts += host.pages
        for (const list of host.lists) {
          let length = 0
          for await (const stretch of stretches(host, list, false)) {
            length = stretch.length
            queued.pages += stretch.pages
            queued.sitemaps += stretch.sitemaps
          }
          if (length !== list.entries) {
            wrongLists.push(`${list.origin}, ${list.slot}, rank ${list.rank}: ${length} entries, not ${list.entries}`)
          }
        }
        for (const state of ['held', 'aside'] as const) {
          if (host[state] === 0) continue
          for await (const _row of inspector.parkedOf(host, state)) sum[state] += 1
        }
      }
      for await (const lease of inspector.leases()) {
        // What is parked stays where it is while a lease has it to be skipped.
        if (lease.isParked) {
          sum.leasedParked += lease.tasks.length
          continue
        }
        for (const { kind } of lease.tasks) {
          if (kind === 'p') leased.pages += 1
          else if (kind === 's') leased.sitemaps += 1
        }
      }
      for await (const { row } of inspector.waiting()) waiting[row.kind === 'page' ? 'pages' : 'sitemaps'] += 1
      for (const partition of store.partitions) {
        const { open, final } = await countKnown(partition)
        sum.open += open
        sum.final += final
      }
      return { queued, leased, waiting, ...sum, wrongLists }
    },
    close,
  }
  return inspector
}

interface LeaseState {
  readonly host: HostKey
  readonly worker: string
  readonly expires: number
  readonly parked?: string
  readonly tasks: unknown
}
interface TaskState {
  readonly kind: 'p' | 's' | 'r'
  readonly name: string
  readonly row?: string
}

/** As intake.ts writes it: partition, kind and step, and the address as it differs from that of the page. */
function childOf(page: NormalizedUrl, text: string): { kind: Row['kind']; url: NormalizedUrl; step: 0 | 1 }[] {
  const [, kindAndStep = '', delta = ''] = text.split('\n')
  const url = readReferrer(page, delta)
  if (url === undefined) return []
  return [{ kind: kindAndStep.startsWith('s') ? 'sitemap' : 'page', url, step: kindAndStep.endsWith('1') ? 1 : 0 }]
}

/** The lower bits of a fingerprint say where it is. */
function bucketOf(low: number, level: number): number {
  return low % 2 ** level
}
