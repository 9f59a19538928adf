/**
 * A sufficient test for text that the WHATWG URL parser would give back unchanged. It only ever answers "certainly
 * unchanged" or "do not know": whoever asks falls back to `URL`, so that a short cut can cost time but never
 * correctness. Every function is one pass over the text.
 */

const PATH = 1
const QUERY = 2
const HOST = 4

/** What each ASCII character may safely be part of. A smaller set than the standard allows: rare ones take the long way. */
const KINDS = new Uint8Array(128)
const allow = (characters: string, kinds: number): void => {
  for (const character of characters) KINDS[character.charCodeAt(0)]! |= kinds
}
allow('abcdefghijklmnopqrstuvwxyz0123456789-_', PATH | QUERY | HOST)
allow('ABCDEFGHIJKLMNOPQRSTUVWXYZ.~!$&()*+,;=:@/%', PATH | QUERY)
allow("'", PATH)
allow('?[]{}|', QUERY)

const HASH = 0x23
const PERCENT = 0x25
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const QUESTION = 0x3f
const LARGEST_PORT = 65_535

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** A query from `start` (after its `?`): where the fragment or the text ends it, or -1 if it may change. */
export function endOfPlainQuery(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === HASH) return at
    if (code > 127 || (KINDS[code]! & QUERY) === 0) return -1
  }
  return text.length
}

/**
 * A path, from `start` at the beginning of a segment, and its query: where the fragment or the text ends them, or -1
 * if they may change. A segment that begins with a dot, spelled `%2e` or not, may be a dot segment.
 */
export function endOfPlainTarget(text: string, start: number): number {
  let afterSlash = true
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === HASH) return at
    if (code === QUESTION) return endOfPlainQuery(text, at + 1)
    if (code > 127 || (KINDS[code]! & PATH) === 0) return -1
    if (afterSlash && (code === DOT || (code === PERCENT && text.charCodeAt(at + 1) === 0x32))) return -1
    afterSlash = code === SLASH
  }
  return text.length
}

/** An absolute http or https URL: where its query or path ends, or -1 if anything before that may change. */
export function endOfPlainUrl(text: string): number {
  const pathStart = plainPathStart(text)
  return pathStart === -1 ? -1 : endOfPlainTarget(text, pathStart + 1)
}

function plainPathStart(text: string): number {
  const isHttps = text.startsWith('https://')
  if (!isHttps && !text.startsWith('http://')) return -1
  const start = isHttps ? 8 : 7
  let labelStart = start
  let dots = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 128 && (KINDS[code]! & HOST) !== 0) continue
    // An empty label, and Punycode, which the parser decodes and checks, go the long way.
    if (at === labelStart || text.startsWith('xn--', labelStart)) return -1
    if (code === DOT) {
      dots++
      labelStart = at + 1
      continue
    }
    // A host whose last label is a number is an IPv4 address to the parser, and may be written in other ways.
    if (isDigit(text.charCodeAt(labelStart)) && !(dots === 3 && isDottedQuad(text, start, at))) return -1
    if (code === SLASH) return at
    return code === COLON ? endOfPlainPort(text, at + 1, isHttps ? 443 : 80) : -1
  }
  return -1
}

function isDottedQuad(text: string, start: number, end: number): boolean {
  let octet = 0
  let octetStart = start
  for (let at = start; at <= end; at++) {
    const code = text.charCodeAt(at)
    if (at === end || code === DOT) {
      const length = at - octetStart
      if (length === 0 || octet > 255 || (length > 1 && text.charCodeAt(octetStart) === 0x30)) return false
      octet = 0
      octetStart = at + 1
    } else if (isDigit(code)) octet = octet * 10 + (code - 0x30)
    else return false
  }
  return true
}

/** The slash after a port that is written as the serialiser writes it: not the default, without leading zeros. */
function endOfPlainPort(text: string, start: number, defaultPort: number): number {
  let port = 0
  let at = start
  for (; isDigit(text.charCodeAt(at)) && port <= LARGEST_PORT; at++) port = port * 10 + (text.charCodeAt(at) - 0x30)
  const isPlain =
    text.charCodeAt(start) !== 0x30 &&
    port > 0 &&
    port <= LARGEST_PORT &&
    port !== defaultPort &&
    text.charCodeAt(at) === SLASH
  return isPlain ? at : -1
}

/** Only a colon in the first segment can end a scheme. */
export function mayHaveScheme(reference: string): boolean {
  for (let at = 0; at < reference.length; at++) {
    const code = reference.charCodeAt(at)
    if (code === COLON) return true
    if (code === SLASH || code === QUESTION || code === HASH) return false
  }
  return false
}

/**
 * Whether a reference has a scheme that is neither http nor https, such as `mailto:`: it leads nowhere, whatever the
 * base. Without the white space that the parser takes out first, so the answer no is not certain.
 */
export function hasOtherScheme(reference: string): boolean {
  if (!isLetter(reference.charCodeAt(0))) return false
  for (let at = 1; at < reference.length; at++) {
    const code = reference.charCodeAt(at)
    if (code === COLON) return !(at === 4 || at === 5) || !/^https?:/i.test(reference)
    if (!isLetter(code) && !isDigit(code) && code !== DOT && code !== 0x2b && code !== 0x2d) return false
  }
  return false
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
