/** The table of the comparison: medians of the rounds for what is measured, the worst of them for what is promised. */
import { figure, megabytes, printTable } from '../support/table.ts'
import { LINKS_ONLY } from './contestants/tiptoe.ts'
import { cpuPerThousand, medianOf, pagesPerSecond, peakBytes, ratio, type Measured, type Result } from './measured.ts'

export function printReport(measured: Measured): void {
  const { site, rounds, limitSeconds, concurrency, results } = measured
  process.stdout.write(
    `${figure(site.pages)} pages of ${figure(site.bytesPerPage / 1_000)} KB with ${figure(site.linksPerPage)} links, ` +
      `nginx on the same ${measured.cores} cores, ${concurrency} requests at once, no delay; ` +
      `medians of ${rounds} rounds, × is to ${LINKS_ONLY}; after ${limitSeconds} s a slow run is stopped\n\n`,
  )
  const tiptoe = results.find(({ name }) => name === LINKS_ONLY)
  const times = (result: Result, read: (run: Result['runs'][number]) => number): string =>
    tiptoe === undefined ? '' : `${figure(ratio(result, tiptoe, read))} ×`
  const rows = results.map((result) => [
    result.name,
    figure(medianOf(result, pagesPerSecond)),
    times(result, pagesPerSecond),
    figure(medianOf(result, cpuPerThousand)),
    times(result, cpuPerThousand),
    megabytes(medianOf(result, peakBytes)),
    times(result, peakBytes),
    foundText(result, site.pages),
    figure(Math.max(...result.runs.map(({ duplicates }) => duplicates))),
    robotsText(result),
  ])
  const head = ['what', 'pages/s', '×', 'CPU s per 1,000 pages', '×', 'peak RSS', '×', 'found', 'twice', 'robots.txt']
  const missing = measured.missing.map(({ name }) => [name, 'not here', ...Array<string>(head.length - 2).fill('')])
  printTable(head, [...rows, ...missing])
  for (const { name, why } of measured.missing) process.stdout.write(`${name} is not here: ${why}\n`)
}

/** A share of what there was to find, in full only when nothing is missing. */
function foundText({ runs }: Result, all: number): string {
  const least = Math.min(...runs.map(({ pages }) => pages))
  const share = `${(Math.floor((1_000 * least) / all) / 10).toString()} %`
  if (runs.some(({ end }) => end === 'stopped')) return `stopped at ${share}`
  return runs.some(({ end }) => end === 'hung') ? `${share}, hung` : share
}

function robotsText({ runs }: Result): string {
  const most = Math.max(...runs.map(({ closed }) => closed))
  if (most > 0) return `broken, ${figure(most)} times`
  return runs.some(({ robots }) => robots === 0) ? 'not asked for' : 'obeyed'
}
