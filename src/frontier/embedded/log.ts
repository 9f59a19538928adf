/**
 * The log of changes: one entry for each commit that changed rows, as text, appended. With it a commit is durable long
 * before the rows that it changed are written to their tables. An entry has, for each table, lists of values: numbers as
 * they are, names as they are, times of visits as the table keeps them.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Changed, Generation } from './generation.ts'
import {
  changeValues,
  hostRow,
  hostValues,
  laneValues,
  readChange,
  readLane,
  toCells,
  toValue,
  visitRow,
  visitValues,
  type Cell,
  type Value,
} from './rows.ts'

/** Rows that changed since the last entry. */
export type Touched = Readonly<Record<Changed, Set<number>>>

export const nothingTouched = (): Touched => ({
  urls: new Set(),
  visits: new Set(),
  hosts: new Set(),
  lanes: new Set(),
})

type Entry = Partial<Record<Changed, Cell[][]>>

export interface Log {
  /** Appends what was touched, as the generation has it now. */
  append(touched: Touched, from: Generation): void
  /** The number of the last entry. */
  readonly last: number
  /** Drops entries up to this one, some of them at a time. */
  drop(upTo: number): void
}

/** Entries dropped at a time. */
const DROPPED = 16

export function createLog(db: DatabaseSync, offsetMs: number): Log {
  const insert = db.prepare('INSERT INTO log VALUES (?, ?)')
  const drop = db.prepare('DELETE FROM log WHERE seq < ?')
  const stored = db.prepare('SELECT min(seq) AS first, max(seq) AS last FROM log').get() as {
    first: number | null
    last: number | null
  }
  // Numbers go on where they were, also when every entry was dropped.
  let last = Math.max(stored.last ?? 0, readBounds(db).written.log)
  let first = stored.first ?? last + 1
  return {
    append(touched, { urls, visits, hosts, lanes }) {
      const entry: Entry = {}
      const put = <T>(table: Changed, rows: ReadonlyMap<number, T>, cellsOf: (row: T) => Value[]): void => {
        if (touched[table].size === 0) return
        entry[table] = Array.from(touched[table], (id) => toCells(cellsOf(rows.get(id) as T)))
      }
      put('urls', urls, (row) => [row.id, row.lane, ...changeValues(row)])
      put('visits', visits, (row) => [row.id, ...visitValues(row, offsetMs)])
      put('hosts', hosts, (row) => [row.id, row.key, ...hostValues(row)])
      put('lanes', lanes, (row) => [row.id, ...laneValues(row)])
      last += 1
      insert.run(last, JSON.stringify(entry))
    },
    get last() {
      return last
    },
    drop(upTo) {
      if (first > upTo) return
      first = Math.min(upTo + 1, first + DROPPED)
      drop.run(first)
    },
  }
}

/** Up to which log entry and URL the tables have everything, and where the closed generation ends, if there is one. */
export interface Bounds {
  readonly written: { readonly log: number; readonly url: number }
  readonly frozen?: { readonly log: number; readonly url: number }
}

export function readBounds(db: DatabaseSync): Bounds {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'bounds'").get() as { value: string } | undefined
  return row === undefined ? { written: { log: 0, url: 0 } } : (JSON.parse(row.value) as Bounds)
}

/** Lays entries behind `after`, up to `upTo`, over a generation. */
export function readLog(db: DatabaseSync, after: number, upTo: number, into: Generation, offsetMs: number): void {
  const entries = db.prepare('SELECT changes FROM log WHERE seq > ? AND seq <= ? ORDER BY seq').iterate(after, upTo)
  for (const { changes } of entries as Iterable<{ changes: string }>) {
    const { urls = [], visits = [], hosts = [], lanes = [] } = JSON.parse(changes) as Entry
    const keep = <T extends { readonly id: number }>(rows: Map<number, T>, row: T | undefined): void => {
      if (row !== undefined) rows.set(row.id, row)
    }
    for (const cells of urls) keep(into.urls, readChange(cells.map(toValue)))
    for (const cells of visits) keep(into.visits, visitRow(cells.map(toValue), offsetMs))
    for (const cells of hosts) keep(into.hosts, hostRow(cells.map(toValue)))
    for (const cells of lanes) keep(into.lanes, readLane(cells.map(toValue)))
  }
}
