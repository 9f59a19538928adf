/** How tiers share what is due, and which URL of a host goes first. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Frontier, Lease } from '../../src/frontier/index.ts'
import { TIERS, type FoundUrl, type Task, type Tier } from '../../src/model/index.ts'
import { allowAll, page, type CreateSetup } from './harness.ts'

const SHARES = { high: 0.4, medium: 0.4, low: 0.2 } as const

/** So many pages on each of so many hosts of a tier. */
const site = (tier: Tier, hosts: number, pages: number): FoundUrl[] =>
  Array.from({ length: hosts * pages }, (_, index) =>
    page(`https://${tier}${index % hosts}.test/${Math.floor(index / hosts)}`, 1, { tier }),
  )

/** Settles all of them as done, robots.txt among them; returns the others. */
const finish = async (frontier: Frontier, leases: readonly Lease[], answeredAt?: number): Promise<Task[]> => {
  const tasks = leases.flatMap((lease) => lease.tasks.map((task) => ({ lease, task })))
  await frontier.settle(
    tasks.map(({ lease, task }) => ({
      lease,
      task,
      outcome: { kind: 'done' },
      ...(answeredAt === undefined ? {} : { answeredAt }),
      ...(task.kind === 'robots' ? { robots: allowAll(task, lease.grantedAt) } : {}),
    })),
  )
  return tasks.flatMap(({ task }) => (task.kind === 'robots' ? [] : [task]))
}

export function describeTiers(setup: CreateSetup, share: number): void {
  describe('tiers', () => {
    test('share 40 : 40 : 20 over every stretch while all are due, whatever is asked for at once', async () => {
      const { frontier, passAllRobots } = setup({ delayMs: 0 })
      // As many hosts in one tier as in another, or not: hosts are not what is shared.
      await frontier.add([...site('high', 3, 200), ...site('medium', 12, 50), ...site('low', 30, 20)])
      await passAllRobots()
      const order: Tier[] = []
      for (let turn = 0; order.length < 1_000; turn++) {
        const { leases } = await frontier.lease({ worker: 'w', want: 1 + (turn % 5) })
        order.push(...(await finish(frontier, leases)).map((task) => task.tier))
      }
      const window = 100
      for (let start = 0; start + window <= 1_000; start += 3) {
        const part = order.slice(start, start + window)
        for (const tier of TIERS) {
          const share = part.filter((each) => each === tier).length / window
          expect(Math.abs(share - SHARES[tier])).toBeLessThanOrEqual(0.02)
        }
      }
    })

    test('that have nothing due leave their share to the others at once, and get none of it back', async () => {
      const { frontier, passAllRobots } = setup({ delayMs: 0 })
      await frontier.add([...site('high', 5, 60), ...site('low', 5, 100)])
      await passAllRobots()
      const next = async (count: number): Promise<Record<string, number>> => {
        const counts: Record<string, number> = {}
        for (let done = 0; done < count;) {
          const { leases } = await frontier.lease({ worker: 'w', want: 1 })
          const tasks = await finish(frontier, leases)
          done += tasks.length
          for (const task of tasks) counts[task.tier] = (counts[task.tier] ?? 0) + 1
        }
        return counts
      }
      const two = await next(120)
      expect((two['high'] ?? 0) / 120).toBeGreaterThan(0.63)
      expect((two['high'] ?? 0) / 120).toBeLessThan(0.7)
      await frontier.add(site('medium', 5, 100))
      const three = await next(100)
      expect(three['medium'] ?? 0).toBeLessThanOrEqual(46)
      expect(three['low'] ?? 0).toBeGreaterThanOrEqual(15)
    })

    test('none starves: one host of tier low among a hundred of tier high has its turns', async () => {
      const { clock, frontier, passAllRobots } = setup({ delayMs: 1_000 })
      await frontier.add([...site('high', 100, 30), ...site('low', 1, 30)])
      await passAllRobots()
      const gaps: number[] = []
      let last = clock.now()
      for (let turn = 0; turn < 200; turn++) {
        await clock.advance(100)
        const { leases } = await frontier.lease({ worker: 'w', want: 2 })
        for (const task of await finish(frontier, leases, clock.now())) {
          if (task.tier !== 'low') continue
          gaps.push(clock.now() - last)
          last = clock.now()
        }
      }
      expect(gaps.length).toBeGreaterThan(15)
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1_100)
    })

    test('a tier of one slow host wastes no slot', async () => {
      const { frontier, passAllRobots } = setup({ delayMs: 0 })
      await frontier.add([...site('high', 1, 50), ...site('low', 20, 5)])
      await passAllRobots()
      const first = await frontier.lease({ worker: 'w', want: 10 })
      expect(first.leases.filter((lease) => lease.tasks[0]?.tier === 'high')).toHaveLength(1)
      expect(first.leases.filter((lease) => lease.tasks[0]?.tier === 'low')).toHaveLength(9)
    })

    test('of one host each have their own order', async () => {
      const { frontier, passRobots, one } = setup({ delayMs: 0 })
      await frontier.add([
        page('https://a.test/low', 0, { tier: 'low' }),
        page('https://a.test/high-deep', 5, { tier: 'high' }),
        page('https://a.test/high', 1, { tier: 'high' }),
      ])
      await passRobots()
      const paths: string[] = []
      while (paths.length < 3) {
        const held = await one()
        paths.push(...(await finish(frontier, [held])).map((task) => new URL(task.url).pathname))
      }
      expect(paths.indexOf('/high')).toBeLessThan(paths.indexOf('/high-deep'))
      expect(new Set(paths).size).toBe(3)
    })

    test('are counted: what is queued, and what was asked for', async () => {
      const { frontier, passAllRobots } = setup()
      await frontier.add([...site('high', 1, 2), ...site('low', 1, 1), page('https://else.test/')])
      const queued = async () => (await frontier.stats()).tiers
      expect(await queued()).toMatchObject({ high: { queued: 2 }, medium: { queued: 1 }, low: { queued: 1 } })
      await passAllRobots()
      expect(await queued()).toMatchObject({ high: { requests: 1 }, medium: { requests: 1 }, low: { requests: 1 } })
    })
  })

  describe('the order within a host', () => {
    const walk = async (frontier: Frontier, one: () => Promise<Lease>, count: number): Promise<string[]> => {
      const paths: string[] = []
      while (paths.length < count) {
        const held = await one()
        paths.push(...(await finish(frontier, [held])).map((task) => new URL(task.url).pathname))
      }
      return paths
    }

    test('shallow pages go before deep ones, and among equals the one found first', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 30 }), async (depths) => {
          const { frontier, passRobots, one } = setup({ delayMs: 0 })
          await frontier.add(depths.map((depth, index) => page(`https://a.test/${index}`, depth)))
          await passRobots()
          const expected = depths
            .map((depth, index) => ({ depth, index }))
            .sort((a, b) => a.depth - b.depth || a.index - b.index)
            .map(({ index }) => `/${index}`)
          expect(await walk(frontier, one, depths.length)).toEqual(expected)
          await frontier.close()
        }),
        { numRuns: Math.ceil(20 * share) },
      )
    })

    test('pages that more pages name go first, also when that is found out later', async () => {
      const { frontier, passRobots, one } = setup({ delayMs: 0 })
      await frontier.add([
        page('https://a.test/once', 1),
        page('https://a.test/often', 1),
        page('https://a.test/some', 1),
      ])
      for (let time = 0; time < 4; time++) await frontier.add([page('https://a.test/some', 1)])
      for (let time = 0; time < 20; time++) await frontier.add([page('https://a.test/often', 1)])
      await passRobots()
      expect(await walk(frontier, one, 3)).toEqual(['/often', '/some', '/once'])
    })

    test('whoever has waited long goes before somewhat better ones that are new', async () => {
      const { clock, frontier, passRobots, one } = setup({ delayMs: 0 })
      await frontier.add([page('https://a.test/old', 3)])
      await clock.advance(6 * 86_400_000)
      await frontier.add([page('https://a.test/new', 2)])
      await passRobots()
      expect(await walk(frontier, one, 2)).toEqual(['/old', '/new'])
    })

    test('sitemaps go before all pages', async () => {
      const { frontier, passRobots, one } = setup({ delayMs: 0 })
      await frontier.add([page('https://a.test/'), { ...page('https://a.test/sitemap.xml'), kind: 'sitemap' }])
      await passRobots()
      expect(await walk(frontier, one, 2)).toEqual(['/sitemap.xml', '/'])
    })
  })
}
