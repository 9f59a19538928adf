/** How a host answers: its health, its blocks, its latency, its robots.txt versions, and what the audit saw of it. */
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/frontier/index.ts'
import { UNKNOWN_HEALTH, type Task } from '../../src/model/index.ts'
import { allowAll, answering, page, type CreateSetup } from './harness.ts'

export function describeHealth(setup: CreateSetup): void {
  describe('the health of a host', () => {
    test('is unknown at first, and travels with every lease as it was last settled', async () => {
      const { clock, frontier, one, end, settle, host } = setup()
      await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
      const first = await one()
      expect(first.health).toEqual(UNKNOWN_HEALTH)
      expect(first.grantedAt).toBe(clock.now())
      const health = { strikes: 1, streak: 4, streakSince: 7, blockedAt: 0, latencyMs: 12.5 }
      const robots = allowAll(first.tasks[0] as Task, clock.now())
      await settle(end(first, { kind: 'done' }, { robots, host: { health } }))
      expect((await host('a.test')).health).toEqual(health)
      await clock.advance(1_000)
      expect((await one()).health).toEqual(health)
    })

    test('worked out before a block does not undo the block, and the longest block counts', async () => {
      const { clock, frontier, lease, end, settle, passRobots, host } = setup({ delayMs: 0, concurrency: 4 })
      await frontier.add([1, 2, 3, 4].map((n) => page(`https://a.test/${n}`)))
      await passRobots()
      const [a, b, c, d] = (await lease()) as [Lease, Lease, Lease, Lease]
      const at = clock.now()
      const blocked = answering(-1, { strikes: 1, blockedAt: at })
      const block = (ms: number) => ({ blockedUntil: at + ms, blockedReason: `for ${ms}`, health: blocked })
      const later = { kind: 'retry', notBefore: at, counts: false } as const
      await settle(end(a, later, { host: block(60_000) }))
      await settle(end(b, { kind: 'done' }, { host: { health: answering(9) } }))
      expect(await host('a.test')).toMatchObject({ health: blocked, blockedUntil: at + 60_000 })
      await settle(end(c, later, { host: block(30_000) }))
      expect(await host('a.test')).toMatchObject({ blockedUntil: at + 60_000, blockedReason: 'for 60000' })
      await settle(end(d, later, { host: block(90_000) }))
      expect(await host('a.test')).toMatchObject({ health: blocked, blockedUntil: at + 90_000 })
      await clock.advance(89_999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      expect((await lease())[0]?.health).toEqual(blocked)
    })

    test('slows the pace with its latency, up to a limit, and never where the policy knows no delay', async () => {
      for (const [delayMs, latencyMs, expected] of [
        [1_000, 300, 1_500],
        [1_000, 100, 1_000],
        [1_000, 60_000, 20_000],
        [0, 60_000, 0],
      ] as const) {
        const { clock, frontier, one, lease, end, settle, host } = setup({
          delayMs,
          latency: { factor: 5, maxDelayMs: 20_000 },
        })
        await frontier.add([page('https://a.test/1')])
        const held = await one()
        const robots = allowAll(held.tasks[0] as Task, clock.now())
        await settle(end(held, { kind: 'done' }, { robots, host: { health: answering(1, { latencyMs }) } }))
        expect((await host('a.test')).delayMs).toBe(expected)
        if (expected > 0) {
          await clock.advance(expected - 1)
          expect(await lease()).toEqual([])
          await clock.advance(1)
        }
        expect((await one()).delayMs).toBe(expected)
      }
    })

    test('keeps the closest that two requests came, for the host and for the crawl', async () => {
      const { clock, frontier, one, end, settle, passRobots, host } = setup()
      await frontier.add([1, 2, 3].map((n) => page(`https://a.test/${n}`)))
      await passRobots()
      expect((await host('a.test')).closestMs).toBeNull()
      expect(await frontier.stats()).toMatchObject({ impolite: 0, closest: null })
      for (const spareMs of [12, 3.5, 40]) {
        await clock.advance(1_000)
        await settle(end(await one(), { kind: 'done' }, { spareMs }))
      }
      expect((await host('a.test')).closestMs).toBe(3.5)
      expect(await frontier.stats()).toMatchObject({ impolite: 0, closest: { host: 'a.test', spareMs: 3.5 } })
      await frontier.add([page('https://b.test/')])
      await settle(end(await one(), { kind: 'failed', code: 'timeout' }, { spareMs: -1, impolite: true }))
      expect(await frontier.stats()).toMatchObject({ impolite: 1, closest: { host: 'b.test', spareMs: -1 } })
      expect((await host('a.test')).closestMs).toBe(3.5)
    })

    test('an answer is never later than the moment it is settled', async () => {
      const { clock, frontier, one, end, settle, passRobots, host } = setup()
      await frontier.add([page('https://a.test/1')])
      await passRobots()
      await clock.advance(1_000)
      await settle(end(await one(), { kind: 'done' }, { answeredAt: clock.now() + 5_000 }))
      expect((await host('a.test')).answeredAt).toBe(clock.now())
    })
  })

  describe('versions of robots.txt', () => {
    test('a lease names the version in force, and a later record replaces it', async () => {
      const { clock, frontier, one, end, settle, passRobots, host } = setup()
      await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
      const first = await one()
      expect(first.robotsVersion).toBeNull()
      await settle(end(first, { kind: 'returned' }))
      await clock.advance(1_000)
      await passRobots({ version: 'v1', body: 'old', state: 'rules', expiresAt: clock.now() + 10_000 })
      await clock.advance(1_000)
      const held = await one()
      expect(held.robotsVersion).toBe('v1')
      await settle(end(held, { kind: 'done' }))
      await clock.advance(10_000)
      await passRobots({ version: 'v2', body: 'new', state: 'rules', staleSince: 5 })
      await clock.advance(1_000)
      expect((await one()).robotsVersion).toBe('v2')
      expect((await host('a.test')).robots).toMatchObject([{ version: 'v2', body: 'new', staleSince: 5 }])
    })
  })

  describe('hosts that leave memory', () => {
    test('keep their window, block, health, address and robots record', async () => {
      const { clock, frontier, lease, passAllRobots, host, end, settle } = setup({ hostsKept: 1 })
      const names = ['a', 'b', 'c', 'd']
      await frontier.add(names.map((name) => page(`https://${name}.test/`)))
      await passAllRobots({ health: answering(2, { latencyMs: 7 }), address: '192.0.2.1' })
      const before = await Promise.all(names.map((name) => host(`${name}.test`)))
      const until = clock.now() + 5_000
      await host('a.test', { blockedUntil: until, blockedReason: 'HTTP 429' })
      await clock.advance(999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      const leases = await lease()
      expect(leases.map((held) => [held.host, held.health.streak, held.tasks[0]?.kind])).toEqual(
        ['b.test', 'c.test', 'd.test'].map((name) => [name, 2, 'page']),
      )
      for (const held of leases) await settle(end(held, { kind: 'failed', code: 'http' }))
      await clock.advance(3_999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      expect((await lease()).map((held) => held.host)).toEqual(['a.test'])
      const after = await Promise.all(names.map((name) => host(`${name}.test`)))
      expect(after.map(({ robots, health, address }) => ({ robots, health, address }))).toEqual(
        before.map(({ robots, health, address }) => ({ robots, health, address })),
      )
      expect(after[0]).toMatchObject({ blockedUntil: until, blockedReason: 'HTTP 429' })
    })
  })
}
