/**
 * All pages of a crawl, by URL and in the order of their sites, in a temporary database that keeps them on disk when
 * they are many: memory stays the same for a hundred pages and for ten million.
 *
 * It keeps true: each URL is there once, with its last record, since a page that was fetched again has a record for each
 * change, and the workers of a fleet may each have had a visit; a page that is left out as a duplicate has a page in the
 * export that it repeats.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseObject, type FileLine } from '../base/index.ts'
import type { PageRecord } from '../model/index.ts'
import { RECORD_FILES } from '../sink/index.ts'
import { committedLines } from './committed-file.ts'
import { openRecordFiles } from './record-files.ts'
import { createSelector, type LeftOut, type Selection } from './selection.ts'
import { siteOrder } from './site-order.ts'
import type { ExportSource } from './source.ts'

/** Pages from a duplicate to the one that it repeats in the end. A longer chain, or a circle, is no duplicate of anything. */
const MAX_HOPS = 16

/** A page of the export. */
export interface IndexedPage {
  readonly id: number
  /** The folder that has its record and its content, by its place among those of the source. */
  readonly folder: number
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
  /** Records that were passed over, since there is another one of the same page and visit, fetched later. */
  readonly doubled: number
  /** The sum of the lengths of the records, which is more than any selection of their fields takes. */
  readonly recordBytes: number
  /** In the order of the site: by origin, then path by path, numbers by their value. */
  pages(): Iterable<IndexedPage>
  /** Records folder by folder, in the order in which they were saved; only those of pages that were noted, or all. */
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

const COLUMNS = 'id, folder, url, title, heading, first_part AS firstPart, last_part AS lastPart'

export function openPageIndex(source: ExportSource, selection: Selection): PageIndex {
  const db = new DatabaseSync('')
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
    CREATE TABLE page (id INTEGER PRIMARY KEY, key TEXT UNIQUE, url TEXT, origin TEXT, place TEXT, title TEXT, heading TEXT,
      folder INTEGER, start INTEGER, length INTEGER, visit INTEGER, fetched TEXT, doubled INTEGER NOT NULL DEFAULT 0, repeats TEXT, reason TEXT, stands_for INTEGER,
      archived INTEGER NOT NULL DEFAULT 0, first_part INTEGER NOT NULL DEFAULT 0, last_part INTEGER NOT NULL DEFAULT 0)`)
  const { recordBytes, doubled } = readPages(db, source, createSelector(selection))
  if (selection.textOnly) dropGone(db, source)
  if (selection.dropDuplicates) dropDuplicates(db)
  // What is noted from now on is one transaction that nobody needs to see committed.
  db.exec('CREATE INDEX in_order ON page (reason, place); BEGIN')
  const files = openRecordFiles(source)

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

  const recordOf = ({ id, folder, url }: IndexedPage): PageRecord => {
    const { start, length } = spanOf.get(id) as unknown as { start: number; length: number }
    const record = parseObject(files.read(folder, start, length)) as unknown as PageRecord | undefined
    if (record?.url !== url) throw files.damaged(folder, start)
    return record
  }

  return {
    count: counts.find(({ reason }) => reason === null)?.count ?? 0,
    leftOut: Object.fromEntries(counts.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count]]))),
    doubled,
    recordBytes,
    pages: () => walk('ORDER BY place'),
    *records(options) {
      const which = options?.archivedOnly === true ? 'AND archived = 1' : ''
      for (const page of walk(`${which} ORDER BY folder, start`)) yield { page, record: recordOf(page) }
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
      files.close()
      db.close()
    },
  }
}

/** Returns how many bytes the last records have together, and how many others there are of the same visits. */
function readPages(
  db: DatabaseSync,
  source: ExportSource,
  reasonFor: (record: PageRecord) => LeftOut | undefined,
): { recordBytes: number; doubled: number } {
  // Of one visit the later fetch stays. Whichever folder is read first, the same records do.
  const noteDouble = db.prepare('UPDATE page SET doubled = doubled + 1 WHERE key = ? AND visit = ?')
  const insert =
    db.prepare(`INSERT INTO page (key, url, origin, place, title, heading, folder, start, length, visit, fetched, repeats, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET url = excluded.url, title = excluded.title, heading = excluded.heading,
      folder = excluded.folder, start = excluded.start, length = excluded.length, visit = excluded.visit,
      fetched = excluded.fetched, doubled = iif(excluded.visit > visit, 0, doubled), repeats = excluded.repeats,
      reason = excluded.reason
    WHERE (excluded.visit, excluded.fetched) >= (visit, fetched)`)
  db.exec('BEGIN')
  for (const { folder, start, bytes } of linesOf(source, RECORD_FILES.page)) {
    const record = parseObject(bytes) as unknown as PageRecord | undefined
    const key = typeof record?.url === 'string' ? source.keyOf(record.url) : undefined
    if (record === undefined || key === undefined) continue
    const { origin, place } = siteOrder(key)
    const repeats = record.duplicateOf === undefined ? undefined : source.keyOf(record.duplicateOf)
    noteDouble.run(key, record.visit)
    insert.run(
      key,
      record.url,
      origin,
      place,
      record.title ?? null,
      record.headings?.[0]?.text ?? null,
      folder,
      start,
      bytes.length,
      record.visit,
      record.fetchedAt,
      repeats ?? null,
      reasonFor(record) ?? null,
    )
  }
  db.exec('COMMIT')
  const sums = 'SELECT coalesce(sum(length), 0) AS recordBytes, coalesce(sum(doubled), 0) AS doubled FROM page'
  return db.prepare(sums).get() as { recordBytes: number; doubled: number }
}

/** The committed lines of one of the files, folder by folder. */
function* linesOf({ folders }: ExportSource, name: string): Generator<FileLine & { readonly folder: number }> {
  for (const [folder, { path, output }] of folders.entries()) {
    for (const line of committedLines(join(path, name), output[name] ?? 0)) yield { ...line, folder }
  }
}

/** A page whose host has it no more, and said so at a later visit than the last that brought it. */
function dropGone(db: DatabaseSync, source: ExportSource): void {
  const drop = db.prepare("UPDATE page SET reason = 'gone' WHERE key = ? AND reason IS NULL AND visit < ?")
  db.exec('BEGIN')
  for (const { bytes } of linesOf(source, RECORD_FILES.revisit)) {
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
