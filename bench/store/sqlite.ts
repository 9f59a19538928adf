/** The pattern in SQL, with the tables and settings of src/frontier/embedded. Two drivers offer the same statements. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Engine, EngineOptions, Leased, NewUrl } from './engine.ts'

interface Statement {
  run(...values: unknown[]): unknown
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  iterate(...values: unknown[]): Iterable<unknown>
}

export interface SqliteDriver {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): unknown
}

export type OpenSqlite = (file: string) => SqliteDriver

export const openNodeSqlite: OpenSqlite = (file) => new DatabaseSync(file)

const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE url (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, kind INTEGER NOT NULL, lane INTEGER NOT NULL, via INTEGER NOT NULL,
    referrer INTEGER NOT NULL, redirects INTEGER NOT NULL, nesting INTEGER NOT NULL, tier INTEGER NOT NULL,
    depth INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL, reason TEXT, at REAL NOT NULL,
    referrers INTEGER NOT NULL DEFAULT 1);
  CREATE TABLE seen (fingerprint INTEGER PRIMARY KEY, url INTEGER NOT NULL);
  CREATE TABLE queue (lane INTEGER, rank INTEGER, url INTEGER, PRIMARY KEY (lane, rank, url)) WITHOUT ROWID;
  CREATE TABLE host (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, due REAL, answered_at REAL, blocked_until REAL NOT NULL,
    blocked_reason TEXT, strikes INTEGER NOT NULL);
  CREATE INDEX host_due ON host (due) WHERE due IS NOT NULL;
  CREATE TABLE lane (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, origin TEXT NOT NULL UNIQUE, queued INTEGER NOT NULL,
    robots_not_before REAL NOT NULL, robots_attempts INTEGER NOT NULL, robots_moved INTEGER NOT NULL);
`

export function openSqliteEngine(open: OpenSqlite, { folder, durability }: EngineOptions): Engine {
  const db = open(join(folder, 'crawl.db'))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability}; PRAGMA cache_size = -65536;
    PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000; ${TABLES}`)
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const find = db.prepare('SELECT url.id, url.depth FROM seen JOIN url ON url.id = seen.url WHERE fingerprint = ?')
  const insertSeen = db.prepare('INSERT INTO seen VALUES (?, ?)')
  const insertUrl = db.prepare('INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)')
  const url = db.prepare('SELECT * FROM url WHERE id = ?')
  const updateUrl = db.prepare('UPDATE url SET tier = ?, depth = ?, state = ?, attempts = ?, at = ? WHERE id = ?')
  const addReferrers = db.prepare('UPDATE url SET referrers = referrers + ? WHERE id = ?')
  const enqueue = db.prepare('INSERT INTO queue VALUES (?, ?, ?)')
  const dequeue = db.prepare('DELETE FROM queue WHERE lane = ? AND rank = ? AND url = ?')
  const head = db.prepare('SELECT rank, url FROM queue WHERE lane = ? ORDER BY rank, url')
  const insertHost = db.prepare('INSERT INTO host VALUES (?, ?, ?, NULL, 0, NULL, 0)')
  const updateHost = db.prepare('UPDATE host SET due = ?, answered_at = ?, strikes = ? WHERE id = ?')
  const dueHosts = db.prepare('SELECT * FROM host WHERE due <= ? ORDER BY due LIMIT ?')
  const insertLane = db.prepare('INSERT INTO lane VALUES (?, ?, ?, 1, 0, 0, 0)')
  const updateLane = db.prepare('UPDATE lane SET queued = ? WHERE id = ?')
  const saveMeta = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')

  const keyOf = (hi: number, lo: number): bigint => BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo))
  const insert = (item: NewUrl): void => {
    insertUrl.run(item.id, item.url, 0, item.lane, 1, item.referrer, 0, 0, 1, item.rank, 0, 0, null, 0)
    insertSeen.run(keyOf(item.hi, item.lo), item.id)
    enqueue.run(item.lane, item.rank, item.id)
  }

  return {
    seed(urls) {
      begin.run()
      for (const item of urls) {
        insertHost.run(item.lane, `host-${item.lane}.example.com`, item.lane)
        insertLane.run(item.lane, item.lane, `https://host-${item.lane}.example.com`)
        insert(item)
      }
      commit.run()
    },
    lease(count) {
      const leased: Leased[] = []
      for (const host of dueHosts.all(Number.MAX_SAFE_INTEGER, count) as { id: number; due: number }[]) {
        for (const entry of head.iterate(host.id) as Iterable<{ rank: number; url: number }>) {
          const row = url.get(entry.url) as { url: string; lane: number }
          leased.push({ row: { id: entry.url, lane: row.lane, rank: entry.rank, url: row.url }, due: host.due })
          break
        }
      }
      return leased
    },
    settle(pages, counters) {
      begin.run()
      for (const { row, at, due, found, known, referrers } of pages) {
        updateUrl.run(1, row.rank, 3, 1, at, row.id)
        dequeue.run(row.lane, row.rank, row.id)
        updateHost.run(due, at, 0, row.lane)
        updateLane.run(row.id, row.lane)
        for (const { hi, lo, id } of known) {
          if ((find.get(keyOf(hi, lo)) as { id: number } | undefined)?.id !== id) throw new Error(`lost ${id}`)
        }
        for (const id of referrers) addReferrers.run(1, id)
        for (const item of found) {
          if (find.get(keyOf(item.hi, item.lo)) !== undefined) throw new Error(`twice ${item.id}`)
          insert(item)
        }
      }
      saveMeta.run('counters', counters)
      commit.run()
    },
    close() {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      db.close()
    },
  }
}
