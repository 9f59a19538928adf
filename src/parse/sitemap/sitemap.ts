/**
 * The URLs that a sitemap, a sitemap index, a feed (RSS, Atom, JSON Feed) or a plain list names (sitemaps.org).
 * It streams in constant memory and never throws over what the file says: whatever is broken ends the reading, and
 * what was read before stands. Which URLs a sitemap may speak for is left to the caller.
 */
import { LIMITS, type NormalizedUrl } from '../../model/index.ts'
import type { Entry } from './entry.ts'
import { createEntryReader } from './entry-reader.ts'
import { readSitemapText } from './sitemap-text.ts'

/** The protocol's own limits for one file. */
export const SITEMAP_MAX_ENTRIES = LIMITS['sitemap-entries'].value
export const SITEMAP_MAX_DECODED_BYTES = LIMITS['sitemap-size'].value
/** Characters of all URLs together. Absolute ones, as the protocol wants them, never have more; a long base may make them. */
const SITEMAP_MAX_LENGTH = LIMITS['sitemap-size'].value

export interface SitemapEntry {
  readonly loc: NormalizedUrl
  /** A W3C datetime, as written; a date in the manner of RSS has been turned into one. */
  readonly lastmod?: string
  /** `sitemap` when the entry names a further sitemap, or a further part of a feed. */
  readonly kind: 'page' | 'sitemap'
}

export interface SitemapOptions {
  /** Entries after this many are not read: 50,000 unless told. */
  readonly maxEntries?: number
  /** Unpacked bytes after this many are not read: 50 MiB unless told. */
  readonly maxDecodedBytes?: number
  /** The Content-Type header; its charset goes before the one that the file declares. */
  readonly contentType?: string | null
}

/** Can be iterated once. */
export interface SitemapReading extends AsyncIterable<SitemapEntry> {
  /** The file had more than a limit allows. Settled when the iteration has ended. */
  readonly truncated: boolean
}

export function parseSitemap(
  input: Uint8Array | AsyncIterable<Uint8Array>,
  url: string,
  options: SitemapOptions = {},
): SitemapReading {
  const maxEntries = options.maxEntries ?? SITEMAP_MAX_ENTRIES
  const text = readSitemapText(input, options.contentType ?? null, options.maxDecodedBytes ?? SITEMAP_MAX_DECODED_BYTES)
  let hasTooMany = false
  async function* entries(): AsyncGenerator<SitemapEntry, void, undefined> {
    if (maxEntries <= 0) return
    let count = 0
    let length = 0
    let ready: SitemapEntry[] = []
    const reader = createEntryReader(url, { entry: (entry) => void ready.push(sitemapEntry(entry)) })
    const take = (): SitemapEntry[] => {
      const taken: SitemapEntry[] = []
      for (const entry of ready) {
        length += entry.loc.length
        hasTooMany ||= count === maxEntries || length > SITEMAP_MAX_LENGTH
        if (hasTooMany) break
        taken.push(entry)
        count++
      }
      ready = []
      return taken
    }
    for await (const piece of text.pieces) {
      reader.write(piece)
      yield* take()
      if (hasTooMany || reader.isOver()) return
    }
    reader.end()
    yield* take()
  }
  const iterable = entries()
  return {
    [Symbol.asyncIterator]: () => iterable,
    get truncated() {
      return hasTooMany || text.truncated
    },
  }
}

function sitemapEntry({ url, modified, kind }: Entry): SitemapEntry {
  return modified === undefined ? { loc: url, kind } : { loc: url, lastmod: modified, kind }
}
