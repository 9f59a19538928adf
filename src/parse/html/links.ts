/**
 * The links of one page. References are kept as written until the page has been read, because a `<base>` anywhere
 * in it counts for all of them; then each distinct one is resolved once.
 */
import { LIMITS, type NormalizedUrl } from '../../model/index.ts'
import { createResolver, MAX_REFERENCE_LENGTH, MAX_URL_LENGTH } from '../../url/index.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { queryEncoderOf } from '../charset/query-encoding.ts'

/** More links than this on one page are cut off by default, and the page says so. */
export const MAX_LINKS = LIMITS.links.value

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

/** `links`: there were more than were kept. `url-length`: some were too long to be fetched. */
export type LinkLimit = 'links' | 'url-length'

interface Reference {
  rel: readonly string[]
  source: LinkSource
  nofollow: boolean
}

export interface LinkCollector {
  add(source: LinkSource, reference: string, rel: readonly string[]): void
  /** The first `<base href>` wins; later ones are ignored. */
  setBase(reference: string): void
  /** Links in document order, one per URL. */
  resolve(maximum: number): { links: Link[]; limits: LinkLimit[] }
  /** Resolves one reference as the page's links are. To be asked when the page has been read. */
  resolveOne(reference: string): NormalizedUrl | undefined
}

const NO_REL: readonly string[] = []

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

/** @param charset the page's encoding, in which the queries of its links are sent */
export function createLinkCollector(pageUrl: NormalizedUrl, charset: string): LinkCollector {
  const encodeQuery = queryEncoderOf(charset) ?? ((reference: string) => reference)
  const references = new Map<string, Reference>()
  let base: string | undefined
  let resolver: ((reference: string) => NormalizedUrl | undefined) | undefined

  const resolveOne = (reference: string): NormalizedUrl | undefined => {
    resolver ??= createResolver(base === undefined ? pageUrl : baseUrlOf(pageUrl, encodeQuery(base)))
    return resolver(encodeQuery(reference))
  }
  return {
    add(source, reference, rel) {
      merge(references, withoutFragment(trimAsciiWhitespace(reference)), source, rel, rel.some(isNofollow))
    },
    setBase(reference) {
      base ??= reference
    },
    resolveOne,
    resolve(maximum) {
      const found = new Map<NormalizedUrl, Reference>()
      const limits = new Set<LinkLimit>()
      for (const [reference, { source, rel, nofollow }] of references) {
        const url = resolveOne(reference)
        if (url === undefined) {
          if (isTooLong(reference)) limits.add('url-length')
          continue
        }
        if (found.size >= maximum && !found.has(url)) {
          limits.add('links')
          break
        }
        merge(found, url, source, rel, nofollow)
      }
      const links = Array.from(found, ([url, { rel, source, nofollow }]) => ({ url, rel, source, nofollow }))
      return { links, limits: [...limits] }
    },
  }
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

function merge<K>(
  into: Map<K, Reference>,
  key: K,
  source: LinkSource,
  rel: readonly string[],
  nofollow: boolean,
): void {
  const known = into.get(key)
  if (known === undefined) {
    into.set(key, { source, rel, nofollow })
    return
  }
  known.nofollow &&= nofollow
  if (source === 'feed') known.source = source
  if (rel.length > 0 && rel !== known.rel && known.rel.length < MAX_REL_WORDS) {
    const words = new Set([...known.rel, ...rel])
    if (words.size > known.rel.length) known.rel = [...words].slice(0, MAX_REL_WORDS)
  }
}

/** Other schemes lead nowhere whatever their length: a `data:` URL is long by nature. */
function isTooLong(reference: string): boolean {
  return reference.length > MAX_URL_LENGTH && !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(reference)
}

function isNofollow(word: string): boolean {
  return NOFOLLOW.has(word)
}
