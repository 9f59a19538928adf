/**
 * The links of a settlement as what they are short for: pages one step further from the seeds than the page that names
 * them. A page has a hundred of them, so they travel as mere texts, and are spelled out only where that is needed.
 */
import type { FoundUrl, NormalizedUrl, Task } from '../model/index.ts'
import type { Settlement } from './contract.ts'

export function foundByLink(url: NormalizedUrl, { depth, url: referrer }: Pick<Task, 'depth' | 'url'>): FoundUrl {
  return { url, kind: 'page', depth: depth + 1, via: 'link', referrer }
}

/** The same settlement with all that it names in `found`. */
export function withLinksSpelledOut(settlement: Settlement): Settlement {
  const { links, numbering: _numbering, ...rest } = settlement
  if (links === undefined) return settlement
  const { task, found = [] } = settlement
  return { ...rest, found: [...found, ...links.map((url) => foundByLink(url, task))] }
}

/** All that the page names, however it is told. */
export function namedUrls({ links = [], found = [] }: Pick<Settlement, 'links' | 'found'>): readonly NormalizedUrl[] {
  return found.length === 0 ? links : [...links, ...found.map(({ url }) => url)]
}
