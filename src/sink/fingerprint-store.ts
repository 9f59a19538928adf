/** Where fingerprints and their URLs are kept: what a store must do, and the one that is gone when the process is. */

/** What is known of a page that was judged. Hashes are two signed words each. */
export interface FingerprintRecord {
  nearLow: number
  nearHigh: number
  /** Of the content of the original: tells the same from nearly the same. */
  digest: number
  urlLow: number
  urlHigh: number
  /** The place of the first record of this URL; 0 for this one. */
  first: number
  /** The place of the first record of the page that this one repeats; that of its own if it repeats none; 0 for this one. */
  original: number
  /** The text was not yet known, or not lately. */
  isNewText: boolean
  /** The URL was not yet known, or not lately. */
  isNewUrl: boolean
}

export interface FingerprintStore {
  /** Bytes that are written; what waits is not among them. */
  readonly length: number
  /** Returns the record's place: a number above 0 that grows from record to record. 0 if there is no room for it. */
  add(url: string, record: Readonly<FingerprintRecord>): number
  /** Undefined when it is forgotten. */
  urlAt(place: number): string | undefined
  /** Calls `take` for the youngest records, oldest first; the object is used again for the next. */
  load(take: (record: Readonly<FingerprintRecord>) => void): void
  /** Nothing waits any more. */
  write(): void
  /** What was written is on the disk. */
  sync(): void
  close(): void
}

/** Keeps the URLs of the youngest `keep` records. */
export function createMemoryStore(keep: number): FingerprintStore {
  const urls = new Map<number, string>()
  let latest = 0
  return {
    length: 0,
    add(url) {
      urls.set(++latest, url)
      urls.delete(latest - keep)
      return latest
    },
    urlAt: (place) => urls.get(place),
    load() {},
    write() {},
    sync() {},
    close() {},
  }
}
