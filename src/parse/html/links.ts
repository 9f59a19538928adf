/**
 * The links of one page. References are kept as they are written, most of them as places in the page, until all of it has
 * been read, because a `<base>` anywhere in it counts for all of them; then they are resolved, and gathered by URL.
 */
import { LIMITS, type NormalizedUrl, type UrlNumbering } from '../../model/index.ts'
import {
  createLinkResolver,
  isIndependentOfPage,
  MAX_REFERENCE_LENGTH,
  MAX_URL_LENGTH,
  NOWHERE,
  type LinkResolver,
} from '../../url/index.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { queryEncoderOf } from '../charset/query-encoding.ts'
import { decodeValue } from './html-scanner.ts'
import { knownReferencesIn, MOST_AT_ONCE, SELF, UNKNOWN, UNREADABLE, type KnownReferences } from './known-references.ts'
import type { PageSource } from './page-source.ts'

/** More links than this on one page are cut off by default, and the page says so. */
export const MAX_LINKS = LIMITS.links.value
/** As are more characters in all: a long base makes long URLs of the shortest references. */
export const MAX_LINKS_LENGTH = LIMITS['links-size'].value

/** More `rel` words than this on one link are dropped; real links have one to three. */
const MAX_REL_WORDS = 16

/** `feed`: a page or its Link header names a feed as its alternate. `link-header`: the header names another page. */
export type LinkSource = 'a' | 'area' | 'link' | 'iframe' | 'frame' | 'meta-refresh' | 'link-header' | 'feed'

export interface Link {
  readonly url: NormalizedUrl
  /** The words of `rel` in lower case, of all links to this URL together. */
  readonly rel: readonly string[]
  /** What named it first; `feed` if anything names it as one. */
  readonly source: LinkSource
  /** Every link to it says `nofollow`, `ugc` or `sponsored`. */
  readonly nofollow: boolean
}

/** `links`, `links-size`: there were more than were kept. `url-length`: some were too long to be fetched. */
export type LinkLimit = 'links' | 'links-size' | 'url-length'

/** The links of a page, in document order, one for each URL. Nearly all of them say nothing but where they lead. */
export interface PageLinks {
  readonly urls: readonly NormalizedUrl[]
  /** By its place among the URLs: a link that says more than that it is an `a`. */
  readonly remarks: ReadonlyMap<number, Link>
  readonly numbering?: UrlNumbering
}

/** Each with all that is said of it. */
export function spelledOut({ urls, remarks }: PageLinks): Link[] {
  return urls.map((url, place) => remarks.get(place) ?? linkOf(url, PLAIN))
}

export interface LinkCollector {
  add(source: LinkSource, reference: string, rel: readonly string[]): void
  /** A reference as the page holds it between two places, with its character references. */
  addPiece(source: LinkSource, start: number, end: number, rel: readonly string[]): void
  /** The same for an `a` without a `rel`. */
  addPlain(start: number, end: number): void
  /** The first `<base href>` wins; later ones are ignored. */
  setBase(reference: string): void
  /** To be asked once, at the end. `exceptTo` is left out, though it counts among the maximum. */
  resolve(maximum: number, exceptTo?: NormalizedUrl): { links: PageLinks; limits: LinkLimit[] }
  /** Resolves one reference as the page's links are. To be asked when the page has been read. */
  resolveOne(reference: string): NormalizedUrl | undefined
}

export const NO_REL: readonly string[] = []

/** What was read before: few kinds of `rel` are in use, and each is met on every page. */
const knownRels = new Map<string, readonly string[]>()
const MAX_KNOWN_RELS = 256
const MAX_KNOWN_REL_LENGTH = 64

/** `rel` as words in lower case. */
export function relWords(rel: string | undefined): readonly string[] {
  if (rel === undefined || rel === '') return NO_REL
  const known = knownRels.get(rel)
  if (known !== undefined) return known
  const words = splitRel(rel)
  if (knownRels.size < MAX_KNOWN_RELS && rel.length <= MAX_KNOWN_REL_LENGTH) knownRels.set(rel, words)
  return words
}

function splitRel(rel: string): readonly string[] {
  const words = rel.toLowerCase().split(/[\t\n\f\r ]+/, MAX_REL_WORDS + 1)
  return words.filter((word) => word !== '').slice(0, MAX_REL_WORDS)
}

/** Relations that lead to pages, in a `<link>` or a Link header. */
const PAGE_RELATIONS = new Set(['next', 'prev', 'canonical', 'alternate'])

const FEED_TYPES = new Set(['application/rss+xml', 'application/atom+xml', 'application/feed+json'])

/** What a `<link>` or Link header with these words leads to; undefined for style sheets and all else that is no page. */
export function targetOfRelation(rel: readonly string[], type: string): 'page' | 'feed' | undefined {
  // `alternate stylesheet` is a style sheet.
  if (rel.includes('stylesheet') || !rel.some((word) => PAGE_RELATIONS.has(word))) return undefined
  const essence = trimAsciiWhitespace(type.split(';', 1)[0] as string).toLowerCase()
  return rel.includes('alternate') && FEED_TYPES.has(essence) ? 'feed' : 'page'
}

/** The one URL that a page names as canonical, however often; one that names several means none of them. */
export function canonicalOf(candidates: readonly NormalizedUrl[]): NormalizedUrl | null {
  const [first] = candidates
  return first !== undefined && candidates.every((other) => other === first) ? first : null
}

const NOFOLLOW = new Set(['nofollow', 'ugc', 'sponsored'])

/**
 * By the number of a URL: its place among the links of the page that is being resolved, counted from `firstPlace`, which
 * grows from page to page: what stands here from earlier pages is below it.
 */
let placeOf = new Int32Array(65_536)
let firstPlace = 1
const LAST_PLACE = 2 ** 31 - 1

/** What is said of a reference that is no plain link. */
interface Mention {
  readonly source: LinkSource
  readonly rel: readonly string[]
  /** Its text, where it is no piece of the page. */
  readonly text: string | undefined
}
const PLAIN: Mention = { source: 'a', rel: NO_REL, text: undefined }

/**
 * The references of pages that are being read, and room for those of the next: reference by reference where it begins and
 * ends in the page, `NO_PIECE` if it is none; and which of the mentions tells of it, counted from 1, 0 being a plain link.
 */
interface References {
  places: Int32Array<ArrayBuffer>
  mentioned: Int32Array<ArrayBuffer>
}
const NO_PIECE = -1
let spare: References | undefined
/** References that there is room for at first; what has grown beyond four times as many is not kept. */
const FEW = 4_096
const MAX_SPARE = 4 * FEW

/** The links of the page that is being resolved, in lists that need not grow for each page anew. */
const takenUrls: NormalizedUrl[] = []
const takenNumbers: number[] = []

function takeReferences(): References {
  const taken = spare ?? { places: new Int32Array(2 * FEW), mentioned: new Int32Array(FEW) }
  spare = undefined
  return taken
}

/**
 * @param charset the page's encoding, in which the queries of its links are sent
 * @param page where the places of `addPiece` are
 */
export function createLinkCollector(pageUrl: NormalizedUrl, charset: string, page?: PageSource): LinkCollector {
  const encodeQuery = queryEncoderOf(charset)
  const encoded = (reference: string): string => (encodeQuery === undefined ? reference : encodeQuery(reference))
  const references = takeReferences()
  const mentions: Mention[] = []
  let count = 0
  let base: string | undefined
  let resolver: LinkResolver | undefined
  /** The number of the base itself, once it is asked for. */
  let ownBase: number | undefined

  const resolverOfPage = (): LinkResolver =>
    (resolver ??= createLinkResolver(base === undefined ? pageUrl : baseUrlOf(pageUrl, encoded(base))))
  const mentionOf = (index: number): Mention | undefined => {
    const mention = references.mentioned[index] as number
    return mention === 0 ? undefined : mentions[mention - 1]
  }
  const textAt = (index: number): string => {
    const { places } = references
    const written =
      mentionOf(index)?.text ??
      decodeValue(page as PageSource, places[2 * index] as number, places[2 * index + 1] as number)
    return withoutFragment(trimAsciiWhitespace(written))
  }
  /** The number of a URL that was not found by its spelling. */
  const resolveAt = (index: number, answer: number, resolver: LinkResolver, known?: KnownReferences): number => {
    if (answer === SELF) return (ownBase ??= resolver.resolve(''))
    if (answer === UNREADABLE || known === undefined) return resolver.resolve(encoded(textAt(index)))
    // It may have been met on this very page in the meantime.
    const found = known.find(references.places[2 * index] as number, references.places[2 * index + 1] as number)
    if (found >= 0) return found
    const text = textAt(index)
    const id = resolver.resolve(encoded(text))
    if (isIndependentOfPage(text)) known.remember(id)
    return id
  }
  const isTooLong = (index: number): boolean => {
    const { places } = references
    const length = mentionOf(index)?.text?.length ?? (places[2 * index + 1] as number) - (places[2 * index] as number)
    return length > MAX_URL_LENGTH && isTooLongToFetch(textAt(index))
  }
  const add = (start: number, end: number, mention: number): void => {
    if (count === references.mentioned.length) enlarge(references)
    references.places[2 * count] = start
    references.places[2 * count + 1] = end
    references.mentioned[count] = mention
    count++
  }

  return {
    add(source, text, rel) {
      add(NO_PIECE, NO_PIECE, mentions.push({ source, rel, text }))
    },
    addPiece(source, start, end, rel) {
      const isPlain = source === 'a' && rel === NO_REL
      add(start, end, isPlain ? 0 : mentions.push({ source, rel, text: undefined }))
    },
    addPlain: (start, end) => add(start, end, 0),
    setBase(reference) {
      base ??= reference
    },
    resolveOne(reference) {
      const resolver = resolverOfPage()
      const id = resolver.resolve(encoded(reference))
      return id === NOWHERE ? undefined : resolver.urlOf(id)
    },
    resolve(maximum, exceptTo) {
      const resolver = resolverOfPage()
      const remarks = new Map<number, Link>()
      const limits: LinkLimit[] = []
      if (firstPlace > LAST_PLACE - count) forgetPlaces()
      const first = firstPlace
      const own = exceptTo === undefined ? NOWHERE : resolver.idOf(exceptTo)
      /** Characters of distinct URLs. That of the page itself counts, though it is left out. */
      let length = 0
      let ownCount = 0
      let taken = 0
      const known = page === undefined ? undefined : knownReferencesIn(page.bytes, resolver.bases)
      let found: Int32Array | undefined
      for (let index = 0; index < count; index++) {
        const at = index % MOST_AT_ONCE
        if (at === 0) found = known?.findAll(references.places, index, Math.min(count - index, MOST_AT_ONCE))
        const answer = found === undefined ? UNKNOWN : (found[2 * at] as number)
        const id = answer >= 0 ? answer : resolveAt(index, answer, resolver, known)
        if (id === NOWHERE) {
          if (isTooLong(index) && !limits.includes('url-length')) limits.push('url-length')
          continue
        }
        if (id >= placeOf.length) placeOf = enlarged(placeOf, id)
        const place = (placeOf[id] as number) - first
        if (place >= 0) {
          if (references.mentioned[index] !== 0 || remarks.size > 0)
            remark(remarks, takenUrls[place] as NormalizedUrl, place, mentionOf(index))
          continue
        }
        if (id === own && ownCount === 1) continue
        const url = resolver.urlOf(id)
        length += url.length
        if (taken + ownCount >= maximum) {
          limits.push('links')
          break
        }
        if (length > MAX_LINKS_LENGTH) {
          limits.push('links-size')
          break
        }
        if (id === own) {
          ownCount = 1
          continue
        }
        placeOf[id] = first + taken
        const mention = mentionOf(index)
        if (mention !== undefined) remarks.set(taken, linkOf(url, mention))
        takenUrls[taken] = url
        takenNumbers[taken] = id
        taken++
      }
      firstPlace += taken
      const urls = takenUrls.slice(0, taken)
      const numbers = takenNumbers.slice(0, taken)
      if (taken > FEW) takenUrls.length = takenNumbers.length = FEW
      if (references.mentioned.length <= MAX_SPARE) spare = references
      return { links: { urls, remarks, numbering: { numbers, era: resolver.era } }, limits }
    },
  }
}

function linkOf(url: NormalizedUrl, { source, rel }: Mention): Link {
  return { url, rel, source, nofollow: isNofollow(rel) }
}

/** A URL that was met is met again. */
function remark(remarks: Map<number, Link>, url: NormalizedUrl, place: number, mention: Mention = PLAIN): void {
  const link = remarks.get(place) ?? linkOf(url, PLAIN)
  const both = merged(link, mention.source, mention.rel)
  if (both !== link) remarks.set(place, both)
}

function enlarge(references: References): void {
  references.places = enlarged(references.places, references.places.length)
  references.mentioned = enlarged(references.mentioned, references.mentioned.length)
}

function forgetPlaces(): void {
  placeOf.fill(0)
  firstPlace = 1
}

function enlarged(array: Int32Array<ArrayBuffer>, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * index)
  larger.set(array)
  return larger
}

/**
 * What the first `<base href>` makes of the page's URL ("set the frozen base URL"): nothing if it cannot be parsed or
 * would run as a script. On another scheme than ours every relative link has that scheme too, and leads nowhere.
 */
function baseUrlOf(pageUrl: NormalizedUrl, base: string): string {
  if (base.length > MAX_REFERENCE_LENGTH) return pageUrl
  const url = URL.parse(base, pageUrl)
  return url === null || url.protocol === 'data:' || url.protocol === 'javascript:' ? pageUrl : url.href
}

/** The fragment never reaches a server: without it, a table of contents is one reference. */
function withoutFragment(reference: string): string {
  const hash = reference.indexOf('#')
  if (hash === -1) return reference
  // White space before the `#` belongs to the path; at the end of a reference it would be stripped.
  return reference.slice(0, hash > 0 && reference.charCodeAt(hash - 1) <= 0x20 ? hash + 1 : hash)
}

/** A link, and another one to the same URL. */
function merged(known: Link, source: LinkSource, rel: readonly string[]): Link {
  const isFeed = source === 'feed' && known.source !== 'feed'
  const isFollowed = known.nofollow && !isNofollow(rel)
  const words = rel.length > 0 && rel !== known.rel ? new Set([...known.rel, ...rel]) : NO_WORDS
  const hasMore = words.size > known.rel.length && known.rel.length < MAX_REL_WORDS
  if (!isFeed && !isFollowed && !hasMore) return known
  return {
    url: known.url,
    rel: hasMore ? [...words].slice(0, MAX_REL_WORDS) : known.rel,
    source: isFeed ? source : known.source,
    nofollow: known.nofollow && !isFollowed,
  }
}

const NO_WORDS: ReadonlySet<string> = new Set()

/** Other schemes lead nowhere whatever their length: a `data:` URL is long by nature. */
function isTooLongToFetch(reference: string): boolean {
  return reference.length > MAX_URL_LENGTH && !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(reference)
}

function isNofollow(rel: readonly string[]): boolean {
  return rel !== NO_REL && rel.some((word) => NOFOLLOW.has(word))
}
