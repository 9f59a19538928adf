/** URLs that look like traps: set aside when their turn has come, skipped when nothing else is left, or freed. */
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/frontier/index.ts'
import type { Task } from '../../src/model/index.ts'
import { conserved, page, type CreateSetup } from './harness.ts'

const TRAP = 'https://a.test/x/y/x/y/x/y/page'

export function describeTraps(setup: CreateSetup): void {
  const drain = async ({
    lease,
    settle,
    end,
    clock,
    frontier,
  }: ReturnType<CreateSetup>): Promise<{ fetched: string[]; skipped: Task[] }> => {
    const fetched: string[] = []
    const skipped: Task[] = []
    for (let leases: Lease[] = await lease(1); leases.length > 0; leases = await lease(1)) {
      for (const held of leases) {
        for (const [index, task] of held.tasks.entries()) {
          if (task.aside === undefined) {
            fetched.push(task.url)
            await settle(end(held, { kind: 'done' }, {}, index))
          } else {
            skipped.push(task)
            await settle(end(held, { kind: 'skipped', reason: task.aside.reason }, {}, index))
          }
          expect(conserved(await frontier.stats())).toBe(true)
        }
      }
      await clock.advance(1)
    }
    return { fetched, skipped }
  }

  describe('URLs that look like traps', () => {
    test('wait until all others are fetched, and are skipped then with the reason', async () => {
      const crawl = setup({ delayMs: 0, traps: true })
      await crawl.frontier.add([page(TRAP), page('https://a.test/1', 3), page('https://a.test/2', 3)])
      await crawl.passRobots()
      const { fetched, skipped } = await drain(crawl)
      expect(fetched.slice(0, 2)).toEqual(['https://a.test/1', 'https://a.test/2'])
      // One of them may have been fetched as a probe, to see; it is never lost.
      expect([...fetched, ...skipped.map(({ url }) => url)].sort()).toEqual(
        [TRAP, 'https://a.test/1', 'https://a.test/2'].sort(),
      )
      for (const { aside } of skipped) {
        expect(aside?.reason).toBe('trap')
        expect(aside?.detail).not.toBe('')
      }
      expect((await crawl.frontier.lease({ worker: 'w', want: 1 })).state).toBe('finished')
    })

    test('are counted as aside while they wait', async () => {
      const crawl = setup({ delayMs: 0, traps: true })
      const traps = Array.from({ length: 20 }, (_, index) => page(`${TRAP}${index}`))
      await crawl.frontier.add([...traps, page('https://a.test/last', 9)])
      await crawl.passRobots()
      const held = await crawl.one()
      expect(crawl.urls(held)).toEqual(['https://a.test/last'])
      expect(await crawl.frontier.stats()).toMatchObject({ aside: 20, queued: 20, leased: 1 })
    })

    test('are fetched like any other where nobody asked for them to be held back', async () => {
      const crawl = setup({ delayMs: 0 })
      await crawl.frontier.add([page(TRAP), page('https://a.test/1', 3)])
      await crawl.passRobots()
      const { fetched, skipped } = await drain(crawl)
      expect(fetched).toEqual([TRAP, 'https://a.test/1'])
      expect(skipped).toEqual([])
    })
  })
}
