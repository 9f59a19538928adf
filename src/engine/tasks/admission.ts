/**
 * Which links belong to the crawl, and in which tier. Nine links of ten are those of the page before, so the answer for a
 * URL is kept for a while. It keeps true that an answer is what scope, rules and stripping give at that moment: when the
 * scope changes, all answers are forgotten.
 */
import type { NormalizedUrl, Tier } from '../../model/index.ts'
import type { Scope } from '../../url/index.ts'

/** Answers in each of two generations; the older is dropped when the younger is full. */
const GENERATION = 65_536

/** A URL as the crawl has it. */
export interface Admitted {
  readonly url: NormalizedUrl
  /** By a rule; undefined: by the score of its host. */
  readonly tier: Tier | undefined
}

/** Undefined for a URL that does not belong to the crawl. */
export type Admission = (url: NormalizedUrl) => Admitted | undefined

export function createAdmission(
  rules: {
    readonly scope: Scope
    strip(url: NormalizedUrl): NormalizedUrl
    tierOf(url: NormalizedUrl): Tier | undefined
  },
  generation = GENERATION,
): Admission {
  let young = new Map<NormalizedUrl, Admitted | null>()
  let old = new Map<NormalizedUrl, Admitted | null>()
  let { scope } = rules

  const judge = (link: NormalizedUrl): Admitted | null => {
    const url = rules.strip(link)
    return scope.check(url).inScope ? { url, tier: rules.tierOf(url) } : null
  }
  return (link) => {
    if (rules.scope !== scope) {
      ;({ scope } = rules)
      young.clear()
      old.clear()
    }
    let answer = young.get(link)
    if (answer !== undefined) return answer ?? undefined
    answer = old.get(link)
    if (answer === undefined) answer = judge(link)
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(link, answer)
    return answer ?? undefined
  }
}
