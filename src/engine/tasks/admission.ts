/**
 * Which links belong to the crawl, and in which tier. Nine links of ten are those of the page before, so the answer for a
 * URL is kept for a while: by its number where it has one, else by its text. It keeps true that an answer is what scope,
 * rules and stripping give at that moment: when the scope changes, all answers are forgotten.
 */
import type { NormalizedUrl, Tier, UrlNumbering } from '../../model/index.ts'
import type { Scope } from '../../url/index.ts'

/** Answers in each of two generations; the older is dropped when the younger is full. */
const GENERATION = 65_536

/** A URL as the crawl has it. */
export interface Admitted {
  readonly url: NormalizedUrl
  /** By a rule; undefined: by the score of its host. */
  readonly tier: Tier | undefined
}

/** Links of one page that belong to the crawl, as it has them: what differs only in what is stripped is one. */
export interface AdmittedLinks {
  /** Those without a tier of their own, in order: their text is all there is to say. */
  readonly links: readonly NormalizedUrl[]
  readonly numbering: UrlNumbering | undefined
  readonly tiered: readonly Tiered[]
}

interface Tiered extends Admitted {
  readonly tier: Tier
}

export interface Admission {
  /** Undefined for a URL that does not belong to the crawl. */
  one(url: NormalizedUrl): Admitted | undefined
  /** The URLs are distinct. */
  all(urls: readonly NormalizedUrl[], numbering?: UrlNumbering): AdmittedLinks
}

/** Answers by number. */
const UNASKED = 0
const AS_IT_IS = 1
const NOT_OURS = 2
/** With a tier, which the answer by text names. */
const TIERED = 3
/** As another URL. */
const STRIPPED = 4

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
  let byNumber = new Uint8Array(GENERATION)
  let era: object | undefined
  let { scope } = rules
  /** Of the page that is being looked at: lists that need not grow for each page anew, with as many as the largest had. */
  const takenUrls: NormalizedUrl[] = []
  const takenNumbers: number[] = []

  const heedScope = (): void => {
    if (rules.scope === scope) return
    ;({ scope } = rules)
    young.clear()
    old.clear()
    byNumber.fill(UNASKED)
  }
  const judge = (link: NormalizedUrl): Admitted | null => {
    const url = rules.strip(link)
    return scope.check(url).inScope ? { url, tier: rules.tierOf(url) } : null
  }
  const byText = (link: NormalizedUrl): Admitted | undefined => {
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
  const ask = (link: NormalizedUrl, number: number): number => {
    const verdict = verdictOf(link, judge(link))
    if (number >= byNumber.length) byNumber = enlarged(byNumber, number)
    byNumber[number] = verdict
    return verdict
  }

  return {
    one(url) {
      heedScope()
      return byText(url)
    },
    all(urls, numbering) {
      heedScope()
      if (numbering === undefined) return sorted(urls.map(byText))
      if (numbering.era !== era) {
        era = numbering.era
        byNumber.fill(UNASKED)
      }
      let taken = 0
      let tiered: Tiered[] | undefined
      for (let at = 0; at < urls.length; at++) {
        const url = urls[at] as NormalizedUrl
        const number = numbering.numbers[at] as number
        const verdict = byNumber[number] || ask(url, number)
        if (verdict === AS_IT_IS) {
          takenUrls[taken] = url
          takenNumbers[taken] = number
          taken++
        } else if (verdict === TIERED) (tiered ??= []).push(byText(url) as Tiered)
        // It may be one with another link.
        else if (verdict === STRIPPED) return sorted(urls.map(byText))
      }
      const links = takenUrls.slice(0, taken)
      const numbers = takenNumbers.slice(0, taken)
      return { links, numbering: { numbers, era }, tiered: tiered ?? NONE }
    },
  }
}

const NONE: readonly Tiered[] = []

function verdictOf(link: NormalizedUrl, answer: Admitted | null): number {
  if (answer === null) return NOT_OURS
  if (answer.url !== link) return STRIPPED
  return answer.tier === undefined ? AS_IT_IS : TIERED
}

/** Each once, and without numbers, which what was stripped has not. */
function sorted(answers: readonly (Admitted | undefined)[]): AdmittedLinks {
  const distinct = new Map<NormalizedUrl, Admitted>()
  for (const answer of answers) if (answer !== undefined) distinct.set(answer.url, answer)
  const all = [...distinct.values()]
  return {
    links: all.filter(({ tier }) => tier === undefined).map(({ url }) => url),
    numbering: undefined,
    tiered: all.filter((link): link is Tiered => link.tier !== undefined),
  }
}

function enlarged(array: Uint8Array<ArrayBuffer>, index: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * index)
  larger.set(array)
  return larger
}
