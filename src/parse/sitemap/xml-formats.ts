/**
 * How sitemaps and feeds name their entries, by their first element. Names are local: a prefix counts only by being the
 * same throughout, because sitemaps with a wrong namespace, or none, are met as often as right ones.
 */

export interface XmlFormat {
  readonly kind: 'page' | 'sitemap'
  readonly entry: string
  readonly loc: string
  /** Elements that hold the date, the best first, with the prefix where it is not the entry's own. */
  readonly dates: readonly string[]
  /** Atom has the URL in an attribute. */
  readonly isHref?: true
  /** RSS may have the URL in the item's identity alone, whatever it says of `isPermaLink`. */
  readonly permalink?: string
  /** An entry with two URLs is two entries between which the tags are missing. */
  readonly mayRepeat?: true
  /** Present for feeds alone. */
  readonly feed?: {
    /** How deep the feed's own title and link stand. */
    readonly depth: number
    /** Elements with text in HTML. */
    readonly html: readonly string[]
  }
}

const ATOM_DATES = ['updated', 'modified', 'published', 'issued']
const RSS_HTML = ['description', 'content:encoded']

const FORMATS: ReadonlyMap<string, XmlFormat> = new Map([
  ['urlset', { kind: 'page', entry: 'url', loc: 'loc', dates: ['lastmod'], mayRepeat: true }],
  ['sitemapindex', { kind: 'sitemap', entry: 'sitemap', loc: 'loc', dates: ['lastmod'], mayRepeat: true }],
  [
    'rss',
    {
      kind: 'page',
      entry: 'item',
      loc: 'link',
      dates: ['dc:date', 'pubDate'],
      permalink: 'guid',
      feed: { depth: 3, html: RSS_HTML },
    },
  ],
  ['RDF', { kind: 'page', entry: 'item', loc: 'link', dates: ['dc:date'], feed: { depth: 3, html: RSS_HTML } }],
  [
    'feed',
    {
      kind: 'page',
      entry: 'entry',
      loc: 'link',
      dates: ATOM_DATES,
      isHref: true,
      feed: { depth: 2, html: ['content', 'summary'] },
    },
  ],
])

/** The format of a first element, and the prefix of the elements that count in it; undefined for any other file. */
export function xmlFormatOf(root: string): { format: XmlFormat; prefix: string } | undefined {
  const colon = root.indexOf(':')
  const local = root.slice(colon + 1)
  const format = FORMATS.get(local)
  if (format === undefined) return undefined
  // RSS 1.0 has its items in the default namespace, under a prefixed root.
  return { format, prefix: local === 'RDF' ? '' : root.slice(0, colon + 1) }
}
