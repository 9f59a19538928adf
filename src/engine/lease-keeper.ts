/**
 * Keeps the leases that are worked on: each is extended in good time, those that come due together at once, and one that
 * cannot be extended is lost in good time too. One timer serves all of them, and none runs while nothing is kept.
 *
 * At most as many leases are kept as are worked on or wait to be settled. What a lease permits is permit.ts.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Lease } from '../frontier/index.ts'
import { createPermit, type AskedAt, type KeptPermit, type Permit } from './permit.ts'
import type { Pulse } from './pulse.ts'

/** What comes due within this time is extended together. */
const TOGETHER_MS = 250

export interface LeaseKeeper {
  /** From now on the lease is kept. */
  hold(lease: Lease, asked: AskedAt): Permit
  /** Nothing is to be sent under it any more, and all of its tasks are settled. */
  release(permit: Permit): void
  /** What is under way under any lease ends; leases that come later are void. */
  abort(): void
  stop(): void
}

export function createLeaseKeeper(deps: {
  readonly clock: Clock
  readonly frontier: Pick<Frontier, 'extend'>
  readonly pulse: Pick<Pulse, 'leaptAt'>
  onFailure(error: unknown): void
}): LeaseKeeper {
  const { clock } = deps
  const kept = new Set<KeptPermit>()
  let isAborted = false
  let timerAt = Infinity
  let cancelTimer = (): void => {}
  /** A lease that is granted for the second time, as the answer to a repeated asking, has less than this left. */
  let longestMs = 0
  const renewedMs = (grantedMs: number): number => (longestMs = Math.max(longestMs, grantedMs))

  const arm = (at: number): void => {
    if (at >= timerAt) return
    cancelTimer()
    timerAt = at
    cancelTimer = clock.timer(Math.max(0, Math.ceil(at - clock.now())), tick)
  }
  const tick = (): void => {
    timerAt = Infinity
    const now = clock.now()
    let next = Infinity
    for (const permit of kept) {
      permit.attend(now, now + TOGETHER_MS)
      next = Math.min(next, permit.dueAt())
    }
    arm(next)
  }

  return {
    hold(lease, asked) {
      const permit = createPermit(lease, asked, { ...deps, renewedMs })
      if (isAborted) permit.abort()
      kept.add(permit)
      arm(permit.dueAt())
      return permit
    },
    release: (permit) => void kept.delete(permit as KeptPermit),
    abort() {
      isAborted = true
      for (const permit of kept) permit.abort()
    },
    stop: () => cancelTimer(),
  }
}
