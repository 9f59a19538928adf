/**
 * `tiptoe audit DIR`: checks a crawl by what it left behind. No URL was lost, each settled one has exactly one record,
 * and no host was asked too fast. Exit 1 on a violation.
 *
 * It looks at one moment of the store and reads the records up to the end that was committed then, so a crawl that
 * runs, or that has URLs left, is audited like any other.
 */
import { stateFolder } from '../../engine/index.ts'
import { formatDuration } from '../../base/index.ts'
import { openInspector } from '../../frontier/index.ts'
import { createFindings, type Violation } from '../audit/findings.ts'
import { createPaceAudit, type PaceCoverage } from '../audit/pace-audit.ts'
import { auditRecords, type RecordCounts } from '../audit/records-audit.ts'
import { auditStore } from '../audit/store-audit.ts'
import { countOf, formatCount, sumOf } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { spareWords } from '../host-words.ts'
import type { Invocation } from '../invocation.ts'
import { reportRows } from '../report-lines.ts'
import { escapeForTerminal } from '../terminal.ts'

const NOT_COVERED =
  'robots.txt, sitemaps, redirects and failed requests: the records lack their times; each only widens these gaps'

export async function auditCommand({ parsed, terminal, version }: Invocation): Promise<number> {
  const view = openCrawlView(parsed.operands[0] as string, version)
  try {
    const audit = auditOf(view)
    terminal.result(audit, () => auditWords(audit))
    if (audit.violations.some(({ kind }) => kind === 'pace' || kind === 'in-flight')) {
      terminal.note(
        'hint: pace is judged by the configuration in crawl.yaml; an earlier run with a shorter delay shows up here',
      )
    }
    return audit.ok ? EXIT.done : EXIT.failures
  } finally {
    view.inspector.close()
  }
}

interface Audit {
  readonly folder: string
  readonly ok: boolean
  readonly working: boolean
  readonly urls: {
    readonly discovered: number
    readonly queued: number
    readonly done: number
    readonly failed: number
    readonly skipped: number
  }
  readonly records: RecordCounts
  readonly pace: PaceCoverage & { readonly notCovered: string }
  /** What the audit that runs with the crawl has seen, over all its runs. */
  readonly watched: {
    readonly requests: number
    readonly violations: number
    readonly closest: { readonly host: string; readonly spareMs: number } | null
  }
  readonly violations: readonly Violation[]
}

function auditOf(view: CrawlView): Audit {
  const { inspector, folder } = view
  const findings = createFindings()
  const counters = inspector.counters()
  const highestId = auditStore(view, findings)
  const pace = createPaceAudit(view)
  try {
    const records = auditRecords(view, highestId, pace, findings)
    const coverage = pace.judge(findings)
    const working = inspector.isWorkedOn()
    if (records.beyond > 0 && !working && isClosed(view)) {
      findings.add('long-file', `${countOf(records.beyond, 'byte')} beyond the committed end`)
    }
    const { impolite, closest } = counters
    if (impolite > 0 && closest !== null) {
      findings.add('impolite', `${closest.host}: ${spareWords(closest.spareMs)} at the worst`, impolite)
    }
    const violations = findings.list()
    return {
      folder,
      ok: violations.length === 0,
      working,
      urls: {
        discovered: counters.discovered,
        queued: counters.open,
        done: counters.done,
        failed: counters.failed,
        skipped: sumOf(counters.skipped),
      },
      records,
      pace: { ...coverage, notCovered: NOT_COVERED },
      watched: { requests: sumOf(counters.requests), violations: impolite, closest },
      violations,
    }
  } finally {
    pace.close()
  }
}

/** Whether the crawl was closed in order, and has not been taken up again since we began to look. */
function isClosed({ inspector, folder }: CrawlView): boolean {
  const now = openInspector(stateFolder(folder))
  try {
    return inspector.clean && now.clean && JSON.stringify(now.counters()) === JSON.stringify(inspector.counters())
  } finally {
    now.close()
  }
}

function auditWords(audit: Audit): string {
  const { urls, records, pace, violations } = audit
  const total = records.page + records.revisit + records.skip + records.fail
  const sum = `${formatCount(urls.queued)} queued + ${formatCount(urls.done)} saved + ${formatCount(urls.failed)} failed + ${formatCount(urls.skipped)} skipped`
  const beyond =
    records.beyond > 0 && audit.ok
      ? `\n${countOf(records.beyond, 'byte')} not committed ${audit.working ? 'yet' : '; the next run cuts them off'}`
      : ''
  const tightest =
    pace.tightest === null
      ? ''
      : `\ntightest: ${escapeForTerminal(pace.tightest.host)}, ${gapWords(pace.tightest.gapMs)} with a delay of ${formatDuration(pace.tightest.delayMs)}`
  const rows = reportRows([
    ['urls', `${formatCount(urls.discovered)} discovered = ${sum}`],
    ['records', `${formatCount(total)} read, ${countOf(records.content, 'content file')} in place${beyond}`],
    ['pace', `${countOf(pace.gaps, 'gap')} between pages of ${countOf(pace.hosts, 'host')}${tightest}`],
    ['not covered', NOT_COVERED.replace(': ', ':\n')],
    ['watched', watchedWords(audit.watched)],
  ])
  const wrong = violations.flatMap(({ kind, count, meaning, examples }) => [
    `  ${kind} (${formatCount(count)}): ${meaning}`,
    ...examples.map((example) => `    ${escapeForTerminal(example)}`),
    ...(count > examples.length ? [`    and ${formatCount(count - examples.length)} more`] : []),
  ])
  const folder = escapeForTerminal(audit.folder)
  const live = audit.working ? ' (a process is working on it; this is one moment of it)' : ''
  const heading = audit.ok
    ? `${folder}: no violation${live}`
    : `${folder}: violations of ${countOf(violations.length, 'kind')}${live}`
  return [heading, ...wrong, ...rows].join('\n')
}

function watchedWords({ requests, violations, closest }: Audit['watched']): string {
  const found = violations === 0 ? 'no violation' : countOf(violations, 'violation')
  const words = `${countOf(requests, 'request')} of all kinds as they were sent, ${found}`
  return closest === null
    ? words
    : `${words}\nclosest: ${escapeForTerminal(closest.host)}, ${spareWords(closest.spareMs)}`
}

/** To the millisecond, since a gap just short of its delay must not be rounded to it. */
function gapWords(ms: number): string {
  return ms < 10_000 ? `${formatCount(ms)} ms` : formatDuration(ms)
}
