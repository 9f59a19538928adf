/**
 * Which URLs are known, by their fingerprints: first those met lately, then the exact set. Until a file of the set has
 * them, the fingerprints of new URLs are kept in the table `print`, so that nothing is lost with the process.
 */
import type { DatabaseSync } from 'node:sqlite'
import { createFingerprintCache, fingerprint, type FingerprintKey } from '../../base/index.ts'
import type { NormalizedUrl, UrlKey } from '../../model/index.ts'
import { keyOfNormalized } from '../../url/index.ts'
import { createSeenSet, type RunFiles } from './seen/index.ts'

/** Fingerprints of URLs met lately: most links of a page are links of the page before. 25 MB. */
const RECENT_URLS = 2 ** 21
/** New fingerprints that wait to be written at first; there is room for more when it is needed. */
const WAITING = 1_024

export interface KnownUrls {
  /** The id; 0 for none. */
  find(kind: 'page' | 'sitemap', url: NormalizedUrl): number
  /** One that `find` does not know. Ids grow by one. */
  add(kind: 'page' | 'sitemap', url: NormalizedUrl, id: number): void
  /** Writes what is new, and does some of the set's own work. To be called in every transaction. */
  work(): void
  committed(): void
  readonly falsePositives: number
  close(): void
}

export interface KnownUrlsOptions {
  readonly key: FingerprintKey
  readonly files: RunFiles
  readonly bloom: { readonly capacity: number; readonly falsePositiveRate: number }
  readonly recentUrls?: number | undefined
  readonly memtable?: number | undefined
}

/** The text that stands for a URL: a page and a sitemap of one address are two. */
export const printedText = (kind: 'page' | 'sitemap', key: UrlKey): string => (kind === 'page' ? key : `${kind} ${key}`)

export function createKnownUrls(db: DatabaseSync, options: KnownUrlsOptions): KnownUrls {
  const { key, files, bloom, recentUrls = RECENT_URLS, memtable } = options
  const statement = {
    insert: db.prepare('INSERT INTO print VALUES (?, ?)'),
    // The entry that holds the first one wanted may begin before it.
    drop: db.prepare('DELETE FROM print WHERE first < (SELECT max(first) FROM print WHERE first <= ? + 1)'),
    saveMeta: db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
  }
  const meta = (name: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(name) as { value: unknown } | undefined)?.value
  const seen = createSeenSet({
    files,
    capacity: bloom.capacity,
    falsePositiveRate: bloom.falsePositiveRate,
    manifest: meta('seen') as string | undefined,
    ...(memtable === undefined ? {} : { memtable }),
  })
  const recent = createFingerprintCache(recentUrls)
  const print = { hi: 0, lo: 0 }
  const mistakesBefore = (meta('false_positives') as number | undefined) ?? 0
  let mistakesSaved = mistakesBefore
  let printedKind: 'page' | 'sitemap' = 'page'
  let printedUrl = ''
  let unwritten = new Uint32Array(2 * WAITING)
  let unwrittenCount = 0
  let firstUnwritten = 0
  let manifestStored = false

  for (const { id, hi, lo } of youngPrints(db, seen.storedUpTo)) {
    print.hi = hi
    print.lo = lo
    seen.add(print, id)
  }

  const setPrint = (kind: 'page' | 'sitemap', url: NormalizedUrl): void => {
    // A URL is added right after it was not found.
    if (url === printedUrl && kind === printedKind) return
    printedKind = kind
    printedUrl = url
    fingerprint(printedText(kind, keyOfNormalized(url)), key, print)
  }

  const writeNew = (): void => {
    if (unwrittenCount === 0) return
    statement.insert.run(firstUnwritten, new Uint8Array(unwritten.buffer, 0, unwrittenCount * 8))
    unwrittenCount = 0
  }

  return {
    find(kind, url) {
      setPrint(kind, url)
      const met = recent.find(print)
      if (met !== 0) return met
      const id = seen.find(print)
      if (id !== 0) recent.put(print, id)
      return id
    },
    add(kind, url, id) {
      setPrint(kind, url)
      seen.add(print, id)
      recent.put(print, id)
      if (unwrittenCount === 0) firstUnwritten = id
      if (unwrittenCount * 2 === unwritten.length) {
        const longer = new Uint32Array(2 * unwritten.length)
        longer.set(unwritten)
        unwritten = longer
      }
      unwritten[unwrittenCount * 2] = print.hi
      unwritten[unwrittenCount * 2 + 1] = print.lo
      unwrittenCount += 1
    },
    work() {
      writeNew()
      const manifest = seen.work()
      const mistakes = mistakesBefore + seen.falsePositives
      if (mistakes !== mistakesSaved) statement.saveMeta.run('false_positives', mistakes)
      mistakesSaved = mistakes
      if (manifest === undefined) return
      statement.saveMeta.run('seen', manifest)
      statement.drop.run(seen.storedUpTo)
      manifestStored = true
    },
    committed() {
      if (manifestStored) seen.committed()
      manifestStored = false
    },
    get falsePositives() {
      return mistakesBefore + seen.falsePositives
    },
    close: () => seen.close(),
  }
}

/** The fingerprints of URLs younger than this one, from the table. */
export function* youngPrints(
  db: DatabaseSync,
  after: number,
): Iterable<{ readonly id: number; readonly hi: number; readonly lo: number }> {
  const entries = db.prepare('SELECT first, prints FROM print ORDER BY first').iterate()
  for (const { first, prints } of entries as Iterable<{ first: number; prints: Uint8Array }>) {
    const words = new Uint32Array(prints.slice().buffer)
    for (let index = 0; index < words.length; index += 2) {
      const id = first + index / 2
      if (id > after) yield { id, hi: words[index] as number, lo: words[index + 1] as number }
    }
  }
}
