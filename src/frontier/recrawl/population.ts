/**
 * How the rates of change are spread over the pages of a tier, learned from all of them together: by it a single page is
 * judged of which little is known. Where all pages are alike, one that changed twice in a row is no exception; where some
 * change every few minutes, it is likely one of them.
 *
 * Two visits of a page do not tell these apart, so several suppositions are held against each other: that all pages
 * change at about one rate, any of sixteen; that they are spread around one, little or far; and one that supposes
 * nothing, but follows what is seen. Each is believed by how well it foretold what visits found. So a tier of pages that
 * are alike is known for one after a few rounds, and is visited as evenly as it should be.
 *
 * It is kept as a list of numbers, for stores to keep as they like, with two more that recrawl.ts uses as its books.
 */
import { CELL_STEP, CELLS, RATES, likelihoods, updated, worthMs, type RateBelief } from './spread.ts'
import type { Evidence } from './evidence.ts'

/** How widely rates are spread around the one supposed, in factors of e, and how likely that is before anything is seen. */
const WIDTHS = [
  { width: 0.3, log: 2 },
  { width: 1, log: 0 },
  { width: 2, log: 0 },
] as const
/** A tier's pages change about as often as it is visited, give or take so many factors of e. */
const LIKELY_RANGE = 3
const SUPPOSED = WIDTHS.length * CELLS
/** The last supposition is the one that follows what is seen. */
const SUPPOSITIONS = SUPPOSED + 1
/** Suppositions that foretold badly are not given up for good: by so much as a logarithm, and no more, they fall behind. */
const LEAST_LOG = -25
/** Those that weigh less than this beside the best are left out. */
const LEAST_WEIGHT = 1e-4
/** What a visit says for or against a supposition is forgotten when every page was visited about so often since. */
const ROUNDS_JUDGED = 20
/** The one that follows what is seen remembers so many rounds, and no more than so many pages or this part of them. */
const ROUNDS_FOLLOWED = 2
const PAGES_FOLLOWED = 150
const PART_FOLLOWED = 0.3
/** Before anything was seen every rate is as likely as any other to it, for as many pages as this. */
const PRIOR_PAGES = 4
/** What one visit changes at the most. */
const MOST_LEARNED = 0.5
/** A tier of fewer pages is learned of as if it had so many. */
const LEAST_PAGES = 20
/** No visit is ever impossible. */
const NEVER_NOTHING = 1e-6

/**
 * The logarithm of how far each supposition is believed; how likely each cell is to the last one, and the time over
 * which that was learned, in average intervals; then the books. Empty at first.
 */
export type Population = number[]

const FOLLOWED = SUPPOSITIONS
const SEEN = FOLLOWED + CELLS
/** Visits in an average interval that are planned beyond one for each page. */
export const SURPLUS = SEEN + 1
/** Visits that may be spent on asking. */
export const QUESTIONS = SURPLUS + 1
const LENGTH = QUESTIONS + 1

/** Of each supposition: how likely each cell is. */
const SHARES: readonly (readonly number[])[] = WIDTHS.flatMap(({ width }) =>
  RATES.map((_, middle) => {
    const bell = RATES.map((_rate, cell) => Math.exp(-0.5 * (((cell - middle) * CELL_STEP) / width) ** 2) + 1e-9)
    const sum = bell.reduce((total, weight) => total + weight, 0)
    return bell.map((weight) => weight / sum)
  }),
)
const FIRST_LOGS: readonly number[] = [
  ...WIDTHS.flatMap(({ log }) => RATES.map((rate) => log - 0.5 * (Math.log(rate) / LIKELY_RANGE) ** 2)),
  0,
]
const FIRST: readonly number[] = [...FIRST_LOGS, ...RATES.map(() => 1 / CELLS), 0, 0, 0]
const FIRST_BELIEF = mixed(FIRST)

export function isKnown(population: Population): boolean {
  return population.length === LENGTH
}

/** What is believed of a page that nothing was seen of. */
export function beliefAmong(population: Population): RateBelief {
  return isKnown(population) ? mixed(population) : FIRST_BELIEF
}

/** What the evidence of a page makes of that. */
export function rateBelief(population: Population, evidence: Evidence, averageMs: number): RateBelief {
  return updated(beliefAmong(population), likelihoods(evidence, averageMs))
}

/** What visits of such pages are worth if all of them come after the average interval. */
export function usualWorthMs(population: Population, averageMs: number): number {
  return isKnown(population) ? worthMs(mixed(population), averageMs, averageMs) : FIRST_WORTH * averageMs
}
const FIRST_WORTH = worthMs(FIRST_BELIEF, 1, 1)

/**
 * Learns from a page that was visited, `elapsed` average intervals after the last time; `before` is what had been found
 * until then. Changes the population in place. To the supposition that follows what is seen a page counts for as long
 * as it was not visited, so one that is visited often counts no more than another.
 */
export function learnFrom(
  population: Population,
  { before, isChanged, elapsed }: { readonly before: Evidence; readonly isChanged: boolean; readonly elapsed: number },
  averageMs: number,
  pages: number,
): void {
  if (!isKnown(population)) population.splice(0, population.length, ...FIRST)
  const known = likelihoods(before, averageMs)
  const found = RATES.map((rate) => (isChanged ? -Math.expm1(-rate * elapsed) : Math.exp(-rate * elapsed)))
  judge(population, known, found, pages)
  follow(population, known, found, elapsed, pages)
}

/** Each supposition by how likely it said that this would be found. */
function judge(population: Population, known: readonly number[], found: readonly number[], pages: number): void {
  const kept = 1 - 1 / (ROUNDS_JUDGED * Math.max(pages, LEAST_PAGES))
  const followed = population.slice(FOLLOWED, SEEN)
  let most = -Infinity
  for (let index = 0; index < SUPPOSITIONS; index++) {
    const shares = SHARES[index] ?? followed
    let [all, right] = [0, 0]
    for (let cell = 0; cell < CELLS; cell++) {
      const weight = (shares[cell] as number) * (known[cell] as number)
      all += weight
      right += weight * (found[cell] as number)
    }
    const first = FIRST_LOGS[index] as number
    const foretold = all > 0 ? right / all : 0
    const log = first + ((population[index] as number) - first) * kept + Math.log(foretold + NEVER_NOTHING)
    population[index] = log
    most = Math.max(most, log)
  }
  for (let index = 0; index < SUPPOSITIONS; index++)
    population[index] = Math.max((population[index] as number) - most, LEAST_LOG)
}

function follow(
  population: Population,
  known: readonly number[],
  found: readonly number[],
  elapsed: number,
  pages: number,
): void {
  const likelihood = known.map((weight, cell) => weight * (found[cell] as number))
  const belief = updated(population.slice(FOLLOWED, SEEN), likelihood)
  const remembered = Math.min(Math.max(PAGES_FOLLOWED, PART_FOLLOWED * pages), ROUNDS_FOLLOWED * pages)
  const seen = Math.min((population[SEEN] as number) + elapsed, remembered)
  const share = Math.min(elapsed / (seen + PRIOR_PAGES), MOST_LEARNED)
  for (let cell = 0; cell < CELLS; cell++) {
    const at = FOLLOWED + cell
    population[at] = (population[at] as number) * (1 - share) + (belief[cell] as number) * share
  }
  population[SEEN] = seen
}

/** The suppositions together, each as far as it is believed. */
function mixed(population: readonly number[]): number[] {
  let most = -Infinity
  for (let index = 0; index < SUPPOSITIONS; index++) most = Math.max(most, population[index] as number)
  const belief = RATES.map(() => 0)
  let sum = 0
  for (let index = 0; index < SUPPOSITIONS; index++) {
    const weight = Math.exp((population[index] as number) - most)
    if (weight < LEAST_WEIGHT) continue
    sum += weight
    const shares = SHARES[index]
    for (let cell = 0; cell < CELLS; cell++) {
      const share = shares === undefined ? (population[FOLLOWED + cell] as number) : (shares[cell] as number)
      belief[cell] = (belief[cell] as number) + weight * share
    }
  }
  return belief.map((weight) => weight / sum)
}
