/**
 * What is fetched: an absolute http or https URL as the WHATWG URL Standard serialises it, without a fragment and
 * without a user name or password. A link that carries credentials is asked for without them: a crawler holds no
 * account, and they must not leak into records, logs and Referer. Nothing here throws: whatever text a page holds,
 * it is either a URL that can be fetched or it is not.
 */
import { LIMITS, type NormalizedUrl } from '../model/index.ts'
import { endOfPlainUrl } from './plain.ts'

/** Longer URLs are not fetched. RFC 9110 §4.1 asks for at least 8,000; most servers refuse more than this. */
export const MAX_URL_LENGTH = LIMITS['url-length'].value

/** Longer text is not even parsed: a `data:` URL may have megabytes. Leaves room for a fragment and for dot segments. */
export const MAX_REFERENCE_LENGTH = 65_536

/** `raw` as a URL that can be fetched, resolved against `base` if there is one; undefined if it is none. */
export function normalizeUrl(raw: string, base?: string): NormalizedUrl | undefined {
  if (raw.length > MAX_REFERENCE_LENGTH) return undefined
  if (base === undefined) {
    const end = endOfPlainUrl(raw)
    if (end !== -1) return withinLength(copyOfPlain(raw, end))
  } else if (base.length > MAX_REFERENCE_LENGTH) return undefined
  const href = serializeUrl(raw, base)
  return href === undefined ? undefined : withinLength(href)
}

/** The same by the long way, whatever its length. */
export function serializeUrl(raw: string, base?: string): string | undefined {
  const url = URL.parse(raw, base)
  if (url === null || !isWebUrl(url)) return undefined
  if (url.username !== '' || url.password !== '') {
    url.username = ''
    url.password = ''
  }
  return withoutFragment(url.href)
}

const isWebUrl = (url: URL): boolean => url.protocol === 'https:' || url.protocol === 'http:'

/** In a serialised URL the first `#` begins the fragment: anywhere else it is percent-encoded. */
function withoutFragment(href: string): string {
  const hash = href.indexOf('#')
  return hash === -1 ? href : href.slice(0, hash)
}

/** Joined anew rather than cut out: a slice would keep the whole text of the page alive for as long as the URL. */
export function copyOfPlain(raw: string, end: number): string {
  return raw.startsWith('https') ? 'https://' + raw.slice(8, end) : 'http://' + raw.slice(7, end)
}

export function withinLength(href: string): NormalizedUrl | undefined {
  return href.length > MAX_URL_LENGTH ? undefined : (href as NormalizedUrl)
}
