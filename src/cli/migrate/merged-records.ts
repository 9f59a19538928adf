/**
 * The records of several folders as those of one crawl: each visit and each end of a URL once, in the order of time, so
 * that what a page was found on comes before it. Of two records of the same thing the later one counts.
 *
 * Where each record lies is kept in a temporary database, which is on disk when it is long; the records themselves are
 * read again when their turn comes.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createLru, fileLines, parseObject } from '../../base/index.ts'
import type { SourceFolder } from '../../export/index.ts'
import {
  TiptoeError,
  type FailRecord,
  type PageRecord,
  type RevisitRecord,
  type SkipRecord,
} from '../../model/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { keyOfNormalized, normalizeUrl } from '../../url/index.ts'

/** Files that are open at once. */
const OPEN_FILES = 64

export type Kind = keyof typeof RECORD_FILES

export type MergedRecord = {
  /** Of the folder that it is in. */
  readonly folder: string
  /** Records of visits that its URL has in all. */
  readonly visits: number
  /** Whether it is the last of the page's records that have content. */
  readonly isNewest: boolean
} & (
  | { readonly kind: 'page'; readonly record: PageRecord }
  | { readonly kind: 'revisit'; readonly record: RevisitRecord }
  | { readonly kind: 'skip'; readonly record: SkipRecord }
  | { readonly kind: 'fail'; readonly record: FailRecord }
)

export interface MergedRecords {
  readonly count: number
  /** Records that were left out, since another one tells of the same. */
  readonly doubled: number
  /** From this place in their order on. */
  from(place: number): Iterable<MergedRecord>
  close(): void
}

const KINDS = Object.keys(RECORD_FILES) as Kind[]

export function mergeRecords(folders: readonly SourceFolder[]): MergedRecords {
  const db = new DatabaseSync('')
  // A visit has its number; an end has none, and there is one at most.
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
    CREATE TABLE record (key TEXT, visit INTEGER, time INTEGER, kind INTEGER, folder INTEGER, start INTEGER, bytes INTEGER,
      PRIMARY KEY (key, visit)) WITHOUT ROWID; BEGIN`)
  const insert = db.prepare(
    `INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET time = excluded.time,
       kind = excluded.kind, folder = excluded.folder, start = excluded.start, bytes = excluded.bytes
     WHERE excluded.time > record.time`,
  )
  let read = 0
  folders.forEach(({ path, output }, folder) => {
    KINDS.forEach((kind, index) => {
      const name = RECORD_FILES[kind]
      for (const line of fileLines(join(path, name), output[name] ?? 0)) {
        const record = line.complete ? parseObject(line.bytes) : undefined
        const url = typeof record?.['url'] === 'string' ? normalizeUrl(record['url']) : undefined
        if (record === undefined || url === undefined) throw damaged(path, name, line.number)
        const isVisit = kind === 'page' || kind === 'revisit'
        const visit = isVisit ? Number(record['visit'] ?? 1) : 0
        insert.run(keyOfNormalized(url), visit, timeOf(record), index, folder, line.start, line.bytes.length)
        read += 1
      }
    })
  })
  db.exec('CREATE INDEX record_time ON record (time, key, visit)')
  const { count } = db.prepare('SELECT count(*) AS count FROM record').get() as { count: number }

  const files = createLru<string, number>(OPEN_FILES, (_path, descriptor) => closeSync(descriptor))
  const readAt = (path: string, start: number, length: number): Buffer => {
    let descriptor = files.get(path)
    if (descriptor === undefined) files.set(path, (descriptor = openSync(path, 'r')))
    const bytes = Buffer.allocUnsafe(length)
    readSync(descriptor, bytes, 0, length, start)
    return bytes
  }
  const page = KINDS.indexOf('page')
  const ordered = `SELECT visit, kind, folder, start, bytes,
      (SELECT count(*) FROM record AS other WHERE other.key = record.key AND other.visit > 0) AS visits,
      NOT EXISTS (SELECT 1 FROM record AS other WHERE other.key = record.key AND other.kind = ${page}
        AND other.visit > record.visit) AS newest
    FROM record ORDER BY time, key, visit LIMIT -1 OFFSET ?`
  return {
    count,
    doubled: read - count,
    *from(place) {
      for (const row of db.prepare(ordered).iterate(place) as Iterable<Place>) {
        const { path } = folders[row.folder] as SourceFolder
        const kind = KINDS[row.kind] as Kind
        const record = parseObject(readAt(join(path, RECORD_FILES[kind]), row.start, row.bytes))
        if (record === undefined) throw damaged(path, RECORD_FILES[kind], row.start)
        yield { kind, record, folder: path, visits: row.visits, isNewest: row.newest === 1 } as unknown as MergedRecord
      }
    },
    close() {
      while (files.size > 0) files.dropOldest()
      db.close()
    },
  }
}

interface Place {
  readonly visit: number
  readonly kind: number
  readonly folder: number
  readonly start: number
  readonly bytes: number
  readonly visits: number
  readonly newest: number
}

/** When it happened: when the page was asked for, or when it was decided. */
function timeOf(record: Readonly<Record<string, unknown>>): number {
  const time = Date.parse(String(record['fetchedAt'] ?? record['at'] ?? record['checkedAt']))
  return Number.isNaN(time) ? 0 : time
}

function damaged(folder: string, name: string, at: number): TiptoeError {
  return new TiptoeError('output', `${join(folder, name)} has no whole record at ${at}`, {
    hint: 'tiptoe audit says what is wrong with the folder',
  })
}
