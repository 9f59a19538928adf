/**
 * A queued URL as it stands on the servers: one line of text, the same in a queue, in a lease, among what waits or is
 * parked. Fields are joined by line feeds, which no URL has; what scripts look at comes first (lua/shared/row.lua). Short,
 * since there are millions of them: the referrer is written as the length of what it has in common with the URL, and the
 * rest. Times of discovery are whole hours.
 */
import type { NormalizedUrl, Via } from '../../model/index.ts'
import { targetOf } from '../../url/index.ts'
import type { Slot } from '../storage.ts'

export interface Row {
  /** The URL's number in decimal: see fingerprints.ts. */
  readonly name: string
  readonly kind: 'page' | 'sitemap'
  readonly slot: Slot
  /** Of the list that it stands in. */
  readonly rank: number
  readonly depth: number
  readonly attempts: number
  /** When it was found, in hours since 1970. */
  readonly foundHour: number
  readonly redirects: number
  readonly nesting: number
  readonly via: Via
  /** Why it was set aside, or that it is a probe; empty otherwise. Without line feeds. */
  readonly reason: string
  readonly url: NormalizedUrl
  readonly referrer?: NormalizedUrl
}

export const HOUR_MS = 3_600_000

const KINDS = { p: 'page', s: 'sitemap' } as const
const SLOT_OF = { h: 'high', m: 'medium', l: 'low', a: 'auto' } as const
const VIA_OF = { s: 'seed', l: 'link', m: 'sitemap', r: 'redirect', c: 'canonical' } as const
const LETTER_OF_VIA: Readonly<Record<Via, string>> = {
  seed: 's',
  link: 'l',
  sitemap: 'm',
  redirect: 'r',
  canonical: 'c',
}
const RADIX = 36

export function writeRow(row: Row): string {
  return [
    row.name,
    row.kind.charAt(0),
    row.slot.charAt(0),
    row.rank,
    row.depth,
    row.attempts,
    row.foundHour.toString(RADIX),
    row.redirects,
    row.nesting,
    LETTER_OF_VIA[row.via],
    row.reason,
    row.url,
    referrerText(row.url, row.referrer),
  ].join('\n')
}

/** A row as it stands in a list: without what the name of the list says and what nearly all have in common (row.lua). */
export function stowRow(row: Row): string {
  const via = LETTER_OF_VIA[row.via]
  const isUsual =
    row.attempts === 0 && row.redirects === 0 && row.nesting === 0 && row.via === 'link' && row.reason === ''
  return [
    row.name,
    row.kind === 'sitemap' ? `s${row.depth}` : row.depth,
    row.foundHour.toString(RADIX),
    isUsual ? '' : `${row.attempts} ${row.redirects} ${row.nesting} ${via} ${row.reason}`,
    targetOf(row.url),
    referrerText(row.url, row.referrer),
  ].join('\n')
}

/** The text of a row that `writeRow` wrote. */
export function readRow(text: string): Row {
  const [name, kind, slot, rank, depth, attempts, hour, redirects, nesting, via, reason, url, from] = text.split('\n')
  if (name === undefined || url === undefined || from === undefined) throw new Error(`no row of a queue: ${text}`)
  const referrer = readReferrer(url, from)
  return {
    name,
    kind: KINDS[kind as keyof typeof KINDS],
    slot: SLOT_OF[slot as keyof typeof SLOT_OF],
    rank: Number(rank),
    depth: Number(depth),
    attempts: Number(attempts),
    foundHour: Number.parseInt(hour ?? '', RADIX),
    redirects: Number(redirects),
    nesting: Number(nesting),
    via: readVia(via),
    reason: reason ?? '',
    url: url as NormalizedUrl,
    ...(referrer === undefined ? {} : { referrer }),
  }
}

export const viaLetter = (via: Via): string => LETTER_OF_VIA[via]
export const readVia = (letter: string | undefined): Via => VIA_OF[letter as keyof typeof VIA_OF]

/** Empty for none; otherwise the length of the common beginning in base 36, a blank, and the rest. */
export function referrerText(url: string, referrer: string | undefined): string {
  if (referrer === undefined) return ''
  let shared = 0
  while (shared < url.length && shared < referrer.length && url.charCodeAt(shared) === referrer.charCodeAt(shared)) {
    shared += 1
  }
  return `${shared.toString(RADIX)} ${referrer.slice(shared)}`
}

export function readReferrer(url: string, text: string): NormalizedUrl | undefined {
  if (text === '') return undefined
  const blank = text.indexOf(' ')
  return (url.slice(0, Number.parseInt(text.slice(0, blank), RADIX)) + text.slice(blank + 1)) as NormalizedUrl
}
