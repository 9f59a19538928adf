/**
 * A feed whose bytes are at hand: RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed. Its entries, and what else it names: its site,
 * its further parts, and the links in the text of its entries, as these may be all that a feed has to tell. It reads by
 * the same reader as `parseSitemap`, never throws, and is linear in the bytes.
 */
import { TextDecoder } from 'node:util'
import { LIMITS, type NormalizedUrl } from '../../model/index.ts'
import { extractLinks } from '../html/extract.ts'
import { MAX_LINKS, MAX_LINKS_LENGTH } from '../html/links.ts'
import { createEntryReader } from './entry-reader.ts'
import { encodingOfXml } from './sitemap-text.ts'

/** Entries after this many are not kept: feeds have tens, archives some thousands. */
export const FEED_MAX_ENTRIES = LIMITS['feed-entries'].value

/** When there is no room for a URL more, the next piece is not read: each entry costs as much as its base is long. */
const PIECE_LENGTH = 64 * 1024

export interface FeedEntry {
  readonly url: NormalizedUrl
  readonly title?: string
  /** A W3C datetime: when it was last modified, or else published. */
  readonly modified?: string
}

/** There were more than are kept. */
export type FeedLimit = 'feed-entries' | 'links' | 'links-size'

export interface Feed {
  readonly title: string | null
  /** In the order of the feed. */
  readonly entries: readonly FeedEntry[]
  /** What else it names, each URL once and none that is an entry's; links that say `nofollow` are left out. */
  readonly links: readonly NormalizedUrl[]
  readonly limits: readonly FeedLimit[]
}

/** Null when the bytes are no feed. */
export function parseFeed(bytes: Uint8Array, contentType: string | null, url: NormalizedUrl): Feed | null {
  const text = new TextDecoder(encodingOfXml(bytes, contentType)).decode(bytes)
  const entries: FeedEntry[] = []
  const links = new Set<NormalizedUrl>()
  const limits = new Set<FeedLimit>()
  let isFeed = false
  let title: string | null = null
  /** Of all URLs together. */
  let length = 0
  const fits = (named: NormalizedUrl): boolean => {
    if (length + named.length > MAX_LINKS_LENGTH) limits.add('links-size')
    else length += named.length
    return !limits.has('links-size')
  }
  const addLink = (link: NormalizedUrl): void => {
    if (links.has(link)) return
    if (links.size >= MAX_LINKS) limits.add('links')
    else if (fits(link)) links.add(link)
  }
  const reader = createEntryReader(url, {
    feed() {
      isFeed = true
    },
    title(named) {
      title ??= named
    },
    entry({ kind, ...entry }) {
      if (kind === 'sitemap') addLink(entry.url)
      else if (entries.length >= FEED_MAX_ENTRIES) limits.add('feed-entries')
      else if (fits(entry.url)) entries.push(entry)
    },
    link: addLink,
    html(html, base) {
      if (limits.has('links') || limits.has('links-size')) return
      for (const link of extractLinks(html, base)) if (!link.nofollow) addLink(link.url)
    },
  })
  for (let at = 0; at < text.length && !limits.has('links-size'); at += PIECE_LENGTH) {
    reader.write(text.slice(at, at + PIECE_LENGTH))
  }
  reader.end()
  if (!isFeed) return null
  for (const entry of entries) links.delete(entry.url)
  links.delete(url)
  return { title, entries, links: [...links], limits: [...limits] }
}
