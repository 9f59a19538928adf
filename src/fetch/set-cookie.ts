/**
 * One `Set-Cookie` field to one cookie, by the rules that browsers follow (RFC 6265bis §5.6), which accept much and
 * bound everything. `Domain` counts for nothing but the prefix rule: a cookie stays with the origin that set it.
 * Keeping, expiring and sending cookies back is left to the jar.
 */
import { cookieDateMs } from './cookie-date.ts'

export interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  /** `clock.now()`; Infinity for one that lasts as long as the process. */
  readonly expiresAt: number
}

/** RFC 6265bis §5.6: of name and value together; a larger cookie is not kept. */
export const MAX_COOKIE_LENGTH = 4096
/** Longer attributes count as absent. */
const MAX_ATTRIBUTE_LENGTH = 1024
/** RFC 6265bis §5.5: nothing is kept for longer than this. */
const LONGEST_LIFE_MS = 400 * 86_400_000

/** RFC 6265bis §5.6: all control characters but the tab. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/

export interface CookieSource {
  readonly secure: boolean
  /** Of the request, without its query. */
  readonly path: string
  readonly now: number
}

/** Undefined for what is no cookie, or none that this source may set. */
export function parseSetCookie(text: string, { secure, path, now }: CookieSource): Cookie | undefined {
  if (CONTROL.test(text)) return undefined
  const [pair = '', ...attributes] = text.split(';')
  const [name, value] = dividedAtEquals(pair, '')
  if (name.length + value.length > MAX_COOKIE_LENGTH || (name === '' && value === '')) return undefined

  let expiresAt: number | undefined
  let maxAgeAt: number | undefined
  let ownPath: string | undefined
  let isSecure = false
  let hasDomain = false
  // The last of each attribute counts.
  for (const attribute of attributes) {
    const [key, attributeValue] = dividedAtEquals(attribute, undefined)
    if (attributeValue.length > MAX_ATTRIBUTE_LENGTH) continue
    switch (key.toLowerCase()) {
      case 'expires':
        expiresAt = cookieDateMs(attributeValue) ?? expiresAt
        break
      case 'max-age':
        maxAgeAt = maxAgeTime(attributeValue, now) ?? maxAgeAt
        break
      case 'path':
        ownPath = attributeValue.startsWith('/') ? attributeValue : undefined
        break
      case 'secure':
        isSecure = true
        break
      case 'domain':
        hasDomain = attributeValue !== ''
        break
    }
  }

  if (isSecure && !secure) return undefined
  const named = (name === '' ? value : name).toLowerCase()
  if (named.startsWith('__secure-') && (name === '' || !isSecure)) return undefined
  if (named.startsWith('__host-') && (name === '' || !isSecure || hasDomain || ownPath !== '/')) return undefined
  const ends = maxAgeAt ?? expiresAt
  return {
    name,
    value,
    path: ownPath ?? defaultPath(path),
    expiresAt: ends === undefined ? Infinity : Math.min(ends, now + LONGEST_LIFE_MS),
  }
}

/** What stands before and after the first `=`, without the space around; text without one is a value, or a name. */
function dividedAtEquals(text: string, missingName: '' | undefined): [name: string, value: string] {
  const equals = text.indexOf('=')
  if (equals === -1) return missingName === '' ? ['', text.trim()] : [text.trim(), '']
  return [text.slice(0, equals).trim(), text.slice(equals + 1).trim()]
}

/** RFC 6265bis §5.6.2: seconds; none or fewer end the cookie at once. */
function maxAgeTime(text: string, now: number): number | undefined {
  if (!/^-?\d+$/.test(text)) return undefined
  const seconds = Number(text)
  return seconds <= 0 ? -Infinity : now + seconds * 1000
}

/** RFC 6265bis §5.1.4: the folder of the request. */
function defaultPath(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}
