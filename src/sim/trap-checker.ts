/** A trap has endlessly many pages that say the same: of each, no more are fetched than it takes to know it for one. */
import type { Settlement } from '../frontier/index.ts'
import { targetOf } from '../url/index.ts'
import { Violation } from './violation.ts'
import { isTrap } from './web-spec.ts'

/** Pages of one trap that may be fetched. */
const MOST_TRAPPED = 60

export interface TrapChecker {
  /** A settlement was accepted. */
  committed(settlement: Settlement): void
}

export function createTrapChecker(): TrapChecker {
  const fetched = new Map<string, number>()
  return {
    committed({ task, outcome }) {
      if (task.kind !== 'page' || outcome.kind !== 'done' || !isTrap(targetOf(task.url))) return
      const count = (fetched.get(task.origin) ?? 0) + 1
      fetched.set(task.origin, count)
      if (count > MOST_TRAPPED) throw new Violation('trap', task.url, `the ${count}th page of its trap`)
    },
  }
}
