/** Seeded runs in words: what was tried, what came of it, and how to see a failing one again. */
import { formatDuration } from '../../base/index.ts'
import type { Scenario, SimReport } from '../../sim/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { reportRows } from '../report-lines.ts'

/** Failing seeds told one by one. */
export const MOST_TOLD = 20

export interface SeedTotals {
  readonly from: number
  readonly count: number
  readonly failing: readonly FailingSeed[]
  readonly events: number
  readonly simulatedMs: number
  readonly tookMs: number
}

export interface FailingSeed {
  readonly seed: number
  readonly law: string
  /** The command that runs it again. */
  readonly replay: string
}

export function totalWords(totals: SeedTotals): string {
  const { from, count, failing, events, simulatedMs, tookMs } = totals
  const verdict = failing.length === 0 ? 'every promise was kept' : `${countOf(failing.length, 'seed')} broke a promise`
  return [
    `${countOf(count, 'seed')} from ${from}: ${verdict}`,
    ...reportRows([
      ['events', formatCount(events)],
      ['simulated', formatDuration(simulatedMs)],
      ['took', formatDuration(tookMs)],
    ]),
    ...failing.slice(0, MOST_TOLD).map(({ seed, law, replay }) => `  seed ${seed}: ${law}; ${replay}`),
    ...(failing.length > MOST_TOLD
      ? [`  and ${formatCount(failing.length - MOST_TOLD)} more; --json lists them all`]
      : []),
  ].join('\n')
}

/** Of a scenario, what a person can read. */
export function aboutScenario({ home, aspect, revisits, wishes, settings, faults }: Scenario): Record<string, unknown> {
  const { delayMs, perHost, perIpDelayMs, perDomainDelayMs, latencyFactor, concurrency, scope } = settings
  const { maxPages, maxPagesPerHost, maxDepth, traps } = settings
  return {
    home,
    aspect,
    ...(revisits === undefined ? {} : { revisits }),
    web: wishes,
    settings: {
      scope,
      concurrency,
      delayMs,
      perHost,
      perIpDelayMs,
      perDomainDelayMs,
      latencyFactor,
      traps,
      ...(maxPages === undefined ? {} : { maxPages }),
      ...(maxPagesPerHost === undefined ? {} : { maxPagesPerHost }),
      ...(maxDepth === undefined ? {} : { maxDepth }),
    },
    faults,
  }
}

export function seedWords(report: SimReport, scenario: Scenario): string {
  const { wishes, settings, faults, revisits } = scenario
  const limits = [
    settings.maxPages === undefined ? '' : `, at most ${countOf(settings.maxPages, 'page')}`,
    settings.maxPagesPerHost === undefined ? '' : `, ${formatCount(settings.maxPagesPerHost)} of each host`,
    settings.maxDepth === undefined ? '' : `, depth ${settings.maxDepth}`,
  ].join('')
  const traits = [
    wishes.illness > 0 ? `${Math.round(wishes.illness * 100)}% ill` : '',
    wishes.changing ? 'changing' : '',
    wishes.traps ? 'with traps' : '',
    wishes.storms ? 'with storms of 429 and 503' : '',
    wishes.slowHosts ? 'some slow' : '',
  ].filter(Boolean)
  const { violation } = report
  return [
    `seed ${report.seed}: ${violation === undefined ? 'every promise was kept' : `broke ${violation.law}`}`,
    ...reportRows([
      ['web', [countOf(wishes.hosts, 'host'), countOf(wishes.pages, 'page'), ...traits].join(', ')],
      [
        'crawl',
        `${report.home}, ${countOf(settings.concurrency, 'slot')}, delay ${formatDuration(settings.delayMs)}${limits}`,
      ],
      ...(revisits === undefined ? [] : ([['again', revisitWords(revisits)]] as const)),
      [
        'faults',
        faults.length === 0
          ? 'none'
          : faults.map(({ atStep, fault }) => `${fault.kind} at step ${formatCount(atStep)}`).join('\n'),
      ],
      [
        'simulated',
        `${formatDuration(report.simulatedMs)}, ${countOf(report.urls, 'URL')}, ${countOf(report.openings, 'opening')}, ${countOf(report.events, 'event')}`,
      ],
      ['digest', report.digest],
    ]),
    ...(violation === undefined
      ? []
      : ['', violation.detail, '', 'the last that happened', ...report.trace.map((line) => `  ${line}`)]),
  ].join('\n')
}

function revisitWords(revisits: NonNullable<Scenario['revisits']>): string {
  if (revisits.kind === 'on')
    return `pages come back when they are due, until a stop after ${formatDuration(revisits.forMs)}`
  return revisits.afterMs.map((ms) => `what is due, ${formatDuration(ms)} after the end`).join('\n')
}
