/**
 * The Link header (RFC 8288 §3): `<next.html>; rel=next, <https://example.com/>; rel="canonical"`. Broken parts end the
 * reading of a value, and what was read before stands. Links that are about another page (`anchor`) are left out. What
 * the relations mean is left to the caller, and so is resolving.
 */
import { relWords } from './links.ts'

export interface HeaderLink {
  /** As written between the brackets. */
  readonly reference: string
  /** The words of the first `rel`, in lower case. */
  readonly rel: readonly string[]
  /** The media type that the target is said to have, in lower case; empty if nothing is said. */
  readonly type: string
}

/** All values together; servers themselves refuse headers that are longer. */
const MAX_HEADER_CHARS = 65_536

/** More links than this in one header are not read. */
const MAX_HEADER_LINKS = 256

export function parseLinkHeader(values: readonly string[]): HeaderLink[] {
  const links: HeaderLink[] = []
  let left = MAX_HEADER_CHARS
  for (const value of values) {
    if (left <= 0) break
    readValue(value.slice(0, left), links)
    left -= value.length
  }
  return links
}

function readValue(value: string, links: HeaderLink[]): void {
  let at = 0
  while (links.length < MAX_HEADER_LINKS) {
    at = skip(value, at, ' \t,')
    if (value[at] !== '<') return
    const close = value.indexOf('>', at)
    if (close === -1) return
    const reference = value.slice(at + 1, close).trim()
    const parameters = readParameters(value, close + 1)
    at = parameters.end
    // An anchor makes it a link of another page, or of a part of this one.
    if (parameters.found.has('anchor')) continue
    const rel = relWords(parameters.found.get('rel'))
    const type = (parameters.found.get('type') ?? '').trim().toLowerCase()
    if (rel.length > 0) links.push({ reference, rel, type })
  }
}

/** Parameters of one link by name; of two with one name, the first counts (§3.3). `end` is at the next comma or the end. */
function readParameters(value: string, start: number): { found: ReadonlyMap<string, string>; end: number } {
  const found = new Map<string, string>()
  let at = start
  for (;;) {
    at = skip(value, at, ' \t;')
    const char = value[at]
    if (char === undefined || char === ',') return { found, end: at }
    const nameStart = at
    while (at < value.length && !' \t;,='.includes(value[at] as string)) at++
    const name = value.slice(nameStart, at).toLowerCase()
    at = skip(value, at, ' \t')
    let text = ''
    if (value[at] === '=') {
      at = skip(value, at + 1, ' \t')
      if (value[at] === '"') {
        const quoted = readQuoted(value, at + 1)
        text = quoted.text
        at = quoted.end
      } else {
        const textStart = at
        while (at < value.length && !' \t;,'.includes(value[at] as string)) at++
        text = value.slice(textStart, at)
      }
    }
    if (!found.has(name)) found.set(name, text)
  }
}

function readQuoted(value: string, start: number): { text: string; end: number } {
  let text = ''
  let at = start
  while (at < value.length && value[at] !== '"') {
    if (value[at] === '\\' && at + 1 < value.length) at++
    text += value[at++]
  }
  return { text, end: at + 1 }
}

function skip(value: string, start: number, chars: string): number {
  let at = start
  while (at < value.length && chars.includes(value[at] as string)) at++
  return at
}
