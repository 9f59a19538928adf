/**
 * Politeness, from the records: for each host, that no page was asked for before the host's delay had passed since its
 * answer to the page before, and that no more were in flight than its limit; and the same for each registrable domain
 * where domains have a pace. Addresses are not in the records: their pace is for the audit that runs with the crawl.
 *
 * A record has the start of its request cut to a millisecond and the time to its answer rounded to one, so what is
 * reported is only what must be a violation however they were rounded; nothing else is tolerated. Requests that brought
 * no page leave no times in the records: those between two pages only widen the gap that is seen here.
 *
 * The visits are sorted by a temporary database, which keeps them on disk when they are many.
 */
import { DatabaseSync } from 'node:sqlite'
import type { CrawlView } from '../crawl-view.ts'
import { judgeDomains } from './domain-pace.ts'
import type { Findings } from './findings.ts'
import { createHostJudge } from './host-pace.ts'
import { IN_ORDER, type Visit, type VisitRow } from './visit.ts'

/** What a lease allows for beside its requests, as the engine has it. */
const LEASE_MARGIN_MS = 60_000

export interface PaceCoverage {
  readonly pages: number
  readonly hosts: number
  /** Pairs of pages of one host that were compared. */
  readonly gaps: number
  /** The gap that came nearest to its host's delay. */
  readonly tightest: { readonly host: string; readonly gapMs: number; readonly delayMs: number } | null
}

export interface PaceAudit {
  add(visit: Visit): void
  judge(findings: Findings): PaceCoverage
  close(): void
}

export function createPaceAudit({ inspector, registry, settings }: CrawlView): PaceAudit {
  const db = new DatabaseSync('')
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
    CREATE TABLE visit (host INTEGER, start INTEGER, answer INTEGER, finish INTEGER, id INTEGER, lane INTEGER); BEGIN`)
  const insert = db.prepare('INSERT INTO visit VALUES (?, ?, ?, ?, ?, ?)')
  const leaseMs = 2 * settings.timeoutMs + LEASE_MARGIN_MS
  const urlOf = ({ id }: VisitRow): string => inspector.byId(id)?.url ?? ''
  let pages = 0

  return {
    add({ id, host, lane, startedAt, answerMs, durationMs }) {
      insert.run(host, startedAt, startedAt + answerMs, startedAt + durationMs, id, lane)
      pages += 1
    },
    judge(findings) {
      const visits = db.prepare(`SELECT * FROM visit ORDER BY host, ${IN_ORDER}`).iterate() as Iterator<VisitRow>
      let visit = next(visits)
      let hosts = 0
      let gaps = 0
      let tightest: PaceCoverage['tightest'] = null
      for (const host of inspector.hosts()) {
        if (visit?.host !== host.id) continue
        hosts += 1
        const judgeVisit = createHostJudge(host, { registry, settings, leaseMs, findings, urlOf })
        for (; visit?.host === host.id; visit = next(visits)) {
          const gap = judgeVisit(visit)
          if (gap === undefined) continue
          gaps += 1
          if (tightest === null || gap.gapMs - gap.delayMs < tightest.gapMs - tightest.delayMs) {
            tightest = { host: host.key, ...gap }
          }
        }
      }
      if (settings.perDomainDelayMs > 0) judgeDomains(db, inspector, settings.perDomainDelayMs, findings)
      return { pages, hosts, gaps, tightest }
    },
    close: () => db.close(),
  }
}

function next(visits: Iterator<VisitRow>): VisitRow | undefined {
  const { done, value } = visits.next()
  return done === true ? undefined : value
}
