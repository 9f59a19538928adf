/**
 * Politeness over the records of several folders together: the visits of one host are put in one order, whoever made
 * them, and judged as if one worker had. Times are those of each worker's clock: between two machines the gaps seen are
 * off by as much as their clocks differ.
 */
import type { Settings } from '../../config/index.ts'
import type { HostRegistry } from '../../politeness/index.ts'
import type { Findings } from './findings.ts'
import { createHostJudge, type PacedHost } from './host-pace.ts'
import type { PaceCoverage } from './pace-audit.ts'
import type { RecordBook } from './record-book.ts'
import { CUT_MS, ROUNDED_MS } from './visit.ts'

/** What a lease allows for beside its requests, as the engine has it. */
const LEASE_MARGIN_MS = 60_000

export interface BookPaceRules {
  readonly registry: Pick<HostRegistry, 'policyOf'>
  readonly settings: Settings
  /** What a store knows of a host; undefined for one that it does not, or where there is none. */
  hostOf(key: PacedHost['key']): Promise<PacedHostOfStore | undefined>
}

/** Of a host, by the names of its origins. */
export interface PacedHostOfStore {
  readonly lanes: readonly { readonly origin: string; readonly robots: PacedHost['lanes'][number]['robots'] }[]
}

export async function judgeBook(book: RecordBook, rules: BookPaceRules, findings: Findings): Promise<PaceCoverage> {
  const { settings, registry } = rules
  const leaseMs = 2 * settings.timeoutMs + LEASE_MARGIN_MS
  let [pages, hosts, gaps] = [0, 0, 0]
  let tightest: PaceCoverage['tightest'] = null
  for (const key of book.hosts()) {
    hosts += 1
    const lanes = (await rules.hostOf(key))?.lanes ?? []
    const host: PacedHost = { key, answeredAt: null, lanes: lanes.map(({ robots }, id) => ({ id, robots })) }
    const judge = createHostJudge(host, { registry, settings, leaseMs, findings, urlOf: ({ id }) => book.urlOf(id) })
    for (const visit of book.visitsOf(key)) {
      pages += 1
      const gap = judge({ ...visit, host: 0, lane: lanes.findIndex(({ origin }) => origin === visit.origin) })
      if (gap === undefined) continue
      gaps += 1
      if (tightest === null || gap.gapMs - gap.delayMs < tightest.gapMs - tightest.delayMs) {
        tightest = { host: key, ...gap }
      }
    }
  }
  if (settings.perDomainDelayMs > 0) judgeDomains(book, settings.perDomainDelayMs, findings)
  return { pages, hosts, gaps, tightest }
}

/** Hosts of one domain are asked one at a time, so long after the last answer of any of them. */
function judgeDomains(book: RecordBook, delayMs: number, findings: Findings): void {
  let [domain, lastAnswer]: [string, number] = ['', -Infinity]
  for (const visit of book.visitsByDomain()) {
    if (visit.domain !== domain) lastAnswer = -Infinity
    domain = visit.domain
    const gapMs = visit.start - lastAnswer
    if (gapMs + CUT_MS + ROUNDED_MS <= delayMs) {
      const when = `${book.urlOf(visit.id)} at ${new Date(visit.start).toISOString()}`
      findings.add('domain-pace', `${when}: ${gapMs} ms after the last answer of ${domain}; the delay is ${delayMs} ms`)
    }
    lastAnswer = Math.max(lastAnswer, visit.answer)
  }
}
