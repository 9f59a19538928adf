/**
 * `tiptoe audit DIR…` and `tiptoe audit STORE DIR… --crawl NAME`: checks a crawl by what it left behind. No URL was lost,
 * each settled one has exactly one record, and no host was asked too fast. Exit 1 on a violation.
 *
 * It looks at one moment of the store and reads the records up to the end that was committed then, so a crawl that
 * runs, or that has URLs left, is audited like any other.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stateFolder } from '../../engine/index.ts'
import { openInspector } from '../../frontier/index.ts'
import { createFindings, type Violation } from '../audit/findings.ts'
import { auditFleet } from '../audit/fleet-audit.ts'
import { auditFolders } from '../audit/folders-audit.ts'
import { fleetAuditWords, foldersAuditWords, paceWords, violationLines, watchedWords } from '../audit/words.ts'
import { createPaceAudit, type PaceCoverage } from '../audit/pace-audit.ts'
import { auditRecords, type RecordCounts } from '../audit/records-audit.ts'
import { auditStore } from '../audit/store-audit.ts'
import { countOf, formatCount, sumOf } from '../count-words.ts'
import { openCrawlView, type CrawlView } from '../crawl-view.ts'
import { EXIT } from '../exit-code.ts'
import { spareWords } from '../host-words.ts'
import type { Invocation } from '../invocation.ts'
import { reportRows } from '../report-lines.ts'
import { isStore, namedPlace } from '../store-operand.ts'
import { escapeForTerminal } from '../terminal.ts'

const NOT_COVERED =
  'robots.txt, sitemaps, redirects and failed requests: the records lack their times; each only widens these gaps'

export async function auditCommand(invocation: Invocation): Promise<number> {
  const { parsed, terminal, version } = invocation
  const { place, others } = namedPlace(parsed.operands, invocation)
  if (isStore(place)) {
    const audit = await auditFleet(place, others, invocation)
    terminal.result(audit, () => fleetAuditWords(audit))
    return audit.ok ? EXIT.done : EXIT.failures
  }
  if (others.length > 0 || !isOneCrawl(place)) {
    const audit = await auditFolders(parsed.operands, version)
    terminal.result(audit, () => foldersAuditWords(audit))
    return audit.ok ? EXIT.done : EXIT.failures
  }
  const view = openCrawlView(place, version)
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

/** A crawl that has its store in its folder; others are a worker's, or hold those of several. */
function isOneCrawl(folder: string): boolean {
  return existsSync(join(stateFolder(folder), 'crawl.db')) || !holdsWorkers(folder)
}

function holdsWorkers(folder: string): boolean {
  const isWorker = (path: string): boolean => existsSync(join(stateFolder(path), 'worker.json'))
  if (isWorker(folder)) return true
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  return readdirSync(folder).some((name) => isWorker(join(folder, name)))
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
  const rows = reportRows([
    ['urls', `${formatCount(urls.discovered)} discovered = ${sum}`],
    ['records', `${formatCount(total)} read, ${countOf(records.content, 'content file')} in place${beyond}`],
    ['pace', paceWords(pace)],
    ['not covered', NOT_COVERED.replace(': ', ':\n')],
    ['watched', watchedWords(audit.watched)],
  ])
  const wrong = violationLines(violations)
  const folder = escapeForTerminal(audit.folder)
  const live = audit.working ? ' (a process is working on it; this is one moment of it)' : ''
  const heading = audit.ok
    ? `${folder}: no violation${live}`
    : `${folder}: violations of ${countOf(violations.length, 'kind')}${live}`
  return [heading, ...wrong, ...rows].join('\n')
}
