import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Visit } from '../model/index.ts'
import {
  bestIntervalMs,
  emptyRecrawlState,
  hintModified,
  observeChange,
  planVisit,
  retireVisit,
  visitWorthMs,
  type PlanVisitInput,
} from './recrawl.ts'
import { beliefOf, evidenceOf, withVisit, type Evidence } from './recrawl/evidence.ts'
import { learnFrom, rateBelief } from './recrawl/population.ts'
import { chanceWithin } from './recrawl/spread.ts'
import { around, compare, DAY, HOUR, planned, visitAll, type Spread } from './recrawl/test-support/changing-web.ts'
import type { VisitRow } from './storage.ts'

const NOW = 1_800_000_000_000
const interval = around(DAY)
const visit = (change: Visit['change']): Visit => ({ change, hash: 'h', etag: '"e"', lastModified: null })
const newHost = (): PlanVisitInput['host'] => ({ changePages: 0, changeRate: 0, revisitRate: 0 })
const input = (more: Partial<PlanVisitInput> = {}): PlanVisitInput => ({
  id: 1,
  before: undefined,
  visit: visit('new'),
  now: NOW,
  interval,
  hostShare: 0.5,
  state: emptyRecrawlState(),
  host: newHost(),
  delayMs: 0,
  weight: 0.5,
  ...more,
})

/** A page visited as often as planned, with what each visit found. */
function visited(changes: readonly Visit['change'][], more: Partial<PlanVisitInput> = {}): VisitRow {
  const shared = { state: emptyRecrawlState(), host: newHost(), ...more }
  let row = planVisit(input(shared))
  for (const change of changes)
    row = planVisit(input({ ...shared, before: row, visit: visit(change), now: row.dueAt as number }))
  return row
}

/** The mean over the belief by plain summing, for a page that changes at a rate which is not known. */
function summed(shape: number, timeMs: number, of: (rate: number) => number): number {
  let sum = 0
  let all = 0
  for (let log = -40; log < 6; log += 0.002) {
    const rate = Math.exp(log) / timeMs
    const weight = Math.exp(shape * log - rate * timeMs)
    all += weight
    sum += weight * of(rate)
  }
  return sum / all
}

const beliefs = fc.record({
  shape: fc.double({ min: 0.3, max: 40, noNaN: true }),
  timeMs: fc.double({ min: HOUR, max: 400 * DAY, noNaN: true }),
})
const times = fc.double({ min: HOUR / 10, max: 100 * DAY, noNaN: true })

describe('the belief of how often a page changes', () => {
  test.each([true, false])('has the mean that Bayes gives it, changed or not (%s)', (changed) => {
    for (const [shape, time, elapsed] of [
      [0.5, DAY, DAY],
      [3, DAY, HOUR],
      [1, HOUR, 9 * DAY],
    ] as const) {
      const likelihood = (rate: number): number => (changed ? -Math.expm1(-rate * elapsed) : Math.exp(-rate * elapsed))
      const mean = summed(shape, time, (rate) => rate * likelihood(rate)) / summed(shape, time, likelihood)
      const belief = observeChange({ shape, timeMs: time }, elapsed, changed)
      expect(belief.shape / belief.timeMs / mean).toBeCloseTo(1, 3)
    }
  })

  test('rises with a change and falls without one, whatever was believed', () => {
    fc.assert(
      fc.property(beliefs, times, (belief, elapsed) => {
        const rate = belief.shape / belief.timeMs
        const [more, less] = [true, false].map((changed) => observeChange(belief, elapsed, changed))
        expect((more?.shape ?? 0) / (more?.timeMs ?? 1)).toBeGreaterThan(rate * (1 - 1e-9))
        expect((less?.shape ?? 0) / (less?.timeMs ?? 1)).toBeLessThan(rate)
      }),
    )
  })

  test('says nothing new after no time at all', () => {
    const belief = { shape: 1, timeMs: DAY }
    expect(observeChange(belief, 0, true)).toEqual(belief)
    expect(observeChange(belief, -5, false)).toEqual(belief)
  })
})

describe('what visits found', () => {
  const visits = fc.array(fc.tuple(times, fc.boolean()), { minLength: 1, maxLength: 24 })

  test('is had back from what is kept of it', () => {
    fc.assert(
      fc.property(visits, (found) => {
        const none: Evidence = { changed: 0, unchanged: 0, gapMs: DAY }
        const evidence = found.reduce((so, [elapsed, changed]) => withVisit(so, elapsed, changed), none)
        expect(evidence.changed).toBeCloseTo(found.filter(([, changed]) => changed).length, 9)
        const back = evidenceOf(beliefOf(evidence), found.length)
        expect(back.changed).toBeCloseTo(evidence.changed, 6)
        expect(back.unchanged).toBeCloseTo(evidence.unchanged, 6)
        expect(back.gapMs / evidence.gapMs).toBeCloseTo(1, 9)
      }),
    )
  })

  test('makes a page likely to change soon that changed, and less so where such pages are rare', () => {
    const chances = ['changed', 'unchanged'].map((others) => {
      const population: number[] = []
      const none: Evidence = { changed: 0, unchanged: 0, gapMs: DAY }
      for (let page = 0; page < 50; page++)
        learnFrom(population, { before: none, isChanged: others === 'changed', elapsed: 1 }, DAY, 50)
      const [after, without] = [true, false].map((changed) =>
        chanceWithin(rateBelief(population, withVisit(none, DAY, changed), DAY), DAY, DAY),
      )
      expect(after).toBeGreaterThan(without as number)
      return after as number
    })
    expect(chances[0]).toBeGreaterThan(chances[1] as number)
  })
})

describe('what the pages of a tier are like', () => {
  const found = (changed: number, unchanged: number): Evidence => ({ changed, unchanged, gapMs: DAY })
  /** Twelve rounds over a hundred pages, a day apart. */
  const learned = (isChanged: (page: number, round: number) => boolean): number[] => {
    const population: number[] = []
    const pages = Array.from({ length: 100 }, () => found(0, 0))
    for (let round = 0; round < 12; round++) {
      for (const [page, before] of pages.entries()) {
        const now = isChanged(page, round)
        learnFrom(population, { before, isChanged: now, elapsed: 1 }, DAY, pages.length)
        pages[page] = withVisit(before, DAY, now)
      }
    }
    return population
  }
  const chance = (population: number[], evidence: Evidence): number =>
    chanceWithin(rateBelief(population, evidence, DAY), DAY, DAY)

  test('if they are alike, three changes in a row say little of one of them; if they are of two kinds, a lot', () => {
    const alike = learned((page, round) => (page * 7 + round * 3) % 10 < 4)
    const twoKinds = learned((page) => page % 10 < 4)
    expect(chance(alike, found(3, 0)) - chance(alike, found(0, 3))).toBeLessThan(0.3)
    expect(chance(twoKinds, found(3, 0)) - chance(twoKinds, found(0, 3))).toBeGreaterThan(0.7)
  })

  test('is learned anew where something else was kept, and plans stay within bounds', () => {
    const state = { pages: 30, price: 1e7, rates: Array.from({ length: 17 }, () => 1 / 16) }
    const first = { ...visited(['changed', 'changed']), dueAt: NOW }
    const missed = planVisit(input({ state, before: first, visit: visit('missed'), now: NOW + 9 * DAY }))
    expect(state.rates).toHaveLength(17)
    const row = planVisit(input({ state, before: missed, visit: visit('changed'), now: NOW + 10 * DAY }))
    expect(state.rates.every((number) => Number.isFinite(number))).toBe(true)
    expect(state.rates.length).toBeGreaterThan(17)
    for (const { intervalMs } of [missed, row]) {
      expect(intervalMs).toBeGreaterThanOrEqual(interval.leastMs)
      expect(intervalMs).toBeLessThanOrEqual(interval.mostMs)
    }
  })
})

describe('the worth of a visit', () => {
  test('is the mean over the belief of what it adds to freshness', () => {
    for (const [shape, interval] of [
      [0.5, DAY],
      [1, 3 * DAY],
      [6, HOUR],
    ] as const) {
      const expected = summed(shape, DAY, (rate) => {
        const x = rate * interval
        return (1 - Math.exp(-x) * (1 + x)) / rate
      })
      expect(visitWorthMs({ shape, timeMs: DAY }, interval) / expected).toBeCloseTo(1, 3)
    }
  })

  test('is the price at the best interval, unless a bound is in the way', () => {
    fc.assert(
      fc.property(beliefs, fc.double({ min: 1e3, max: 1e9, noNaN: true }), (belief, price) => {
        const best = bestIntervalMs(belief, price, HOUR, 100 * DAY)
        if (best === HOUR) expect(visitWorthMs(belief, best)).toBeGreaterThanOrEqual(price)
        else if (best === 100 * DAY) expect(visitWorthMs(belief, best)).toBeLessThanOrEqual(price)
        else expect(visitWorthMs(belief, best) / price).toBeCloseTo(1, 1)
      }),
    )
  })

  test('of a page that changes faster than it could be visited never reaches the price', () => {
    expect(bestIntervalMs({ shape: 40, timeMs: 40 * 60_000 }, HOUR, HOUR, 30 * DAY)).toBe(30 * DAY)
  })
})

describe('the plan of visits', () => {
  test('keeps within the bounds of the tier, whatever visits find', () => {
    const change = fc.constantFrom<Visit['change']>('changed', 'unchanged', 'gone', 'missed')
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const row = visited(changes)
        expect(row.intervalMs).toBeGreaterThanOrEqual(interval.leastMs)
        expect(row.intervalMs).toBeLessThanOrEqual(interval.mostMs)
        expect(row.visits).toBe(changes.length + 1)
        expect(Object.values(row).every((value) => typeof value !== 'number' || Number.isFinite(value))).toBe(true)
      }),
    )
  })

  test('visits pages that never change less and less often', () => {
    const gaps = [1, 5, 20].map((times) => visited(Array<Visit['change']>(times).fill('unchanged')).changeTimeMs)
    expect(gaps).toEqual(gaps.toSorted((a, b) => a - b))
  })

  test('follows a page that changes its ways', () => {
    const quiet = Array<Visit['change']>(40).fill('unchanged')
    const rate = (row: VisitRow): number => row.changeShape / row.changeTimeMs
    const woken = visited([...quiet, ...Array<Visit['change']>(12).fill('changed')])
    expect(rate(woken)).toBeGreaterThan(10 * rate(visited(quiet)))
    const calmed = visited([...Array<Visit['change']>(40).fill('changed'), ...quiet])
    expect(rate(calmed)).toBeLessThan(rate(visited(Array<Visit['change']>(40).fill('changed'))) / 10)
  })

  test('expects of a new page what the pages of its host are like', () => {
    const plan = (change: Visit['change']): number => {
      const shared = { state: emptyRecrawlState(), host: newHost() }
      for (let id = 0; id < 30; id++) {
        let row = planVisit(input({ ...shared, id }))
        for (let time = 0; time < 5; time++)
          row = planVisit(input({ ...shared, id, before: row, visit: visit(change), now: row.checkedAt + DAY }))
      }
      expect(shared.host.changePages).toBe(30)
      return planVisit(input({ ...shared, id: 99, state: emptyRecrawlState() })).changeTimeMs
    }
    expect(plan('changed')).toBeLessThan(plan('unchanged') / 4)
  })

  test('visits an important page more often', () => {
    const [much, little] = [1, 0].map((weight) => planVisit(input({ weight })).intervalMs)
    expect(much).toBeLessThan(little as number)
  })

  test('judges a page by itself where nothing is kept of the tier’s pages together', () => {
    const state = { pages: 0, price: 0 }
    const row = visited(['changed', 'unchanged', 'changed'], { state })
    expect(state).not.toHaveProperty('rates')
    const known = { shape: row.changeShape, timeMs: row.changeTimeMs }
    const prior = planVisit(input({ state: { pages: 0, price: 0 } }))
    expect(known).not.toEqual({ shape: prior.changeShape, timeMs: prior.changeTimeMs })
    expect(row.intervalMs).toBeGreaterThanOrEqual(interval.leastMs)
    expect(row.intervalMs).toBeLessThanOrEqual(interval.mostMs)
  })

  test.each(['log-uniform', 'exponential'] as const)('spends what the tier has, within 3 %% (%s)', (spread) => {
    const web = { spread, pages: 300, days: 60, seed: 7 }
    const { fetches } = visitAll(web, planned(interval))
    expect(fetches / (web.pages * web.days)).toBeGreaterThan(0.97)
    expect(fetches / (web.pages * web.days)).toBeLessThan(1.03)
  })

  test('puts off the visits of a host that has more pages than room', () => {
    const shared = { state: emptyRecrawlState(), host: newHost(), delayMs: 10_000, hostShare: 0.5 }
    const rows = Array.from({ length: 20_000 }, (_, id) => planVisit(input({ ...shared, id })))
    const again = rows.map((before) =>
      planVisit(input({ ...shared, id: before.id, before, visit: visit('unchanged'), now: before.dueAt as number })),
    )
    const rate = again.reduce((sum, row) => sum + 1 / ((row.dueAt as number) - row.checkedAt), 0)
    expect(rate).toBeLessThanOrEqual((1.01 * shared.hostShare) / shared.delayMs)
    expect(rate).toBeGreaterThan((0.5 * shared.hostShare) / shared.delayMs)
    expect(planVisit(input({ hostShare: 0 })).dueAt).toBeNull()
  })

  test('takes a page that is retired out of the sums, and keeps its history', () => {
    const shared = { state: emptyRecrawlState(), host: newHost() }
    const rows = [1, 2].map((id) => planVisit(input({ ...shared, id })))
    const [first, second] = rows as [VisitRow, VisitRow]
    expect(retireVisit(first, { ...shared, now: NOW + DAY, gone: true })).toEqual({
      ...first,
      visits: 2,
      misses: 1,
      checkedAt: NOW + DAY,
      dueAt: null,
    })
    expect(shared.host.revisitRate).toBeCloseTo(1 / second.intervalMs, 15)
    expect(shared.state.pages).toBe(1)
  })

  test('learns nothing from a visit that was missed, and counts the absence of a page that is gone', () => {
    const row = planVisit(input())
    const missed = planVisit(input({ before: row, visit: visit('missed'), now: NOW + DAY }))
    expect(missed).toMatchObject({ checkedAt: NOW, changeTimeMs: row.changeTimeMs, misses: 0, visits: 2 })
    const gone = planVisit(input({ before: missed, visit: visit('gone'), now: NOW + 2 * DAY }))
    expect(gone).toMatchObject({ checkedAt: NOW + 2 * DAY, misses: 1, changedAt: NOW, changes: 0 })
    const back = planVisit(input({ before: gone, visit: visit('changed'), now: NOW + 3 * DAY }))
    expect(back).toMatchObject({ misses: 0, changes: 1, changedAt: NOW + 3 * DAY, firstAt: NOW })
  })
})

describe('a sitemap that says when a page was modified', () => {
  const row = (more: Partial<VisitRow> = {}): VisitRow => ({
    ...planVisit(input()),
    intervalMs: 8 * DAY,
    dueAt: NOW + 8 * DAY,
    ...more,
  })

  test('makes a page due that was modified after the last visit', () => {
    expect(hintModified(row(), NOW + HOUR, NOW + 2 * HOUR)).toBe(NOW + 2 * HOUR)
  })

  test('is doubted where such pages were found unchanged', () => {
    expect(hintModified(row({ visits: 11 }), NOW + HOUR, NOW + 2 * HOUR)).toBe(NOW + 2 * DAY)
    expect(hintModified(row({ visits: 11 }), NOW + HOUR, NOW + 3 * DAY)).toBe(NOW + 3 * DAY)
  })

  test('puts off a page that was not modified since, by half its interval at the most, however often it says so', () => {
    const plan = row()
    for (let day = 1; day < 30; day++) {
      const dueAt = hintModified(plan, NOW - 9 * DAY, NOW + day * DAY)
      if (dueAt !== undefined) plan.dueAt = dueAt
    }
    expect(plan.dueAt).toBeGreaterThan(NOW + 10 * DAY)
    expect(plan.dueAt).toBeLessThanOrEqual(NOW + 12 * DAY)
  })

  test('says nothing by the day of the last visit, by a date to come, or of a page that is due or retired', () => {
    expect(hintModified(row(), NOW - 2 * HOUR, NOW + DAY)).toBeUndefined()
    expect(hintModified(row(), NOW + 30 * DAY, NOW + DAY)).toBeUndefined()
    expect(hintModified(row(), NaN, NOW + DAY)).toBeUndefined()
    expect(hintModified(row({ dueAt: NOW + HOUR }), NOW + DAY, NOW + DAY)).toBeUndefined()
    expect(hintModified(row({ dueAt: null }), NOW + HOUR, NOW + DAY)).toBeUndefined()
  })
})

describe('on webs of other kinds, from the first thirty visits on, pages are fresh for longer, too', () => {
  test.each([
    ['uniform, up to 2', false],
    ['log-uniform, 0.01 to 100', false],
    ['lognormal, 0.3', false],
    ['lognormal, wide', false],
    ['Pareto', false],
    ['three kinds', false],
    ['log-uniform, 0.01 to 1', true],
    ['lognormal, wide', true],
    ['three kinds', true],
  ] as const)('%s, periodic: %s', (spread, isPeriodic) => {
    const { plan, fixed, rule } = compare({ spread, isPeriodic, pages: 200, days: 30, seed: 1 }, interval)
    expect(plan.freshness).toBeGreaterThan(fixed.freshness)
    expect(plan.freshness).toBeGreaterThan(rule.freshness)
  })
})

describe('at an equal number of fetches, pages are fresh for longer than by fixed intervals or by -40/+20 %', () => {
  const cases: [Spread, number, number, number][] = [
    ['log-uniform', 1, 60, 1],
    ['log-uniform', 1, 60, 2],
    ['log-uniform', 1, 60, 3],
    ['log-uniform', 7, 240, 4],
    ['log-uniform', 1 / 24, 5, 5],
    ['mostly slow', 1, 60, 1],
    ['mostly slow', 1, 60, 2],
    ['exponential', 1, 60, 1],
    ['exponential', 7, 240, 2],
    ['two kinds', 1, 60, 1],
    ['two kinds', 7, 365, 1],
    ['two kinds', 7, 365, 2],
    ['mostly slow', 7, 365, 1],
    ['mostly slow', 7, 365, 2],
    ['a third never', 1, 30, 1],
    ['a third never', 7, 210, 2],
  ]
  test.each(cases)('%s, every %d days on average, for %d days, seed %d', (spread, averageDays, days, seed) => {
    const { plan, fixed, rule } = compare({ spread, pages: 150, days, seed }, around(averageDays * DAY))
    expect(plan.freshness).toBeGreaterThan(fixed.freshness)
    expect(plan.freshness).toBeGreaterThan(rule.freshness)
  })
})
