/**
 * The pace of registrable domains, from the visits that the audit has gathered: hosts of one domain are asked one at a
 * time, and not before the domain's delay has passed since the last answer of any of them.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Inspector } from '../../frontier/index.ts'
import { registrableDomain } from '../../url/index.ts'
import type { Findings } from './findings.ts'
import { CUT_MS, IN_ORDER, ROUNDED_MS, type VisitRow } from './visit.ts'

export function judgeDomains(db: DatabaseSync, inspector: Inspector, delayMs: number, findings: Findings): void {
  db.exec('CREATE TABLE member (host INTEGER PRIMARY KEY, domain TEXT)')
  const insert = db.prepare('INSERT INTO member VALUES (?, ?)')
  for (const host of inspector.hosts()) insert.run(host.id, registrableDomain(host.key))
  const visits = db.prepare(
    `SELECT visit.*, domain FROM visit JOIN member ON member.host = visit.host ORDER BY domain, ${IN_ORDER}`,
  )
  let domain: string | undefined
  let lastAnswer = -Infinity
  for (const visit of visits.iterate() as Iterable<VisitRow & { readonly domain: string }>) {
    if (visit.domain !== domain) lastAnswer = -Infinity
    domain = visit.domain
    const gapMs = visit.start - lastAnswer
    if (gapMs + CUT_MS + ROUNDED_MS <= delayMs) {
      const when = new Date(visit.start).toISOString()
      const example = `${inspector.byId(visit.id)?.url} at ${when}: ${gapMs} ms after the last answer of ${domain}`
      findings.add('domain-pace', `${example}; the delay is ${delayMs} ms`)
    }
    lastAnswer = Math.max(lastAnswer, visit.answer)
  }
}
