/**
 * A feed whose bytes are at hand: RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed. Its entries, and what else it names: its site,
 * its further parts, and the links in the text of its entries, as these may be all that a feed has to tell. It reads by
 * the same reader as `parseSitemap`, never throws, and is linear in the bytes.
 */
import { TextDecoder } from 'node:util'
import { LIMITS, type NormalizedUrl } from '../../model/index.ts'
import { extractLinks } from '../html/extract.ts'
import { MAX_LINKS } from '../html/links.ts'
import { createEntryReader } from './entry-reader.ts'
import { encodingOfXml } from './sitemap-text.ts'

/** Entries after this many are not kept: feeds have tens, archives some thousands. */
export const FEED_MAX_ENTRIES = LIMITS['feed-entries'].value

export interface FeedEntry {
  readonly url: NormalizedUrl
  readonly title?: string
  /** A W3C datetime: when it was last modified, or else published. */
  readonly modified?: string
}

/** `feed-entries`, `links`: there were more than are kept. */
export type FeedLimit = 'feed-entries' | 'links'

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
  const addLink = (link: NormalizedUrl): void => {
    if (links.size < MAX_LINKS) links.add(link)
    else if (!links.has(link)) limits.add('links')
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
      else if (entries.length < FEED_MAX_ENTRIES) entries.push(entry)
      else limits.add('feed-entries')
    },
    link: addLink,
    html(html, base) {
      if (!limits.has('links')) for (const link of extractLinks(html, base)) if (!link.nofollow) addLink(link.url)
    },
  })
  reader.write(text)
  reader.end()
  if (!isFeed) return null
  for (const entry of entries) links.delete(entry.url)
  links.delete(url)
  return { title, entries, links: [...links], limits: [...limits] }
}
