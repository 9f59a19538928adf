/** How hosts are shared out: classes, repeated askings, many workers. */
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/frontier/index.ts'
import { answering, page, type CreateSetup } from './harness.ts'

export function describeSharing(setup: CreateSetup): void {
  describe('hosts that did not answer well, or were never asked', () => {
    test('get no more of the leases than they may; what is due longest goes first over both classes', async () => {
      const { clock, frontier, passAllRobots, host } = setup()
      await frontier.add(['a', 'b', 'c'].map((name) => page(`https://${name}.test/`)))
      await passAllRobots({ health: answering(1) })
      await host('b.test', { health: answering(-1) })
      await clock.advance(500)
      await frontier.add([page('https://d.test/')])
      await passAllRobots({ health: answering(-2) })
      await clock.advance(1_000)
      await frontier.add([page('https://new.test/')])
      const hosts = async (want: number, unproven?: number): Promise<string[]> => {
        const { leases } = await frontier.lease({ worker: 'w', want, ...(unproven === undefined ? {} : { unproven }) })
        const names = leases.map((held) => held.host.replace('.test', ''))
        await frontier.settle(
          leases.map((held) => ({ lease: held, task: held.tasks[0]!, outcome: { kind: 'returned' } })),
        )
        return names
      }
      expect(await hosts(9)).toEqual(['new', 'a', 'b', 'c', 'd'])
      expect(await hosts(9, 0)).toEqual(['a', 'c'])
      expect(await hosts(9, 1)).toEqual(['new', 'a', 'c'])
      expect(await hosts(9, 2)).toEqual(['new', 'a', 'b', 'c'])
      expect(await hosts(3, 2)).toEqual(['new', 'a', 'b'])
      expect(await hosts(2, 9)).toEqual(['new', 'a'])
    })

    test('are not worth waiting for while their share is used up', async () => {
      const { clock, frontier } = setup()
      await frontier.add([page('https://a.test/'), page('https://b.test/')])
      const none = await frontier.lease({ worker: 'w', want: 5, unproven: 0 })
      expect(none).toMatchObject({ leases: [], nextAt: null, state: 'open' })
      const one = await frontier.lease({ worker: 'w', want: 5, unproven: 1 })
      expect(one.leases).toHaveLength(1)
      expect(one.nextAt).toBe(clock.now() + 60_000)
      await frontier.host('b.test' as never, { blockedUntil: clock.now() + 100 })
      expect((await frontier.lease({ worker: 'w', want: 5, unproven: 0 })).nextAt).toBe(clock.now() + 60_000)
      expect((await frontier.lease({ worker: 'w', want: 5, unproven: 1 })).nextAt).toBe(clock.now() + 100)
    })

    test('are of the other class as soon as they answer well', async () => {
      const { clock, frontier, passAllRobots } = setup()
      await frontier.add([page('https://a.test/')])
      await passAllRobots({ health: answering(1) })
      await clock.advance(1_000)
      expect((await frontier.lease({ worker: 'w', want: 1, unproven: 0 })).leases).toHaveLength(1)
    })
  })

  describe('an asking by name', () => {
    test('that is repeated is answered with the leases that are still open, and no others', async () => {
      const { clock, frontier, end, settle } = setup()
      await frontier.add(['a', 'b', 'c', 'd'].map((name) => page(`https://${name}.test/`)))
      const ask = async (request: string, want = 2, worker = 'w'): Promise<Lease[]> => [
        ...(await frontier.lease({ worker, want, request })).leases,
      ]
      const first = await ask('r1')
      await clock.advance(10_000)
      const again = await ask('r1')
      expect(again.map(({ fence, tasks, expiresAt }) => ({ fence, tasks, expiresAt }))).toEqual(
        first.map(({ fence, tasks, expiresAt }) => ({ fence, tasks, expiresAt })),
      )
      // Whoever counts from the second asking must not use them for longer than they last.
      expect(again.map((held) => held.expiresAt - held.grantedAt)).toEqual([50_000, 50_000])
      await settle(end(first[0] as Lease, { kind: 'failed', code: 'http' }))
      expect((await ask('r1')).map((held) => held.fence)).toEqual([first[1]?.fence])
      expect((await ask('r1', 1, 'other')).map((held) => held.host)).toEqual(['c.test'])
      expect((await ask('r2')).map((held) => held.host)).toEqual(['d.test'])
      await settle(end(first[1] as Lease, { kind: 'failed', code: 'http' }))
      expect((await ask('r2')).map((held) => held.host)).toEqual(['d.test'])
    })

    test('is forgotten when its leases have run out', async () => {
      const { clock, frontier } = setup()
      await frontier.add([page('https://a.test/')])
      const ask = async () => (await frontier.lease({ worker: 'w', want: 1, request: 'r' })).leases
      const [first] = await ask()
      await clock.advance(61_000)
      const [second] = await ask()
      expect(second?.host).toBe('a.test')
      expect(second?.fence).toBeGreaterThan(first?.fence ?? Infinity)
    })
  })

  test('many workers share many hosts, each host with one of them at a time', async () => {
    const { clock, frontier, end, settle } = setup({ hostsKept: 10 })
    const hosts = 200
    await frontier.add(Array.from({ length: hosts }, (_, n) => page(`https://h${n}.test/`)))
    const fences = new Set<number>()
    const held: Lease[] = []
    for (let worker = 0; worker < 50; worker++) {
      const { leases } = await frontier.lease({ worker: `w${worker}`, want: 3 })
      held.push(...leases)
      for (const { fence } of leases) fences.add(fence)
    }
    expect(new Set(held.map((lease) => lease.host)).size).toBe(150)
    expect(fences.size).toBe(150)
    await settle(...held.slice(0, 100).map((lease) => end(lease, { kind: 'returned' })))
    await clock.advance(1_000)
    const { leases } = await frontier.lease({ worker: 'w', want: 1_000 })
    expect(leases).toHaveLength(150)
    const busy = new Set(held.slice(100).map((lease) => lease.host))
    expect(leases.filter((lease) => busy.has(lease.host))).toEqual([])
  })
}
