/**
 * Absolute addresses for links and images. Most references on a page are plain paths, which are joined without
 * parsing; everything else goes through the WHATWG parser once. Schemes that run code or carry data are refused.
 */
import { decodeEntities } from './entities.ts'

export interface LinkResolver {
  /** An absolute URL ready for a double-quoted attribute; undefined where there is nothing fit to link to. */
  resolve(reference: string): string | undefined
}

/** No reference longer than this is kept: browsers and servers stop at far less. */
const MAX_REFERENCE_LENGTH = 4096
/** Distinct references remembered for one page. */
const MAX_REMEMBERED = 2000
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:'])

export function createLinkResolver(pageUrl: string, baseReference: string | undefined): LinkResolver {
  const page = parse(pageUrl)
  const base = baseReference === undefined ? page : (parse(decodeEntities(baseReference).trim(), page) ?? page)
  const hierarchical = base !== undefined && (base.protocol === 'https:' || base.protocol === 'http:')
  const root = hierarchical ? attribute(base.origin) : undefined
  const directory = hierarchical
    ? root + attribute(base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1))
    : undefined
  const known = new Map<string, string | undefined>()

  const resolveFully = (reference: string): string | undefined => {
    if (reference.length > MAX_REFERENCE_LENGTH) return undefined
    const url = parse(decodeEntities(reference), base)
    if (url === undefined || !SCHEMES.has(url.protocol)) return undefined
    return url.href.length > MAX_REFERENCE_LENGTH ? undefined : attribute(url.href)
  }
  /** The base without its fragment, for references to a place on the page. */
  const document = base === undefined ? undefined : attribute(base.href.split('#', 1)[0] as string)
  /** Joins what needs no parsing; undefined for all else. */
  const join = (reference: string): string | undefined => {
    if (root === undefined || directory === undefined || reference.length > MAX_PLAIN_LENGTH) return undefined
    const first = reference.charCodeAt(0)
    if (first === HASH) return isPlainPath(reference, 1, true) ? document + reference : undefined
    if (first === SLASH) return isPlainPath(reference, 1, false) ? root + reference : undefined
    let parent = directory
    let at = 0
    for (; reference.startsWith('../', at); at += 3) {
      const end = parent.lastIndexOf('/', parent.length - 2)
      if (end >= root.length) parent = parent.slice(0, end + 1)
    }
    return isPlainPath(reference, at, false) ? parent + (at === 0 ? reference : reference.slice(at)) : undefined
  }
  return {
    resolve(reference) {
      const joined = join(reference)
      if (joined !== undefined) return joined
      if (known.has(reference)) return known.get(reference)
      const resolved = resolveFully(reference)
      if (known.size < MAX_REMEMBERED) known.set(reference, resolved)
      return resolved
    },
  }
}

const SLASH = 47
const DOT = 46
const HASH = 35
const MAX_PLAIN_LENGTH = 512

/**
 * A path that joins to its base as it stands: letters, digits, `-`, `_`, single slashes and dots inside a name, and a
 * fragment of the same. Dot segments, colons, escapes, queries and everything else are left to the parser.
 */
function isPlainPath(reference: string, from: number, inFragment: boolean): boolean {
  if (from === reference.length) return from > 0 && !inFragment
  let previous = SLASH
  let fragment = inFragment
  for (let at = from; at < reference.length; at++) {
    const code = reference.charCodeAt(at)
    if (code === HASH && at > from && !fragment) fragment = true
    else if (code === DOT) {
      if (previous === SLASH) return false
    } else if (code === SLASH) {
      if (previous === SLASH) return false
    } else if (!isUnreserved(code)) return false
    previous = code
  }
  return true
}

function isUnreserved(code: number): boolean {
  const lower = code | 32
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 95
}

function parse(reference: string, base?: URL): URL | undefined {
  return URL.parse(reference, base?.href) ?? undefined
}

function attribute(url: string): string {
  return url.replaceAll('&', '&amp;').replaceAll('"', '%22').replaceAll('<', '%3C')
}
