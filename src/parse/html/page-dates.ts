/**
 * When a page was published and last modified, as it says itself: by meta elements (Open Graph, Dublin Core, and the
 * older names), JSON-LD, and `<time>` or `<meta>` with `itemprop`. What is most surely about the page itself goes first;
 * of two from the same kind of place, the first. Dates in running text are not looked for.
 */
import { statedDate } from '../dates/stated-date.ts'
import { DATETIME, HTTP_EQUIV, ITEMPROP, NAME, PROPERTY, PUBDATE, type Attributes } from './html-vocabulary.ts'
import { datesOfJsonLd } from './json-ld.ts'

export interface PageDates {
  readonly published: string | null
  readonly modified: string | null
}

export interface PageDateCollector {
  /** A `<meta>` that has a content. */
  meta(attributes: Attributes, content: string): void
  time(attributes: Attributes): void
  /** The text of a JSON-LD block. */
  jsonLd(json: string): void
  result(): PageDates
}

type Kind = keyof PageDates

/** Names of meta elements, in lower case, the surest first. JSON-LD and `itemprop` stand among them. */
const JSON_LD = 'json-ld'
const PLACES: Readonly<Record<Kind, readonly string[]>> = {
  published: [
    'article:published_time',
    'og:article:published_time',
    JSON_LD,
    'itemprop datepublished',
    'time pubdate',
    'dcterms.issued',
    'dc.date.issued',
    'dcterms.created',
    'dc.date.created',
    'citation_publication_date',
    'pubdate',
    'publish-date',
    'publication_date',
    'date',
    'dcterms.date',
    'dc.date',
  ],
  modified: [
    'article:modified_time',
    'og:article:modified_time',
    'og:updated_time',
    JSON_LD,
    'itemprop datemodified',
    'dcterms.modified',
    'dc.date.modified',
    'last-modified',
    'lastmod',
    'revised',
  ],
}

/** Places in a list; JSON-LD has ranks of its own between two of them. */
const RANKS = new Map<string, readonly [Kind, number]>(
  (['published', 'modified'] as const).flatMap((kind) =>
    PLACES[kind].map((place, rank): [string, readonly [Kind, number]] => [keyOf(kind, place), [kind, rank]]),
  ),
)

function keyOf(kind: Kind, place: string): string {
  return place === JSON_LD ? `${JSON_LD} ${kind}` : place
}

export function createPageDates(): PageDateCollector {
  const best: Record<Kind, { date: string | null; rank: number }> = {
    published: { date: null, rank: Infinity },
    modified: { date: null, rank: Infinity },
  }
  const take = (place: string, text: string, within = 0): void => {
    const known = RANKS.get(place)
    if (known === undefined) return
    const [kind, placeRank] = known
    const rank = placeRank + within
    if (rank >= best[kind].rank) return
    const date = statedDate(text)
    if (date !== undefined) best[kind] = { date, rank }
  }
  return {
    meta(attributes, content) {
      for (const attribute of [PROPERTY, NAME, HTTP_EQUIV]) {
        const name = attributes.get(attribute)
        if (name !== undefined && name.length < 64) take(name.trim().toLowerCase(), content)
      }
      takeItemprop(attributes, content, take)
    },
    time(attributes) {
      const text = attributes.get(DATETIME)
      if (text === undefined) return
      if (attributes.has(PUBDATE)) take('time pubdate', text)
      takeItemprop(attributes, text, take)
    },
    jsonLd(json) {
      for (const { kind, text, rank } of datesOfJsonLd(json)) take(`${JSON_LD} ${kind}`, text, rank / 4)
    },
    result: () => ({ published: best.published.date, modified: best.modified.date }),
  }
}

function takeItemprop(attributes: Attributes, text: string, take: (place: string, text: string) => void): void {
  const itemprop = attributes.get(ITEMPROP)
  if (itemprop === undefined || itemprop.length >= 64) return
  for (const word of itemprop.toLowerCase().split(/\s+/)) take(`itemprop ${word}`, text)
}
