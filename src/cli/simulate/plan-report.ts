/** A plan in words: the answer first, then the chart, the hosts, the comparison, and what all of it rests on. */
import { formatBytes, formatDuration } from '../../base/index.ts'
import { resliced, type Bound, type GroupChain, type HostChain, type MachineCosts, type Plan } from '../../sim/index.ts'
import { columnChart } from '../chart.ts'
import { countOf, formatCount, formatRate } from '../count-words.ts'
import { reportRows, type ReportRow } from '../report-lines.ts'
import { escapeForTerminal, padToWidth } from '../terminal.ts'
import type { PlanSource } from './plan-source.ts'

export interface PlanReport {
  readonly source: PlanSource
  /** The source's, and which hosts share a pace. */
  readonly assumptions: readonly string[]
  /** Slots by configuration. */
  readonly configured: number
  readonly plan: Plan
  /** By slots, fewest first; `plan` is one of them. */
  readonly plans: readonly Plan[]
  readonly chains: readonly HostChain[]
  /** Of those that share a pace by domain or address; undefined where none do. */
  readonly group: GroupChain | undefined
  readonly bound: Bound
  readonly enough: number | undefined
  readonly hosts: number
  readonly shrink: number
  readonly costs: MachineCosts
  readonly tookMs: number
}

const CHART_COLUMNS = 60
const LEAST_COLUMNS = 24
const HOST_COLUMNS = 32

export function planWords(report: PlanReport): string {
  const { source, plan } = report
  const head = escapeForTerminal(source.what)
  if (plan.requests === 0) return `${head}\nNothing is left to be asked for; --whole plans the crawl from its start.`
  return [
    head,
    '',
    answerLine(report),
    ...reportRows(rowsOf(report)),
    '',
    ...chartLines(plan),
    '',
    ...chainLines(report.chains),
    '',
    ...comparisonLines(report),
    '',
    'This rests on',
    ...[...report.assumptions, ...machineLines(report)].map((line) => `  ${escapeForTerminal(line)}`),
  ].join('\n')
}

function answerLine({ plan, configured }: PlanReport): string {
  const whose = plan.slots === configured ? ', as configured' : ''
  const end = plan.end === 'finished' ? '' : ` and ends at its limit (${plan.end})`
  return `It takes ${formatDuration(plan.durationMs)} with ${countOf(plan.slots, 'page')} fetched at once${whose}${end}.`
}

function rowsOf(report: PlanReport): ReportRow[] {
  const { plan, hosts } = report
  const perSecond = (plan.pages * 1_000) / plan.durationMs
  return [
    [
      'pages',
      `${formatCount(plan.pages)} on ${countOf(hosts, 'host')}${plan.failed === 0 ? '' : `, ${formatCount(plan.failed)} more fail`}`,
    ],
    ['requests', formatCount(plan.requests)],
    ['rate', `${formatRate(perSecond)} pages/s on the average`],
    ['bytes', formatBytes(plan.bytes)],
    ['slots', `${percent(plan.slotUse)} of their time in use`],
    ['machine', `${percent(plan.machineUse)} of one core busy`],
    ['bound by', boundWords(report)],
  ]
}

function boundWords({ bound, chains, group, plan, hosts }: PlanReport): string {
  const [longest] = chains
  switch (bound) {
    case 'host':
      return `one host: ${escapeForTerminal(longest?.host ?? '')} takes ${formatDuration(longest?.chainMs ?? 0)} by itself${hosts > 1 ? '; the others fit beside it' : ''}`
    case 'domain':
    case 'address':
      return `one ${bound}: the ${countOf(group?.hosts ?? 0, 'host')} of ${escapeForTerminal(group?.name ?? '')} share a delay of ${formatDuration(group?.delayMs ?? 0)}, and take ${formatDuration(group?.chainMs ?? 0)} by themselves`
    case 'slots':
      return 'the number of pages fetched at once: more of them make it shorter'
    case 'machine':
      return 'this machine: one core is busy all the time'
    case 'limit':
      return `a limit of the configuration (${plan.end})`
    case 'several':
      return 'several things in turn: no host, slot or core is busy all the time'
  }
}

function chartLines({ slices, durationMs }: Plan): string[] {
  const pages = slices.counts.reduce((sum, count) => sum + count, 0)
  // Columns of a few pages each: with one or none in each they would show only where they end.
  const columns = Math.min(CHART_COLUMNS, slices.counts.length, Math.max(LEAST_COLUMNS, Math.ceil(pages / 4)))
  const { widthMs, counts } = resliced(slices, columns)
  return columnChart({
    title: 'pages/s',
    values: counts.map((count) => (count * 1_000) / widthMs),
    axis: ['0s', formatDuration(durationMs / 2), formatDuration(durationMs)],
    format: formatRate,
  })
}

function chainLines(chains: readonly HostChain[]): string[] {
  const rows = chains.map(({ host, pages, delayMs, from, latencyMs, chainMs }) => [
    escapeForTerminal(host),
    formatCount(pages),
    `${formatDuration(delayMs)} (${from})`,
    formatDuration(latencyMs),
    formatDuration(chainMs),
  ])
  return table(['hosts that take longest', 'pages', 'delay', 'answer', 'by itself'], rows)
}

function comparisonLines({ plans, plan, enough, configured }: PlanReport): string[] {
  const rows = plans.map((each) => [
    formatCount(each.slots),
    formatDuration(each.durationMs),
    percent(each.slotUse),
    percent(each.machineUse),
    [
      each.slots === configured ? 'as configured' : '',
      each.slots === enough && plans.length > 1 ? 'more do not help' : '',
    ]
      .filter(Boolean)
      .join('; '),
  ])
  return plan.slots === 0 ? [] : table(['pages at once', 'takes', 'slots', 'core', ''], rows)
}

function machineLines({ costs, shrink, tookMs }: PlanReport): string[] {
  return [
    `${costs.pageMs.toFixed(1)} ms of one core for a page, ${MACHINE_WORDS[costs.from]}`,
    `the engine and the frontier of a crawl on a virtual clock${shrink === 1 ? '' : `, with one page for ${formatCount(shrink)} of each host`}; simulated in ${formatDuration(tookMs)}`,
  ]
}

const MACHINE_WORDS = {
  usual: 'as is usual; it cannot be what bounds this crawl',
  measured: 'measured on this machine',
  recorded: 'as in the records, since that crawl kept its machine busy',
} as const

/** The first column to the left, the last as it comes, those between to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => {
        if (column === 0) return padToWidth(cell, Math.min(HOST_COLUMNS, widths[0] ?? 0))
        return column === head.length - 1 && head[column] === '' ? cell : cell.padStart(widths[column] ?? 0)
      })
      .join('  ')
      .trimEnd(),
  )
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}
