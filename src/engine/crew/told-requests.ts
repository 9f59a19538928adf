/**
 * The requests of one thread, as it tells of them, held against the audit. What the audit says of a request is kept until
 * the request is settled.
 */
import type { HostKey } from '../../model/index.ts'
import type { PolitenessAudit } from '../../politeness/index.ts'
import type { Finding } from '../watched-fetcher.ts'

export interface ToldRequests {
  asked(said: { readonly host: HostKey; readonly at: number }): void
  answered(said: { readonly host: HostKey; readonly at: number }): void
  over(host: HostKey): void
  withdrawn(host: HostKey): void
  /** What the audit said of requests to the host, once. */
  takeFinding(host: HostKey): Finding
  /** The thread is gone: whatever was under way has ended by now. */
  end(now: number): void
}

export function createToldRequests(audit: PolitenessAudit): ToldRequests {
  const findings = new Map<HostKey, Finding>()
  const underWay = new Map<HostKey, number>()
  const count = (host: HostKey, by: 1 | -1): void => {
    const left = (underWay.get(host) ?? 0) + by
    if (left <= 0) underWay.delete(host)
    else underWay.set(host, left)
  }
  return {
    asked({ host, at }) {
      const { violations } = audit
      const spareMs = audit.started(host, at)
      const isImpolite = audit.violations > violations
      // Of several requests to one host the worst counts.
      const before = findings.get(host)
      const least = Math.min(before?.spareMs ?? Infinity, spareMs ?? Infinity)
      findings.set(host, {
        ...(least === Infinity ? {} : { spareMs: least }),
        ...(isImpolite || before?.impolite === true ? { impolite: true } : {}),
      })
      count(host, 1)
    },
    answered: ({ host, at }) => audit.answered(host, at),
    over(host) {
      audit.ended(host)
      count(host, -1)
    },
    withdrawn(host) {
      audit.withdrawn(host)
      findings.delete(host)
      count(host, -1)
    },
    takeFinding(host) {
      const finding = findings.get(host) ?? {}
      findings.delete(host)
      return finding
    },
    end(now) {
      for (const [host, requests] of underWay) {
        audit.answered(host, now)
        for (let request = 0; request < requests; request++) audit.ended(host)
      }
      underWay.clear()
    },
  }
}
