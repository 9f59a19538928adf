/**
 * Every order of rows, as the rows have it now: the heads are in memory, the rest is in tables that may be a little
 * behind. A row that changes leaves the place that it had and enters the one that it has; once the tables have it, it is
 * `stored`, and need not be remembered here any more.
 */
import type { DatabaseSync } from 'node:sqlite'
import { createLru } from '../../base/index.ts'
import { SLOTS, type UrlRow } from '../storage.ts'
import { lookUp, type Generations } from './generation.ts'
import { createHostOrders, type HostOrders } from './host-orders.ts'
import type { Marks } from './marks.ts'
import { createOrderWindow, type OrderWindow, type WindowLimits } from './order-window.ts'
import type { Pair } from './ordered-pairs.ts'
import { createQueueLines, QUEUE_LIMITS, type QueueLimits, type QueueLines } from './queue-lines.ts'
import { prepareList, STATES, type Place } from './rows.ts'

/** Lanes whose host is remembered. */
const LANES_KEPT = 16_384
/** Entries of queues that wait to be deleted; of more, some are read once more before they are. */
const MOST_FORGOTTEN = 16_384

const readLine = (table: string, key: string): string =>
  `SELECT ${key} AS key, url AS id FROM ${table} WHERE ${key} >= ? AND (${key}, url) > (?, ?)
   ORDER BY ${key}, url LIMIT ?`

/**
 * What reads an order of the tables on from an entry. Each is a search by an index, without sorting. A key is given twice:
 * Node 22 takes numbered parameters (`?1`) for named ones, and binds no value to them by position.
 */
export const READS = {
  heads: 'SELECT rank AS key, url AS id FROM queue WHERE lane = ? AND slot = ? ORDER BY rank, url',
  queue: `SELECT rank AS key, url AS id FROM queue
    WHERE lane = ? AND slot = ? AND rank >= ? AND (rank, url) > (?, ?) ORDER BY rank, url LIMIT ?`,
  visits: `SELECT due_at AS key, id FROM state WHERE due_at >= ? AND (due_at > ? OR id > ?)
    ORDER BY due_at, id LIMIT ?`,
  hosts: `SELECT due AS key, id FROM host WHERE line = ? AND due >= ? AND (due > ? OR id > ?)
    ORDER BY due, id LIMIT ?`,
  waiting: readLine('waiting', 'due'),
  held: readLine('held', 'host'),
  aside: readLine('aside', 'host'),
} as const

type Placed = Place & Pick<UrlRow, 'id'>

export interface Orders {
  readonly queues: QueueLines
  readonly waiting: OrderWindow
  readonly held: OrderWindow
  readonly aside: OrderWindow
  readonly visits: Pick<OrderWindow, 'first' | 'set' | 'stored'>
  readonly hosts: HostOrders
  enter(url: Placed): void
  leave(url: Placed): void
  stored(url: Placed): void
  /** The same in the tables. What is there already, or not there, does not matter. */
  enterTables(url: Placed): void
  leaveTables(url: Placed): void
  /** Deletes entries of queues that do not count any more, if many of one queue were met. */
  tidy(): void
  hostOfLane(lane: number): number
}

export interface OrdersOptions {
  readonly generations: Generations
  readonly marks: Marks
  /** Whether the tables may lack a URL for being new. */
  isNew(id: number): boolean
  /** What is to be added to the stored times of visits. */
  readonly visitOffsetMs: number
}

/** How much of each order is in memory, where it is to be other than usual. */
export interface OrderLimits {
  readonly windows: WindowLimits
  readonly queues: QueueLimits
}

export function createOrders(db: DatabaseSync, options: OrdersOptions, limits?: OrderLimits): Orders {
  const { generations, marks, isNew, visitOffsetMs } = options
  let forgotten: { readonly lane: number; readonly slot: number; readonly entry: Pair }[] = []
  const statement = {
    // Most looks at a queue begin with this, and a limit that is known beforehand makes it twice as fast.
    heads: prepareList(db, `${READS.heads} LIMIT ${(limits?.queues ?? QUEUE_LIMITS).firstPortion}`),
    queue: prepareList(db, READS.queue),
    visits: prepareList(db, READS.visits),
    hosts: prepareList(db, READS.hosts),
    hostOfLane: db.prepare('SELECT host FROM lane WHERE id = ?'),
    enqueue: db.prepare('INSERT OR IGNORE INTO queue VALUES (?, ?, ?, ?)'),
    dequeue: db.prepare('DELETE FROM queue WHERE lane = ? AND slot = ? AND rank = ? AND url = ?'),
  }
  const lineOf = (table: 'waiting' | 'held' | 'aside', key: 'due' | 'host') => ({
    read: prepareList(db, READS[table]),
    enter: db.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?, ?)`),
    leave: db.prepare(`DELETE FROM ${table} WHERE ${key} = ? AND url = ?`),
  })
  const tables = { waiting: lineOf('waiting', 'due'), held: lineOf('held', 'host'), aside: lineOf('aside', 'host') }
  const laneHosts = createLru<number, number>(LANES_KEPT)
  const isChanged = (id: number): boolean => lookUp(generations, 'urls', id) !== undefined

  const windowOn = (table: keyof typeof tables): OrderWindow =>
    createOrderWindow(
      {
        read: ({ key, id }, count) => pairsOf(tables[table].read.all(key, key, id, count)),
        isChanged,
        isNew,
      },
      limits?.windows,
    )
  const windows = { waiting: windowOn('waiting'), held: windowOn('held'), aside: windowOn('aside') }

  const queues = createQueueLines(
    {
      first: (lane, slot) => pairsOf(statement.heads.all(lane, slot)),
      read: (lane, slot, { key, id }, count) => pairsOf(statement.queue.all(lane, slot, key, key, id, count)),
      isChanged,
      isNew,
      isGone: marks.isGone,
      forget(lane, slot, entries) {
        if (forgotten.length < MOST_FORGOTTEN) for (const entry of entries) forgotten.push({ lane, slot, entry })
      },
    },
    limits?.queues,
  )
  const openVisits = (): OrderWindow => {
    const window = createOrderWindow(
      {
        read({ key, id }, count) {
          const pairs = pairsOf(statement.visits.all(key - visitOffsetMs, key - visitOffsetMs, id, count))
          return visitOffsetMs === 0 ? pairs : pairs.map((pair) => ({ key: pair.key + visitOffsetMs, id: pair.id }))
        },
        isChanged: (id) => lookUp(generations, 'visits', id) !== undefined,
      },
      limits?.windows,
    )
    for (const generation of [generations.frozen, generations.young])
      for (const visit of generation?.visits.values() ?? [])
        if (lookUp(generations, 'visits', visit.id) === visit) window.set(visit.id, visit.dueAt)
    return window
  }
  /** A crawl that fetches nothing twice never asks for these, and need not keep them in order until somebody does. */
  let visitsAsked: OrderWindow | undefined
  const visits: Orders['visits'] = {
    first: (count, upTo) => (visitsAsked ??= openVisits()).first(count, upTo),
    set: (id, key) => visitsAsked?.set(id, key),
    stored: (id) => visitsAsked?.stored(id),
  }
  const hosts = createHostOrders(
    {
      read: (of, { key, id }, count) => pairsOf(statement.hosts.all(of, key, key, id, count)),
      isChanged: (id) => lookUp(generations, 'hosts', id) !== undefined,
    },
    limits?.windows,
  )

  const hostOfLane = (lane: number): number => {
    let host = laneHosts.get(lane)
    if (host === undefined) {
      host = (statement.hostOfLane.get(lane) as { host: number }).host
      laneHosts.set(lane, host)
    }
    return host
  }
  const keyOf = (url: Placed): number => (url.state === 'waiting' ? url.at : hostOfLane(url.lane))
  const isInLine = (state: Place['state']): state is keyof typeof windows => state in windows

  return {
    ...windows,
    queues,
    visits,
    hosts,
    hostOfLane,
    enter(url) {
      if (url.state === 'queued') queues.enter(url.lane, url.slot, url.rank, url.id)
      else if (isInLine(url.state)) windows[url.state].set(url.id, keyOf(url))
    },
    leave(url) {
      if (url.state === 'queued') queues.leave(url.lane, url.slot, url.rank, url.id)
      else if (isInLine(url.state)) windows[url.state].set(url.id, null)
    },
    stored(url) {
      if (url.state === 'queued') queues.stored(url.lane, url.slot, url.rank, url.id)
      else if (isInLine(url.state)) windows[url.state].stored(url.id)
    },
    enterTables(url) {
      if (url.state === 'queued') statement.enqueue.run(url.lane, SLOTS.indexOf(url.slot), url.rank, url.id)
      else if (isInLine(url.state)) tables[url.state].enter.run(keyOf(url), url.id)
    },
    leaveTables(url) {
      if (url.state === 'queued') statement.dequeue.run(url.lane, SLOTS.indexOf(url.slot), url.rank, url.id)
      else if (isInLine(url.state)) tables[url.state].leave.run(keyOf(url), url.id)
    },
    tidy() {
      for (const { lane, slot, entry } of forgotten)
        // It may have been queued again since it was met.
        if (marks.isGone(entry.id)) statement.dequeue.run(lane, slot, entry.key, entry.id)
      forgotten = []
    },
  }
}

/** Of lists with a key and an id each. */
function pairsOf(rows: readonly unknown[]): Pair[] {
  return (rows as readonly (readonly [number, number])[]).map(([key, id]) => ({ key, id }))
}

/** Where a URL stands, of columns. */
export function placeOf(row: { lane: number; slot: number; rank: number; state: number; at: number }): Place {
  return {
    lane: row.lane,
    slot: SLOTS[row.slot] as Place['slot'],
    rank: row.rank,
    state: STATES[row.state] as Place['state'],
    at: row.at,
  }
}
