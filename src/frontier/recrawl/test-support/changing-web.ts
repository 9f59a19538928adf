/**
 * A web whose pages change at random, each at a rate of its own, and ways to decide when to visit them. What a way is
 * worth is the part of the time that a copy equals its page, averaged over the pages; ways are compared at an equal number
 * of fetches. Everything follows from the seed.
 */
import { createHeap, createRng, type Rng } from '../../../base/index.ts'
import { emptyRecrawlState, planVisit, type RecrawlInterval } from '../../recrawl.ts'
import type { VisitRow } from '../../storage.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** From one change an hour to one in four months, as many of each order; one page in ten never changes. */
const logUniform = (rng: Rng): number => (rng.next() < 0.1 ? 0 : 1 / (HOUR * 2880 ** rng.next()))

/** How rates are spread over the pages: changes a millisecond. */
export const SPREADS = {
  'log-uniform': logUniform,
  'mostly slow': (rng: Rng): number =>
    rng.next() < 0.8 ? 1 / (DAY * 20 ** (1 + rng.next())) : 1 / (HOUR * (1 + 5 * rng.next())),
  exponential: (rng: Rng): number => -Math.log(1 - rng.next()) / (5 * DAY),
  'two kinds': (rng: Rng): number => (rng.next() < 0.5 ? 1 / (2 * HOUR) : 1 / (60 * DAY)),
  'a third never': (rng: Rng): number => (rng.next() < 1 / 3 ? 0 : 1 / (2 * HOUR * 100 ** rng.next())),
} as const
export type Spread = keyof typeof SPREADS

const bell = (rng: Rng): number => Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next())
/** Other webs, by what a tier of a day sees: changes a day on average, and how they are spread. */
const OTHERS = {
  'all alike, 0.1': (): number => 0.1,
  'all alike, 1': (): number => 1,
  'uniform, up to 2': (rng: Rng): number => 2 * rng.next(),
  'uniform, up to 8': (rng: Rng): number => 8 * rng.next(),
  'log-uniform, 0.01 to 1': (rng: Rng): number => 0.01 * 100 ** rng.next(),
  'log-uniform, 0.1 to 10': (rng: Rng): number => 0.1 * 100 ** rng.next(),
  'log-uniform, 0.01 to 100': (rng: Rng): number => 0.01 * 10_000 ** rng.next(),
  'lognormal, 0.3': (rng: Rng): number => 0.3 * Math.exp(bell(rng)),
  'lognormal, 1': (rng: Rng): number => Math.exp(bell(rng)),
  'lognormal, wide': (rng: Rng): number => Math.exp(2 * bell(rng)),
  Pareto: (rng: Rng): number => 0.1 * (1 - rng.next()) ** (-1 / 1.2),
  'one in ten fast': (rng: Rng): number => (rng.next() < 0.1 ? 10 : 0.1),
  'three kinds': (rng: Rng): number => [24, 1, 1 / 7][rng.int(3)] as number,
} as const
export type OtherSpread = keyof typeof OTHERS
export const OTHER_SPREADS = Object.keys(OTHERS) as readonly OtherSpread[]

const rateIn = (spread: Spread | OtherSpread, rng: Rng): number =>
  spread in SPREADS ? SPREADS[spread as Spread](rng) : OTHERS[spread as OtherSpread](rng) / DAY

export interface ChangingWeb {
  readonly spread: Spread | OtherSpread
  /** Changes come at random, unless each page has its period. */
  readonly isPeriodic?: boolean
  readonly pages: number
  readonly days: number
  readonly seed: number
}

/** When page number `page` is to be visited next; `changed` is undefined for its first visit. */
export type Way = (page: number, now: number, changed: boolean | undefined) => number

export interface Worth {
  readonly freshness: number
  readonly fetches: number
}

export function visitAll({ spread, isPeriodic = false, pages, days, seed }: ChangingWeb, way: Way): Worth {
  const rng = createRng(seed)
  const endAt = days * DAY
  const web = Array.from({ length: pages }, () => ({ rate: rateIn(spread, rng), rng: createRng(rng.int(2 ** 31)) }))
  const due = createHeap<number>()
  const fetchedAt = new Float64Array(pages)
  const changesAt = web.map(() => 0)
  const awaitChange = (page: number, now: number): void => {
    const { rate, rng: own } = web[page] as (typeof web)[number]
    while ((changesAt[page] as number) <= now) {
      const isFirst = changesAt[page] === 0
      const changes = !isPeriodic ? -Math.log(1 - own.next()) : isFirst ? own.next() : 1
      changesAt[page] = (changesAt[page] as number) + (rate === 0 ? Infinity : changes / rate)
    }
  }
  let fetches = 0
  let freshMs = 0
  const fetch = (page: number, now: number, changed: boolean | undefined): void => {
    fetches += 1
    fetchedAt[page] = now
    awaitChange(page, now)
    due.push(way(page, now, changed), page)
  }
  for (let page = 0; page < pages; page++) fetch(page, page * 1_000, undefined)
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    const { rank, item: page } = next
    const now = Math.min(rank, endAt)
    freshMs += Math.min(changesAt[page] as number, now) - (fetchedAt[page] as number)
    if (rank < endAt) fetch(page, now, (changesAt[page] as number) <= now)
  }
  return { freshness: freshMs / (pages * endAt), fetches }
}

/** All pages on one host, without a budget. */
export function planned(interval: RecrawlInterval): Way {
  const state = emptyRecrawlState()
  const host = { changePages: 0, changeRate: 0, revisitRate: 0 }
  const rows: VisitRow[] = []
  return (id, now, changed) => {
    const change = changed === undefined ? 'new' : changed ? 'changed' : 'unchanged'
    const visit = { change, hash: null, etag: null, lastModified: null } as const
    const input = { id, before: rows[id], visit, now, interval, hostShare: 0.5, state, host, delayMs: 0, weight: 0.5 }
    const row = planVisit(input)
    rows[id] = row
    return row.dueAt as number
  }
}

/** Each page at the same interval, all of them spread over it. */
export function fixed(intervalMs: number): Way {
  return (page, now, changed) =>
    now + (changed === undefined ? intervalMs * ((page * 0.618 + 0.5) % 1) + 1 : intervalMs)
}

/** 40 % less after a change, 20 % more without; within the bounds, and with everything `scale` times as long. */
export function multiplied({ averageMs, leastMs, mostMs }: RecrawlInterval, scale: number): Way {
  const intervals: number[] = []
  return (page, now, changed) => {
    const last = intervals[page] ?? averageMs
    const next = changed === undefined ? last : Math.min(Math.max(last * (changed ? 0.6 : 1.2), leastMs), mostMs)
    intervals[page] = next
    return now + scale * next
  }
}

/** What a way is worth at this number of fetches, give or take 1 %: its scale is searched for. */
export function worthAt(fetches: number, web: ChangingWeb, way: (scale: number) => Way): Worth {
  let low = 1e-3
  let high = 1e3
  for (let step = 0; step < 40; step++) {
    const scale = Math.sqrt(low * high)
    const worth = visitAll(web, way(scale))
    if (Math.abs(worth.fetches / fetches - 1) < 0.01) return worth
    if (worth.fetches > fetches) low = scale
    else high = scale
  }
  throw new Error(`no scale makes ${fetches} fetches`)
}

/** The three ways over one web. */
export function compare(web: ChangingWeb, interval: RecrawlInterval): Record<'plan' | 'fixed' | 'rule', Worth> {
  const plan = visitAll(web, planned(interval))
  return {
    plan,
    fixed: worthAt(plan.fetches, web, (scale) => fixed(scale * interval.averageMs)),
    rule: worthAt(plan.fetches, web, (scale) => multiplied(interval, scale)),
  }
}

/** As the frontier has it by default, for any average. */
export function around(averageMs: number): RecrawlInterval {
  return { averageMs, leastMs: averageMs / 24, mostMs: averageMs * 24 }
}
