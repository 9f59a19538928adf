/** What was measured as tables: each figure beside the bare store's and beside what is asked of it. */
import { bloomShape } from '../../src/base/index.ts'
import { figure, megabytes, printTable } from '../support/table.ts'
import { cpuMicros, micros, perSecond, type Figures, type HomeFigures, type Measured, type Timed } from './measured.ts'

/** Asked of the frontier with ten million URLs. */
const TARGETS = { linksPerSecond: 150_000, tasksPerSecond: 20_000, bytesPerUrl: 120, rssBytes: 600e6, openMs: 2_000 }
const HUNDRED_MILLION = 100_000_000
/** The filter's settings when nothing else is said: see src/frontier/index.ts. */
const FALSE_POSITIVE_RATE = 0.01

type Row = Measured['marks'][number]

const atLeast = (value: number, target: number): string => (value >= target ? 'met' : 'missed')
const atMost = (value: number, target: number): string => (value <= target ? 'met' : 'missed')
const bytesPerUrl = (home: HomeFigures, { diskBytes }: Pick<Figures, 'diskBytes'>): number =>
  (diskBytes - home.textBytes) / home.urls

/** Operations a second, with the bare store's. */
function printRates(
  what: string,
  rows: readonly Row[],
  of: (figures: Figures) => Timed,
  target: number,
  ofHome: (home: HomeFigures) => Timed = of,
): void {
  process.stdout.write(`${what}: at least ${figure(target)} a second\n\n`)
  printTable(
    ['URLs', 'hosts', 'a second', 'µs each', 'of CPU', 'bare: a second', 'of bare', 'target'],
    rows.map(({ mark, home, bare }) => {
      const [own, other] = [perSecond(ofHome(home)), perSecond(of(bare))]
      return [
        figure(mark.urls),
        figure(home.hosts),
        figure(own),
        figure(micros(ofHome(home))),
        figure(cpuMicros(ofHome(home))),
        figure(other),
        `${figure(own / other)} ×`,
        atLeast(own, target),
      ]
    }),
  )
}

export function printReport({ marks, killed }: Measured): void {
  printRates('Adding links, 9 of 10 known, as pages have them', marks, ({ skewed }) => skewed, TARGETS.linksPerSecond)
  printRates(
    'Adding links, 9 of 10 known, drawn evenly from all known',
    marks,
    ({ uniform }) => uniform,
    TARGETS.linksPerSecond,
  )
  printRates(
    'Leasing and settling, hosts a second apart: one task in a lease',
    marks,
    ({ tasks }) => tasks,
    TARGETS.tasksPerSecond,
  )
  printRates(
    'Leasing and settling, hosts without a delay: up to sixteen tasks in a lease',
    marks,
    ({ tasks }) => tasks,
    TARGETS.tasksPerSecond,
    ({ quick }) => quick,
  )

  process.stdout.write('Filling with links that are all new, and the first turn of each host\n\n')
  printTable(
    ['URLs', 'links a second', 'µs each', 'first turns a second', 'false positives of the filter'],
    marks.map(({ mark, home }) => [
      figure(mark.urls),
      figure(perSecond(home.fill)),
      figure(micros(home.fill)),
      figure(perSecond(home.robots)),
      figure(home.bloomFalsePositives),
    ]),
  )

  process.stdout.write(`Bytes on disk for each known URL beyond its text: under ${TARGETS.bytesPerUrl}\n\n`)
  printTable(
    ['URLs', 'text', 'beyond it', 'while open', 'bare', 'of bare', 'target'],
    marks.map(({ mark, home, bare }) => {
      const [own, other] = [bytesPerUrl(home, home), bytesPerUrl(home, bare)]
      return [
        figure(mark.urls),
        figure(home.textBytes / home.urls),
        figure(own),
        figure(bytesPerUrl(home, { diskBytes: home.diskBytesOpen })),
        figure(other),
        `${figure(own / other)} ×`,
        atMost(own, TARGETS.bytesPerUrl),
      ]
    }),
  )

  process.stdout.write(`Memory: under ${megabytes(TARGETS.rssBytes)}\n\n`)
  printTable(
    ['URLs', 'RSS', 'heap', 'buffers', 'peak RSS', 'bare: peak RSS', 'of bare', 'target'],
    marks.map(({ mark, home, bare }) => [
      figure(mark.urls),
      megabytes(home.memory.rssBytes),
      megabytes(home.memory.heapBytes),
      megabytes(home.memory.bufferBytes),
      megabytes(home.memory.peakBytes),
      megabytes(bare.memory.peakBytes),
      `${figure(home.memory.peakBytes / bare.memory.peakBytes)} ×`,
      atMost(home.memory.peakBytes, TARGETS.rssBytes),
    ]),
  )

  process.stdout.write(`Opening, until the first lease is answered: under ${figure(TARGETS.openMs)} ms\n\n`)
  printTable(
    ['URLs', 'ms', 'bare: ms', 'of bare', 'target'],
    marks.map(({ mark, home, bare }) => [
      figure(mark.urls),
      figure(home.openMs),
      figure(bare.openMs),
      `${figure(home.openMs / bare.openMs)} ×`,
      atMost(home.openMs, TARGETS.openMs),
    ]),
  )
  process.stdout.write(
    `Killed in the middle of work and opened in ${figure(killed.openMs)} ms (${atMost(killed.openMs, TARGETS.openMs)}): ` +
      `of ${figure(killed.confirmed)} URLs confirmed, ${figure(Math.min(killed.confirmed, killed.found))} are there, ` +
      `and ${figure(Math.max(0, killed.found - killed.confirmed))} that were not yet confirmed\n`,
  )
  printOutlook(marks)
}

/**
 * What the growth over the last tenfold says of a hundred million, if it goes on like that. What falls is taken to stay,
 * and memory to grow with the filters alone: all else in it has a bound.
 */
function printOutlook(marks: readonly Row[]): void {
  const [before, last] = [marks.at(-2), marks.at(-1)]
  if (before === undefined || last === undefined || last.home.urls >= HUNDRED_MILLION) return
  const grown = (of: (home: HomeFigures) => number, on: (urls: number) => number): number => {
    const slope = (of(last.home) - of(before.home)) / (on(last.home.urls) - on(before.home.urls))
    return of(last.home) + Math.max(0, slope) * (on(HUNDRED_MILLION) - on(last.home.urls))
  }
  const byUrl = (of: (home: HomeFigures) => number): string => figure(grown(of, (urls) => urls))
  const byDecade = (of: (home: HomeFigures) => Timed): string => figure(grown((home) => micros(of(home)), Math.log10))
  const filters = ((HUNDRED_MILLION - last.home.urls) * bloomShape(FALSE_POSITIVE_RATE).bitsPerKey) / 8
  process.stdout.write(
    `Computed, not measured, for 100,000,000 URLs, from the growth between ${figure(before.mark.urls)} and ` +
      `${figure(last.mark.urls)}:\n` +
      `- in proportion to the URLs: ${byUrl(({ diskBytes }) => diskBytes / 1e9)} GB on disk, ` +
      `opening in ${byUrl(({ openMs }) => openMs)} ms, ${megabytes(filters)} more of filters in memory, ` +
      `so peak RSS ${megabytes(last.home.memory.peakBytes + filters)}\n` +
      `- in proportion to the logarithm: ${byDecade(({ skewed }) => skewed)} µs a link, ` +
      `${byDecade(({ uniform }) => uniform)} µs a link drawn evenly, ${byDecade(({ tasks }) => tasks)} µs a task\n`,
  )
}
