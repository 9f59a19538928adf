/** A fleet on a cluster in words: how fast, what of it is used up, and where each dimension bends. */
import { formatBytes, formatDuration } from '../../base/index.ts'
import type { Dimension, FleetPoint, FleetScaleReport, FleetSweep } from '../../sim/index.ts'
import { countOf, formatCount, formatRate } from '../count-words.ts'
import { reportRows } from '../report-lines.ts'

const BOUNDS: Readonly<Record<FleetPoint['bound'], { readonly what: string; readonly helps: string }>> = {
  hosts: { what: 'the pace of the hosts', helps: 'more hosts, or a shorter delay where hosts permit it' },
  slots: { what: 'the slots of the workers', helps: 'more workers, or more slots in each' },
  masters: {
    what: 'the masters: each runs one script at a time',
    helps: 'more masters, and more slots in fewer workers, since calls are shared by more pages',
  },
}

const NOUNS: Readonly<Record<Dimension, string>> = {
  workers: 'workers',
  slots: 'slots of a worker, all in all the same',
  hosts: 'hosts',
  nodes: 'masters',
  partitions: 'partitions',
  pages: 'pages of a host',
}

export function clusterWords(report: FleetScaleReport, tookMs: number): string {
  const { shape, samples, paper, busy, masters, bound } = report
  const [fullest] = samples
  if (fullest === undefined) return ''
  const { leaseMs, settleMs, lagMs } = fullest
  const whole = samples.every(({ isWhole }) => isWhole)
  const simulated = samples.reduce((sum, { requests }) => sum + requests, 0)
  return [
    `${countOf(shape.workers, 'worker')} of ${countOf(shape.slots, 'slot')} on ${countOf(shape.hosts, 'host')}: ` +
      `${countOf(shape.partitions, 'partition')} on ${countOf(shape.nodes, 'master')}`,
    '',
    `It makes ${formatRate(report.requestsPerS)} requests/s. Every promise was kept.`,
    ...reportRows([
      ['bound by', BOUNDS[bound].what],
      ['helps', BOUNDS[bound].helps],
      [
        'takes',
        `${formatDuration(report.takesMs)} for ${countOf(shape.pagesPerHost, 'page')} of each host and robots.txt`,
      ],
      [
        'permitted',
        `${formatRate(paper.hostsPermit)} requests/s by the hosts, ${formatRate(paper.slotsPermit)} by the slots`,
      ],
      [
        'masters',
        `busy for ${percent(busy[0])} to ${percent(busy.at(-1))}, with ${masters[0]} to ${masters.at(-1)} partitions`,
      ],
      [
        'workers',
        `busy on ${formatCount(Math.ceil(paper.workerCores.linksOnly))} cores where they only follow links, ` +
          `on ${formatCount(Math.ceil(paper.workerCores.everything))} with everything on`,
      ],
      [
        'a request',
        `${report.storeMsPerRequest.toFixed(2)} ms of a master, ${formatBytes(fullest.wireBytesPerRequest)}`,
      ],
      ['lease', spread(leaseMs)],
      ['settle', spread(settleMs)],
      ['late', `${spread(lagMs)} after a host was due${whole ? '' : ', with fewer hosts than there are'}`],
      [
        'together',
        `${fullest.leasesPerCall.toFixed(1)} leases and ${fullest.settlementsPerCall.toFixed(1)} pages in a call`,
      ],
    ]),
    '',
    'in use on the fullest master',
    ...reportRows([
      ['time', percent(Math.max(...busy))],
      ['connections', `${formatCount(paper.connections)}; 10,000 is all that a server admits by default (maxclients)`],
      [
        'memory',
        `${formatBytes(paper.queuedBytes)} with all URLs queued, ${formatBytes(paper.doneBytes)} with all done`,
      ],
      ['network', `${formatBytes(paper.networkBytesPerS)}/s`],
      ['beats', `${percent(paper.used.beats)} of the master that has the crawl's own keys`],
    ]),
    ...report.sweeps.flatMap(sweepWords),
    '',
    'This rests on',
    ...basis(report, simulated, tookMs).map((line) => `  ${line}`),
  ].join('\n')
}

function sweepWords({ dimension, points, bend }: FleetSweep): string[] {
  const rows = points.map(({ value, requestsPerS, busy, leaseMs, storeMsPerRequest, bound }) =>
    [
      formatCount(value).padStart(14),
      formatRate(requestsPerS).padStart(11),
      percent(busy).padStart(8),
      storeMsPerRequest.toFixed(2).padStart(8),
      formatDuration(leaseMs.p99).padStart(10),
      `  ${bound}`,
    ].join(''),
  )
  const head = `${'value'.padStart(14)}${'requests/s'.padStart(11)}${'master'.padStart(8)}${'ms each'.padStart(8)}${'lease p99'.padStart(10)}  bound by`
  return ['', `${NOUNS[dimension]}: ${bendWords(bend)}`, head, ...rows]
}

function bendWords(bend: FleetSweep['bend']): string {
  if (bend === null) return 'nothing changes what bounds it'
  const { from, to } = bend
  return `from ${from.bound} to ${to.bound} between ${formatCount(from.value)} and ${formatCount(to.value)}`
}

function basis({ shape, samples }: FleetScaleReport, simulated: number, tookMs: number): string[] {
  return [
    `${formatDuration(shape.answerMs)} to an answer on the average, a delay of ${formatDuration(shape.delayMs)}, all hosts alike`,
    `pages that name ${shape.linksWithin} URLs of their host and ${shape.linksAbroad} of others that their worker has not met lately`,
    'what scripts, URLs and pages cost as it was measured on one machine (src/sim/fleet-costs.ts), and a round trip of half a millisecond',
    `the rules of the frontier in ${countOf(samples.length, 'sample')} of ${countOf(samples[0]?.partitions ?? 0, 'partition')}; ` +
      `${countOf(simulated, 'request')} simulated in ${formatDuration(tookMs)}`,
  ]
}

const spread = ({ p50, p99 }: { readonly p50: number; readonly p99: number }): string =>
  `${formatDuration(p50)}, for one in a hundred ${formatDuration(p99)}`

function percent(share: number | undefined): string {
  const value = 100 * (share ?? 0)
  return value > 0 && value < 1 ? '<1%' : `${Math.min(100, Math.round(value))}%`
}
