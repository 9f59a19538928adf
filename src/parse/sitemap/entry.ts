/** What the readers of sitemaps, feeds and lists have in common: an entry, who hears of it, and how text is given to them. */
import type { NormalizedUrl } from '../../model/index.ts'

export interface Entry {
  readonly url: NormalizedUrl
  /** `sitemap` when the entry names a further sitemap, or a further part of a feed. */
  readonly kind: 'page' | 'sitemap'
  /** A W3C datetime, as written; a date in the manner of RSS has been turned into one. */
  readonly modified?: string
  /** Of a feed's entry, with white space collapsed. */
  readonly title?: string
}

export interface EntryHandler {
  entry(entry: Entry): void
  /** It is a feed, and not a sitemap. Comes before everything else. */
  feed?(): void
  /** The title of a feed. */
  title?(text: string): void
  /** A URL that a feed names besides those of its entries: its site, a link inside a text. */
  link?(url: NormalizedUrl): void
  /** Text of an entry in HTML, in which links may be found; it is kept only where this is wanted. */
  html?(html: string, base: NormalizedUrl): void
}

export interface PieceReader {
  write(piece: string): void
  end(): void
  /** Nothing more can come of it: it is none of these formats, or it has ended. */
  isOver(): boolean
}

/** Where references are resolved from: `base` is the file's own URL, or what an `xml:base` makes of it. */
export type Resolve = (reference: string, base?: NormalizedUrl) => NormalizedUrl | undefined

/** More text than this inside one element is not a URL that anyone could fetch, and no title. */
export const MAX_VALUE_CHARS = 65_536

const MAX_TITLE_CHARS = 1_000

/** White space collapsed, and cut; undefined when nothing is left. */
export function titleOf(text: string): string | undefined {
  const collapsed = text.slice(0, MAX_VALUE_CHARS).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS)
  return collapsed === '' ? undefined : collapsed.toWellFormed()
}
