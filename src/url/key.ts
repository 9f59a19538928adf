/**
 * What is deduplicated. Two URLs have one key only if RFC 3986 §6.2.2 says that they are the same: the case of scheme,
 * host and percent-encoding, unreserved characters that were encoded without need and those that no URI may hold
 * without being encoded (§2.1), dot segments, and by §6.2.3 the default port. Query parameters, a trailing slash, an empty query and http against https are all left alone, for
 * there a server may well tell them apart.
 */
import type { NormalizedUrl, UrlKey } from '../model/index.ts'
import { copyOfPlain, serializeUrl } from './normalize.ts'
import { endOfPlainUrl } from './plain.ts'

/** The key of any URL. Text that is not an http or https URL is its own key. */
export function urlKey(url: string): UrlKey {
  const end = endOfPlainUrl(url)
  if (end === url.length) return normalizePercentEncoding(url) as UrlKey
  const href = end === -1 ? serializeUrl(url) : copyOfPlain(url, end)
  return (href === undefined ? url : normalizePercentEncoding(href)) as UrlKey
}

/** The key of a URL that is known to be normalised, without looking again. */
export function keyOfNormalized(url: NormalizedUrl): UrlKey {
  return normalizePercentEncoding(url) as UrlKey
}

/**
 * Upper-case hex digits, and unreserved octets decoded (RFC 3986 §6.2.2.1 and §6.2.2.2). A `%` that begins no
 * valid triplet stays, and the triplet right behind it is not decoded: `%%34%31` must not become the new triplet `%41`.
 */
export function normalizePercentEncoding(url: string): string {
  const text = FORBIDDEN.test(url) ? url.replaceAll(EACH_FORBIDDEN, (mark) => TRIPLETS[mark.charCodeAt(0)]!) : url
  let at = text.indexOf('%')
  if (at === -1) return text
  let result = ''
  let copied = 0
  let bareAt = -3
  for (; at !== -1; at = text.indexOf('%', at)) {
    const high = hexValue(text.charCodeAt(at + 1))
    const low = hexValue(text.charCodeAt(at + 2))
    if (high === -1 || low === -1) {
      bareAt = at
      at += 1
      continue
    }
    const octet = high * 16 + low
    const decodes = UNRESERVED[octet] === 1 && at - bareAt > 2
    result += text.slice(copied, at) + (decodes ? String.fromCharCode(octet) : TRIPLETS[octet]!)
    at += 3
    copied = at
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/** Neither reserved nor unreserved (RFC 3986 §2), and still left as they are in a query by the URL Standard. */
const FORBIDDEN = /[\\^`{|}]/
const EACH_FORBIDDEN = new RegExp(FORBIDDEN, 'g')

const UNRESERVED = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~') {
  UNRESERVED[character.charCodeAt(0)] = 1
}

const TRIPLETS: readonly string[] = Array.from(
  { length: 256 },
  (_, octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
)

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
