/**
 * The audit of a thread. What it sees it tells the thread of the frontier, in the order in which it happened: there the
 * requests of all threads are judged (told-requests.ts).
 */
import type { Clock } from '../../base/index.ts'
import type { PolitenessAudit } from '../../politeness/index.ts'
import type { Line } from './line.ts'

export function createTellingAudit(
  audit: PolitenessAudit,
  line: Pick<Line, 'tell'>,
  { clock }: { readonly clock: Clock },
): PolitenessAudit {
  return {
    ...audit,
    started(host) {
      const at = clock.now()
      line.tell('asked', { host, at })
      return audit.started(host, at)
    },
    answered(host, at) {
      line.tell('answered', { host, at })
      audit.answered(host, at)
    },
    ended(host) {
      line.tell('over', host)
      audit.ended(host)
    },
    withdrawn(host) {
      line.tell('withdrawn', host)
      audit.withdrawn(host)
    },
    get violations() {
      return audit.violations
    },
    get requests() {
      return audit.requests
    },
    get hosts() {
      return audit.hosts
    },
  }
}
