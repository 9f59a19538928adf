/**
 * The records of several folders, entered into one book: what each URL has of visits and of an end, over all workers
 * together. A URL that has two records of one visit, or two of an end, is found while they are entered.
 *
 * The book is a temporary database, which is kept on disk when it is long.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSystemDisk, fileLines, parseObject } from '../../base/index.ts'
import type { SourceFolder } from '../../export/index.ts'
import type { Change, HostKey, NormalizedUrl, Origin } from '../../model/index.ts'
import { RECORD_FILES } from '../../sink/index.ts'
import { hostKey, keyOfNormalized, normalizeUrl, originOf, registrableDomain } from '../../url/index.ts'
import { createContentCheck } from './content-check.ts'
import type { Findings } from './findings.ts'
import type { RecordCounts } from './records-audit.ts'
import { IN_ORDER, timesOf } from './visit.ts'

type Kind = keyof typeof RECORD_FILES
type Parsed = Readonly<Record<string, unknown>>

const REASON_FIELD = { skip: 'reason', fail: 'error' } as const

/** A URL as its records tell of it. */
export interface BookedUrl {
  readonly id: number
  readonly url: NormalizedUrl
  readonly visits: number
  /** `skip` or `fail`; `page` for one that was saved and did not end otherwise since. */
  readonly end: 'page' | 'skip' | 'fail'
  readonly reason: string | null
}

/** A visit, in the order in which its host's visits began. */
export interface BookedVisit {
  readonly id: number
  readonly host: HostKey
  readonly origin: Origin
  readonly start: number
  readonly answer: number
  readonly finish: number
}

export interface RecordBook {
  readonly counts: RecordCounts
  readonly totals: { readonly bytes: number; readonly tokens: number }
  readonly revisits: Readonly<Record<Exclude<Change, 'new'>, number>>
  urls(): Iterable<BookedUrl>
  urlOf(id: number): string
  hosts(): Iterable<HostKey>
  visitsOf(host: HostKey): Iterable<BookedVisit>
  /** All visits, those of one domain together and in the order in which they began. */
  visitsByDomain(): Iterable<BookedVisit & { readonly domain: string }>
  close(): void
}

export function readRecords(folders: readonly SourceFolder[], findings: Findings): RecordBook {
  const db = new DatabaseSync('')
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
    CREATE TABLE url (id INTEGER PRIMARY KEY, key TEXT UNIQUE, url TEXT, ended TEXT, reason TEXT);
    CREATE TABLE visit (url INTEGER, n INTEGER, host TEXT, origin TEXT, start INTEGER, answer REAL, finish REAL,
      PRIMARY KEY (url, n)) WITHOUT ROWID; BEGIN`)
  const statement = {
    find: db.prepare('SELECT id, ended FROM url WHERE key = ?'),
    add: db.prepare('INSERT INTO url (key, url) VALUES (?, ?)'),
    end: db.prepare('UPDATE url SET ended = ?, reason = ? WHERE id = ?'),
    visit: db.prepare('INSERT OR IGNORE INTO visit VALUES (?, ?, ?, ?, ?, ?, ?)'),
  }
  const counts: RecordCounts = { page: 0, revisit: 0, skip: 0, fail: 0, content: 0, beyond: 0 }
  const revisits: Record<Exclude<Change, 'new'>, number> = { changed: 0, unchanged: 0, gone: 0, missed: 0 }
  const totals = { bytes: 0, tokens: 0 }

  for (const folder of folders) enterFolder(folder)
  db.exec(`CREATE INDEX visit_host ON visit (host, ${IN_ORDER})`)
  return {
    counts,
    totals,
    revisits,
    urls: () =>
      db
        .prepare(
          `SELECT id, url, (SELECT count(*) FROM visit WHERE visit.url = url.id) AS visits,
             coalesce(ended, 'page') AS "end", reason FROM url ORDER BY id`,
        )
        .iterate() as Iterable<never>,
    urlOf: (id) => (db.prepare('SELECT url FROM url WHERE id = ?').get(id) as { url: string } | undefined)?.url ?? '',
    *hosts() {
      const sql = 'SELECT DISTINCT host FROM visit WHERE start IS NOT NULL ORDER BY host'
      for (const { host } of db.prepare(sql).iterate() as Iterable<{ host: HostKey }>) yield host
    },
    visitsOf: (host) =>
      db
        .prepare(
          `SELECT url AS id, host, origin, start, answer, finish FROM visit
           WHERE host = ? AND start IS NOT NULL ORDER BY ${IN_ORDER}`,
        )
        .iterate(host) as Iterable<never>,
    *visitsByDomain() {
      db.exec('CREATE TABLE IF NOT EXISTS member (host TEXT PRIMARY KEY, domain TEXT) WITHOUT ROWID')
      const insert = db.prepare('INSERT OR IGNORE INTO member VALUES (?, ?)')
      for (const host of this.hosts()) insert.run(host, registrableDomain(host))
      yield* db
        .prepare(
          `SELECT url AS id, visit.host, origin, start, answer, finish, domain FROM visit JOIN member USING (host)
           WHERE start IS NOT NULL ORDER BY domain, ${IN_ORDER}`,
        )
        .iterate() as Iterable<never>
    },
    close: () => db.close(),
  }

  function enterFolder({ path: folder, output }: SourceFolder): void {
    const disk = createSystemDisk()
    for (const name of new Set([...Object.values(RECORD_FILES), ...Object.keys(output)])) {
      const committed = output[name] ?? 0
      const size = disk.sizeOf(join(folder, name)) ?? 0
      if (size < committed) findings.add('short-file', `${folder}/${name} has ${size} bytes, not ${committed}`)
      if (size > committed) counts.beyond += size - committed
    }
    const checkContent = createContentCheck(folder)
    for (const kind of Object.keys(RECORD_FILES) as Kind[]) {
      const name = RECORD_FILES[kind]
      for (const line of fileLines(join(folder, name), output[name] ?? 0)) {
        const where = `${folder}/${name} line ${line.number}`
        const record = line.complete ? parseObject(line.bytes) : undefined
        const url = typeof record?.['url'] === 'string' ? normalizeUrl(record['url']) : undefined
        if (record === undefined || url === undefined) {
          findings.add('torn-record', where)
          continue
        }
        counts[kind] += 1
        enter(kind, url, record, `${where}: ${url}`)
        if (kind !== 'page') continue
        const problem = checkContent(url, record['markdownPath'], 'md') ?? checkContent(url, record['htmlPath'], 'html')
        if (problem !== undefined) findings.add('content', `${folder}: ${url}: ${problem}`)
        else if (record['markdownPath'] !== undefined) counts.content += 1
      }
    }
  }

  function enter(kind: Kind, url: NormalizedUrl, record: Parsed, where: string): void {
    const key = keyOfNormalized(url)
    let row = statement.find.get(key) as { id: number; ended: string | null } | undefined
    row ??= { id: Number(statement.add.run(key, url).lastInsertRowid), ended: null }
    if (kind === 'skip' || kind === 'fail') return end(row, kind, String(record[REASON_FIELD[kind]]), where)
    const times = timesOf(record)
    const start = times?.startedAt ?? null
    const visit = Number(record['visit'] ?? 1)
    const { changes } = statement.visit.run(
      row.id,
      visit,
      hostKey(url),
      originOf(url),
      start,
      times === undefined ? null : times.startedAt + times.answerMs,
      times === undefined ? null : times.startedAt + times.durationMs,
    )
    if (changes === 0) return findings.add('doubled-record', where)
    if (times === undefined && kind === 'page') findings.add('torn-record', `${where} has no times`)
    if (record['retired'] === true) end(row, 'skip', 'gone', where)
    totals.bytes += Number(record['bytes'] ?? 0)
    totals.tokens += Number(record['tokens'] ?? 0)
    const change = record['change'] as Change
    if (change !== 'new') revisits[change] += 1
  }

  function end(row: { id: number; ended: string | null }, kind: 'skip' | 'fail', reason: string, where: string): void {
    if (row.ended !== null) return findings.add('doubled-record', where)
    statement.end.run(kind, reason, row.id)
  }
}
