/** URLs that look like traps: set aside when their turn has come, skipped when nothing else is left, or freed. */
import { describe, expect, test } from 'vitest'
import type { Lease, Settlement } from '../../src/frontier/index.ts'
import { contentSample } from '../../src/content/index.ts'
import { prose, sessions } from '../../src/frontier/traps/test-support/sites.ts'
import type { Task } from '../../src/model/index.ts'
import { normalizeUrl } from '../../src/url/index.ts'
import { conserved, DAY, page, type CreateSetup } from './harness.ts'

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

    test('are told from pages on a large host, too: each page behind a session id is read, and hardly any twice', async () => {
      const pages = 2_000
      const site = sessions({ pages, words: 40, echoes: false }, 'sid')
      const crawl = setup({ delayMs: 0, traps: true })
      await crawl.frontier.add([page('https://a.test/')])
      await crawl.passRobots()
      const contents = new Set<string>()
      let fetched = 0
      const read = (task: Task) => {
        const { content = '', text = '', links = [] } = site(new URL(task.url)) ?? {}
        contents.add(content)
        fetched += 1
        const found = links.map((link) => page(normalizeUrl(link, task.url) ?? '', 1, { referrer: task.url }))
        return { found, sample: contentSample(text, task.url, '') }
      }
      const settled = (held: Lease): Settlement[] =>
        held.tasks.map((task, index) => {
          const { aside } = task
          return aside === undefined
            ? crawl.end(held, { kind: 'done' }, read(task), index)
            : crawl.end(held, { kind: 'skipped', reason: aside.reason }, {}, index)
        })
      // It ends by itself, or is a trap.
      for (let turn = 0; turn < 2 * pages; turn++) {
        const leases = await crawl.lease(1)
        if (leases.length === 0) break
        await crawl.settle(...leases.flatMap(settled))
        await crawl.clock.advance(1)
      }
      expect(contents.size).toBe(pages + 1)
      expect(fetched).toBeLessThan(1.02 * pages)
    })

    describe('while several leases of their host are out', () => {
      const months = Array.from({ length: 30 }, (_, month) => page(`https://a.test/calendar/${2000 + month}/7`, 1))
      const saying = (text: string, { url }: Task) => ({ sample: contentSample(prose(text, 60), url, '') })
      /** A front page that was read, and what it leads to. */
      const opened = async (found = months) => {
        const crawl = setup({ delayMs: 0, concurrency: 8, traps: true })
        await crawl.frontier.add([page('https://a.test/')])
        await crawl.passRobots()
        const front = await crawl.one()
        const sample = saying('front', front.tasks[0] as Task)
        await crawl.settle(crawl.end(front, { kind: 'done' }, { ...sample, found }))
        return crawl
      }
      const taskCount = (leases: readonly Lease[]): number => leases.reduce((sum, { tasks }) => sum + tasks.length, 0)

      test('are asked for by all of them together no more than by one, and go on when one is settled', async () => {
        const crawl = await opened()
        const out = await crawl.lease(8)
        expect(taskCount(out)).toBe(2)
        expect(await crawl.lease(8)).toEqual([])
        const { state } = await crawl.frontier.lease({ worker: 'w', want: 8 })
        expect(state).toBe('open')
        const [first] = out as [Lease]
        await crawl.settle(crawl.end(first, { kind: 'done' }, saying('a month', first.tasks[0] as Task)))
        const more = await crawl.lease(8)
        expect(taskCount(more)).toBe(2)
        expect(conserved(await crawl.frontier.stats())).toBe(true)
      })

      test('go on when one fails, or its lease runs out', async () => {
        const crawl = await opened()
        const [first] = (await crawl.lease(8)) as [Lease]
        await crawl.settle(crawl.end(first, { kind: 'failed', code: 'timeout' }))
        expect(taskCount(await crawl.lease(8))).toBe(1)
        await crawl.clock.advance(DAY)
        // All leases ran out: what they had is asked for again.
        expect(taskCount(await crawl.lease(8))).toBeGreaterThan(0)
      })

      test('wait for another address of what may be the same page', async () => {
        const crawl = await opened([page('https://a.test/list', 1), page('https://a.test/list?view=1', 1)])
        const out = await crawl.lease(8)
        expect(out.flatMap(crawl.urls)).toEqual(['https://a.test/list'])
        const [first] = out as [Lease]
        await crawl.settle(crawl.end(first, { kind: 'done' }, saying('list', first.tasks[0] as Task)))
        expect((await crawl.lease(8)).flatMap(crawl.urls)).toEqual(['https://a.test/list?view=1'])
      })

      test('are found out with as few fetches as one by one, and everything ends', async () => {
        const crawl = await opened()
        const fetched: string[] = []
        const skipped: string[] = []
        const out: Lease[] = []
        for (let turn = 0; turn < 500; turn++) {
          const { leases, state } = await crawl.frontier.lease({ worker: 'w', want: 8 })
          if (state !== 'open') break
          out.push(...leases)
          const held = out.pop()
          expect(held).toBeDefined()
          if (held === undefined) break
          for (const [index, task] of held.tasks.entries()) {
            if (task.aside !== undefined) {
              skipped.push(task.url)
              await crawl.settle(crawl.end(held, { kind: 'skipped', reason: task.aside.reason }, {}, index))
            } else {
              fetched.push(task.url)
              await crawl.settle(crawl.end(held, { kind: 'done' }, saying('a month', task), index))
            }
          }
          await crawl.clock.advance(1)
        }
        expect(new Set([...fetched, ...skipped]).size).toBe(30)
        expect(fetched.length).toBeLessThanOrEqual(5)
        expect((await crawl.frontier.lease({ worker: 'w', want: 1 })).state).toBe('finished')
      })
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
