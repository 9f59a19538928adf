import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { Member } from '../../frontier/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { createCoordinator, type CoordinatorOptions } from './coordinator.ts'
import { startFleetMember } from './fleet-member.ts'
import { createMemoryFleet } from '../test-support/memory-fleet.ts'

const login = (worker: string) => ({ store: 'redis://x', crawl: 'c', worker, partitions: 4, stream: false })

function setup(settings: Partial<CoordinatorOptions['settings']> = {}) {
  const clock = createVirtualClock()
  const fleet = createMemoryFleet(clock, 4)
  const seen: { id: string; leads: boolean }[] = []
  const coordinate = (id: string, keep = false) => {
    const coordinator = createCoordinator(
      {
        fleet: fleet.connect(login(id), {}, { clock }),
        id,
        machine: 'here',
        pid: 1,
        settings: { recrawl: false, ...settings },
        keep,
        onStatus: ({ leads }) => seen.push({ id, leads }),
      },
      { clock },
    )
    return { coordinator, ended: coordinator.run() }
  }
  const halts: string[] = []
  const work = (id: string, maxBytes?: number) => {
    const describe = (): Member => ({
      id,
      role: 'worker',
      host: 'here',
      pid: 1,
      slots: 1,
      inFlight: 0,
      startedAt: clock.now(),
      done: 0,
    })
    const onFailure = (error: unknown): void => {
      throw error
    }
    const own = fleet.connect(login(id), {}, { clock })
    const onHalted = (reason: string): void => void halts.push(`${id}: ${reason}`)
    return startFleetMember({ fleet: own, describe, maxBytes, onHalted, onFailure }, { clock })
  }
  return { clock, fleet, seen, coordinate, work, halts }
}

describe('a coordinator', () => {
  test('leads alone, and another takes over within seconds when it is silent', async () => {
    const { clock, seen, coordinate } = setup()
    const first = coordinate('first')
    await clock.advance(100)
    const second = coordinate('second')
    await clock.advance(10_000)
    expect(seen.every(({ id, leads }) => leads === (id === 'first'))).toBe(true)
    first.coordinator.stop()
    expect(await first.ended).toBe('stopped')
    await clock.advance(2_000)
    expect(seen.at(-1)).toEqual({ id: 'second', leads: true })
    second.coordinator.stop()
    await clock.advance(10)
    expect(await second.ended).toBe('stopped')
  })

  test('is none of the members any more when it has ended', async () => {
    const { clock, fleet, coordinate } = setup()
    const { coordinator, ended } = coordinate('first')
    await clock.advance(100)
    const { crawl } = fleet.connect(login('looker'), {}, { clock })
    expect((await crawl.members()).map(({ id }) => id)).toEqual(['first'])
    coordinator.stop()
    await clock.advance(100)
    await ended
    expect(await crawl.members()).toEqual([])
  })

  test('ends soon when it is told to, also while the store does not answer', async () => {
    const { clock, fleet, coordinate } = setup()
    const { coordinator, ended } = coordinate('first')
    await clock.advance(100)
    fleet.lose()
    await clock.advance(5_000)
    coordinator.stop()
    await clock.advance(2_000)
    expect(await ended).toBe('stopped')
  })

  test('spreads the partitions over the workers that are alive, and those of one that is gone over the rest', async () => {
    const { clock, fleet, coordinate, work } = setup()
    const { coordinator } = coordinate('c')
    const members = ['a', 'b'].map((id) => work(id))
    await clock.advance(6_000)
    expect([...fleet.preferred]).toEqual([
      ['a', [0, 1]],
      ['b', [2, 3]],
    ])
    await members[0]?.stop()
    await clock.advance(15_000)
    expect(fleet.preferred.get('b')).toEqual([0, 1, 2, 3])
    await members[1]?.stop()
    coordinator.stop()
  })

  test('looks after all partitions, so that workers need not; without it they do it themselves', async () => {
    const { clock, fleet, coordinate, work } = setup()
    const member = work('a')
    await clock.advance(5_000)
    expect(fleet.tended.map(({ worker }) => worker)).toContain('a')
    const { coordinator } = coordinate('c')
    await clock.advance(10_000)
    fleet.tended.length = 0
    await clock.advance(5_000)
    expect(new Set(fleet.tended.map(({ worker }) => worker))).toEqual(new Set(['c']))
    expect(fleet.tended[0]?.partitions).toEqual([0, 1, 2, 3])
    coordinator.stop()
    await member.stop()
  })

  test('ends a crawl for all when its time is over', async () => {
    const { clock, fleet, coordinate, work, halts } = setup({ maxTimeMs: 30_000 })
    const member = work('a')
    const { ended } = coordinate('c')
    await clock.advance(29_000)
    expect(await fleet.crawl.halted()).toBe(undefined)
    await clock.advance(5_000)
    expect([await ended, await fleet.crawl.halted(), halts[0]]).toEqual(['time', 'time', 'a: time'])
    await member.stop()
  })

  test('waits for a crawl to begin, and ends when it is over', async () => {
    const { clock, fleet, coordinate } = setup()
    const { ended } = coordinate('c')
    await clock.advance(60_000)
    const store = fleet.connect(login('w'), {}, { clock })
    await store.add([{ url: 'https://a.test/' as NormalizedUrl, kind: 'page', depth: 0, via: 'seed' }])
    await clock.advance(5_000)
    const settleAll = async (): Promise<void> => {
      const { leases } = await store.lease({ worker: 'w', want: 1 })
      for (const lease of leases)
        for (const task of lease.tasks) {
          const { origin } = task
          const robots = { origin, state: 'disallow-all', refusal: 'address', status: null, detail: '', version: '0' }
          const times = { fetchedAt: clock.now(), expiresAt: clock.now() + 1e6, staleSince: null }
          const record = { ...robots, ...times, body: '', crawlDelayMs: 0 } as never
          await store.settle([
            {
              lease,
              task,
              outcome: task.kind === 'robots' ? { kind: 'done' } : { kind: 'skipped', reason: 'address' },
              ...(task.kind === 'robots' ? { robots: record } : {}),
            } as never,
          ])
        }
    }
    await settleAll()
    await clock.advance(2_000)
    await settleAll()
    await clock.advance(2_000)
    expect(await ended).toBe('finished')
  })
})
