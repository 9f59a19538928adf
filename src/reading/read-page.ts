/** A page: its text by its encoding, what it says of itself, its links, its main content. By media type. */
import { contentHash, contentSample, countTokens, fingerprintsOf, readContent, type Content } from '../content/index.ts'
import type { NormalizedUrl, LimitName } from '../model/index.ts'
import {
  bodyHash,
  decodeBody,
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
import type { PageInput, PageReading } from './document.ts'

/** What the bytes say, by their media type. */
interface Body {
  readonly charset: string | null
  readonly about: About
  /** undefined for what is not text, and where it was not wanted. */
  readonly content: Content | undefined
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
  const { url, body, headers, wants } = input
  const contentType = headers['content-type']?.join(', ') ?? null
  const nosniff = isNosniff(headers['x-content-type-options']?.join(', ') ?? null)
  const { kind, essence, isSniffed } = sniffMediaType(contentType, body, { nosniff })
  const { charset, about, content, limits } = readBody(kind, body, contextOf(input, contentType), wants.content)
  const { published, modified, tdm } = about
  const hasText = content !== undefined && content.text.trim() !== ''
  return {
    kind: 'page',
    charset,
    title: about.title,
    description: about.description,
    lang: about.lang,
    canonical: about.canonical,
    ...(published === null ? {} : { published }),
    ...(modified === null ? {} : { modified }),
    headings: content?.headings ?? [],
    robots: about.robots,
    ...(tdm === null ? {} : { tdm }),
    ...(isSniffed ? { sniffedType: essence } : {}),
    isHtml: kind === 'html',
    contentHash: content?.contentHash ?? (wants.content ? contentHash(body) : bodyHash(body)),
    near: content?.near == null ? null : hex(content.near),
    simhash: content?.simhash == null ? null : hex(content.simhash),
    tokens: content?.tokens ?? 0,
    ...(wants.markdown && content !== undefined && content.markdown !== '' ? { markdown: content.markdown } : {}),
    ...(wants.sample && hasText ? { sample: contentSample(content.text, url, about.title ?? '') } : {}),
    linkCount: about.links.length,
    ...linksOf(about, input, kind),
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

function readBody(kind: MediaKind, body: Uint8Array, context: ExtractContext, wantsContent: boolean): Body {
  if (kind === 'html') {
    const about = extract(body, context)
    if (!wantsContent) return { charset: about.charset, about, content: undefined, limits: about.limits }
    const content = readContent(about.text(), { url: context.url, title: about.title })
    return { charset: about.charset, about, content, limits: [...about.limits, ...content.limits] }
  }
  if (kind === 'feed') return readFeed(body, context)
  const about = { ...UNTOLD, ...readHeaders(context) }
  if (kind !== 'text') return { charset: null, about, content: undefined, limits: [] }
  const { text, charset } = decodeBody(body, context.contentType)
  return { charset, about, content: wantsContent ? contentOfText(text) : undefined, limits: [] }
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
  const named = new Map<NormalizedUrl, Link>(facts.links.map((link) => [link.url, link]))
  for (const url of [...(feed?.entries ?? []).map((entry) => entry.url), ...(feed?.links ?? [])]) {
    if (!named.has(url)) named.set(url, { url, rel: [], source: 'feed', nofollow: false })
  }
  const about = { ...UNTOLD, ...facts, title: feed?.title ?? null, links: [...named.values()] }
  return { charset: null, about, content: undefined, limits: feed?.limits ?? [] }
}

/** What the page and each link ask of robots is respected, unless that is not wanted. */
function linksOf(
  { robots, links }: About,
  input: PageInput,
  kind: MediaKind,
): Pick<PageReading, 'links' | 'outlinks' | 'feeds'> {
  const isWanted = (link: Link): boolean => input.followNofollow || (robots.follow && !link.nofollow)
  // What a feed names are pages; what a page names as its feed is one.
  const isFeed = (link: Link): boolean => kind === 'html' && link.source === 'feed'
  const wanted: NormalizedUrl[] = []
  const feeds: NormalizedUrl[] = []
  for (const link of links) if (isWanted(link)) (isFeed(link) ? feeds : wanted).push(link.url)
  if (!input.wants.outlinks) return { links: wanted, feeds }
  // One array that is named twice crosses to another thread once.
  return { links: wanted, feeds, outlinks: wanted.length === links.length ? wanted : links.map(({ url }) => url) }
}

function hex(fingerprint: bigint): string {
  return fingerprint.toString(16).padStart(16, '0')
}
