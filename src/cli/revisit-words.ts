/** What fetching pages again came to, in one short line. */
import type { FrontierStats } from '../frontier/index.ts'
import { formatCount } from './count-words.ts'

/** In this order, whatever the numbers: what is new to whoever reads the output comes first. */
const WORDS = { changed: 'changed', unchanged: 'unchanged', gone: 'gone', missed: 'not reached' } as const

/** `12 changed, 340 unchanged, 2 gone`; empty when no page was fetched again. */
export function revisitWords(revisits: FrontierStats['revisits']): string {
  return (Object.keys(WORDS) as (keyof typeof WORDS)[])
    .filter((change) => revisits[change] > 0)
    .map((change) => `${formatCount(revisits[change])} ${WORDS[change]}`)
    .join(', ')
}
