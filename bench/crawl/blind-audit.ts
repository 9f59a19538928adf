/** Stands in for the politeness audit when its cost is measured: an audit that looks at nothing. */
import type { PolitenessAudit } from '../../src/politeness/index.ts'

export function createPolitenessAudit(): PolitenessAudit {
  return {
    started: () => undefined,
    answered() {},
    ended() {},
    withdrawn() {},
    crawlDelay() {},
    paused() {},
    freeAt: () => 0,
    requests: 0,
    violations: 0,
    hosts: 0,
  }
}
