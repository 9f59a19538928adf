/**
 * All pages of a crawl, by URL and in the order of their sites, in a temporary database that keeps them on disk when
 * they are many: memory stays the same for a hundred pages and for ten million.
 *
 * It keeps true: each URL is there once, with its last record, since a page that was fetched again has a record for each
 * change; a page that is left out as a duplicate has a page in the export that it repeats.
 */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseObject } from '../base/index.ts'
import type { PageRecord } from '../model/index.ts'
import { RECORD_FILES } from '../sink/index.ts'
import { committedLines, openToRead, shortFile } from './committed-file.ts'
import { createSelector, type LeftOut, type Selection } from './selection.ts'
import { siteOrder } from './site-order.ts'
import type { ExportSource } from './source.ts'

/** Pages from a duplicate to the one that it repeats in the end. A longer chain, or a circle, is no duplicate of anything. */
const MAX_HOPS = 16

/** A page of the export. */
export interface IndexedPage {
  readonly id: number
  readonly url: string
  readonly title: string | null
  /** The first of its headings. */
  readonly heading: string | null
  /** The files in which it begins and ends, counted from 1; 0 before it was placed. */
  readonly firstPart: number
  readonly lastPart: number
}

export interface PageIndex {
  readonly count: number
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>
  /** The sum of the lengths of the records, which is more than any selection of their fields takes. */
  readonly recordBytes: number
  /** In the order of the site: by origin, then path by path, numbers by their value. */
  pages(): Iterable<IndexedPage>
  /** Records in the order in which they were saved; only those of pages that were noted, or all. */
  records(options?: {
    readonly archivedOnly: boolean
  }): Iterable<{ readonly page: IndexedPage; readonly record: PageRecord }>
  recordOf(page: IndexedPage): PageRecord
  /** The page of the export at this URL, or the one that stands for it. */
  find(url: string): IndexedPage | undefined
  /** Distinct origins among the pages, at most `most` of them. */
  origins(most: number): string[]
  /** Notes that the archive has an answer for this URL. */
  noteArchived(url: string): void
  isArchived(page: IndexedPage): boolean
  place(page: IndexedPage, firstPart: number, lastPart: number): void
  close(): void
}

const COLUMNS = 'id, url, title, heading, first_part AS firstPart, last_part AS lastPart'

export function openPageIndex(source: ExportSource, selection: Selection): PageIndex {
  const db = new DatabaseSync('')
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
    CREATE TABLE page (id INTEGER PRIMARY KEY, key TEXT UNIQUE, url TEXT, origin TEXT, place TEXT, title TEXT, heading TEXT,
      start INTEGER, length INTEGER, visit INTEGER, repeats TEXT, reason TEXT, stands_for INTEGER,
      archived INTEGER NOT NULL DEFAULT 0, first_part INTEGER NOT NULL DEFAULT 0, last_part INTEGER NOT NULL DEFAULT 0)`)
  const path = join(source.folder, RECORD_FILES.page)
  const end = source.output[RECORD_FILES.page] ?? 0
  const recordBytes = readPages(db, source, path, end, createSelector(selection))
  if (selection.textOnly) dropGone(db, source)
  if (selection.dropDuplicates) dropDuplicates(db)
  // What is noted from now on is one transaction that nobody needs to see committed.
  db.exec('CREATE INDEX in_order ON page (reason, place); BEGIN')
  const descriptor = end === 0 ? undefined : openToRead(path, end)

  // A statement of its own for each walk, since several may be under way.
  const walk = (rest: string, ...values: number[]): Iterable<IndexedPage> =>
    db
      .prepare(`SELECT ${COLUMNS} FROM page WHERE reason IS NULL ${rest}`)
      .iterate(...values) as Iterable<unknown> as Iterable<IndexedPage>
  const byKey = db.prepare(
    `SELECT ${COLUMNS} FROM page WHERE reason IS NULL
     AND id = (SELECT coalesce(stands_for, id) FROM page AS named WHERE named.key = ?)`,
  )
  const spanOf = db.prepare('SELECT start, length FROM page WHERE id = ?')
  const setParts = db.prepare('UPDATE page SET first_part = ?, last_part = ? WHERE id = ?')
  const setArchived = db.prepare('UPDATE page SET archived = 1 WHERE key = ?')
  const archivedById = db.prepare('SELECT 1 FROM page WHERE id = ? AND archived = 1')
  const counts = db.prepare('SELECT reason, count(*) AS count FROM page GROUP BY reason').all() as unknown as {
    reason: LeftOut | null
    count: number
  }[]

  const recordOf = ({ id, url }: IndexedPage): PageRecord => {
    const { start, length } = spanOf.get(id) as unknown as { start: number; length: number }
    const bytes = Buffer.allocUnsafe(length)
    if (descriptor === undefined || readSync(descriptor, bytes, 0, length, start) < length) {
      throw shortFile(path, start, end)
    }
    const record = parseObject(bytes) as unknown as PageRecord | undefined
    if (record?.url !== url) throw shortFile(path, start, end)
    return record
  }

  return {
    count: counts.find(({ reason }) => reason === null)?.count ?? 0,
    leftOut: Object.fromEntries(counts.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count]]))),
    recordBytes,
    pages: () => walk('ORDER BY place'),
    *records(options) {
      const which = options?.archivedOnly === true ? 'AND archived = 1' : ''
      for (const page of walk(`${which} ORDER BY start`)) yield { page, record: recordOf(page) }
    },
    recordOf,
    find(url) {
      const key = source.keyOf(url)
      return key === undefined ? undefined : (byKey.get(key) as unknown as IndexedPage | undefined)
    },
    origins: (most) =>
      (
        db
          .prepare('SELECT DISTINCT origin FROM page WHERE reason IS NULL ORDER BY place LIMIT ?')
          .all(most) as unknown as { origin: string }[]
      ).map(({ origin }) => origin),
    noteArchived(url) {
      const key = source.keyOf(url)
      if (key !== undefined) setArchived.run(key)
    },
    isArchived: ({ id }) => archivedById.get(id) !== undefined,
    place: (page, firstPart, lastPart) => void setParts.run(firstPart, lastPart, page.id),
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
      db.close()
    },
  }
}

/** Returns how many bytes the last records have together. */
function readPages(
  db: DatabaseSync,
  source: ExportSource,
  path: string,
  end: number,
  reasonFor: (record: PageRecord) => LeftOut | undefined,
): number {
  const insert =
    db.prepare(`INSERT INTO page (key, url, origin, place, title, heading, start, length, visit, repeats, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET url = excluded.url, title = excluded.title, heading = excluded.heading,
      start = excluded.start, length = excluded.length, visit = excluded.visit, repeats = excluded.repeats, reason = excluded.reason`)
  db.exec('BEGIN')
  for (const { start, bytes } of committedLines(path, end)) {
    const record = parseObject(bytes) as unknown as PageRecord | undefined
    const key = typeof record?.url === 'string' ? source.keyOf(record.url) : undefined
    if (record === undefined || key === undefined) continue
    const { origin, place } = siteOrder(key)
    const repeats = record.duplicateOf === undefined ? undefined : source.keyOf(record.duplicateOf)
    insert.run(
      key,
      record.url,
      origin,
      place,
      record.title ?? null,
      record.headings?.[0]?.text ?? null,
      start,
      bytes.length,
      record.visit,
      repeats ?? null,
      reasonFor(record) ?? null,
    )
  }
  db.exec('COMMIT')
  return (db.prepare('SELECT coalesce(sum(length), 0) AS sum FROM page').get() as { sum: number }).sum
}

/** A page whose host has it no more, and said so at a later visit than the last that brought it. */
function dropGone(db: DatabaseSync, source: ExportSource): void {
  const drop = db.prepare("UPDATE page SET reason = 'gone' WHERE key = ? AND reason IS NULL AND visit < ?")
  const name = RECORD_FILES.revisit
  db.exec('BEGIN')
  for (const { bytes } of committedLines(join(source.folder, name), source.output[name] ?? 0)) {
    if (!bytes.includes('"retired":true')) continue
    const record = parseObject(bytes)
    const key = typeof record?.['url'] === 'string' ? source.keyOf(record['url']) : undefined
    if (key !== undefined && record?.['retired'] === true) drop.run(key, Number(record['visit']))
  }
  db.exec('COMMIT')
}

/** A duplicate goes where the page that it repeats stays; where that is not in the export, it is worth keeping. */
function dropDuplicates(db: DatabaseSync): void {
  interface Row {
    readonly id: number
    readonly repeats: string | null
  }
  // Decided for all before any is dropped, so that the order of the pages does not matter.
  db.exec('CREATE TABLE repetition (id INTEGER PRIMARY KEY, stands_for INTEGER); BEGIN')
  const duplicates = db.prepare('SELECT id, repeats FROM page WHERE repeats IS NOT NULL AND reason IS NULL')
  const next = db.prepare('SELECT id, repeats FROM page WHERE key = ? AND reason IS NULL')
  const insert = db.prepare('INSERT INTO repetition VALUES (?, ?)')
  for (const duplicate of duplicates.iterate() as Iterable<unknown> as Iterable<Row>) {
    let row: Row | undefined = duplicate
    for (let hops = 0; row !== undefined && row.repeats !== null && hops < MAX_HOPS; hops++) {
      row = next.get(row.repeats) as unknown as Row | undefined
    }
    if (row?.repeats === null) insert.run(duplicate.id, row.id)
  }
  db.exec(`UPDATE page SET reason = 'duplicate', stands_for = repetition.stands_for
    FROM repetition WHERE repetition.id = page.id; COMMIT`)
}
