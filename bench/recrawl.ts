/**
 * How fresh are the copies of pages that change at known rates? The plan of revisits against fixed intervals and against
 * a rule that shortens the interval by 40 % after a change and lengthens it by 20 % without, at an equal number of fetches.
 *
 *   npx node bench/recrawl.ts [pages] [visits of a page: the length of the simulation] [--others]
 *
 * Freshness is the part of the time that a copy equals its page, averaged over the pages. With `--others` the webs are of
 * many kinds, for a tier of a day, with changes at random and by a period of each page; 30 visits of a page by default.
 */
import { parseArgs } from 'node:util'
import {
  around,
  compare,
  DAY,
  HOUR,
  OTHER_SPREADS,
  SPREADS,
  type ChangingWeb,
  type Spread,
} from '../src/frontier/recrawl/test-support/changing-web.ts'
import { figure, printTable } from './support/table.ts'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { others: { type: 'boolean' } } })
const pages = Number(positionals[0] ?? 300)
const visits = Number(positionals[1] ?? 0)
const AVERAGES = [
  ['hourly', HOUR, 14],
  ['daily', DAY, 90],
  ['weekly', 7 * DAY, 365],
] as const
const SEEDS = [1, 2, 3]

const percent = (value: number): string => `${(100 * value).toFixed(2)} %`

function row(name: string, averageMs: number, web: Omit<ChangingWeb, 'pages' | 'seed'>): string[] {
  const found = SEEDS.map((seed) => compare({ ...web, pages, seed }, around(averageMs)))
  const mean = (of: 'plan' | 'fixed' | 'rule', what: 'freshness' | 'fetches'): number =>
    found.reduce((sum, ways) => sum + ways[of][what], 0) / SEEDS.length
  const freshness = (['plan', 'fixed', 'rule'] as const).map((way) => percent(mean(way, 'freshness')))
  const fetches = mean('plan', 'fetches')
  return [name, figure(fetches), figure((fetches * averageMs) / (pages * web.days * DAY)), ...freshness]
}

const usual = (): string[][] =>
  AVERAGES.flatMap(([name, averageMs, length]) => {
    const days = visits > 0 ? (visits * averageMs) / DAY : length
    return (Object.keys(SPREADS) as Spread[]).map((spread) => row(`${name}, ${spread}`, averageMs, { spread, days }))
  })
const others = (): string[][] =>
  [false, true].flatMap((isPeriodic) =>
    OTHER_SPREADS.map((spread) =>
      row(`${isPeriodic ? 'periodic' : 'at random'}, ${spread}`, DAY, { spread, isPeriodic, days: visits || 30 }),
    ),
  )

printTable(
  ['average, rates', 'fetches', 'of budget', 'plan', 'fixed', '-40/+20 %'],
  values.others === true ? others() : usual(),
)
