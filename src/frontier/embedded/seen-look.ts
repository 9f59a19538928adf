/**
 * A look into the exact set of known URLs, also while another process works on it: files may be merged and removed at
 * any time. So it goes by what is stored at the time of the first question, and tries again when a file is gone before
 * it is open. Whoever asks for an older moment leaves aside what is younger.
 */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fingerprint, type FingerprintKey } from '../../base/index.ts'
import type { UrlKey } from '../../model/index.ts'
import { openDatabaseForReading, SEEN_FOLDER } from './database.ts'
import { printedText, youngPrints } from './known-urls.ts'
import { createFolderRunFiles, createSeenSet, type RunFiles, type SeenSet } from './seen/index.ts'

/** A merge takes longer than opening does, so the second attempt is good for nearly always. */
const ATTEMPTS = 5

export interface SeenLook {
  /** The id of a URL; 0 for none. */
  find(kind: 'page' | 'sitemap', key: UrlKey): number
  /** URLs that are in the set. */
  count(): number
  close(): void
}

interface Opened {
  readonly key: FingerprintKey
  readonly seen: SeenSet
  /** Those that no file has yet: the lower halves with their ids, by the upper half. */
  readonly young: ReadonlyMap<number, readonly number[]>
  readonly youngCount: number
}

export function createSeenLook(folder: string): SeenLook {
  let opened: Opened | undefined
  const open = (): Opened => (opened ??= openSet(folder))
  const print = { hi: 0, lo: 0 }
  return {
    find(kind, url) {
      const { key, seen, young } = open()
      fingerprint(printedText(kind, url), key, print)
      const group = young.get(print.hi) ?? []
      for (let index = 0; index < group.length; index += 2) if (group[index] === print.lo) return group[index + 1] ?? 0
      return seen.find(print)
    },
    count() {
      const { seen, youngCount } = open()
      return seen.storedUpTo + youngCount
    },
    close: () => opened?.seen.close(),
  }
}

function openSet(folder: string): Opened {
  for (let attempt = 1; ; attempt++) {
    const db = openDatabaseForReading(folder)
    try {
      db.exec('BEGIN')
      return readSet(db, folder)
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    } finally {
      db.close()
    }
  }
}

function readSet(db: DatabaseSync, folder: string): Opened {
  const meta = (key: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: unknown } | undefined)?.value
  const seen = createSeenSet({
    files: forReading(createFolderRunFiles(join(folder, SEEN_FOLDER))),
    capacity: Number.MAX_SAFE_INTEGER,
    falsePositiveRate: 0.5,
    manifest: meta('seen') as string | undefined,
    memtable: 1,
  })
  const young = new Map<number, number[]>()
  let youngCount = 0
  for (const { id, hi, lo } of youngPrints(db, seen.storedUpTo)) {
    const group = young.get(hi)
    if (group === undefined) young.set(hi, [lo, id])
    else group.push(lo, id)
    youngCount += 1
  }
  const key = JSON.parse((meta('fingerprint_key') as string | undefined) ?? '{"a":0,"b":0}') as FingerprintKey
  return { key, seen, young, youngCount }
}

/** The files belong to somebody else: nothing is made, and nothing is tidied up. */
function forReading(files: RunFiles): RunFiles {
  return {
    place: files.place,
    list: () => [],
    create() {
      throw new Error('a set that is only looked at is not written to')
    },
    open: (name) => files.open(name),
    remove() {},
  }
}
