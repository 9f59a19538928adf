/**
 * The frontier of a fleet. Many workers on one frontier in memory, as many as it was promised to work with; or, told a
 * number of partitions, a fleet on a cluster at any size: some of it simulated, the whole worked out from that.
 */
import { createSystemClock, formatDuration } from '../../base/index.ts'
import {
  FLEET_DEFAULTS,
  MOST_PARTITIONS,
  runFleet,
  runFleetScale,
  Violation,
  type FleetReport,
  type FleetShape,
} from '../../sim/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { EXIT } from '../exit-code.ts'
import type { Invocation } from '../invocation.ts'
import { reportRows } from '../report-lines.ts'
import { clusterWords } from './fleet-report.ts'
import { countIn, durationIn } from './switch-values.ts'

const WORKERS = 1_000
const HOSTS = 1_000_000
const PAGES_PER_HOST = 1
const MOST_WORKERS = 10_000
const NODES = 3
const SAMPLES = 2
/** On a cluster, where most of it is worked out and not simulated. */
const MOST_ON_CLUSTER = {
  workers: 1_000_000,
  slots: 1_000,
  hosts: 1_000_000_000,
  nodes: 1_000,
  samples: 16,
  pages: 1e6,
}

export async function fleetCommand(invocation: Invocation, seed: number): Promise<number> {
  const { parsed, terminal } = invocation
  if (parsed.flags.partitions !== undefined) return clusterCommand(invocation, seed)
  const { switches } = parsed
  const workers = countOr(switches.workers, '--workers', WORKERS, MOST_WORKERS)
  const hosts = countOr(switches.hosts, '--hosts', HOSTS, HOSTS)
  const clock = createSystemClock()
  const startedAt = clock.now()
  const what = `${countOf(workers, 'worker')} on ${countOf(hosts, 'host')}, seed ${seed}`
  return judged(invocation, what, { workers, hosts, seed }, async () => {
    const report = await runFleet({
      workers,
      hosts,
      pagesPerHost: PAGES_PER_HOST,
      seed,
      onProgress: (done, total) => terminal.live([`${formatCount(done)} of ${countOf(total, 'page')}`]),
    })
    const tookMs = Math.round(clock.now() - startedAt)
    terminal.result({ ok: true, workers, hosts, seed, ...report, tookMs }, () => fleetWords(what, report, tookMs))
  })
}

async function clusterCommand(invocation: Invocation, seed: number): Promise<number> {
  const { terminal } = invocation
  const shape = shapeOf(invocation)
  const samples = countOr(invocation.parsed.switches.sample, '--sample', SAMPLES, MOST_ON_CLUSTER.samples)
  const clock = createSystemClock()
  const startedAt = clock.now()
  const what = `${countOf(shape.workers, 'worker')} on ${countOf(shape.hosts, 'host')}, seed ${seed}`
  return judged(invocation, what, { ...shape, seed }, async () => {
    const report = await runFleetScale({
      shape,
      samples,
      seed,
      sweeps: true,
      onProgress: (where) => terminal.live([where]),
    })
    const tookMs = Math.round(clock.now() - startedAt)
    terminal.result({ ok: true, seed, ...report, tookMs }, () => clusterWords(report, tookMs))
  })
}

function shapeOf({ parsed: { switches, flags } }: Invocation): FleetShape {
  const { workers, slots, hosts, nodes, pages } = MOST_ON_CLUSTER
  const typed = (name: 'partitions' | 'concurrency' | 'delay'): string | undefined => {
    const value = flags[name]
    return typeof value === 'string' ? value : undefined
  }
  const delay = typed('delay')
  return {
    ...FLEET_DEFAULTS,
    workers: countOr(switches.workers, '--workers', WORKERS, workers),
    slots: countOr(typed('concurrency'), '--concurrency', FLEET_DEFAULTS.slots, slots),
    hosts: countOr(switches.hosts, '--hosts', HOSTS, hosts),
    pagesPerHost: countOr(switches.pages, '--pages', PAGES_PER_HOST, pages),
    partitions: countOr(typed('partitions'), '--partitions', 1, MOST_PARTITIONS),
    nodes: countOr(switches.nodes, '--nodes', NODES, nodes),
    // With a shorter delay a lease carries several pages, which is not modelled.
    delayMs: delay === undefined ? 1_000 : Math.max(100, durationIn(delay, '--delay')),
    answerMs: switches.latency === undefined ? FLEET_DEFAULTS.answerMs : durationIn(switches.latency, '--latency'),
  }
}

function countOr(text: string | undefined, flag: string, usual: number, most: number): number {
  return text === undefined ? usual : countIn(text, flag, { least: 1, most })
}

/** Exit code 1, with the law, when one was broken. */
async function judged(
  { terminal }: Invocation,
  what: string,
  asked: Readonly<Record<string, number>>,
  run: () => Promise<void>,
): Promise<number> {
  try {
    await run()
    return EXIT.done
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const { law, subject, message } = error
    terminal.result(
      { ok: false, ...asked, violation: { law, subject, detail: message } },
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
