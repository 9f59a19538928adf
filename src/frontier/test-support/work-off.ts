/** A frontier worked off on a virtual clock, for tests that look at what is left of it afterwards. */
import { allowAll } from '../../../test/support/plain-frontier.ts'
import type { VirtualClock } from '../../base/index.ts'
import type { Outcome, Task } from '../../model/index.ts'
import type { Frontier } from '../index.ts'

export interface AskedFor {
  readonly url: string
  readonly at: number
}

/** Works until nothing is due for `idleS` seconds, ending pages as told; answers what was asked, and when. */
export async function workOff(
  frontier: Frontier,
  clock: VirtualClock,
  endOf: (task: Task) => Outcome,
  idleS = 2,
): Promise<AskedFor[]> {
  const asked: AskedFor[] = []
  for (let idle = 0; idle <= idleS;) {
    const { leases } = await frontier.lease({ worker: 'w', want: 10 })
    for (const lease of leases) {
      for (const task of lease.tasks) {
        asked.push({ url: task.url, at: clock.now() })
        const robots = task.kind === 'robots' ? { robots: allowAll(task, clock.now()) } : {}
        const outcome: Outcome = task.kind === 'robots' ? { kind: 'done' } : endOf(task)
        await frontier.settle([{ lease, task, outcome, answeredAt: clock.now(), bytes: 7, ...robots }])
      }
    }
    idle = leases.length === 0 ? idle + 1 : 0
    await clock.advance(1_000)
  }
  return asked
}
