/** What the conformance suites share: a frontier on a virtual clock, and short words for what is done with it. */
import { expect } from 'vitest'
import { createVirtualClock, type VirtualClock } from '../../src/base/index.ts'
import type {
  Frontier,
  FrontierOptions,
  FrontierStats,
  HostChange,
  Lease,
  Settlement,
} from '../../src/frontier/index.ts'
import {
  UNKNOWN_HEALTH,
  type FoundUrl,
  type HostHealth,
  type HostKey,
  type NormalizedUrl,
  type Outcome,
  type RobotsRecord,
  type Task,
} from '../../src/model/index.ts'
import { allowAll, PLAIN_FRONTIER } from '../support/plain-frontier.ts'

export { allowAll }

/** A home under test. `hostsKept`: hosts that it may keep in memory beside the leased ones. */
export type OpenFrontier = (options: FrontierOptions & { readonly hostsKept?: number }, clock: VirtualClock) => Frontier

export const DAY = 86_400_000

export const page = (url: string, depth = 0, more: Partial<FoundUrl> = {}): FoundUrl => ({
  url: url as NormalizedUrl,
  kind: 'page',
  depth,
  via: depth === 0 ? 'seed' : 'link',
  ...more,
})

export function conserved(stats: FrontierStats): boolean {
  const skipped = Object.values(stats.skipped).reduce((sum, count) => sum + count, 0)
  return stats.discovered === stats.queued + stats.leased + stats.done + stats.failed + skipped
}

/** The health of a host that answered well so often in a row. */
export const answering = (streak: number, more: Partial<HostHealth> = {}): HostHealth => ({
  ...UNKNOWN_HEALTH,
  streak,
  streakSince: 1,
  ...more,
})

export interface SetupOptions extends Partial<FrontierOptions> {
  readonly delayMs?: number
  readonly concurrency?: number
  readonly hostsKept?: number
}

export type CreateSetup = ReturnType<typeof createSetup>

export function createSetup(open: OpenFrontier) {
  return (options: SetupOptions = {}) => {
    const clock = createVirtualClock()
    const { delayMs = 1_000, concurrency = 1, ...rest } = options
    const frontier = open(
      {
        policyOf: () => ({ delayMs, concurrency }),
        ...PLAIN_FRONTIER,
        ...rest,
      },
      clock,
    )
    const lease = async (want = 10): Promise<Lease[]> => [...(await frontier.lease({ worker: 'w', want })).leases]
    const one = async (): Promise<Lease> => {
      const leases = await lease(1)
      expect(leases).toHaveLength(1)
      return leases[0] as Lease
    }
    const end = (held: Lease, outcome: Outcome, more: Partial<Settlement> = {}, index = 0): Settlement => ({
      lease: held,
      task: held.tasks[index] as Task,
      outcome,
      answeredAt: clock.now(),
      ...more,
    })
    const settle = async (...settlements: Settlement[]) => (await frontier.settle(settlements)).results
    /** Leases and settles the robots.txt that comes first. */
    const passRobots = async (more: Partial<RobotsRecord> = {}): Promise<void> => {
      const held = await one()
      const task = held.tasks[0] as Task
      expect(task.kind).toBe('robots')
      await settle(end(held, { kind: 'done' }, { robots: allowAll(task, clock.now(), more) }))
    }
    const urls = (held: Lease): string[] => held.tasks.map((task) => task.url)
    /** Answers every robots.txt that is due, of any number of hosts, with this change to each host. */
    const passAllRobots = async (change?: HostChange): Promise<void> => {
      for (const held of await lease(1_000)) {
        const robots = allowAll(held.tasks[0] as Task, clock.now())
        await settle(end(held, { kind: 'done' }, change === undefined ? { robots } : { robots, host: change }))
      }
    }
    const host = async (key: string, change?: HostChange) => {
      const record = await frontier.host(key as HostKey, change)
      if (record === undefined) throw new Error(`${key} is not known`)
      return record
    }
    return { clock, frontier, passAllRobots, host, lease, one, end, settle, passRobots, urls }
  }
}
