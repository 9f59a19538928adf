/**
 * Patterns over URLs, as users write them in `--include`, `--exclude`, `tiers` and `sites`. The shape of a glob says
 * what it is held against:
 *
 * | shape                       | held against                        | examples                             |
 * | --------------------------- | ----------------------------------- | ------------------------------------ |
 * | begins with `/`             | the path                            | `/docs`, `/api/**`, `/x/*.html`      |
 * | has `://`                   | the whole URL                       | `https://a.test/docs/**`             |
 * | has `/` elsewhere           | host (and port) with path           | `news.example.com/**`                |
 * | has no `/`                  | each path segment, and the host     | `*.pdf`, `_sources`, `*.example.com` |
 * | begins with `re:`           | the whole URL, searched             | `re:/v[0-9]+/`                       |
 *
 * A `?` is a literal question mark; only a glob that has one looks at the query (`*?*print=*`), and what
 * stands behind it does not count for the shape. A glob without a wildcard names a folder with all below it. Pattern
 * and URL are compared in the form of `urlKey`, so `%7Euser` and `~user` are the same and non-ASCII letters may be
 * typed as they are; a `re:` pattern is searched in that form too. Every match takes linear time.
 */
import { domainToASCII } from 'node:url'
import { TiptoeError, type NormalizedUrl } from '../model/index.ts'
import { compileGlob } from './glob.ts'
import { keyOfNormalized, normalizePercentEncoding } from './key.ts'
import { pathStart, queryStart, siteOf } from './parts.ts'
import { compileRegex } from './regex.ts'

export interface Pattern {
  /** As it was written. */
  readonly text: string
  matches(url: NormalizedUrl): boolean
}

/** Longer patterns are refused. */
export const MAX_PATTERN_LENGTH = 2000

/** A URL, cut into what patterns look at, so that many patterns share the work. */
export interface PatternTarget {
  /** `https://` or `http://`. */
  readonly scheme: string
  /** Host, and port if it is not the default. */
  readonly site: string
  readonly path: string
  /** With its `?`, or empty. */
  readonly query: string
}

export type TargetTest = (target: PatternTarget) => boolean

export function compilePattern(text: string): Pattern {
  const test = compileTargetTest(text)
  return { text, matches: (url) => test(patternTarget(url)) }
}

export function patternTarget(url: NormalizedUrl): PatternTarget {
  const key = keyOfNormalized(url)
  const path = pathStart(key)
  const query = queryStart(key)
  return {
    scheme: key.slice(0, key.indexOf('/') + 2),
    site: siteOf(key),
    path: key.slice(path, query),
    query: key.slice(query),
  }
}

export function compileTargetTest(text: string): TargetTest {
  if (text.length === 0) throw new TiptoeError('usage', 'a pattern is empty')
  if (text.length > MAX_PATTERN_LENGTH) {
    throw new TiptoeError('usage', `pattern "${text.slice(0, 40)}…" is longer than ${MAX_PATTERN_LENGTH} characters`)
  }
  if (text.startsWith('re:')) {
    const nfa = compileRegex(text, 3)
    return ({ scheme, site, path, query }) => nfa.search(scheme + site + path + query).matched
  }
  const question = text.indexOf('?')
  const head = question === -1 ? text : text.slice(0, question)
  const tail = question === -1 ? '' : encodeLiterals(text.slice(question), QUERY_ENCODED)
  const withQuery = question !== -1

  if (head.startsWith('/')) {
    const test = compileGlob(encodePath(head) + tail)
    return ({ path, query }) => test(withQuery ? path + query : path)
  }
  const scheme = head.indexOf('://')
  if (scheme !== -1) {
    const test = compileGlob(encodeAbsolute(head, scheme + 3) + tail)
    return ({ scheme, site, path, query }) => test(scheme + site + path + (withQuery ? query : ''))
  }
  if (head.includes('/')) {
    const test = compileGlob(encodeAbsolute(head, 0) + tail)
    return ({ site, path, query }) => test(site + path + (withQuery ? query : ''))
  }
  return compileSegmentTest(head, tail)
}

/** A glob without a slash: the host, with its port if the glob has a colon, or any one segment of the path. */
function compileSegmentTest(head: string, tail: string): TargetTest {
  const testSegment = compileGlob(encodePath(head) + tail)
  if (tail !== '') return ({ path, query }) => testSegment(path.slice(path.lastIndexOf('/') + 1) + query)
  const testHost = compileGlob(encodeHost(head))
  const withPort = /:[\d*]+$/.test(head)
  return ({ site, path }) => {
    if (testHost(withPort ? site : site.replace(/:\d+$/, ''))) return true
    for (let at = 1; at <= path.length;) {
      const slash = path.indexOf('/', at)
      const end = slash === -1 ? path.length : slash
      if (testSegment(path.slice(at, end))) return true
      at = end + 1
    }
    return false
  }
}

/** Scheme and host in lower case as far as they reach; the path from its slash, or from a `**` that may cover it. */
function encodeAbsolute(head: string, hostStart: number): string {
  const ends = [head.indexOf('/', hostStart), head.indexOf('**', hostStart)].filter((index) => index !== -1)
  const hostEnd = Math.min(head.length, ...ends)
  const scheme = head.slice(0, hostStart).toLowerCase()
  let host = encodeHost(head.slice(hostStart, hostEnd))
  if (scheme === 'https://' && host.endsWith(':443')) host = host.slice(0, -4)
  if (scheme === 'http://' && host.endsWith(':80')) host = host.slice(0, -3)
  return scheme + host + encodePath(head.slice(hostEnd))
}

/** Labels with other letters than ASCII's are in Punycode in a URL. */
function encodeHost(host: string): string {
  return host
    .split('.')
    .map((label) => (isAscii(label) ? label.toLowerCase() : domainToASCII(label) || label.toLowerCase()))
    .join('.')
}

/** Only ASCII takes one byte a character in UTF-8. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

const encodePath = (text: string): string => encodeLiterals(text, PATH_ENCODED)

/** The characters that the URL parser itself encodes in each part: it is asked, since the standard still moves. */
const encodedBy = (prefix: string): ReadonlySet<string> =>
  new Set(
    Array.from({ length: 127 - 33 }, (_, index) => String.fromCharCode(index + 33)).filter(
      (character) => character !== '%' && URL.parse(`${prefix}${character}x`)?.href.includes('%'),
    ),
  )
const PATH_ENCODED = encodedBy('http://a.test/')
const QUERY_ENCODED = encodedBy('http://a.test/?')

function encodeLiterals(text: string, encoded: ReadonlySet<string>): string {
  let result = ''
  for (const character of text.toWellFormed()) {
    const code = character.charCodeAt(0)
    if (code > 126) result += encodeURIComponent(character)
    else if (code < 33 || encoded.has(character)) result += `%${code.toString(16).padStart(2, '0')}`
    else result += character
  }
  return normalizePercentEncoding(result)
}
