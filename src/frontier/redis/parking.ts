/**
 * URLs that are set aside: they look like traps, or their host has all the pages that it may have. Which they are is judged
 * here, by what was learned of their host (traps); what becomes of them is done by the servers, one host at a time.
 *
 * A lease is granted with the rows that come first, and sifted before it is handed out: some rows are set aside, others
 * go back because it is not known yet what the like of them say. When nothing else is left, those aside are leased to be
 * skipped; what is learned meanwhile may free them, and one may be fetched as a probe, to see.
 */
import type { HostKey, Task } from '../../model/index.ts'
import { originOf } from '../../url/index.ts'
import { createUnderWay } from '../traps/index.ts'
import type { HeldLeases } from './held-leases.ts'
import { readLease, type LeaseReply } from './look.ts'
import { listOf } from './replies.ts'
import { readRow, writeRow, type Row } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Partition, Store } from './store.ts'
import type { TrapsCache } from './traps-cache.ts'

const SIFT = loadScript('sift')
const ASIDE = loadScript('aside')
const FREE = loadScript('free')
const LEASE_PARKED = loadScript('lease-parked')
const READ_TRAPS = loadScript('read-traps')

/** The reason of a row that is queued to be fetched as a probe. */
const PROBE = 'probe'
const BUDGET = 'host-budget'
/** URLs aside that are looked at in one go. */
const PORTION = 256
/** Of so many of a host one is looked for that may be probed. */
const PROBE_CANDIDATES = 4_096
/** Reasons are short texts; what is longer is cut. */
const MOST_REASON = 200

export interface Parking {
  /**
   * Judges the rows of leases that a partition has just granted. Answers the leases with the tasks that they have left,
   * to be held; one that has none is over, as if it had never been. Where it is so since they wait for others of their
   * host, the host does.
   */
  sift(partition: Partition, leases: readonly LeaseReply[]): Promise<LeaseReply[]>
  /** Looks again at the URLs of this host that are aside; answers how many were freed. */
  review(partition: Partition, host: HostKey): Promise<number>
  /** Nothing else of the host is left: one of those aside may show whether they are there for good reason. */
  probe(partition: Partition, host: HostKey): Promise<void>
  /**
   * A lease on what is parked of a host, to be settled without a request: what is held first. Undefined when some of it is
   * queued now instead, or there is something else to do in this partition.
   */
  leaseParked(partition: Partition, host: HostKey, worker: string): Promise<LeaseReply | undefined>
}

/** Why a row is aside, as its task says it. */
export function asideOf({ reason }: Pick<Row, 'reason'>): NonNullable<Task['aside']> {
  return reason === BUDGET
    ? { reason: BUDGET, detail: 'the host has all the pages that it may have' }
    : { reason: 'trap', detail: reason === '' ? 'it looks like a trap' : reason }
}

interface AsideReply {
  readonly rows: unknown
  readonly cursor: string
  readonly pages: number
  readonly traps: number
  readonly learned?: string
}

export function createParking(store: Store, traps: TrapsCache, held: HeldLeases): Parking {
  const { settings } = store
  let calls = 0

  /** Reads what was learned of hosts that others have taught in the meantime. */
  const readTraps = async (partition: Partition, leases: readonly LeaseReply[]): Promise<void> => {
    const outdated = leases.filter((lease) => (traps.version(lease.host) ?? 0) !== (lease.traps ?? 0))
    if (outdated.length === 0) return
    const hosts = [...new Set(outdated.map(({ host }) => host))]
    const reply = (await partition.call(READ_TRAPS, partition.keys.fixed, { hosts })) as { readonly traps: unknown }
    listOf<readonly [number, string]>(reply.traps).forEach(([version, text], index) => {
      traps.read(hosts[index] as HostKey, version, text === '' ? undefined : text)
    })
  }

  /** What is to be done with the rows of a lease: which are set aside, with the reason in them, and which go back. */
  const judge = ({ host, tasks }: LeaseReply): { aside: Row[]; back: Row[] } => {
    const aside: Row[] = []
    const back: Row[] = []
    const lessons = traps.get(host)
    const hasOne = store.settings.policyOf(host).concurrency === 1
    const admits = lessons.batch(hasOne ? createUnderWay() : held.underWay(host))
    for (const { row: text, last } of tasks) {
      const row = text === undefined ? undefined : readRow(text)
      if (row === undefined || row.kind !== 'page') continue
      // Behind one that goes back, all do: they are judged when their turn comes again.
      const isJudged = back.length === 0 && last === undefined && row.reason !== PROBE
      const reason = isJudged ? lessons.judge(row.url) : undefined
      if (reason !== undefined) aside.push({ ...row, reason: reason.slice(0, MOST_REASON) })
      // Of what was read before nothing is learned.
      else if (back.length > 0 || (last === undefined && !admits(row.url))) back.push(row)
    }
    return { aside, back }
  }

  const sift: Parking['sift'] = async (partition, leases) => {
    if (!settings.traps || leases.length === 0) return [...leases]
    await readTraps(partition, leases)
    const keys = partition.keyList()
    const kept: LeaseReply[] = []
    const items: object[] = []
    for (const lease of leases) {
      const { aside, back } = judge(lease)
      const gone = new Set([...aside, ...back].map(({ name }) => name))
      const tasks = lease.tasks.filter(({ name }) => !gone.has(name))
      if (tasks.length > 0) kept.push({ ...lease, tasks })
      else if (back.length > 0) held.wait(lease.host)
      else held.renounce({ ...lease, tasks })
      if (gone.size === 0) continue
      items.push({
        fence: lease.fence,
        key: keys.at(partition.keys.aside(lease.host)),
        aside: aside.map((row) => [row.name, writeRow(row)]),
        back: back.map((row) => [row.name, keys.at(listFor(partition, row))]),
      })
    }
    try {
      if (items.length > 0) await partition.call(SIFT, keys.names, { items })
    } catch (error) {
      for (const lease of kept) held.renounce(lease)
      throw error
    }
    return kept
  }

  /** Rows aside of one host, a portion at a time, with what was learned of it. */
  const rowsAside = async function* (partition: Partition, host: HostKey, most: number): AsyncGenerator<AsidePortion> {
    let cursor = '0'
    for (let looked = 0; looked < most; looked += PORTION) {
      const keys = partition.keyList()
      const asked = { host, key: keys.at(partition.keys.aside(host)), cursor, count: PORTION }
      const version = traps.version(host) ?? -1
      const reply = (await partition.call(ASIDE, keys.names, { ...asked, version })) as AsideReply
      if (reply.learned !== undefined) traps.read(host, reply.traps, reply.learned === '' ? undefined : reply.learned)
      yield { rows: listOf<string>(reply.rows).map(readRow), pages: reply.pages }
      cursor = reply.cursor
      if (cursor === '0') return
    }
  }

  const reasonFor = (host: HostKey, row: Row, pages: number): string | undefined => {
    if (settings.maxPagesPerHost !== undefined && pages >= settings.maxPagesPerHost) return BUDGET
    return settings.traps ? traps.get(host).judge(row.url) : undefined
  }

  const free = async (partition: Partition, host: HostKey, rows: readonly Row[]): Promise<void> => {
    const keys = partition.keyList()
    const items = rows.map((row) => ({
      name: row.name,
      row: writeRow(row),
      origin: originOf(row.url),
      slot: row.slot,
      rank: row.rank,
      list: keys.at(listFor(partition, row)),
    }))
    await partition.call(FREE, keys.names, { host, key: keys.at(partition.keys.aside(host)), items })
  }

  /** Queues those of these rows that there is no reason for to be aside any more; answers how many. */
  const freeInnocent = async (partition: Partition, host: HostKey, rows: readonly Row[], pages: number) => {
    const innocent = rows.filter((row) => reasonFor(host, row, pages) === undefined)
    const freed = innocent.map((row) => ({ ...row, reason: '' }))
    if (freed.length > 0) await free(partition, host, freed)
    return freed.length
  }

  const review: Parking['review'] = async (partition, host) => {
    let freed = 0
    for await (const { rows, pages } of rowsAside(partition, host, Infinity))
      freed += await freeInnocent(partition, host, rows, pages)
    return freed
  }

  return {
    sift,
    review,
    async probe(partition, host) {
      for await (const { rows } of rowsAside(partition, host, PROBE_CANDIDATES)) {
        const probed = rows.find((row) => row.reason !== BUDGET && traps.get(host).mayProbe(row.url))
        if (probed === undefined) continue
        await free(partition, host, [{ ...probed, reason: PROBE }])
        return
      }
    },
    async leaseParked(partition, host, worker) {
      const keys = partition.keyList()
      const asked = {
        host,
        worker,
        held: keys.at(partition.keys.held(host)),
        aside: keys.at(partition.keys.aside(host)),
      }
      const call = async (names?: readonly string[]): Promise<ParkedReply> => {
        calls += 1
        const named = { ...asked, client: store.client, call: `parked ${calls}`, names }
        return (await partition.call(LEASE_PARKED, keys.names, named)) as ParkedReply
      }
      const first = await call()
      if (first.review !== true) return leaseIn(first)
      for await (const { rows, pages } of rowsAside(partition, host, Infinity)) {
        if (rows.length === 0) continue
        if ((await freeInnocent(partition, host, rows, pages)) > 0) return undefined
        return leaseIn(await call(rows.map(({ name }) => name)))
      }
      return undefined
    },
  }
}

interface ParkedReply {
  readonly lease?: unknown
  /** What is aside must be looked at again before it is skipped. */
  readonly review?: boolean
}

const leaseIn = ({ lease }: ParkedReply): LeaseReply | undefined => (lease === undefined ? undefined : readLease(lease))

interface AsidePortion {
  readonly rows: readonly Row[]
  /** That the host has. */
  readonly pages: number
}

const listFor = ({ keys }: Partition, { url, slot, rank }: Row): string => keys.queue(originOf(url), slot, rank)
