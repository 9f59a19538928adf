/** Pages that come back: when, with what, and what becomes of the counters. Budgets of pages, too. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_RECRAWL } from '../../src/frontier/defaults.ts'
import type { Lease, RecrawlOptions, Settlement } from '../../src/frontier/index.ts'
import type { Outcome, Task, Visit } from '../../src/model/index.ts'
import { conserved, DAY, page, type CreateSetup } from './harness.ts'

const recrawl = (mode: RecrawlOptions['mode']): RecrawlOptions => ({ ...DEFAULT_RECRAWL, mode })
const visit = (change: Visit['change'], more: Partial<Visit> = {}): Partial<Settlement> => ({
  visit: { change, hash: 'h1', etag: '"e1"', lastModified: null, ...more },
})
const DONE: Outcome = { kind: 'done' }

export function describeRevisits(setup: CreateSetup): void {
  /** A crawl of one page that was fetched once. */
  const fetchedOnce = async (mode: RecrawlOptions['mode'], more: Parameters<CreateSetup>[0] = {}) => {
    const crawl = setup({ recrawl: recrawl(mode), ...more })
    await crawl.frontier.add([page('https://a.test/')])
    await crawl.passRobots()
    await crawl.clock.advance(1_000)
    await crawl.settle(crawl.end(await crawl.one(), DONE, visit('new')))
    /** Waits for the page to come back; robots.txt that has grown old is passed. */
    const comesBack = async (): Promise<Lease> => {
      for (;;) {
        const { leases, nextAt } = await crawl.frontier.lease({ worker: 'w', want: 1 })
        const [held] = leases
        const task = held?.tasks[0]
        if (held !== undefined && task?.kind === 'page') return held
        if (held !== undefined) {
          const robots = { ...ALLOWED, origin: (task as Task).origin, expiresAt: crawl.clock.now() + 365 * DAY }
          await crawl.settle(crawl.end(held, DONE, { robots }))
        } else if (nextAt === null) throw new Error('it does not come back')
        else await crawl.clock.advance(Math.max(1, nextAt - crawl.clock.now()))
      }
    }
    return { ...crawl, comesBack }
  }

  describe('pages that were fetched', () => {
    test('stay done when the crawl is not to go on', async () => {
      const { clock, frontier } = await fetchedOnce('off')
      await clock.advance(100 * DAY)
      expect(await frontier.lease({ worker: 'w', want: 1 })).toEqual({ leases: [], nextAt: null, state: 'finished' })
    })

    test('come back within the bounds of their tier, with what is known from the last time', async () => {
      const { clock, frontier, comesBack } = await fetchedOnce('on')
      const fetchedAt = clock.now()
      expect((await frontier.lease({ worker: 'w', want: 1 })).state).toBe('open')
      const held = await comesBack()
      const { leastMs, mostMs } = DEFAULT_RECRAWL.intervals.medium
      expect(clock.now() - fetchedAt).toBeGreaterThanOrEqual(leastMs)
      expect(clock.now() - fetchedAt).toBeLessThanOrEqual(mostMs)
      expect(held.tasks[0]?.last).toEqual({
        at: fetchedAt,
        visits: 1,
        misses: 0,
        hash: 'h1',
        etag: '"e1"',
        lastModified: null,
      })
      expect(await frontier.stats()).toMatchObject({ discovered: 1, done: 0, leased: 1, queued: 0 })
    })

    test('that change come back sooner than those that do not', async () => {
      const averages: number[] = []
      for (const change of ['changed', 'unchanged'] as const) {
        const { clock, frontier, settle, end, comesBack } = await fetchedOnce('on')
        const started = clock.now()
        for (let time = 0; time < 12; time++) await settle(end(await comesBack(), DONE, visit(change)))
        averages.push((clock.now() - started) / 12)
        const stats = await frontier.stats()
        expect(stats).toMatchObject({ discovered: 1, done: 1, queued: 0, leased: 0 })
        expect(stats.revisits[change]).toBe(12)
        expect(conserved(stats)).toBe(true)
      }
      expect(averages[0]).toBeLessThan(averages[1] as number)
    })

    test('that are gone for good are retired, and do not come back', async () => {
      const { clock, frontier, settle, end, comesBack } = await fetchedOnce('on')
      await settle(end(await comesBack(), { kind: 'skipped', reason: 'gone' }, visit('gone')))
      const stats = await frontier.stats()
      expect(stats).toMatchObject({ discovered: 1, done: 0, skipped: { gone: 1 }, revisits: { gone: 1 } })
      expect(conserved(stats)).toBe(true)
      await clock.advance(400 * DAY)
      expect((await frontier.lease({ worker: 'w', want: 1 })).state).toBe('finished')
    })

    test('come back at once when a sitemap says that they changed since', async () => {
      const { clock, frontier, comesBack } = await fetchedOnce('on')
      await clock.advance(DEFAULT_RECRAWL.intervals.medium.leastMs)
      await frontier.add([page('https://a.test/', 1, { via: 'sitemap', modifiedAt: clock.now() - 1_000 })])
      const told = clock.now()
      await comesBack()
      expect(clock.now() - told).toBeLessThan(5_000)
    })

    test('do not come back at once when a sitemap says that they changed before', async () => {
      const { clock, frontier, comesBack } = await fetchedOnce('on')
      await clock.advance(60_000)
      await frontier.add([page('https://a.test/', 1, { via: 'sitemap', modifiedAt: clock.now() - 10 * DAY })])
      const told = clock.now()
      await comesBack()
      expect(clock.now() - told).toBeGreaterThan(60_000)
    })

    test('keep within a limit of pages, which counts each once', async () => {
      const { frontier, settle, end, comesBack } = await fetchedOnce('on', { maxPages: 1 })
      await frontier.add([page('https://a.test/other', 1)])
      for (let time = 0; time < 3; time++) {
        const held = await comesBack()
        expect(held.tasks.map((task) => task.url)).toEqual(['https://a.test/'])
        await settle(end(held, DONE, visit('unchanged')))
      }
      expect(await frontier.stats()).toMatchObject({ done: 1, queued: 1 })
    })
  })

  describe('a crawl that refreshes once', () => {
    test('fetches nothing before it is due, and ends', async () => {
      const { frontier } = await fetchedOnce('once')
      expect((await frontier.lease({ worker: 'w', want: 1 })).state).toBe('finished')
    })
  })

  describe('the pages that a host may have', () => {
    test('are exact, with failures given back and the rest skipped for it at the end', async () => {
      const { clock, frontier, lease, settle, end, passRobots } = setup({
        delayMs: 0,
        concurrency: 3,
        maxPagesPerHost: 5,
      })
      await frontier.add(Array.from({ length: 40 }, (_, index) => page(`https://a.test/${index}`)))
      await passRobots()
      let turn = 0
      const skipped: string[] = []
      for (;;) {
        const leases = await lease(4)
        if (leases.length === 0) break
        for (const held of leases) {
          for (const [index, task] of held.tasks.entries()) {
            if (task.aside !== undefined) {
              skipped.push(task.aside.reason)
              await settle(end(held, { kind: 'skipped', reason: task.aside.reason }, {}, index))
            } else await settle(end(held, turn++ % 3 === 0 ? { kind: 'failed', code: 'http' } : DONE, {}, index))
          }
        }
        const stats = await frontier.stats()
        expect(stats.done).toBeLessThanOrEqual(5)
        expect(conserved(stats)).toBe(true)
        await clock.advance(1)
      }
      const stats = await frontier.stats()
      expect(stats.done).toBe(5)
      expect(stats.queued).toBe(0)
      expect(stats.skipped['host-budget']).toBe(40 - 5 - stats.failed)
      expect(new Set(skipped)).toEqual(new Set(['host-budget']))
    })

    test('are counted for each host by itself', async () => {
      const { frontier, lease, settle, end, passAllRobots } = setup({ delayMs: 0, maxPagesPerHost: 1 })
      await frontier.add(['a', 'b'].flatMap((host) => [page(`https://${host}.test/1`), page(`https://${host}.test/2`)]))
      await passAllRobots()
      const leases = await lease(10)
      expect(leases.flatMap((held) => held.tasks)).toHaveLength(2)
      for (const held of leases) await settle(end(held, DONE))
      expect(await frontier.stats()).toMatchObject({ done: 2, queued: 2 })
    })
  })
}

const ALLOWED = {
  state: 'allow-all',
  refusal: null,
  status: 404,
  detail: 'HTTP 404',
  fetchedAt: 0,
  version: 'none',
  staleSince: null,
  body: '',
  crawlDelayMs: 0,
} as const
