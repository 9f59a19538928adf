/**
 * The database file of a crawl: its layout, its settings, and who may open it. SQLite's own locks say who works on a
 * crawl; they vanish with the process, so a kill leaves nothing to clean up.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { LAYOUT, TABLES } from './tables.ts'

/** How long to wait for somebody who only looks at the crawl, and for one who only asks whether it is worked on. */
const BUSY_MS = 5_000
const LOCK_MS = 1_000

/** SQLite's result code for a file that somebody else has locked. */
const BUSY = 5

/** Memory that SQLite may use for pages of the file, in KiB. */
const CACHE_KIB = 24_576
/** Small pages, since most changes are of one short row here and there. */
const PAGE_BYTES = 2_048
/** A longer log is copied into the file, while a commit waits for it: some 50 ms. */
const CHECKPOINT_PAGES = 8_000

/** Beside the file: the exact set of known URLs. */
export const SEEN_FOLDER = 'seen'

export interface CrawlDatabase {
  readonly db: DatabaseSync
  /** True when the file was made just now. */
  readonly created: boolean
  close(): void
}

/** Opens the crawl in this folder for work, making it if it is not there. One process at a time. */
export function openDatabase(folder: string): CrawlDatabase {
  return explained(folder, () => {
    makeFolder(folder)
    const lock = takeLock(folder)
    try {
      const db = new DatabaseSync(join(folder, 'crawl.db'), { timeout: BUSY_MS })
      db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
        PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      const created = prepareLayout(db, folder)
      return {
        db,
        created,
        close() {
          try {
            db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
          } finally {
            db.close()
            lock.close()
          }
        },
      }
    } catch (error) {
      lock.close()
      throw error
    }
  })
}

/** Opens the crawl in this folder to look at it, also while another process works on it. */
export function openDatabaseForReading(folder: string): DatabaseSync {
  return explained(folder, () => {
    const db = new DatabaseSync(join(folder, 'crawl.db'), { readOnly: true, timeout: BUSY_MS })
    checkLayout(db, folder)
    return db
  })
}

function takeLock(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, 'lock.db'), { timeout: LOCK_MS })
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    throw new TiptoeError('busy', `another process is working on the crawl in ${folder}`, {
      cause,
      hint: 'wait for it to end or stop it; tiptoe status shows how far it is',
    })
  }
}

/** Whether a process holds the lock of the crawl in this folder. Looking takes no lock that lasts. */
export function isLocked(folder: string): boolean {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, 'lock.db'), { readOnly: true })
    lock.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    // Without a lock file nobody has worked here, and what cannot be read is not being worked on by us.
    return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === BUSY
  } finally {
    lock?.close()
  }
}

/** True when the tables were made just now. */
export function prepareLayout(db: DatabaseSync, folder: string): boolean {
  const present = db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name = 'meta'").get() as { n: number }
  if (present.n > 0) {
    checkLayout(db, folder)
    return false
  }
  db.exec(`BEGIN; ${TABLES} INSERT INTO meta VALUES ('layout', ${LAYOUT}); COMMIT`)
  return true
}

function checkLayout(db: DatabaseSync, folder: string): void {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'layout'").get() as { value: number } | undefined
  if (row?.value === LAYOUT) return
  throw new TiptoeError('store', `the crawl in ${folder} has store layout ${row?.value ?? 'unknown'}, not ${LAYOUT}`, {
    hint: 'it was made by another version of tiptoe: use that version, or start over with --fresh',
  })
}

/** Runs `work`, and turns what SQLite or the file system throws into an error that says what to do. */
export function explained<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof TiptoeError) throw error
    const { code, errcode, message } = error as { code?: string; errcode?: number; message: string }
    // The low byte is SQLite's primary result code: 13 is FULL, 8 READONLY, 14 CANTOPEN, 11 CORRUPT, 26 NOTADB.
    const primary = errcode === undefined ? undefined : errcode & 0xff
    if (code === undefined) throw error
    const hint =
      primary === 13 || code === 'ENOSPC'
        ? 'the disk is full: make room, and the same command goes on where the crawl stood'
        : primary === 8 || primary === 14 || code === 'EACCES' || code === 'EROFS' || code === 'EPERM'
          ? 'the folder cannot be written to: check its permissions, or choose another with --out'
          : primary === 11 || primary === 26
            ? 'the file is damaged: restore it from a copy, or start over with --fresh'
            : 'the store could not do its work; nothing committed is lost'
    throw new TiptoeError('store', `the crawl in ${folder} cannot be kept: ${message}`, { cause: error, hint })
  }
}
