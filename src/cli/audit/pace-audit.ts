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
import { crawlDelayInForce } from '../../config/index.ts'
import type { HostView } from '../../frontier/index.ts'
import type { CrawlView } from '../crawl-view.ts'
import { judgeDomains } from './domain-pace.ts'
import type { Findings } from './findings.ts'
import { CUT_MS, ROUNDED_MS, type Visit, type VisitRow } from './visit.ts'

/** What a lease allows for beside its requests, as the engine has it. */
const LEASE_MARGIN_MS = 60_000
/** Ends remembered of requests in flight: more than any limit for one host. */
const MAX_ENDS = 1_000

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
  let pages = 0

  return {
    add({ id, host, lane, startedAt, answerMs, durationMs }) {
      insert.run(host, startedAt, startedAt + answerMs, startedAt + durationMs, id, lane)
      pages += 1
    },
    judge(findings) {
      const visits = db.prepare('SELECT * FROM visit ORDER BY host, start, id').iterate() as Iterator<VisitRow>
      let visit = next(visits)
      let hosts = 0
      let gaps = 0
      let tightest: PaceCoverage['tightest'] = null
      for (const host of inspector.hosts()) {
        if (visit?.host !== host.id) continue
        hosts += 1
        const judgeVisit = createHostJudge(host, findings)
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

  /** Judges the visits of one host in order of their start; returns the gap to the one before. */
  function createHostJudge(
    host: HostView,
    findings: Findings,
  ): (visit: VisitRow) => { gapMs: number; delayMs: number } | undefined {
    const policy = registry.policyOf(host.key)
    const isSerial = policy.concurrency === 1
    const ends: number[] = []
    let lastStart: number | undefined
    let lastAnswer = -Infinity
    return (visit) => {
      const delayMs = delayOf(host, policy.delayMs, isSerial, visit)
      const tell = (): string => `${inspector.byId(visit.id)?.url} at ${new Date(visit.start).toISOString()}`
      if (host.answeredAt !== null && visit.answer - ROUNDED_MS > host.answeredAt) {
        findings.add('pace', `${tell()}: answered later than the last answer that the store has of ${host.key}`)
      }

      // One at a time, the delay counts from the answer; several at once cannot, so it counts from start to start.
      const from = isSerial ? lastAnswer : (lastStart ?? -Infinity)
      const gapMs = visit.start - from
      if (gapMs + CUT_MS + (isSerial ? ROUNDED_MS : 0) <= delayMs) {
        findings.add(
          'pace',
          `${tell()}: ${gapMs} ms after the ${isSerial ? 'answer to' : 'start of'} the page before; the delay is ${delayMs} ms`,
        )
      }

      for (let index = ends.length - 1; index >= 0; index--) {
        if ((ends[index] as number) < visit.start + CUT_MS + ROUNDED_MS) ends.splice(index, 1)
      }
      if (ends.length >= policy.concurrency) {
        findings.add('in-flight', `${tell()}: ${ends.length + 1} in flight; the limit is ${policy.concurrency}`)
      }
      ends.push(visit.finish)
      if (ends.length > MAX_ENDS) ends.shift()

      const isFirst = lastStart === undefined
      lastStart = visit.start
      lastAnswer = Math.max(lastAnswer, visit.answer)
      return isFirst ? undefined : { gapMs, delayMs }
    }
  }

  /**
   * The delay in force when this visit began. A Crawl-delay counts from when its robots.txt was read: for its own
   * origin at once, since nothing of an origin is asked before that; elsewhere once no older lease can be open.
   */
  function delayOf(host: HostView, policyMs: number, isSerial: boolean, visit: VisitRow): number {
    let delayMs = policyMs
    for (const { id, robots } of host.lanes) {
      if (robots === undefined) continue
      const graceMs = isSerial && id === visit.lane ? 0 : leaseMs
      if (visit.start < robots.fetchedAt + graceMs) continue
      delayMs = Math.max(delayMs, crawlDelayInForce(robots.crawlDelayMs, settings))
    }
    return delayMs
  }
}

function next(visits: Iterator<VisitRow>): VisitRow | undefined {
  const { done, value } = visits.next()
  return done === true ? undefined : value
}
