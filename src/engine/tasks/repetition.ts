/**
 * Which page a page repeats: the one that it names as canonical, or else an earlier one with the same or nearly the same
 * text. It keeps true that of two pages that name each other as canonical only one counts as the repetition, as long as
 * the first is remembered.
 */
import { createLru } from '../../base/index.ts'
import type { NormalizedUrl, PageRecord } from '../../model/index.ts'
import type { PageReading } from '../../reading/index.ts'
import type { Fingerprints } from '../../sink/index.ts'
import { urlKey } from '../../url/index.ts'

/** Pages with another canonical URL that are remembered. */
const CANONICALS_KEPT = 100_000

export type Repetition = Pick<PageRecord, 'duplicateOf' | 'duplicateBy'>

export interface RepetitionJudge {
  /** A promise where the judge is in another thread. */
  judge(url: NormalizedUrl, reading: Judged): Repetition | Promise<Repetition>
}

export type Judged = Pick<PageReading, 'canonical' | 'near' | 'contentHash'>

export function createRepetitionJudge(fingerprints: Pick<Fingerprints, 'judge'>): RepetitionJudge {
  const canonicals = createLru<NormalizedUrl, NormalizedUrl>(CANONICALS_KEPT)
  return {
    judge(url, { canonical, near, contentHash }): Repetition {
      if (canonical !== null && urlKey(canonical) !== urlKey(url) && canonicals.get(canonical) !== url) {
        canonicals.set(url, canonical)
        // It is not judged by its text: the page that it names would be found to repeat it.
        return { duplicateOf: canonical, duplicateBy: 'canonical' }
      }
      const found = near === null ? undefined : fingerprints.judge({ url, near: BigInt(`0x${near}`), contentHash })
      return found === undefined ? {} : { duplicateOf: found.url, duplicateBy: found.isSame ? 'same' : 'near' }
    },
  }
}
