/**
 * Query parameters that a crawl does not tell URLs by, such as those that say which advertisement led to a page. They
 * are taken out of a URL before the crawl knows it. Only whole `name=value` pairs of the names that were asked for go;
 * everything else keeps its order and its spelling. That is a choice of whoever crawls and no equivalence of RFC 3986,
 * so the key of a URL knows nothing of it.
 */
import type { NormalizedUrl } from '../model/index.ts'
import { normalizePercentEncoding } from './key.ts'
import { queryStart } from './parts.ts'

/** This word stands for all of `TRACKING_PARAMETERS`. */
export const TRACKING = 'tracking'

/** Parameters that advertising, mailing and analytics add to links, and that no page is known to differ by. */
export const TRACKING_PARAMETERS: readonly string[] = [
  'utm_*',
  '_ga',
  '_gl',
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'igshid',
  'msclkid',
  'twclid',
  'ttclid',
  'li_fat_id',
  'yclid',
  'mc_cid',
  'mc_eid',
  '_hsenc',
  '_hsmi',
  'mkt_tok',
  'vero_id',
  'oly_enc_id',
  'oly_anon_id',
]

/** Longer patterns name no parameter. */
export const MAX_PARAMETER_LENGTH = 100

/** Whether this can be the name of a parameter, perhaps with `*` for any characters. */
export function isParameterPattern(text: string): boolean {
  return text.length > 0 && text.length <= MAX_PARAMETER_LENGTH && /^[!-~]+$/.test(text) && !/[#&=?,]/.test(text)
}

export type ParameterStripper = (url: NormalizedUrl) => NormalizedUrl

/** The URL without the parameters of these names; `*` in a name stands for any characters. */
export function createParameterStripper(names: readonly string[]): ParameterStripper {
  const all = names.flatMap((name) => (name === TRACKING ? TRACKING_PARAMETERS : name)).map(normalizePercentEncoding)
  if (all.length === 0) return (url) => url
  const exact = new Set(all.filter((name) => !name.includes('*')))
  const wild = all.filter((name) => name.includes('*')).map((name) => name.split(/\*+/))

  const isStripped = (pair: string): boolean => {
    const equals = pair.indexOf('=')
    if (equals === -1) return false
    const name = normalizePercentEncoding(pair.slice(0, equals))
    return exact.has(name) || wild.some((parts) => fits(name, parts))
  }

  return (url) => {
    const question = queryStart(url)
    if (question === url.length) return url
    const pairs = url.slice(question + 1).split('&')
    const kept = pairs.filter((pair) => !isStripped(pair))
    if (kept.length === pairs.length) return url
    const query = kept.join('&')
    return (query === '' ? url.slice(0, question) : `${url.slice(0, question)}?${query}`) as NormalizedUrl
  }
}

/** Whether the name consists of these parts in their order, with anything between them. */
function fits(name: string, parts: readonly string[]): boolean {
  const first = parts[0] as string
  const last = parts.at(-1) as string
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
