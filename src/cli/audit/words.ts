/** Audits in words: of a crawl on a store, of folders, and the parts that all of them have. */
import { formatDuration } from '../../base/index.ts'
import { countOf, formatCount } from '../count-words.ts'
import { spareWords } from '../host-words.ts'
import { reportRows, type ReportRow } from '../report-lines.ts'
import { escapeForTerminal } from '../terminal.ts'
import type { Violation } from './findings.ts'
import type { FleetAudit } from './fleet-audit.ts'
import type { FoldersAudit } from './folders-audit.ts'
import type { PaceCoverage } from './pace-audit.ts'
import type { RecordCounts } from './records-audit.ts'

const UNREAD: Readonly<Record<FleetAudit['recordsIn'], string>> = {
  folders: 'not read: name the folders of the workers',
  streams: 'not read: they are in the streams of the store',
}

export function fleetAuditWords(audit: FleetAudit): string {
  const { urls, counted, records, pace, violations } = audit
  const sum = `${formatCount(urls.queued)} queued + ${formatCount(urls.leased)} leased + ${formatCount(urls.done)} saved + ${formatCount(urls.failed)} failed + ${formatCount(urls.skipped)} skipped`
  const { queued, leased, waiting, held, aside } = counted
  const rows: ReportRow[] = [
    ['urls', `${formatCount(urls.discovered)} discovered = ${sum}`],
    [
      'counted',
      `${formatCount(queued.pages)} in queues, ${formatCount(leased.pages)} leased, ${formatCount(waiting.pages)} waiting, ${formatCount(held)} held, ${formatCount(aside)} set aside\n${formatCount(counted.open)} open and ${formatCount(counted.final)} settled fingerprints, ${countOf(counted.hosts, 'host')}`,
    ],
    ['messages', `${formatCount(audit.undelivered)} between partitions under way`],
    ...(records === null
      ? [['records', UNREAD[audit.recordsIn]] satisfies ReportRow]
      : [['records', recordWords(records)] satisfies ReportRow]),
    ...(pace === null ? [] : [['pace', paceWords(pace)] satisfies ReportRow]),
    ...missingRows(audit),
    ['watched', watchedWords(audit.watched)],
  ]
  const live = audit.moving ? ' (it changed meanwhile: what was counted is not compared)' : ''
  return [heading(audit.crawl, violations, live), ...violationLines(violations), ...reportRows(rows)].join('\n')
}

function missingRows({ records, missingWorkers, warnings }: FleetAudit): ReportRow[] {
  const rows: ReportRow[] = warnings.map((text) => ['warning', escapeForTerminal(text)])
  if (records !== null && missingWorkers.length > 0) {
    const names = missingWorkers.slice(0, 5).map(escapeForTerminal).join(', ')
    const more = missingWorkers.length > 5 ? ` and ${formatCount(missingWorkers.length - 5)} more` : ''
    rows.push(['not covered', `the records of ${countOf(missingWorkers.length, 'worker')}: ${names}${more}`])
  }
  return rows
}

export function foldersAuditWords({ folders, records, urls, pace, warnings, violations }: FoldersAudit): string {
  const rows: ReportRow[] = [
    ['records', `${recordWords(records)}\nof ${countOf(urls, 'URL')}`],
    ['pace', pace === null ? 'not judged: none of the folders has a configuration' : paceWords(pace)],
    ['not covered', 'whether records are missing: the store knows (tiptoe audit STORE DIR… --crawl NAME)'],
    ...warnings.map((text): ReportRow => ['warning', escapeForTerminal(text)]),
  ]
  const name = countOf(folders.length, 'folder')
  return [heading(name, violations, ''), ...violationLines(violations), ...reportRows(rows)].join('\n')
}

function heading(name: string, violations: readonly Violation[], more: string): string {
  const found = violations.length === 0 ? 'no violation' : `violations of ${countOf(violations.length, 'kind')}`
  return `${escapeForTerminal(name)}: ${found}${more}`
}

function recordWords(records: RecordCounts): string {
  const total = records.page + records.revisit + records.skip + records.fail
  return `${formatCount(total)} read, ${countOf(records.content, 'content file')} in place`
}

export function violationLines(violations: readonly Violation[]): string[] {
  return violations.flatMap(({ kind, count, meaning, examples }) => [
    `  ${kind} (${formatCount(count)}): ${meaning}`,
    ...examples.map((example) => `    ${escapeForTerminal(example)}`),
    ...(count > examples.length ? [`    and ${formatCount(count - examples.length)} more`] : []),
  ])
}

export function paceWords({ gaps, hosts, tightest }: PaceCoverage): string {
  const words = `${countOf(gaps, 'gap')} between pages of ${countOf(hosts, 'host')}`
  if (tightest === null) return words
  const { host, gapMs, delayMs } = tightest
  return `${words}\ntightest: ${escapeForTerminal(host)}, ${gapWords(gapMs)} with a delay of ${formatDuration(delayMs)}`
}

/** To the millisecond, since a gap just short of its delay must not be rounded to it. */
function gapWords(ms: number): string {
  return ms < 10_000 ? `${formatCount(ms)} ms` : formatDuration(ms)
}

export interface Watched {
  readonly requests: number
  readonly violations: number
  readonly closest: { readonly host: string; readonly spareMs: number } | null
}

export function watchedWords({ requests, violations, closest }: Watched): string {
  const found = violations === 0 ? 'no violation' : countOf(violations, 'violation')
  const words = `${countOf(requests, 'request')} of all kinds as they were sent, ${found}`
  return closest === null
    ? words
    : `${words}\nclosest: ${escapeForTerminal(closest.host)}, ${spareWords(closest.spareMs)}`
}
