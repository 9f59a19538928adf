import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowAll, conserved, page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createVirtualClock, type VirtualClock } from '../../base/index.ts'
import { contentSample } from '../../content/index.ts'
import type { ContentSample, Task } from '../../model/index.ts'
import type { Frontier } from '../contract.ts'
import { prose } from '../traps/test-support/sites.ts'
import { createTestFrontiers, type TestFrontiers } from './test-support/test-frontiers.ts'
import { PLAIN_FRONTIER } from '../../../test/support/plain-frontier.ts'

let frontiers: TestFrontiers
beforeAll(async () => {
  frontiers = createTestFrontiers(await sharedRedis())
})
afterAll(() => frontiers.close())

const openFrontier = (clock: VirtualClock): Frontier =>
  frontiers.open(
    {
      ...PLAIN_FRONTIER,
      policyOf: () => ({ delayMs: 0, concurrency: 1 }),
      traps: true,
    },
    clock,
  )

/** Does all work, with pages that say this; answers what was fetched and what was skipped. */
async function drain(frontier: Frontier, clock: VirtualClock, says: (url: string) => string) {
  const [fetched, skipped]: [string[], string[]] = [[], []]
  const sampleOf = ({ url }: Task): ContentSample => contentSample(says(url), url, '')
  for (let turn = 0; turn < 2_000; turn++) {
    const { leases, state } = await frontier.lease({ worker: 'w', want: 4 })
    if (state !== 'open') return { fetched, skipped }
    for (const lease of leases)
      await frontier.settle(
        lease.tasks.map((task) => {
          if (task.kind === 'robots') {
            const robots = allowAll(task, clock.now())
            return { lease, task, outcome: { kind: 'done' }, robots }
          }
          if (task.aside !== undefined) {
            skipped.push(task.url)
            return { lease, task, outcome: { kind: 'skipped', reason: task.aside.reason } }
          }
          fetched.push(task.url)
          return { lease, task, outcome: { kind: 'done' }, sample: sampleOf(task) }
        }),
      )
    await clock.advance(1)
  }
  throw new Error('it does not end')
}

const words = (name: string): string => prose(name, 60)

test('more URLs aside than one lease takes are all skipped, each once', async () => {
  const clock = createVirtualClock()
  const frontier = openFrontier(clock)
  const traps = Array.from({ length: 600 }, (_, n) => page(`https://a.test/x/y/x/y/x/y/${n}`))
  await frontier.add([...traps, page('https://a.test/good', 5)])
  const { fetched, skipped } = await drain(frontier, clock, () => words('same'))
  expect(fetched).toContain('https://a.test/good')
  // A few were fetched as probes, to see.
  expect(fetched.length).toBeLessThan(10)
  expect([...fetched, ...skipped].toSorted()).toEqual(
    [...traps.map(({ url }) => url), 'https://a.test/good' as const].toSorted(),
  )
  const stats = await frontier.stats()
  expect(stats).toMatchObject({ aside: 0, queued: 0, skipped: { trap: skipped.length } })
  expect(conserved(stats)).toBe(true)
})

test('a lesson that a probe shows to be wrong frees what was set aside for it', async () => {
  const clock = createVirtualClock()
  const frontier = openFrontier(clock)
  await frontier.add(Array.from({ length: 5 }, (_, n) => page(`https://a.test/calendar/2027/${n}`)))
  const first = await drain(frontier, clock, () => words('calendar'))
  expect(first.fetched.length).toBeGreaterThan(2)
  const more = Array.from({ length: 20 }, (_, n) => page(`https://a.test/calendar/2027/${n + 10}`, 1))
  await frontier.add([...more, page('https://a.test/other', 9)])
  const second = await drain(frontier, clock, (url) => words(url))
  expect(second.skipped).toEqual([])
  expect(second.fetched.length).toBeGreaterThan(20)
  expect(conserved(await frontier.stats())).toBe(true)
})
