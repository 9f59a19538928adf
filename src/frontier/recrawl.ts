/**
 * When a page that was fetched is to be fetched again. What its visits found (recrawl/evidence.ts) is seen in the light of
 * how the pages of its tier change (recrawl/population.ts), and all pages of a tier pay one price for a visit
 * (recrawl/interval.ts), which is steered so that on average they are visited as often as the tier says. Where nothing is
 * kept of the tier's pages together, each is judged by itself (recrawl/belief.ts).
 *
 * It keeps true that no page is planned sooner than the least interval of its tier nor, while its host's budget permits,
 * later than the most; and that the visits planned for a host stay within a share of the host's pace: pace always wins.
 * Which visits are acted on, and when their turn comes, is for the rules of the frontier.
 *
 * Everything here is arithmetic over what is passed in. Times are clock ms, rates are by the millisecond.
 */
import type { Tier, Visit } from '../model/index.ts'
import { chanceOfChange, meanRate, observeChange, type ChangeBelief } from './recrawl/belief.ts'
import { beliefOf, evidenceOf, withVisit, type Evidence } from './recrawl/evidence.ts'
import { bestIntervalMs, visitWorthMs } from './recrawl/interval.ts'
import {
  isKnown,
  learnFrom,
  QUESTIONS,
  rateBelief,
  SURPLUS,
  usualWorthMs,
  type Population,
} from './recrawl/population.ts'
import { chanceOfWorth, chanceWithin, intervalWhere, worthMs } from './recrawl/spread.ts'
import type { HostRow, VisitRow } from './storage.ts'

export { bestIntervalMs, observeChange, visitWorthMs, type ChangeBelief }

export interface RecrawlOptions {
  /**
   * `off`: what is done is done. `on`: pages come back when they are due, and the crawl does not end by itself. `once`:
   * what was due when the crawl was opened is fetched again, and then it ends.
   */
  readonly mode: 'off' | 'on' | 'once'
  readonly intervals: Readonly<Record<Tier, RecrawlInterval>>
  /** The part of a host's pace that visits of known pages may take, 0 to 1. With 0 none is planned. */
  readonly hostShare: number
}

/** How often pages of a tier are fetched again on average, and the least and most time between two visits of one. */
export interface RecrawlInterval {
  readonly averageMs: number
  readonly leastMs: number
  readonly mostMs: number
}

/** What the plan of one tier is made from. */
export interface RecrawlState {
  /** Pages that are planned; roughly, since a page may have been counted by another tier that it was in before. */
  pages: number
  /** What one more visit a millisecond must be worth, in milliseconds; 0 before the first page. */
  price: number
  /** What its pages are like together: see recrawl/population.ts. Empty at first; absent where it is not kept. */
  rates?: Population
}

export const emptyRecrawlState = (): RecrawlState => ({ pages: 0, price: 0, rates: [] })

/** What is kept of the visits of a host; changed in place by what is planned. */
export type VisitedHost = Pick<HostRow, 'changePages' | 'changeRate' | 'revisitRate'>

export interface PlanVisitInput {
  /** Of the URL. */
  readonly id: number
  /** Undefined when it was fetched for the first time. */
  readonly before: VisitRow | undefined
  readonly visit: Visit
  readonly now: number
  readonly interval: RecrawlInterval
  readonly hostShare: number
  /** Of its tier; changed in place. */
  readonly state: RecrawlState
  readonly host: VisitedHost
  /** The pace of its host; 0: none. */
  readonly delayMs: number
  /** Its importance, 0 to 1. */
  readonly weight: number
}

/** A page of which nothing is known may change every hour or once a year: a broad belief. */
const PRIOR_SHAPE = 0.5
/** So many pages of its host say as much about a new one as the interval of its tier does. */
const PRIOR_PAGES = 4
/** What is kept of a host is the mean over about so many of its pages, the latest. */
const HOST_PAGES = 1_000
/**
 * A page that is as good as certain to have changed at the next visit may change a little faster than it is visited, or a
 * thousand times: visits at that pace cannot tell. It is given an eighth of the visits of an average page at most.
 */
const AS_GOOD_AS_CERTAIN = 0.85
const UNTOLD_INTERVALS = 8
/**
 * The first visits of a page that all find a change, and would again, do not tell how fast it changes. The next one comes
 * when a change is as likely as not, which tells most; unless the page is hardly worth any visits, whatever it tells.
 */
const NEARLY_CERTAIN = 0.8
const WORTH_ASKING = 0.3
const MOST_QUESTIONS = 4
/** The part of a tier's visits that may be spent on such questions. */
const ASKED = 0.2
/** How far the price follows what is planned, when every page of the tier was planned once. */
const STEERING = 0.5
/** However long an interval is, it spares no more average ones than this: what it spares comes later than what it pays for. */
const MOST_SPARED = 16
/** A tier of fewer pages is steered as if it had so many, and no page alone moves the price by more than this. */
const STEERED_PAGES = 20
const STEERED_MOST = 0.2
/** How far an interval is stretched where more visits are planned than there should be, and within which factors of e. */
const STRETCH = 2
const STRETCHED_LEAST = -0.5
const STRETCHED_MOST = 1
/** Errors in the sum of what is planned are forgotten when every page was visited about so often. */
const SURPLUS_ROUNDS = 100
/** The price stays within this factor of what an average page pays. */
const PRICE_RANGE = 1e6
/** An important page is visited as if its freshness counted for three times that of an unimportant one. */
const LEAST_WEIGHT = 0.5
/** Where the budget of a host is exceeded by more than this, its pages are as good as not planned. */
const MOST_STRETCH = 1e4

/** What is kept of a page after it was fetched, or was tried to be, with the time of its next visit. */
export function planVisit(input: PlanVisitInput): VisitRow {
  const { id, before, visit, now, state, host } = input
  if (before === undefined) state.pages += 1
  const { belief, evidence } = learn(input)
  const intervalMs = steer(input, belief, evidence)
  host.revisitRate = Math.max(0, host.revisitRate - plannedRate(before)) + 1 / intervalMs
  const isRead = visit.change !== 'gone' && visit.change !== 'missed'
  const isChanged = visit.change === 'new' || visit.change === 'changed'
  return {
    id,
    visits: (before?.visits ?? 0) + 1,
    changes: (before?.changes ?? 0) + (visit.change === 'changed' ? 1 : 0),
    misses: visit.change === 'gone' ? (before?.misses ?? 0) + 1 : visit.change === 'missed' ? (before?.misses ?? 0) : 0,
    firstAt: before?.firstAt ?? now,
    // Nothing was learned from a visit that was missed: the time since the last one still counts.
    checkedAt: visit.change === 'missed' ? (before?.checkedAt ?? now) : now,
    changedAt: isChanged ? now : (before?.changedAt ?? now),
    changeShape: belief.shape,
    changeTimeMs: belief.timeMs,
    intervalMs,
    dueAt: dueAt(input, intervalMs, isRead),
    hash: visit.hash,
    etag: visit.etag,
    lastModified: visit.lastModified,
  }
}

/** What is kept of a page that is not visited any more; its history stays. `gone`: its last answer said so. */
export function retireVisit(
  before: VisitRow,
  input: {
    readonly now: number
    readonly gone: boolean
    readonly state: RecrawlState
    readonly host: Pick<VisitedHost, 'revisitRate'>
  },
): VisitRow {
  const { now, gone, state, host } = input
  state.pages = Math.max(0, state.pages - 1)
  host.revisitRate = Math.max(0, host.revisitRate - plannedRate(before))
  const seen = { visits: before.visits + 1, misses: before.misses + 1, checkedAt: now }
  return { ...before, dueAt: null, ...(gone ? seen : {}) }
}

/** A sitemap's date may be of a whole day, in any time zone: a page modified that day may have been modified since. */
const DATE_MS = 86_400_000
/** A clock that is ahead of ours by more than this is not believed. */
const CLOCK_AHEAD_MS = 3_600_000
/** A page whose hints have not come true waits for this part of its interval all the same. */
const DOUBTED_WAIT = 0.25
/** How far a page that its sitemap says is unchanged is put off, as a part of the time that it says so of. */
const PUT_OFF = 0.5
/** A visit is not moved by less than this part of its interval: many sitemaps say the same thing every day. */
const WORTH_MOVING = 0.1

/**
 * When a page that was visited should be visited again, now that a sitemap says when it was last modified; undefined
 * leaves its plan as it is. Modified since the last visit: now, or a little later if the page is one whose visits found
 * nothing new so far. Not modified since: later, by at most half its interval, since sitemaps are often wrong.
 */
export function hintModified(visit: VisitRow, modifiedAt: number, now: number): number | undefined {
  const { dueAt: plannedAt, checkedAt, intervalMs } = visit
  if (plannedAt === null || plannedAt <= now || !(modifiedAt <= now + CLOCK_AHEAD_MS)) return undefined
  if (modifiedAt > checkedAt) {
    const doubt = visit.visits > 1 ? 1 - visit.changes / (visit.visits - 1) : 0
    const soonAt = Math.max(now, checkedAt + DOUBTED_WAIT * doubt * intervalMs)
    return soonAt < plannedAt ? soonAt : undefined
  }
  if (modifiedAt > checkedAt - DATE_MS) return undefined
  const laterAt = checkedAt + intervalMs + PUT_OFF * Math.min(now - checkedAt, intervalMs)
  return laterAt > plannedAt + WORTH_MOVING * intervalMs ? laterAt : undefined
}

/** Visits a millisecond that a row has in the sum of its host. */
function plannedRate(row: VisitRow | undefined): number {
  return row === undefined ? 0 : 1 / row.intervalMs
}

interface Learned {
  readonly belief: ChangeBelief
  /** Undefined where the page is judged by its belief alone. */
  readonly evidence: Evidence | undefined
}

/** What is known of the page, with what this visit says of it; its host and its tier learn of that, too. */
function learn({ before, visit, now, host, interval, state }: PlanVisitInput): Learned {
  const prior = priorOf(host, interval)
  if (before === undefined) return { belief: prior, evidence: undefined }
  const known = { shape: before.changeShape, timeMs: before.changeTimeMs }
  const former = state.rates === undefined ? undefined : evidenceOf(known, before.visits - 1)
  const elapsedMs = now - before.checkedAt
  if ((visit.change !== 'changed' && visit.change !== 'unchanged') || !(elapsedMs > 0))
    return { belief: known, evidence: before.visits === 1 ? undefined : former }
  const isChanged = visit.change === 'changed'
  const evidence = former === undefined ? undefined : withVisit(former, elapsedMs, isChanged)
  const belief = evidence === undefined ? observeChange(known, elapsedMs, isChanged, prior) : beliefOf(evidence)
  if (former !== undefined && state.rates !== undefined) {
    const { averageMs } = interval
    const usualMs = usualWorthMs(state.rates, averageMs)
    learnFrom(state.rates, { before: former, isChanged, elapsed: elapsedMs / averageMs }, averageMs, state.pages)
    // What the visit of an average page is worth is known better now, and all prices go with it.
    state.price *= usualWorthMs(state.rates, averageMs) / usualMs
  }
  const rate = meanRate(belief)
  if (before.visits === 1) host.changePages += 1
  // The mean of logarithms, since rates differ by orders of magnitude: a page leaves it and comes back with its new rate.
  const left = before.visits === 1 ? host.changeRate : meanRate(known)
  const pages = Math.min(Math.max(host.changePages, 1), HOST_PAGES)
  host.changeRate = pages === 1 ? rate : host.changeRate * (rate / left) ** (1 / pages)
  return { belief, evidence }
}

/** What is believed of a page that was never visited twice: what its host's pages are like, or its tier's. */
function priorOf(host: VisitedHost, { averageMs }: RecrawlInterval): ChangeBelief {
  const trust = host.changePages / (host.changePages + PRIOR_PAGES)
  const rate = trust === 0 ? 1 / averageMs : (1 / averageMs) ** (1 - trust) * host.changeRate ** trust
  return { shape: PRIOR_SHAPE, timeMs: PRIOR_SHAPE / rate }
}

/**
 * The page's interval at the price of its tier, and the price moved by it. A page comes here once in each interval, so
 * the mean of the intervals seen here is the tier's average exactly when its visits together are as many as they should
 * be. That takes as long as the longest intervals to come true; meanwhile intervals are stretched by what is planned
 * beyond one visit of each page in an average interval.
 */
function steer(input: PlanVisitInput, belief: ChangeBelief, evidence?: Evidence): number {
  const { before, state, interval, weight } = input
  const { averageMs, leastMs, mostMs } = interval
  const ownMs = visitWorthMs({ shape: PRIOR_SHAPE, timeMs: PRIOR_SHAPE * averageMs }, averageMs)
  const usualMs = state.rates === undefined ? ownMs : usualWorthMs(state.rates, averageMs)
  if (!(state.price > 0)) state.price = usualMs
  const pages = Math.max(state.pages, STEERED_PAGES)
  const price = state.price / (LEAST_WEIGHT + weight)
  const bestMs =
    evidence === undefined || state.rates === undefined
      ? intervalOfOne(belief, (price * ownMs) / usualMs, interval)
      : intervalAmong(input, state.rates, evidence, price)
  const surplus = state.rates?.[SURPLUS] ?? 0
  const left = before === undefined ? 0 : surplusOf(before.intervalMs, interval)
  const excess = Math.min(Math.max((STRETCH * (surplus - left)) / pages, STRETCHED_LEAST), STRETCHED_MOST)
  const intervalMs = Math.min(Math.max(bestMs * Math.exp(excess), leastMs), mostMs)
  if (state.rates !== undefined && isKnown(state.rates))
    state.rates[SURPLUS] = (surplus - left) * (1 - 1 / (SURPLUS_ROUNDS * pages)) + surplusOf(intervalMs, interval)
  // Pages of which nothing was seen yet do not tell what the price should be.
  if (evidence === undefined && state.rates !== undefined) return intervalMs
  const step = (STEERING / pages) * (1 - Math.min(bestMs / averageMs, MOST_SPARED))
  const steered = state.price * Math.exp(Math.min(Math.max(step, -STEERED_MOST), STEERED_MOST))
  state.price = Math.min(Math.max(steered, usualMs / PRICE_RANGE), usualMs * PRICE_RANGE)
  return intervalMs
}

/** Visits in an average interval beyond one. An interval out of bounds was planned for another tier, which has it. */
function surplusOf(intervalMs: number, { averageMs, leastMs, mostMs }: RecrawlInterval): number {
  return intervalMs < leastMs || intervalMs > mostMs ? 0 : averageMs / intervalMs - 1
}

/** By what is believed of this page alone. */
function intervalOfOne(belief: ChangeBelief, price: number, { averageMs, leastMs, mostMs }: RecrawlInterval): number {
  const bestMs = bestIntervalMs(belief, price, leastMs, mostMs)
  const isTold = chanceOfChange(belief, bestMs) < AS_GOOD_AS_CERTAIN
  return isTold ? bestMs : Math.min(Math.max(bestMs, UNTOLD_INTERVALS * averageMs), mostMs)
}

/** By what the pages of the tier are like. */
function intervalAmong(
  { before, now, state, interval: { averageMs, leastMs, mostMs } }: PlanVisitInput,
  population: Population,
  evidence: Evidence,
  price: number,
): number {
  const elapsed = before === undefined ? 0 : Math.max(now - before.checkedAt, 0) / averageMs
  const questions = Math.min((population[QUESTIONS] ?? 0) + ASKED * elapsed, ASKED * state.pages)
  if (isKnown(population)) population[QUESTIONS] = questions
  const rates = rateBelief(population, evidence, averageMs)
  const bestMs = intervalWhere((ms) => worthMs(rates, ms, averageMs), price, leastMs, mostMs)
  const { changed, unchanged } = evidence
  const isUntold = unchanged < 1 && changed > 0 && changed <= MOST_QUESTIONS
  if (!isUntold || chanceWithin(rates, bestMs, averageMs) < NEARLY_CERTAIN) return bestMs
  if (chanceOfWorth(rates, price, averageMs) < WORTH_ASKING) return bestMs
  const askedMs = intervalWhere((ms) => chanceWithin(rates, ms, averageMs), 0.5, leastMs, bestMs)
  const cost = Math.max(0, 1 - askedMs / Math.min(bestMs, averageMs))
  if (cost > questions || !isKnown(population)) return bestMs
  population[QUESTIONS] = questions - cost
  return askedMs
}

/** Where more visits are planned than the host has room for, all of them are put off in proportion. */
function dueAt(
  { now, hostShare, delayMs, host, interval }: PlanVisitInput,
  intervalMs: number,
  isRead: boolean,
): number | null {
  if (!(hostShare > 0)) return null
  const stretch = Math.min(Math.max((host.revisitRate * delayMs) / hostShare, 1), MOST_STRETCH)
  // A page that could not be had is asked for again soon enough, however seldom it changes.
  return now + stretch * (isRead ? intervalMs : Math.min(intervalMs, interval.averageMs))
}
