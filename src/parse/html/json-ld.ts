/**
 * Dates out of JSON-LD (`<script type="application/ld+json">`): `datePublished` and `dateModified` of what the page is
 * about. Only the outermost things are looked at, and what they contain by `@graph` and `mainEntity`: the date of a
 * comment or a related article is not the date of the page. Broken JSON says nothing.
 */

export interface LdDate {
  readonly kind: 'published' | 'modified'
  readonly text: string
  /** 0 for an article, 1 for a page, 2 for anything else. */
  readonly rank: number
}

/** Things looked at in one block, at most. */
const MAX_NODES = 1_000

export function datesOfJsonLd(json: string): LdDate[] {
  const dates: LdDate[] = []
  const queue: unknown[] = [parsed(json)]
  for (let at = 0; at < queue.length && at < MAX_NODES; at++) {
    const node = queue[at]
    if (Array.isArray(node)) queue.push(...node.slice(0, Math.max(0, MAX_NODES - queue.length)))
    if (typeof node !== 'object' || node === null || Array.isArray(node)) continue
    const thing = node as Readonly<Record<string, unknown>>
    const rank = rankOf(thing['@type'])
    if (typeof thing['datePublished'] === 'string')
      dates.push({ kind: 'published', text: thing['datePublished'], rank })
    if (typeof thing['dateModified'] === 'string') dates.push({ kind: 'modified', text: thing['dateModified'], rank })
    queue.push(thing['@graph'], thing['mainEntity'], thing['mainEntityOfPage'])
  }
  return dates
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function rankOf(type: unknown): number {
  const names = (Array.isArray(type) ? type.slice(0, 8) : [type]).filter((name) => typeof name === 'string')
  if (names.some((name) => /(?:article|posting|report)$/i.test(name))) return 0
  return names.some((name) => /page$/i.test(name)) ? 1 : 2
}
