/** A page: its text by its encoding, what it says of itself, its links, its main content. By media type. */
import { contentHash, contentSample, countTokens, fingerprintsOf, readContent, type Content } from '../content/index.ts'
import type { LimitName, NormalizedUrl, Whole } from '../model/index.ts'
import {
  bodyHash,
  decodeText,
  encodingOfBody,
  extract,
  isNosniff,
  parseFeed,
  readHeaders,
  sniffMediaType,
  type ExtractContext,
  type HeaderFacts,
  type Link,
  type MediaKind,
} from '../parse/index.ts'
import { readsContent, type ContentInput, type ContentReading, type PageInput, type PageReading } from './document.ts'

/** What the bytes say, by their media type, but for what there is to read. */
interface Body {
  /** null for what is not text. */
  readonly charset: string | null
  readonly about: About
  readonly limits: readonly LimitName[]
}

interface About extends HeaderFacts {
  readonly title: string | null
  readonly description: string | null
  readonly published: string | null
  readonly modified: string | null
}

/** Of a document that is no page, nothing is known but what its headers say. */
const UNTOLD = { title: null, description: null, published: null, modified: null }

export function readPage(input: PageInput): PageReading {
  const { rest, whole } = beginPage(input)
  return whole(rest === undefined ? undefined : readContentOfPage(rest))
}

/** A page of which all is known but what it says. */
export interface BegunPage {
  /** What that is to be read from; undefined where nothing of it is wanted, and for what is not text. */
  readonly rest: ContentInput | undefined
  /** The page, with what it says. */
  whole(content: ContentReading | undefined): PageReading
}

export function beginPage(input: PageInput): BegunPage {
  const { url, headers, wants } = input
  // The memory of a body may have been another's: this object stands for this page alone.
  const body = Buffer.from(input.body.buffer, input.body.byteOffset, input.body.byteLength)
  const contentType = headers['content-type']?.join(', ') ?? null
  const nosniff = isNosniff(headers['x-content-type-options']?.join(', ') ?? null)
  const { kind, essence, isSniffed } = sniffMediaType(contentType, body, { nosniff })
  const { charset, about, limits } = readBody(kind, body, contextOf(input, contentType))
  const { title, published, modified, tdm } = about
  const isText = (kind === 'html' || kind === 'text') && charset !== null
  return {
    rest:
      isText && readsContent(input) ? { kind: 'content', url, body, media: kind, charset, title, wants } : undefined,
    whole(rest) {
      const content = wants.content ? rest : undefined
      const { links, numbering, feeds, outlinks } = linksOf(about, input, kind)
      const reading: Whole<PageReading> = {
        kind: 'page',
        charset,
        title,
        description: about.description,
        lang: about.lang,
        canonical: about.canonical,
        published: published ?? undefined,
        modified: modified ?? undefined,
        headings: content?.headings ?? [],
        robots: about.robots,
        tdm: tdm ?? undefined,
        sniffedType: isSniffed ? essence : undefined,
        isHtml: kind === 'html',
        contentHash: content?.contentHash ?? (wants.content ? contentHash(body) : bodyHash(body)),
        near: content?.near ?? null,
        simhash: content?.simhash ?? null,
        tokens: content?.tokens ?? 0,
        markdown: content?.markdown,
        sample: rest?.sample,
        linkCount: about.links.urls.length,
        links,
        numbering,
        feeds,
        outlinks,
        limits: content === undefined ? limits : [...limits, ...content.limits],
      }
      return reading as PageReading
    },
  }
}

/** What a page says: the part of its reading that takes the longest, and that nothing else of it waits for. */
export function readContentOfPage({ url, body, media, charset, title, wants }: ContentInput): ContentReading {
  const text = decodeText(body, charset)
  const content = media === 'html' ? readContent(text, { url, title }) : contentOfText(text)
  const { headings, tokens, limits } = content
  const hasText = content.text.trim() !== ''
  return {
    kind: 'content',
    headings,
    contentHash: content.contentHash,
    near: content.near === null ? null : hex(content.near),
    simhash: content.simhash === null ? null : hex(content.simhash),
    tokens,
    ...(wants.markdown && content.markdown !== '' ? { markdown: content.markdown } : {}),
    ...(wants.sample && hasText ? { sample: contentSample(content.text, url, title ?? '') } : {}),
    limits,
  }
}

function contextOf({ url, productToken, headers }: PageInput, contentType: string | null): ExtractContext {
  return {
    url,
    productToken,
    contentType,
    xRobotsTag: headers['x-robots-tag'] ?? [],
    link: headers.link ?? [],
    contentLanguage: headers['content-language']?.join(', ') ?? null,
    tdmReservation: headers['tdm-reservation']?.[0] ?? null,
    tdmPolicy: headers['tdm-policy']?.[0] ?? null,
  }
}

function readBody(kind: MediaKind, body: Uint8Array, context: ExtractContext): Body {
  if (kind === 'html') {
    const about = extract(body, context)
    return { charset: about.charset, about, limits: about.limits }
  }
  if (kind === 'feed') return readFeed(body, context)
  const about = { ...UNTOLD, ...readHeaders(context) }
  return { charset: kind === 'text' ? encodingOfBody(body, context.contentType) : null, about, limits: [] }
}

/** Plain text and Markdown read well without conversion. */
function contentOfText(text: string): Content {
  return {
    markdown: text,
    text,
    tokens: countTokens(text),
    contentHash: contentHash(text),
    ...fingerprintsOf(text),
    headings: [],
    limits: [],
  }
}

/** A feed has no text of its own: it leads to its entries, and to what they name. */
function readFeed(body: Uint8Array, context: ExtractContext): Body {
  const facts = readHeaders(context)
  const feed = parseFeed(body, context.contentType, context.url)
  const named = [...facts.links.urls, ...(feed?.entries ?? []).map((entry) => entry.url), ...(feed?.links ?? [])]
  // What the header names comes first, and so keeps its places.
  const links = { urls: [...new Set(named)], remarks: facts.links.remarks }
  const about = { ...UNTOLD, ...facts, title: feed?.title ?? null, links }
  return { charset: null, about, limits: feed?.limits ?? [] }
}

type FollowedLinks = Whole<Pick<PageReading, 'links' | 'numbering' | 'outlinks' | 'feeds'>>

/** What the page and each link ask of robots is respected, unless that is not wanted. */
function linksOf({ robots, links }: About, input: PageInput, kind: MediaKind): FollowedLinks {
  const { urls, remarks, numbering } = links
  const { followNofollow } = input
  const outlinks = input.wants.outlinks ? urls : undefined
  if (!followNofollow && !robots.follow) return { links: [], numbering: undefined, feeds: [], outlinks }
  // What a feed names are pages; what a page names as its feed is one.
  const isFeed = (link: Link): boolean => kind === 'html' && link.source === 'feed'
  const isFollowed = (link: Link): boolean => followNofollow || !link.nofollow
  let leftOut: Set<number> | undefined
  const feeds: NormalizedUrl[] = []
  for (const [place, link] of remarks) {
    if (isFollowed(link) && !isFeed(link)) continue
    leftOut = (leftOut ?? new Set()).add(place)
    if (isFollowed(link)) feeds.push(link.url)
  }
  // Of most pages all links are followed, as they stand.
  if (leftOut === undefined) return { links: urls, numbering, feeds, outlinks }
  const places = leftOut
  const isKept = (_: unknown, place: number): boolean => !places.has(place)
  const numbers = numbering?.numbers.filter(isKept)
  return {
    links: urls.filter(isKept),
    numbering: numbering && numbers && { numbers, era: numbering.era },
    feeds,
    outlinks,
  }
}

function hex(fingerprint: bigint): string {
  return fingerprint.toString(16).padStart(16, '0')
}
