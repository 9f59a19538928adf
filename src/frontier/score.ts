/**
 * How much a URL is worth fetching next, and what follows for its place in the queue of its host.
 *
 * The score is a weighted sum of four parts, each from 0 to 1. The place in a queue is a whole number, the rank: what
 * all URLs of a host have in common is left out of it, and age is in it by its beginning instead of its length. All ages
 * grow alike, so a rank stays right while time passes, and nothing is ever sorted again for it. (Beyond its full score,
 * age goes on counting for the rank: so nothing waits for ever.)
 */

export interface ScoreOptions {
  /** How much each part counts. */
  readonly weights: {
    readonly importance: number
    readonly change: number
    readonly age: number
    readonly depth: number
  }
  /** A URL that has waited so long has the full score for its age. */
  readonly ageMs: number
  /** A host of at least this score is of tier high, one below the other of tier low, where no rule says otherwise. */
  readonly tiers: { readonly high: number; readonly low: number }
}

export type ScoreParts = Readonly<Record<keyof ScoreOptions['weights'], number>>

/** What the score of a URL is made from. */
export interface ScoreInputs {
  readonly depth: number
  /** Pages that name it. */
  readonly referrers: number
  /** Changes a millisecond as they are believed to be; undefined for a page that was never fetched. */
  readonly changeRate: number | undefined
  /** When it was found, or fetched for the last time. */
  readonly since: number
  /** The importance of its host, 0 to 1. */
  readonly hostImportance: number
}

/** A sitemap is read before any page, since it names pages. */
export const SITEMAP_RANK = 0
/** A page that goes before all that were never fetched. */
export const REVISIT_RANK = 1
/** Steps of rank in one point of score. */
const STEPS = 100_000
const HIGHEST_RANK = 2 ** 32 - 1
/** Ages are counted from here; ranks are then small for centuries. */
const EPOCH_MS = Date.UTC(2020, 0)
const DAY_MS = 86_400_000
/** So many referrers make half of the importance that a page can have by them. */
const HALF_REFERRERS = 8
/** What is thought of a page before anything is known of how it changes. */
const UNKNOWN_CHANGE = 0.5

/** Counts of referrers at which a URL is given a new place: so few that most links move nothing. */
export function isMilestone(referrers: number): boolean {
  return referrers >= 4 && (referrers & (referrers - 1)) === 0 && Math.clz32(referrers) % 2 === 1
}

/** The last milestone that a count has reached. */
function milestone(referrers: number): number {
  return 4 ** Math.floor(Math.log2(referrers) / 2)
}

/** The part of a page's importance that its own referrers make, from 0 to 1. */
function pageImportance(referrers: number): number {
  const count = milestone(referrers)
  return count / (count + HALF_REFERRERS)
}

export function changePart(rate: number | undefined): number {
  if (rate === undefined) return UNKNOWN_CHANGE
  const daily = rate * DAY_MS
  return daily / (1 + daily)
}

export const depthPart = (depth: number): number => 1 / (1 + depth)

export function scoreParts(url: ScoreInputs, now: number, options: Pick<ScoreOptions, 'ageMs'>): ScoreParts {
  return {
    importance: (url.hostImportance + pageImportance(url.referrers)) / 2,
    change: changePart(url.changeRate),
    age: Math.min(1, Math.max(0, now - url.since) / options.ageMs),
    depth: depthPart(url.depth),
  }
}

export function scoreOf(parts: ScoreParts, { weights }: Pick<ScoreOptions, 'weights'>): number {
  return (
    weights.importance * parts.importance +
    weights.change * parts.change +
    weights.age * parts.age +
    weights.depth * parts.depth
  )
}

/** The place of a page in the queue of its host: the smaller, the sooner. */
export function rankOf(url: Omit<ScoreInputs, 'hostImportance'>, { weights, ageMs }: ScoreOptions): number {
  const lasting =
    (weights.importance * pageImportance(url.referrers)) / 2 +
    weights.change * changePart(url.changeRate) +
    weights.depth * depthPart(url.depth)
  const most = weights.importance / 2 + weights.change + weights.depth
  const begun = (weights.age * Math.max(0, url.since - EPOCH_MS)) / ageMs
  return Math.min(HIGHEST_RANK, REVISIT_RANK + 1 + Math.round(STEPS * (most - lasting)) + Math.floor(STEPS * begun))
}
