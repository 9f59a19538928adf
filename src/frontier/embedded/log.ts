/**
 * The log of changes: one entry for each commit that changed rows, appended. With it a commit is durable long before the
 * rows that it changed are written to their tables. What an entry looks like is up to log-entry.ts.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Generation, Touched } from './generation.ts'
import { createEntryWriter, readEntry, type LogEntry } from './log-entry.ts'

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
  const insert = db.prepare('INSERT INTO log VALUES (?, ?, ?)')
  const drop = db.prepare('DELETE FROM log WHERE seq < ?')
  const stored = db.prepare('SELECT min(seq) AS first, max(seq) AS last FROM log').get() as {
    first: number | null
    last: number | null
  }
  // Numbers go on where they were, also when every entry was dropped.
  let last = Math.max(stored.last ?? 0, readBounds(db).written.log)
  let first = stored.first ?? last + 1
  const writer = createEntryWriter(offsetMs)
  return {
    append(touched, from) {
      const { numbers, texts } = writer.write(touched, from)
      last += 1
      insert.run(last, numbers, texts)
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
  const entries = db.prepare('SELECT numbers, texts FROM log WHERE seq > ? AND seq <= ? ORDER BY seq')
  for (const entry of entries.iterate(after, upTo)) readEntry(entry as unknown as LogEntry, into, offsetMs)
}
