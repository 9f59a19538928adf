/**
 * Absolute addresses for links and images. Most references on a page are plain paths, which are joined without
 * parsing; everything else goes through the WHATWG parser once. Schemes that run code or carry data are refused.
 */

import { decodeReferences } from '../../base/index.ts'
export interface LinkResolver {
  /** An absolute URL without spaces or angle brackets; undefined where there is nothing fit to link to. */
  resolve(reference: string): string | undefined
  /** Whether a reference leads to a place on the page itself. */
  isOwnPlace(reference: string): boolean
}

/** No reference longer than this is kept: browsers and servers stop at far less. */
const MAX_REFERENCE_LENGTH = 4096
/** Distinct references remembered for one page. */
const MAX_REMEMBERED = 2000
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:'])

export function createLinkResolver(pageUrl: string, baseReference: string | undefined): LinkResolver {
  const { href, root, directory, document } = baseOf(pageUrl, baseReference)
  const known = new Map<string, string | undefined>()

  const resolveFully = (reference: string): string | undefined => {
    if (reference.length > MAX_REFERENCE_LENGTH) return undefined
    const address = decodeReferences(reference, true)
    // The base is parsed along, so no more of it is given than counts: a page may have very many such references.
    const url = parse(address, WHOLE.test(address) ? undefined : address.startsWith('/') ? (root ?? href) : href)
    if (url === undefined || !SCHEMES.has(url.protocol)) return undefined
    return url.href.length > MAX_REFERENCE_LENGTH ? undefined : fitForMarkdown(url.href)
  }
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
  const resolve = (reference: string): string | undefined => {
    const joined = join(reference)
    if (joined !== undefined) return joined
    if (known.has(reference)) return known.get(reference)
    const resolved = resolveFully(reference)
    if (known.size < MAX_REMEMBERED) known.set(reference, resolved)
    return resolved
  }
  return {
    resolve,
    isOwnPlace(reference) {
      if (reference.startsWith('#')) return true
      return reference.includes('#') && resolve(reference)?.startsWith(`${document}#`) === true
    },
  }
}

/** What references are relative to. */
interface Base {
  readonly href: string | undefined
  /** Its origin and its folder, where it has such; what is relative to these can be joined. */
  readonly root: string | undefined
  readonly directory: string | undefined
  /** It without its fragment, for references to a place on the page. */
  readonly document: string | undefined
}

/** The origin of the last page that was parsed, as the parser writes it: pages of a host come together. */
let lastRoot = ''

function baseOf(pageUrl: string, baseReference: string | undefined): Base {
  if (baseReference === undefined && isPlainUrl(pageUrl)) {
    return { href: pageUrl, root: lastRoot, directory: folderOf(pageUrl), document: pageUrl }
  }
  const page = parse(pageUrl)
  const base =
    baseReference === undefined ? page : (parse(decodeReferences(baseReference, true).trim(), page?.href) ?? page)
  const root = base?.protocol === 'https:' || base?.protocol === 'http:' ? base.origin : undefined
  if (base === page && root !== undefined) lastRoot = root
  return {
    href: base?.href,
    root,
    directory: base === undefined || root === undefined ? undefined : root + folderOf(base.pathname),
    document: base === undefined ? undefined : fitForMarkdown(base.href.split('#', 1)[0] as string),
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** A path that the parser would leave as it stands, below an origin that it has written. */
function isPlainUrl(url: string): boolean {
  const path = lastRoot.length
  if (path === 0 || url.charCodeAt(path) !== SLASH || !url.startsWith(lastRoot)) return false
  return url.length <= MAX_PLAIN_LENGTH && isPlainPath(url, path + 1, false) && !url.includes('#')
}

/** An address that no base has a part in; without the slashes, or with space before it, it might have. */
const WHOLE = /^https?:\/\//

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

/** Words with a target as Markdown: the target alone where the words say nothing else. */
export function linkMarkup(words: string, target: string, inCell: boolean): string {
  if (words.length >= target.length && words.replaceAll('\\', '') === target) return `<${target}>`
  if (target.startsWith('mailto:') && target.slice(7).replace('%40', '@') === words) return `<${words}>`
  return `[${words}](${markdownTarget(target, inCell)})`
}

export function markdownTarget(target: string, inCell: boolean): string {
  const inRow = inCell ? target.replaceAll('|', '\\|') : target
  return target.includes('(') || target.includes(')') ? `<${inRow}>` : inRow
}

function parse(reference: string, base?: string): URL | undefined {
  return URL.parse(reference, base) ?? undefined
}

/** The parser leaves few such characters in a URL (`mailto:` has an opaque path), and they would end it in Markdown. */
function fitForMarkdown(url: string): string {
  return UNFIT.test(url) ? url.replace(ALL_UNFIT, (character) => encodeURIComponent(character)) : url
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNFIT = /[<>\\\s\u0000-\u001f\u007f-\u009f]/
const ALL_UNFIT = new RegExp(UNFIT, 'g')
