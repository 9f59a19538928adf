/**
 * The form in which a rule's path and a URL's path are compared octet by octet, RFC 9309 §2.2.2:
 * percent-encoded unreserved characters are decoded, whatever may not stand in a URI is encoded, hex digits are upper
 * case. A reserved character and its encoding stay two different things, as RFC 3986 §2.2 has it: `%2F` is not `/`;
 * where it is no delimiter, the two are one in a second form, see `encodeReserved`.
 * `*` and `$` become `%2A` and `%24` wherever they are plain characters (§2.2.3), so a special one can be told from them.
 */

const HEX = '0123456789ABCDEF'

/**
 * Reserved and unreserved characters that may stand as they are. Not `[`, `]` and `#`, which RFC 3986 permits in no path
 * or query, nor `'`, which the URL Standard encodes in every query.
 */
const PLAIN = /[A-Za-z0-9\-._~!&()+,/:;=?@]/
const isPlain: readonly boolean[] = Array.from({ length: 256 }, (_, code) => PLAIN.test(String.fromCharCode(code)))
const isUnreserved: readonly boolean[] = Array.from({ length: 256 }, (_, code) =>
  /[A-Za-z0-9\-._~]/.test(String.fromCharCode(code)),
)

const PLAIN_PATH = /^[A-Za-z0-9\-._~!&()+,/:;=?@]*$/
const PLAIN_PATTERN = /^[A-Za-z0-9\-._~!&()+,/:;=?@*]*\$?$/

/** A URL's path and query, in octets. */
export function canonicalPath(octets: string): string {
  return PLAIN_PATH.test(octets) ? octets : canonicalize(octets, false)
}

/** A rule's path: `*` and a `$` at the end are left to be special. */
export function canonicalPattern(octets: string): string {
  return PLAIN_PATTERN.test(octets) ? octets : canonicalize(octets, true)
}

function canonicalize(octets: string, isPattern: boolean): string {
  let out = ''
  for (let at = 0; at < octets.length; at++) {
    const code = octets.charCodeAt(at)
    if (isPlain[code] === true) {
      out += octets[at]
    } else if (code === 0x25) {
      const high = hexValue(octets.charCodeAt(at + 1))
      const low = hexValue(octets.charCodeAt(at + 2))
      if (high < 0 || low < 0) {
        // A stray percent sign is an octet like any other.
        out += '%'
        continue
      }
      const value = high * 16 + low
      out += isUnreserved[value] === true ? String.fromCharCode(value) : percent(value)
      at += 2
    } else if (isPattern && (code === 0x2a || (code === 0x24 && at === octets.length - 1))) {
      out += octets[at]
    } else {
      out += percent(code)
    }
  }
  return out
}

/** What delimits nothing in the path and in the query, RFC 3986 §3.3 and §3.4; and the same with its encoding. */
const DATA_OF_PATH = /[:@!&()+,;=]/g
const DATA_OF_QUERY = /[:/?@]/g
const ANY_DATA_OF_PATH = /[:@!&()+,;=]|%(?:3A|40|21|26|28|29|2B|2C|3B|3D)/
const ANY_DATA_OF_QUERY = /[:/?@]|%(?:3A|2F|3F|40)/

/**
 * The same with the reserved characters encoded that are data where they stand, as in the second row of RFC 9309's
 * table: behind the `?` a rule with `https://` matches a URL with `https%3A%2F%2F`, before it `/Special:` matches
 * `/Special%3A`, and the other way round. Takes and gives canonical octets.
 */
export function encodeReserved(canonical: string): string {
  const query = endOfPath(canonical)
  return (
    canonical.slice(0, query).replace(DATA_OF_PATH, percentOf) +
    canonical.slice(query).replace(DATA_OF_QUERY, percentOf)
  )
}

/** Whether two canonical octet strings that differ can be the same in the other form, when this is one of them. */
export function hasReservedData(canonical: string): boolean {
  const query = endOfPath(canonical)
  return ANY_DATA_OF_PATH.test(canonical.slice(0, query)) || ANY_DATA_OF_QUERY.test(canonical.slice(query))
}

/** Behind the first `?`; at the end when there is none. */
function endOfPath(canonical: string): number {
  const query = canonical.indexOf('?') + 1
  return query === 0 ? canonical.length : query
}

function percentOf(char: string): string {
  return percent(char.charCodeAt(0))
}

/** Path and query of an absolute, scheme-relative or host-first URL, or of a path; always begins with `/`. */
export function pathOfUrl(url: string): string {
  const hash = url.indexOf('#')
  const whole = hash < 0 ? url : url.slice(0, hash)
  let start = whole.startsWith('//') ? 2 : 0
  const early = indexOfPath(whole, start)
  const scheme = whole.indexOf('://', start)
  if (scheme >= 0 && (early < 0 || scheme < early)) start = scheme + 3
  const path = indexOfPath(whole, start)
  if (path < 0) return '/'
  return whole[path] === '/' ? whole.slice(path) : `/${whole.slice(path)}`
}

function indexOfPath(url: string, from: number): number {
  for (let at = from; at < url.length; at++) {
    const code = url.charCodeAt(at)
    if (code === 0x2f || code === 0x3f || code === 0x3b) return at
  }
  return -1
}

function percent(value: number): string {
  return `%${HEX[value >> 4] ?? ''}${HEX[value & 15] ?? ''}`
}

/** -1 for what is no hex digit, the end of the string among it. */
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return code < 0x80 && letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
