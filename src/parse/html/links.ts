/**
 * The links of one page. References are kept as they are written, most of them as places in the page, until all of it has
 * been read, because a `<base>` anywhere in it counts for all of them; then they are resolved, and gathered by URL.
 */
import { LIMITS, type NormalizedUrl } from '../../model/index.ts'
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
import { knownReferencesIn, SELF, UNKNOWN, type KnownReferences } from './known-references.ts'
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

export interface LinkCollector {
  add(source: LinkSource, reference: string, rel: readonly string[]): void
  /** A reference as the page holds it between two places, with its character references. */
  addPiece(source: LinkSource, start: number, end: number, rel: readonly string[]): void
  /** The first `<base href>` wins; later ones are ignored. */
  setBase(reference: string): void
  /** To be asked once, at the end. Links in document order, one per URL. `exceptTo` is left out, though it counts among the maximum. */
  resolve(maximum: number, exceptTo?: NormalizedUrl): { links: Link[]; limits: LinkLimit[] }
  /** Resolves one reference as the page's links are. To be asked when the page has been read. */
  resolveOne(reference: string): NormalizedUrl | undefined
}

export const NO_REL: readonly string[] = []

/** `rel` as words in lower case. */
export function relWords(rel: string | undefined): readonly string[] {
  if (rel === undefined || rel === '') return NO_REL
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
let places = new Int32Array(65_536)
let firstPlace = 1
const LAST_PLACE = 2 ** 31 - 1

/** By the number of a URL: the link to it that says nothing but that. Nine of ten are met again on the next page. */
const plainLinks: (Link | undefined)[] = []

/** The references of a page as they are written; and the lists of the page before, to be used again. */
interface References {
  /** Reference by reference. A text, or the place in the page where it begins and, in the list beside it, ends. */
  readonly texts: (string | number)[]
  readonly ends: number[]
  readonly sources: LinkSource[]
  readonly rels: (readonly string[])[]
}
let spare: References | undefined
/** Lists that have grown beyond this are not kept. */
const MAX_SPARE = 16_384

/**
 * @param charset the page's encoding, in which the queries of its links are sent
 * @param page where the places of `addPiece` are
 */
export function createLinkCollector(pageUrl: NormalizedUrl, charset: string, page?: PageSource): LinkCollector {
  const encodeQuery = queryEncoderOf(charset)
  const encoded = (reference: string): string => (encodeQuery === undefined ? reference : encodeQuery(reference))
  const { texts, ends, sources, rels } = takeReferences()
  let count = 0
  let base: string | undefined
  let resolver: LinkResolver | undefined

  const resolverOfPage = (): LinkResolver =>
    (resolver ??= createLinkResolver(base === undefined ? pageUrl : baseUrlOf(pageUrl, encoded(base))))
  const textAt = (index: number): string => {
    const reference = texts[index] as string | number
    const isText = typeof reference === 'string' || page === undefined
    const written = isText ? (reference as string) : decodeValue(page, reference, ends[index] as number)
    return withoutFragment(trimAsciiWhitespace(written))
  }
  const idAt = (index: number, resolver: LinkResolver, known: KnownReferences | undefined): number => {
    const reference = texts[index] as string | number
    if (typeof reference === 'string' || known === undefined) return resolver.resolve(encoded(textAt(index)))
    const found = known.find(reference, ends[index] as number)
    if (found >= 0) return found
    if (found === SELF) return resolver.resolve('')
    const text = textAt(index)
    const id = resolver.resolve(encoded(text))
    if (found === UNKNOWN && isIndependentOfPage(text)) known.remember(id)
    return id
  }
  const add = (source: LinkSource, reference: string | number, end: number, rel: readonly string[]): void => {
    texts[count] = reference
    ends[count] = end
    sources[count] = source
    rels[count] = rel
    count++
  }

  return {
    add: (source, reference, rel) => add(source, reference, 0, rel),
    addPiece: add,
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
      const links: Link[] = []
      const limits = new Set<LinkLimit>()
      let length = 0
      if (firstPlace > LAST_PLACE - count) forgetPlaces()
      const first = firstPlace
      const known = page === undefined ? undefined : knownReferencesIn(page.bytes, resolver.bases)
      for (let index = 0; index < count; index++) {
        const id = idAt(index, resolver, known)
        if (id === NOWHERE) {
          if (isTooLong(texts[index] as string | number, ends[index] as number, () => textAt(index)))
            limits.add('url-length')
          continue
        }
        if (id >= places.length) places = enlarged(places, id)
        const place = (places[id] as number) - first
        const source = sources[index] as LinkSource
        const rel = rels[index] as readonly string[]
        if (place >= 0) links[place] = merged(links[place] as Link, source, rel)
        else if (links.length >= maximum) {
          limits.add('links')
          break
        } else {
          const url = resolver.urlOf(id)
          length += url.length
          if (length > MAX_LINKS_LENGTH) {
            limits.add('links-size')
            break
          }
          places[id] = first + links.length
          const isPlain = source === 'a' && rel === NO_REL
          links.push(isPlain ? plainLink(id, url) : { url, rel, source, nofollow: isNofollow(rel) })
        }
      }
      firstPlace += links.length
      const own = exceptTo === undefined ? NOWHERE : resolver.resolve(exceptTo)
      const ownPlace = own === NOWHERE ? -1 : (places[own] ?? 0) - first
      if (ownPlace >= 0) links.splice(ownPlace, 1)
      if (count <= MAX_SPARE) spare = { texts, ends, sources, rels }
      count = 0
      return { links, limits: [...limits] }
    },
  }
}

function forgetPlaces(): void {
  places.fill(0)
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

function takeReferences(): References {
  const lists = spare ?? { texts: [], ends: [], sources: [], rels: [] }
  spare = undefined
  return lists
}

/** Numbers are given anew now and then, so the URL is compared. */
function plainLink(id: number, url: NormalizedUrl): Link {
  const known = plainLinks[id]
  if (known?.url === url) return known
  const link = { url, rel: NO_REL, source: 'a', nofollow: false } as const
  plainLinks[id] = link
  return link
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
function isTooLong(reference: string | number, end: number, text: () => string): boolean {
  const length = typeof reference === 'string' ? reference.length : end - reference
  if (length <= MAX_URL_LENGTH) return false
  const whole = text()
  return whole.length > MAX_URL_LENGTH && !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(whole)
}

function isNofollow(rel: readonly string[]): boolean {
  return rel !== NO_REL && rel.some((word) => NOFOLLOW.has(word))
}
