/**
 * How fresh are the copies of pages that change at known rates? The plan of revisits against fixed intervals and against
 * a rule that shortens the interval by 40 % after a change and lengthens it by 20 % without, at an equal number of fetches.
 *
 *   npx node bench/recrawl.ts [pages] [visits of a page: the length of the simulation]
 *
 * Freshness is the part of the time that a copy equals its page, averaged over the pages.
 */
import { around, compare, DAY, HOUR, SPREADS, type Spread } from '../src/frontier/recrawl/test-support/changing-web.ts'
import { figure, printTable } from './support/table.ts'

const pages = Number(process.argv[2] ?? 300)
const visits = Number(process.argv[3] ?? 0)
const AVERAGES = [
  ['hourly', HOUR, 14],
  ['daily', DAY, 90],
  ['weekly', 7 * DAY, 365],
] as const
const SEEDS = [1, 2, 3]

const percent = (value: number): string => `${(100 * value).toFixed(2)} %`
const rows = AVERAGES.map(
  ([name, averageMs, days]) => [name, averageMs, visits > 0 ? (visits * averageMs) / DAY : days] as const,
).flatMap(([name, averageMs, days]) =>
  (Object.keys(SPREADS) as Spread[]).map((spread) => {
    const found = SEEDS.map((seed) => compare({ spread, pages, days, seed }, around(averageMs)))
    const mean = (of: 'plan' | 'fixed' | 'rule', what: 'freshness' | 'fetches'): number =>
      found.reduce((sum, ways) => sum + ways[of][what], 0) / SEEDS.length
    const freshness = (['plan', 'fixed', 'rule'] as const).map((way) => percent(mean(way, 'freshness')))
    return [
      `${name}, ${spread}`,
      figure(mean('plan', 'fetches')),
      figure((mean('plan', 'fetches') * averageMs) / (pages * days * DAY)),
      ...freshness,
    ]
  }),
)
printTable(['average, rates', 'fetches', 'of budget', 'plan', 'fixed', '-40/+20 %'], rows)
