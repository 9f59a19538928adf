/**
 * What each promise costs in CPU time for a page. A crawl without one of them stands between two with all of them, and
 * is compared with the mean of those: on a machine that others use too, neighbours in time have most in common.
 */
import type { Usage } from '../support/child.ts'
import { figure, printTable } from '../support/table.ts'
import { BASES, crawlKind, PROMISES } from './promises.ts'
import type { SiteCrawls } from './site-crawl.ts'

/** What a promise may cost of the CPU time of a page, but for the content itself. */
const TARGET = 0.15

export interface CostOptions {
  readonly pages: number
  readonly repetitions: number
  /** Names of promises. */
  readonly without: readonly string[]
  /** What they are taken from. */
  readonly base: string
  readonly words: readonly string[]
}

export async function measureCosts(site: SiteCrawls, options: CostOptions): Promise<void> {
  const { pages, repetitions, words } = options
  const base = BASES[options.base]
  if (base === undefined) throw new Error(`a base is one of ${Object.keys(BASES).join(', ')}`)
  const variants = options.without.flatMap((name) => {
    const promised = PROMISES[name]
    if (promised === undefined) throw new Error(`a promise is one of ${Object.keys(PROMISES).join(', ')}`)
    const kind = promised.take(base)
    return kind === undefined ? [] : [{ name, what: promised.words, kind, costs: [] as number[], cpu: [] as number[] }]
  })
  const run = async (kind: typeof base): Promise<number> => {
    const usage: Usage = await site.crawl(crawlKind({ ...kind, words: [...kind.words, ...words] }))
    return usage.cpuSeconds / pages
  }

  const whole: number[] = []
  await run(base) // The site keeps its pages once they were asked for.
  let before = await run(base)
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const { kind, costs, cpu } of variants) {
      const less = await run(kind)
      const after = await run(base)
      const all = (before + after) / 2
      cpu.push(less)
      costs.push((all - less) / all)
      whole.push(all)
      before = after
    }
  }

  const each = median(whole)
  process.stdout.write(`${options.base}: ${figure(1_000 * each)} CPU s per 1,000 pages, ${repetitions} rounds\n`)
  printTable(
    ['without', 'what is gone', 'CPU s per 1,000 pages', 'its cost, ms a page', 'of the whole', 'from … to', 'target'],
    variants.map(({ name, what, costs, cpu }) => [
      name,
      what,
      figure(1_000 * median(cpu)),
      figure(1_000 * each * median(costs)),
      percent(median(costs)),
      `${percent(Math.min(...costs))} … ${percent(Math.max(...costs))}`,
      name === 'content' ? '' : median(costs) <= TARGET ? 'met' : 'missed',
    ]),
  )
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
