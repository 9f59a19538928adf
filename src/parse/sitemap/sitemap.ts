/**
 * The URLs that a sitemap, a sitemap index, a feed (RSS 2.0, RSS 1.0, Atom) or a plain list names (sitemaps.org).
 * It streams in constant memory and never throws over what the file says: whatever is broken ends the reading, and
 * what was read before stands. Which URLs a sitemap may speak for is left to the caller.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { createResolver, hostKey, normalizeUrl } from '../../url/index.ts'
import { readSitemapText } from './sitemap-text.ts'
import { w3cOfRfc822 } from './rfc822-date.ts'
import { isW3cDatetime } from './w3c-datetime.ts'
import { createXmlScanner, xmlAttribute } from './xml-scanner.ts'

/** The protocol's own limits for one file. */
export const SITEMAP_MAX_ENTRIES = 50_000
export const SITEMAP_MAX_DECODED_BYTES = 50 * 1024 * 1024

export interface SitemapEntry {
  readonly loc: NormalizedUrl
  /** A W3C datetime, as written; a date in the manner of RSS has been turned into one. */
  readonly lastmod?: string
  /** `sitemap` when the entry names a further sitemap. */
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

/** Elements and text deeper than this are counted, not looked at: entries sit at depth 3 or 4. */
const MAX_DEPTH = 32

/** More text than this inside one element is not a URL that anyone could fetch. */
const MAX_VALUE_CHARS = 65_536

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
    let ready: SitemapEntry[] = []
    let reader: PieceReader | undefined
    let blank = ''
    const emit = (entry: SitemapEntry): void => void ready.push(entry)
    const take = (): SitemapEntry[] => {
      const taken = ready
      ready = []
      if (count + taken.length > maxEntries) {
        hasTooMany = true
        taken.length = maxEntries - count
      }
      count += taken.length
      return taken
    }
    for await (const piece of text.pieces) {
      if (reader === undefined) {
        // The first character that is not white space tells markup from a list.
        blank = (blank + piece).trimStart()
        if (blank === '') continue
        const resolve = resolverOf(url)
        reader = blank.startsWith('<') ? createXmlReader(resolve, emit) : createListReader(emit)
        reader.write(blank)
      } else reader.write(piece)
      yield* take()
      if (hasTooMany || reader.isOver()) return
    }
    reader?.end()
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

interface PieceReader {
  write(piece: string): void
  end(): void
  /** Nothing more can come of it: it is not a sitemap, or the sitemap has ended. */
  isOver(): boolean
}

type Resolve = (reference: string) => NormalizedUrl | undefined
type Emit = (entry: SitemapEntry) => void

/**
 * The protocol wants absolute URLs; relative ones are met, and resolved against the sitemap. So is the sitemap's own host
 * without a scheme before it, which is no path.
 */
function resolverOf(url: string): Resolve {
  const base = normalizeUrl(url)
  if (base === undefined) return (reference) => normalizeUrl(reference)
  const resolve = createResolver(base)
  const host = withoutWww(hostKey(base))
  return (reference) => {
    const start = withoutWww(reference.slice(0, host.length + 5).toLowerCase())
    const isHost = start.startsWith(host) && /^(?:$|[/?#:])/.test(start.slice(host.length))
    return resolve(isHost ? `//${reference}` : reference)
  }
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}

/** One absolute URL a line. Anything else on a line is not a URL: an error message must not become a link. */
function createListReader(emit: Emit): PieceReader {
  let held = ''
  let isTooLong = false
  const readLine = (line: string): void => {
    const trimmed = line.trim()
    const loc = /^https?:\/\//i.test(trimmed) ? normalizeUrl(trimmed) : undefined
    if (loc !== undefined) emit({ loc, kind: 'page' })
  }
  return {
    write(piece) {
      const lines = piece.split(/[\r\n]/)
      lines[0] = held + lines[0]
      held = lines.pop() as string
      for (const line of lines) {
        if (!isTooLong) readLine(line)
        isTooLong = false
      }
      if (held.length > MAX_VALUE_CHARS) {
        isTooLong = true
        held = ''
      }
    },
    end() {
      if (!isTooLong) readLine(held)
    },
    isOver: () => false,
  }
}

/** How one format names its entries. Names are local: a prefix counts only by being the same throughout. */
interface Format {
  readonly kind: SitemapEntry['kind']
  readonly entry: string
  readonly loc: string
  /** Elements that hold the date, the best first, with the prefix where it is not the entry's own. */
  readonly lastmod: readonly string[]
  /** Atom has the URL in an attribute. */
  readonly isHref?: true
  /** RSS may have the URL in the item's identity alone, whatever it says of `isPermaLink`. */
  readonly permalink?: string
  /** An entry with two URLs is two entries between which the tags are missing. */
  readonly mayRepeat?: true
}

const ATOM_DATES = ['updated', 'modified', 'published', 'issued']

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['urlset', { kind: 'page', entry: 'url', loc: 'loc', lastmod: ['lastmod'], mayRepeat: true }],
  ['sitemapindex', { kind: 'sitemap', entry: 'sitemap', loc: 'loc', lastmod: ['lastmod'], mayRepeat: true }],
  ['rss', { kind: 'page', entry: 'item', loc: 'link', lastmod: ['dc:date', 'pubDate'], permalink: 'guid' }],
  ['RDF', { kind: 'page', entry: 'item', loc: 'link', lastmod: ['dc:date'] }],
  ['feed', { kind: 'page', entry: 'entry', loc: 'link', lastmod: ATOM_DATES, isHref: true }],
])

function createXmlReader(resolve: Resolve, emit: Emit): PieceReader {
  /** Names of the open elements, outermost first, as far as `MAX_DEPTH`. */
  const open: string[] = []
  let tooDeep = 0
  let format: Format | undefined
  let prefix: string | undefined
  let isOver = false
  /** Depth of the entry that is being read; 0 outside of one. */
  let entryDepth = 0
  let loc: string | undefined
  /** A URL that counts only where there is no `loc`: an identity, or text without a tag around it. */
  let stopgap: string | undefined
  let lastmod: string | undefined
  /** Place of `lastmod` in the format's list of dates. */
  let lastmodRank = Infinity
  /** Text of the element that is being read, and of the elements inside it. */
  let value: string | undefined
  let innerValue = ''
  /** Text of the entry itself, where no tag is around it. */
  let bareText = ''

  const isLoc = (name: string): boolean => name === `${prefix}${format?.loc}`
  const isPermalink = (name: string): boolean => name === format?.permalink
  const rankOfDate = (name: string): number => {
    const dates = format?.lastmod ?? []
    const rank = dates.indexOf(name)
    return rank === -1 ? dates.indexOf(withoutPrefix(name, prefix)) : rank
  }
  const emitEntry = (): void => {
    const reference = loc ?? stopgap
    const url = reference === undefined ? undefined : resolve(reference.trim())
    if (url !== undefined && format !== undefined) {
      const kind = format.kind
      emit(lastmod === undefined ? { loc: url, kind } : { loc: url, lastmod, kind })
    }
    loc = undefined
    stopgap = undefined
    lastmod = undefined
    lastmodRank = Infinity
  }
  const finishEntry = (): void => {
    emitEntry()
    entryDepth = 0
    value = undefined
    bareText = ''
  }
  const takeStopgap = (text: string): void => {
    if (/^https?:\/\//i.test(text)) stopgap ??= text
  }
  const takeValue = (name: string, text: string): void => {
    if (isLoc(name)) {
      if (text === '') return
      if (loc !== undefined && format?.mayRepeat === true) emitEntry()
      loc ??= text
    } else if (isPermalink(name)) takeStopgap(text)
    else {
      const rank = rankOfDate(name)
      const date = isW3cDatetime(text) ? text : w3cOfRfc822(text)
      if (date === undefined || rank >= lastmodRank) return
      lastmod = date
      lastmodRank = rank
    }
  }
  const closeTop = (): void => {
    const name = open.pop() as string
    if (entryDepth === 0) return
    if (open.length === entryDepth && value !== undefined) {
      const text = value.trim()
      // Some wrap the URL once more: `<loc><url>…</url></loc>`.
      takeValue(name, text === '' ? innerValue.trim() : text)
      value = undefined
    }
    if (open.length >= entryDepth) return
    takeStopgap(bareText.trim())
    finishEntry()
  }
  const scanner = createXmlScanner({
    openTag(name, attributes) {
      if (isOver) return
      if (open.length >= MAX_DEPTH) {
        tooDeep++
        return
      }
      open.push(name)
      if (open.length === 1) {
        const colon = name.indexOf(':')
        format ??= FORMATS.get(name.slice(colon + 1))
        if (format === undefined) isOver = true
        // RSS 1.0 has its items in the default namespace, under a prefixed root.
        prefix ??= name.slice(colon + 1) === 'RDF' ? '' : name.slice(0, colon + 1)
        return
      }
      if (entryDepth === 0) {
        if (name === `${prefix}${format?.entry}`) entryDepth = open.length
        return
      }
      if (open.length !== entryDepth + 1) return
      if (format?.isHref === true && isLoc(name)) {
        const rel = xmlAttribute(attributes, 'rel') ?? 'alternate'
        if (rel === 'alternate') loc ??= xmlAttribute(attributes, 'href')
        return
      }
      if (!isLoc(name) && !isPermalink(name) && rankOfDate(name) === -1) return
      value = ''
      innerValue = ''
    },
    closeTag(name) {
      if (isOver) return
      if (tooDeep > 0) {
        tooDeep--
        return
      }
      // An end tag that fits an outer element closes what was left open in it; one that fits none is ignored.
      const depth = open.lastIndexOf(name)
      if (depth === -1) return
      while (open.length > depth) closeTop()
      if (open.length === 0) isOver = true
    },
    text(piece) {
      if (value === undefined) {
        const isBare = entryDepth > 0 && open.length === entryDepth
        if (isBare && bareText.length <= MAX_VALUE_CHARS) bareText += piece
        return
      }
      if (open.length === entryDepth + 1) {
        if (value.length <= MAX_VALUE_CHARS) value += piece
      } else if (innerValue.length <= MAX_VALUE_CHARS) innerValue += piece
    },
  })
  return {
    write: (piece) => scanner.write(piece),
    end() {
      scanner.end()
      // A file that is cut off may end after a whole `<loc>`.
      if (entryDepth > 0) finishEntry()
    },
    isOver: () => isOver,
  }
}

function withoutPrefix(name: string, prefix: string | undefined): string {
  return prefix !== undefined && prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name
}
