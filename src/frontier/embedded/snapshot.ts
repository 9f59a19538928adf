/**
 * One moment of a crawl, for whoever looks at it from outside: a read-only connection on which the tables appear with
 * everything that is only in the log, or only in the youngest URLs, laid over them. Temporary views of the same names
 * stand before the tables, so what asks them need not know. What is committed later is not seen.
 */
import type { DatabaseSync } from 'node:sqlite'
import { readVisitOffset } from './changes.ts'
import { openDatabaseForReading } from './database.ts'
import { createGeneration } from './generation.ts'
import { readBounds, readLog } from './log.ts'
import {
  CHANGE_COLUMNS,
  changeValues,
  HOST_COLUMNS,
  hostValues,
  LANE_COLUMNS,
  laneValues,
  STATES,
  VISIT_COLUMNS,
  visitValues,
  type Value,
} from './rows.ts'

export interface Snapshot {
  readonly db: DatabaseSync
  /** What is to be added to the stored times of visits. */
  readonly visitOffsetMs: number
}

export function openSnapshot(folder: string): Snapshot {
  const db = openDatabaseForReading(folder)
  try {
    db.exec('PRAGMA temp_store = MEMORY; BEGIN')
    // The moment is taken with the first read.
    const { written } = readBounds(db)
    const visitOffsetMs = readVisitOffset(db)
    const changes = createGeneration()
    readLog(db, written.log, Infinity, changes, visitOffsetMs)
    fill(db, 'changed_url', ['id', 'lane', ...CHANGE_COLUMNS], changes.urls.values(), (row) => [
      row.id,
      row.lane,
      ...changeValues(row),
    ])
    fill(db, 'changed_visit', ['id', ...VISIT_COLUMNS], changes.visits.values(), (row) => [
      row.id,
      ...visitValues(row, visitOffsetMs),
    ])
    fill(db, 'changed_host', ['id', 'name', ...HOST_COLUMNS], changes.hosts.values(), (row) => [
      row.id,
      row.key,
      ...hostValues(row),
    ])
    fill(db, 'changed_lane', ['id', ...LANE_COLUMNS], changes.lanes.values(), (row) => [row.id, ...laneValues(row)])
    for (const [name, sql] of Object.entries(views(written.url))) db.exec(`CREATE TEMP VIEW ${name} AS ${sql}`)
    return { db, visitOffsetMs }
  } catch (error) {
    db.close()
    throw error
  }
}

function fill<T>(
  db: DatabaseSync,
  table: string,
  columns: readonly string[],
  rows: Iterable<T>,
  values: (row: T) => Value[],
): void {
  db.exec(`CREATE TEMP TABLE ${table} (${columns.join().replace('id', 'id INTEGER PRIMARY KEY')})`)
  const insert = db.prepare(`INSERT INTO temp.${table} VALUES (?${', ?'.repeat(columns.length - 1)})`)
  for (const row of rows) insert.run(...values(row))
}

/** The tables as they are with every change in them; `written` is the youngest URL that the orders have. */
function views(written: number): Record<string, string> {
  const state = (name: (typeof STATES)[number]): number => STATES.indexOf(name)
  const unchanged = (id: string, table: string): string => `${id} NOT IN (SELECT id FROM temp.${table})`
  const list = (table: string, columns: readonly string[]): string =>
    columns.map((name) => `${table}.${name}`).join(', ')
  const isNew = (of: (typeof STATES)[number]): string =>
    `u.id > ${written} AND u.state = ${state(of)} AND ${unchanged('u.id', 'changed_url')}`
  return {
    url: `SELECT u.id, u.url, u.lane, u.kind, u.via, u.referrer, u.redirects, u.nesting, u.found_at,
        coalesce(c.slot, s.slot, u.slot) AS slot, coalesce(c.depth, s.depth, u.depth) AS depth,
        coalesce(c.state, s.state, u.state) AS state, coalesce(c.rank, s.rank, u.rank) AS rank,
        coalesce(c.attempts, s.attempts, 0) AS attempts, iif(c.id IS NULL, s.reason, c.reason) AS reason,
        coalesce(c.at, s.at, 0) AS at
      FROM main.url AS u LEFT JOIN main.state AS s ON s.id = u.id LEFT JOIN temp.changed_url AS c ON c.id = u.id`,
    visit: `SELECT id, due_at, visit FROM main.state WHERE ${unchanged('id', 'changed_visit')}
      UNION ALL SELECT id, due_at, visit FROM temp.changed_visit`,
    queue: `SELECT q.lane, q.slot, q.rank, q.url FROM main.queue AS q LEFT JOIN main.state AS s ON s.id = q.url
        WHERE q.url <= ${written} AND ${unchanged('q.url', 'changed_url')}
          AND coalesce(s.state, ${state('queued')}) = ${state('queued')}
      UNION ALL SELECT u.lane, u.slot, u.rank, u.id FROM main.url AS u WHERE ${isNew('queued')}
      UNION ALL SELECT lane, slot, rank, id FROM temp.changed_url WHERE state = ${state('queued')}`,
    waiting: `SELECT due, url FROM main.waiting WHERE ${unchanged('url', 'changed_url')}
      UNION ALL SELECT at, id FROM temp.changed_url WHERE state = ${state('waiting')}`,
    held: `SELECT host, url FROM main.held WHERE url <= ${written} AND ${unchanged('url', 'changed_url')}
      UNION ALL SELECT l.host, u.id FROM main.url AS u JOIN main.lane AS l ON l.id = u.lane WHERE ${isNew('held')}
      UNION ALL SELECT l.host, c.id FROM temp.changed_url AS c JOIN main.lane AS l ON l.id = c.lane
        WHERE c.state = ${state('held')}`,
    aside: `SELECT host, url FROM main.aside WHERE ${unchanged('url', 'changed_url')}
      UNION ALL SELECT l.host, c.id FROM temp.changed_url AS c JOIN main.lane AS l ON l.id = c.lane
        WHERE c.state = ${state('aside')}`,
    host: `SELECT ${list('h', ['id', 'name', ...HOST_COLUMNS])} FROM main.host AS h
        WHERE ${unchanged('h.id', 'changed_host')}
      UNION ALL SELECT * FROM temp.changed_host`,
    lane: `SELECT ${list('l', ['id', 'host', 'origin', ...LANE_COLUMNS])} FROM main.lane AS l
        WHERE ${unchanged('l.id', 'changed_lane')}
      UNION ALL SELECT c.id, l.host, l.origin, ${list('c', LANE_COLUMNS)}
        FROM main.lane AS l JOIN temp.changed_lane AS c ON c.id = l.id`,
  }
}
