/**
 * The links of one page. References are kept as written until the page has been read, because a `<base>` anywhere
 * in it counts for all of them; then each distinct one is resolved once.
 */
import type { NormalizedUrl } from '../../model/index.ts'
import { createResolver, MAX_REFERENCE_LENGTH } from '../../url/index.ts'
import { trimAsciiWhitespace } from '../charset/encoding-label.ts'
import { queryEncoderOf } from '../charset/query-encoding.ts'

/** More links than this on one page are cut off by default, and the page says so. */
export const MAX_LINKS = 20_000

/** More `rel` words than this on one link are dropped; real links have one to three. */
const MAX_REL_WORDS = 16

export type LinkSource = 'a' | 'area' | 'link' | 'iframe' | 'frame' | 'meta-refresh'

export interface Link {
  readonly url: NormalizedUrl
  /** The words of `rel` in lower case, of all links to this URL together. */
  readonly rel: readonly string[]
  /** The element that named it first. */
  readonly source: LinkSource
  /** Every link to it says `nofollow`, `ugc` or `sponsored`. */
  readonly nofollow: boolean
}

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
  resolve(maximum: number): { links: Link[]; truncated: boolean }
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
      let truncated = false
      for (const [reference, { source, rel, nofollow }] of references) {
        const url = resolveOne(reference)
        if (url === undefined) continue
        if (found.size >= maximum && !found.has(url)) {
          truncated = true
          break
        }
        merge(found, url, source, rel, nofollow)
      }
      const links = Array.from(found, ([url, { rel, source, nofollow }]) => ({ url, rel, source, nofollow }))
      return { links, truncated }
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
  if (rel.length > 0 && rel !== known.rel && known.rel.length < MAX_REL_WORDS) {
    const words = new Set([...known.rel, ...rel])
    if (words.size > known.rel.length) known.rel = [...words].slice(0, MAX_REL_WORDS)
  }
}

function isNofollow(word: string): boolean {
  return NOFOLLOW.has(word)
}
