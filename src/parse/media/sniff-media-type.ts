/**
 * What a body is: the media type by the MIME Sniffing Standard §7, from the Content-Type header and, only where the
 * standard permits a look, from the first bytes; and what that means to a crawler. It never throws. A type that a server
 * states stands, however the bytes look: `text/plain` that begins like HTML is text, as in every browser.
 *
 * Left out of the standard: MP3 without a tag before it, which is binary here, and what only style sheets, scripts and
 * fonts need.
 */
import { MAX_HEADER_CHARS, mediaTypeOf, splitAtCommas } from './media-type.ts'
import {
  archiveTypeOf,
  audioOrVideoTypeOf,
  hasBinaryBytes,
  imageTypeOf,
  plainTypeOf,
  scriptableTypeOf,
} from './signatures.ts'
import { xmlHead, xmlRootOf } from './xml-root.ts'

/** §5.2: as much of the body as a type is told from. */
const RESOURCE_HEADER_BYTES = 1445

export type MediaKind =
  | 'html'
  | 'text'
  | 'xml'
  | 'feed'
  | 'sitemap'
  | 'json'
  | 'pdf'
  | 'image'
  | 'audio'
  | 'video'
  | 'font'
  | 'archive'
  | 'other'

export interface SniffedType {
  /** Type and subtype in lower case, without parameters. */
  readonly essence: string
  /** How a crawler reads it. XML is told apart by its first element. */
  readonly kind: MediaKind
  /** The type comes from the bytes: the header is missing, means nothing, or is known to be wrong. */
  readonly isSniffed: boolean
}

export interface SniffOptions {
  /** `X-Content-Type-Options: nosniff`, see `isNosniff`. */
  readonly nosniff?: boolean
}

export function sniffMediaType(header: string | null, body: Uint8Array, options: SniffOptions = {}): SniffedType {
  const supplied = mediaTypeOf(header)?.essence ?? null
  const essence = computedType(supplied, header, body.subarray(0, RESOURCE_HEADER_BYTES), options.nosniff === true)
  return { essence, kind: kindOf(essence, body), isSniffed: essence !== supplied }
}

/** Whether an X-Content-Type-Options header forbids to sniff: its first value counts (Fetch Standard §3.5). */
export function isNosniff(header: string | null): boolean {
  return header !== null && header.split(',', 1)[0]?.trim().toLowerCase() === 'nosniff'
}

const UNKNOWN = new Set(['unknown/unknown', 'application/unknown', '*/*'])

/** What old Apache servers said of every file that they did not know (§5.1). */
const APACHE_DEFAULTS = new Set([
  'text/plain',
  'text/plain; charset=ISO-8859-1',
  'text/plain; charset=iso-8859-1',
  'text/plain; charset=UTF-8',
])

function computedType(supplied: string | null, header: string | null, head: Uint8Array, isNosniffSet: boolean): string {
  if (supplied === null || UNKNOWN.has(supplied)) return unknownType(head, !isNosniffSet)
  if (isNosniffSet) return supplied
  if (APACHE_DEFAULTS.has(lastValueOf(header ?? ''))) return textOrBinary(head)
  if (isXml(supplied)) return supplied
  if (supplied === 'text/html') return feedOrHtml(head)
  if (supplied.startsWith('image/')) return imageTypeOf(head) ?? supplied
  if (/^(?:audio|video)\//.test(supplied) || supplied === 'application/ogg') return audioOrVideoTypeOf(head) ?? supplied
  return supplied
}

function lastValueOf(header: string): string {
  return (splitAtCommas(header.slice(0, MAX_HEADER_CHARS)).at(-1) as string).trim()
}

/** §7.1 */
function unknownType(head: Uint8Array, mayBeScriptable: boolean): string {
  return (
    (mayBeScriptable ? scriptableTypeOf(head) : undefined) ??
    plainTypeOf(head) ??
    imageTypeOf(head) ??
    audioOrVideoTypeOf(head) ??
    archiveTypeOf(head) ??
    (hasBinaryBytes(head) ? 'application/octet-stream' : 'text/plain')
  )
}

/** §7.2 */
function textOrBinary(head: Uint8Array): string {
  const [a, b, c] = head
  const hasMark = (a === 0xfe && b === 0xff) || (a === 0xff && b === 0xfe) || (a === 0xef && b === 0xbb && c === 0xbf)
  return hasMark || !hasBinaryBytes(head) ? 'text/plain' : 'application/octet-stream'
}

/** Enough for a DOCTYPE and what follows it. */
const BEGINNING_BYTES = 256

/** Without a byte order mark. */
function latin1Of(head: Uint8Array, size: number): string {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  return bytes.toString('latin1', bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0, size)
}

const RSS_1 = 'http://purl.org/rss/1.0/'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

/** §7.3: feeds were long served as HTML. The comparison is by the first letters of the name, as the standard has it. */
function feedOrHtml(head: Uint8Array): string {
  // Nearly every page says early that it is one.
  const beginning = latin1Of(head, BEGINNING_BYTES)
  const first = xmlRootOf(beginning)
  if (first !== undefined && !beginning.endsWith(first) && !/^(?:rss|feed|rdf)/.test(first)) return 'text/html'
  const text = latin1Of(head, head.length)
  const root = xmlRootOf(text) ?? ''
  if (root.startsWith('rss')) return 'application/rss+xml'
  if (root.startsWith('feed')) return 'application/atom+xml'
  const isRdfFeed = root.startsWith('rdf:RDF') && text.includes(RSS_1) && text.includes(RDF)
  return isRdfFeed ? 'application/rss+xml' : 'text/html'
}

const FEEDS = new Set(['application/rss+xml', 'application/atom+xml', 'application/feed+json'])

/** RSS 1.0 and 0.90 are RDF, which most of RDF is not. */
const RDF_FEEDS = [RSS_1, 'http://my.netscape.com/rdf/simple/0.9/']

/** First elements in lower case, without their prefix. */
const ROOTS: ReadonlyMap<string, MediaKind> = new Map([
  ['urlset', 'sitemap'],
  ['sitemapindex', 'sitemap'],
  ['rss', 'feed'],
  ['feed', 'feed'],
  ['html', 'html'],
])

const ARCHIVES = new Set(
  'zip gzip x-gzip x-rar-compressed vnd.rar x-7z-compressed x-tar x-bzip2 x-xz zstd java-archive'
    .split(' ')
    .map((subtype) => `application/${subtype}`),
)

function kindOf(essence: string, body: Uint8Array): MediaKind {
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html'
  if (FEEDS.has(essence)) return 'feed'
  if (isXml(essence) && essence !== 'image/svg+xml') {
    const head = xmlHead(body)
    const name = xmlRootOf(head) ?? ''
    if (/^(?:[^:]*:)?RDF$/.test(name)) return RDF_FEEDS.some((namespace) => head.includes(namespace)) ? 'feed' : 'xml'
    return ROOTS.get(name.slice(name.indexOf(':') + 1).toLowerCase()) ?? 'xml'
  }
  if (essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json')) return 'json'
  if (essence === 'application/pdf') return 'pdf'
  if (ARCHIVES.has(essence)) return 'archive'
  if (essence === 'application/ogg') return 'audio'
  const type = essence.slice(0, essence.indexOf('/'))
  if (type === 'image' || type === 'audio' || type === 'video' || type === 'font') return type
  // Style sheets and scripts are text to a browser, and nothing to a reader.
  return type === 'text' && !/^text\/(?:css|(?:x-)?(?:java|ecma)script)$/.test(essence) ? 'text' : 'other'
}

function isXml(essence: string): boolean {
  return essence.endsWith('+xml') || essence === 'text/xml' || essence === 'application/xml'
}
