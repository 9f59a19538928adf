import { expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import type { FleetCrawl, FleetFrontier, Frontier, Settlement } from '../../frontier/index.ts'
import { limitBytes } from './byte-limit.ts'
import { createMemoryFleet } from '../test-support/memory-fleet.ts'

/** A frontier that says what was fetched, and nothing else; and what was counted of it. */
function setup(bytes: number, crawl: FleetCrawl = createMemoryFleet(createVirtualClock()).crawl) {
  const state = { bytes, leases: 0, reached: 0 }
  const stats = async () => ({ bytes: state.bytes }) as Awaited<ReturnType<Frontier['stats']>>
  const frontier = {
    stats,
    async lease() {
      state.leases += 1
      return { leases: [], nextAt: null, state: 'open' as const }
    },
    async settle(settlements: readonly Settlement[]) {
      const results = settlements.map(({ outcome }) => (outcome.kind === 'returned' ? 'stale' : 'settled'))
      for (const [index, result] of results.entries())
        if (result === 'settled') state.bytes += settlements[index]?.bytes ?? 0
      return { results }
    },
  } as unknown as Frontier
  const fleet = { crawl, stats } as unknown as FleetFrontier
  const limited = limitBytes(frontier, fleet, 100, () => void (state.reached += 1))
  const lease = () => limited.lease({ worker: 'w', want: 1 })
  const settle = (size: number, kind: 'done' | 'returned' = 'done') =>
    limited.settle([{ outcome: { kind }, bytes: size } as Settlement])
  return { state, crawl, lease, settle }
}

test('nothing is leased any more once the limit is passed, and the crawl is ended for all', async () => {
  const { state, crawl, lease, settle } = setup(0)
  await lease()
  await settle(99)
  await lease()
  expect([state.leases, await crawl.halted()]).toEqual([2, undefined])
  await settle(1)
  await lease()
  expect([state.leases, state.reached, await crawl.halted()]).toEqual([2, 1, 'bytes'])
})

test('what others have fetched counts too', async () => {
  const one = setup(0)
  await one.settle(60)
  const other = setup(60, one.crawl)
  await other.settle(60)
  // The partitions are the same for both.
  one.state.bytes = 120
  await one.lease()
  expect([one.state.leases, one.state.reached]).toEqual([0, 1])
})

test('what was not settled does not count', async () => {
  const { state, lease, settle } = setup(0)
  await settle(500, 'returned')
  await lease()
  expect(state.leases).toBe(1)
})

test('what was fetched before anybody counted counts', async () => {
  const { state, lease } = setup(100)
  await lease()
  expect([state.leases, state.reached]).toEqual([0, 1])
})

test('a sum that is more than the partitions know is corrected, and ends nothing', async () => {
  const { state, crawl, lease } = setup(40)
  await crawl.countBytes(400)
  await lease()
  expect([state.leases, await crawl.countBytes(0), await crawl.halted()]).toEqual([1, 40, undefined])
})
