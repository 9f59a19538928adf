/**
 * The contract of reading: what a document is read from, and what it comes to. Both are plain data that crosses from
 * one thread to another cheaply: a few long strings and arrays of strings, no object for each link.
 */
import type {
  ContentSample,
  Heading,
  NormalizedUrl,
  RobotsDirectives,
  TdmReservation,
  LimitName,
  UrlNumbering,
} from '../model/index.ts'

/** Header fields that have a say in how a document is read, in lower case. */
export const TELLING_HEADERS = [
  'content-type',
  'x-content-type-options',
  'content-language',
  'link',
  'x-robots-tag',
  'tdm-reservation',
  'tdm-policy',
] as const

/** Values of those fields, each as it was sent; a field that was not sent is absent. */
export type TellingHeaders = Readonly<Partial<Record<(typeof TELLING_HEADERS)[number], readonly string[]>>>

export interface PageInput {
  readonly kind: 'page'
  /** Where it came from. */
  readonly url: NormalizedUrl
  readonly body: Uint8Array
  readonly headers: TellingHeaders
  /** The name by which directives know us. */
  readonly productToken: string
  /** Links are wanted whatever the page and its links ask of robots. */
  readonly followNofollow: boolean
  readonly wants: {
    /** What the page says. Without it there is no Markdown, no heading, token or fingerprint. */
    readonly content: boolean
    readonly markdown: boolean
    /** The sample by which traps are told: what the page says is read for it, be that wanted or not. */
    readonly sample: boolean
    /** All links of the page, those not to be followed among them. */
    readonly outlinks: boolean
  }
}

/** Whether what a page says is read at all: that is what takes long, and memory. */
export const readsContent = ({ wants }: PageInput): boolean => wants.content || wants.sample

export interface SitemapInput {
  readonly kind: 'sitemap'
  readonly url: NormalizedUrl
  readonly body: Uint8Array
  readonly headers: TellingHeaders
  /** The hash of a file whose entries are known: none are read from the same one again. */
  readonly knownHash: string | null
}

/** What a page says, where the rest of it was read already. */
export interface ContentInput {
  readonly kind: 'content'
  readonly url: NormalizedUrl
  readonly body: Uint8Array
  /** Markdown and plain text are text. */
  readonly media: 'html' | 'text'
  /** The encoding's name in the Encoding Standard, in lower case. */
  readonly charset: string
  readonly title: string | null
  readonly wants: Pick<PageInput['wants'], 'markdown' | 'sample'>
}

export type DocumentInput = PageInput | SitemapInput | ContentInput

export interface ContentReading {
  readonly kind: 'content'
  readonly headings: readonly Heading[]
  /** How it was made, and the hex digest: of the Markdown, or of the body where there is none or it was not wanted. */
  readonly contentHash: string
  /** By which near-duplicates are told, 16 hex digits; null where there is too little text to tell. */
  readonly near: string | null
  /** 16 hex digits; null where there is no text. */
  readonly simhash: string | null
  readonly tokens: number
  /** Present when it was wanted and there is some. */
  readonly markdown?: string
  /** Present when it was wanted and there is text. */
  readonly sample?: ContentSample
  /** The limits that were met, by name. */
  readonly limits: readonly LimitName[]
}

export interface PageReading extends Omit<ContentReading, 'kind'> {
  readonly kind: 'page'
  /** null for what is not text. */
  readonly charset: string | null
  readonly title: string | null
  readonly description: string | null
  readonly lang: string | null
  readonly canonical: NormalizedUrl | null
  readonly published?: string
  readonly modified?: string
  readonly robots: RobotsDirectives
  readonly tdm?: TdmReservation
  /** The media type by which the body was read, where that is not what the header says. */
  readonly sniffedType?: string
  /** It was read as HTML. */
  readonly isHtml: boolean
  /** How many distinct links there are. */
  readonly linkCount: number
  /** The links that the page and each link permit to be followed, in order. */
  readonly links: readonly NormalizedUrl[]
  /** Of the links, where they were read in this thread. */
  readonly numbering?: UrlNumbering
  /** The feeds that it names, and permits to be followed; they are not among the links to follow. */
  readonly feeds: readonly NormalizedUrl[]
  /** Present when they were wanted. */
  readonly outlinks?: readonly NormalizedUrl[]
}

/** What a sitemap names, as columns: the entry of one place in each is one entry. */
export interface SitemapContents {
  readonly kind: 'sitemap'
  /** Of the file as it came. */
  readonly contentHash: string
  readonly urls: readonly NormalizedUrl[]
  /** 1 where the entry is a further sitemap. */
  readonly isSitemap: Uint8Array
  /** Unix milliseconds; NaN where nothing is said. A date without a time means its beginning. */
  readonly modifiedAt: Float64Array
  readonly limits: readonly LimitName[]
}

export type DocumentReading = PageReading | SitemapContents | ContentReading

/** What an input of this kind is read to. */
export type ReadingOf<Input extends DocumentInput> = Input extends PageInput
  ? PageReading
  : Input extends SitemapInput
    ? SitemapContents
    : ContentReading

export type ReadResult<Reading extends DocumentReading> =
  | { readonly kind: 'read'; readonly reading: Reading }
  /** It took too long, needed too much memory, or made a parser fail, in words. */
  | { readonly kind: 'broke'; readonly detail: string }
  | { readonly kind: 'aborted' }
