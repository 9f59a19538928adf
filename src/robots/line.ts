/**
 * One line of a robots.txt, RFC 9309 §2.2, with the mistakes that Google's parser and crawler-commons forgive: a missing
 * colon, a misspelt directive, a line break of HTML at the end, the bare address of a sitemap. What a line means in its
 * place is for `groups.ts`.
 */

import type { SignalDirective } from './signals.ts'

export type Directive = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay' | SignalDirective | 'other'

export interface Line {
  readonly directive: Directive
  /** Octets, without comment and without white space around them. */
  readonly value: string
}

/**
 * What a name begins with, as in Google's parser: `disallowed` is `disallow`. Every misspelling here is one that has been
 * met on the web and can mean nothing else. There are none for `allow`: guessing must not open a door.
 */
const BEGINNINGS: readonly (readonly [Directive, readonly string[]])[] = [
  [
    'user-agent',
    ['user-agent', 'useragent', 'user agent', 'user_agent', 'user-agnet', 'users-agent', 'useg-agent', 'ser-agent'],
  ],
  ['allow', ['allow']],
  [
    'disallow',
    [
      'disallow',
      'dissallow',
      'dissalow',
      'disalow',
      'diasllow',
      'disallaw',
      'desallow',
      'dsallow',
      'dssalow',
      'diallow',
      'disllow',
    ],
  ],
  ['sitemap', ['sitemap', 'site-map']],
  [
    'crawl-delay',
    ['crawl-delay', 'crawldelay', 'crawl delay', 'crawl_delay', 'clawl-delay', 'craw-delay', 'crawl-deley'],
  ],
  ['content-signal', ['content-signal', 'contentsignal', 'content_signal']],
  ['content-usage', ['content-usage', 'contentusage', 'content_usage']],
]

/** The names as they should be, looked up before the misspellings are tried. */
const NAMES: ReadonlyMap<string, Directive> = new Map(BEGINNINGS.map(([directive]) => [directive, directive]))

/** Longer than any name above; a longer key is not lowered and compared whole. */
const LONGEST_KEY = 64

/** Undefined for a blank line, a comment, and what is no directive at all. */
export function parseLine(raw: string): Line | undefined {
  const comment = raw.indexOf('#')
  const line = stripHtmlBreak(trim(comment < 0 ? raw : raw.slice(0, comment)))
  if (line === '') return undefined
  const colon = line.indexOf(':')
  const key = colon < 0 ? '' : trim(line.slice(0, colon))
  if (colon >= 0 && !isDirectiveThenValue(key)) {
    if (isSitemapAddress(key, line)) return { directive: 'sitemap', value: line }
    return key === '' ? undefined : { directive: directiveOf(key), value: trim(line.slice(colon + 1)) }
  }
  // The colon was forgotten. White space stands for it, but only between exactly two words.
  const gap = indexOfBlank(line, 0)
  if (gap < 0) return undefined
  const value = trim(line.slice(gap))
  if (indexOfBlank(value, 0) >= 0) return undefined
  return { directive: directiveOf(line.slice(0, gap)), value }
}

/** Whether what stands before the colon is `Disallow /a` of `Disallow /a:b`: the colon is the path's, not the key's. */
function isDirectiveThenValue(key: string): boolean {
  const gap = indexOfBlank(key, 0)
  return gap > 0 && NAMES.has(key.slice(0, gap).toLowerCase())
}

/** Whether a line is nothing but the URL of what calls itself a sitemap. */
function isSitemapAddress(key: string, line: string): boolean {
  return /^https?$/i.test(key) && /^[^:]+:\/\/\S+$/.test(line) && /sitemap/i.test(line)
}

function directiveOf(key: string): Directive {
  const name = key.slice(0, LONGEST_KEY).toLowerCase()
  const exact = NAMES.get(name)
  if (exact !== undefined) return exact
  for (const [directive, beginnings] of BEGINNINGS) {
    for (const beginning of beginnings) if (name.startsWith(beginning)) return directive
  }
  return 'other'
}

/** A robots.txt typed into an HTML editor has `<br>` at the end of its lines. */
function stripHtmlBreak(line: string): string {
  if (!line.endsWith('>')) return line
  const tag = line.lastIndexOf('<')
  if (tag < 0 || line.length - tag > 6) return line
  return /^<br ?\/?>$/i.test(line.slice(tag)) ? trim(line.slice(0, tag)) : line
}

function indexOfBlank(text: string, from: number): number {
  const space = text.indexOf(' ', from)
  const tab = text.indexOf('\t', from)
  return space < 0 ? tab : tab < 0 ? space : Math.min(space, tab)
}

/**
 * ASCII white space, and the NUL with which some servers pad their lines. An octet above 0x7f is part of some character,
 * where `String.trim` would see a blank.
 */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isWhite(text.charCodeAt(start))) start++
  while (end > start && isWhite(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

export function isWhite(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0
}
