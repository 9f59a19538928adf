/** The frontier of a fleet: many workers on one frontier in memory, as many as it was promised to work with. */
import { createSystemClock, formatDuration } from '../../base/index.ts'
import { runFleet, Violation, type FleetReport } from '../../sim/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { reportRows } from '../report-lines.ts'
import { countIn } from './switch-values.ts'

const WORKERS = 1_000
const HOSTS = 1_000_000
const PAGES_PER_HOST = 1
const MOST_WORKERS = 10_000

export async function fleetCommand({ parsed, terminal }: Invocation, seed: number): Promise<number> {
  const { switches } = parsed
  const workers =
    switches.workers === undefined ? WORKERS : countIn(switches.workers, '--workers', { least: 1, most: MOST_WORKERS })
  const hosts = switches.hosts === undefined ? HOSTS : countIn(switches.hosts, '--hosts', { least: 1, most: HOSTS })
  const clock = createSystemClock()
  const startedAt = clock.now()
  const what = `${countOf(workers, 'worker')} on ${countOf(hosts, 'host')}, seed ${seed}`
  try {
    const report = await runFleet({
      workers,
      hosts,
      pagesPerHost: PAGES_PER_HOST,
      seed,
      onProgress: (done, total) => terminal.live([`${formatCount(done)} of ${countOf(total, 'page')}`]),
    })
    const tookMs = Math.round(clock.now() - startedAt)
    terminal.result({ ok: true, workers, hosts, seed, ...report, tookMs }, () => fleetWords(what, report, tookMs))
    return EXIT.done
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const { law, subject, message } = error
    terminal.result(
      { ok: false, workers, hosts, seed, violation: { law, subject, detail: message } },
      () => `${what}: broke ${law}\n${message}`,
    )
    return EXIT.failures
  }
}

function fleetWords(what: string, report: FleetReport, tookMs: number): string {
  const { pages, requests, leases, events, simulatedMs, digest } = report
  return [
    `${what}: every promise was kept`,
    ...reportRows([
      ['pages', formatCount(pages)],
      ['requests', formatCount(requests)],
      ['leases', formatCount(leases)],
      ['simulated', `${formatDuration(simulatedMs)}, ${countOf(events, 'event')}`],
      ['took', formatDuration(tookMs)],
      ['digest', digest],
    ]),
  ].join('\n')
}
