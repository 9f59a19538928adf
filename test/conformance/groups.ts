/** Pace by more than the host: the hosts of one registrable domain or at one address are asked as if they were one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/frontier/index.ts'
import type { Task } from '../../src/model/index.ts'
import { allowAll, page, type CreateSetup } from './harness.ts'

export function describeGroups(setup: CreateSetup, share: number): void {
  const byDomain = (domainDelayMs: number) => ({ groups: { domainDelayMs, addressDelayMs: 0 } })
  const byAddress = (addressDelayMs: number) => ({ groups: { domainDelayMs: 0, addressDelayMs } })

  describe('hosts of one group', () => {
    test('have one lease at a time, and the delay counts from the answer of any of them', async () => {
      const { clock, frontier, one, lease, end, settle } = setup(byDomain(2_000))
      await frontier.add(['www', 'api', 'docs'].map((name) => page(`https://${name}.example.com/`)))
      await frontier.add([page('https://other.test/')])
      const leases = await lease()
      expect(leases.map((held) => held.host)).toEqual(['www.example.com', 'other.test'])
      expect(leases.map((held) => held.delayMs)).toEqual([2_000, 2_000])
      await clock.advance(700)
      await settle(end(leases[0] as Lease, { kind: 'failed', code: 'http' }))
      await clock.advance(1_999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      expect((await one()).host).toBe('api.example.com')
    })

    test('are not kept waiting by a lease under which nothing was sent', async () => {
      const { frontier, one, settle } = setup(byDomain(2_000))
      await frontier.add(['www', 'api'].map((name) => page(`https://${name}.example.com/`)))
      const held = await one()
      expect((await frontier.lease({ worker: 'w', want: 1 })).leases).toEqual([])
      await settle({ lease: held, task: held.tasks[0] as Task, outcome: { kind: 'returned' } })
      expect((await frontier.lease({ worker: 'w', want: 9 })).leases).toHaveLength(1)
    })

    test('wait for the end of a lease that ran out, and then their delay', async () => {
      const { clock, frontier, one, lease } = setup(byDomain(2_000))
      await frontier.add(['www', 'api'].map((name) => page(`https://${name}.example.com/`)))
      const held = await one()
      expect(await lease()).toEqual([])
      await clock.advance(61_999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      expect((await one()).host).not.toBe(held.host)
    })

    test('carry one task in each lease, and one lease each, however fast and wide the host may be', async () => {
      const { clock, frontier, lease, passAllRobots } = setup({ delayMs: 0, concurrency: 5, ...byDomain(100) })
      await frontier.add(Array.from({ length: 9 }, (_, n) => page(`https://a.example.com/${n}`)))
      await passAllRobots()
      await clock.advance(100)
      const leases = await lease()
      expect(leases).toHaveLength(1)
      expect(leases[0]?.tasks).toHaveLength(1)
    })

    test('are not asked for by address until their address is known', async () => {
      const { clock, frontier, lease, end, settle } = setup(byAddress(3_000))
      await frontier.add(['a', 'b', 'c'].map((name) => page(`https://${name}.test/`)))
      const unknown = await lease()
      expect(unknown.map((held) => [held.host, held.address])).toEqual([
        ['a.test', null],
        ['b.test', null],
        ['c.test', null],
      ])
      const addresses = ['192.0.2.1', '192.0.2.1', '192.0.2.2']
      for (const [index, held] of unknown.entries()) {
        const address = addresses[index] as string
        await settle({
          lease: held,
          task: held.tasks[0] as Task,
          outcome: { kind: 'returned' },
          host: { address },
        })
      }
      const known = await lease()
      expect(known.map((held) => [held.host, held.address])).toEqual([
        ['a.test', '192.0.2.1'],
        ['c.test', '192.0.2.2'],
      ])
      await settle(end(known[0] as Lease, { kind: 'failed', code: 'connect' }))
      await clock.advance(2_999)
      expect(await lease()).toEqual([])
      await clock.advance(1)
      expect((await lease()).map((held) => held.host)).toEqual(['b.test'])
    })

    test('are looked at once each turn: a thousand names do not make the frontier answer at every moment', async () => {
      const { clock, frontier, end, settle } = setup({ delayMs: 100, ...byDomain(1_000) })
      await frontier.add(Array.from({ length: 1_000 }, (_, n) => page(`https://n${n}.example.com/`)))
      let leases = 0
      let askings = 0
      const until = clock.now() + 60_000
      while (clock.now() < until) {
        const answer = await frontier.lease({ worker: 'w', want: 10 })
        askings += 1
        leases += answer.leases.length
        for (const held of answer.leases) {
          const robots = allowAll(held.tasks[0] as Task, clock.now())
          await settle(end(held, { kind: 'done' }, held.tasks[0]?.kind === 'robots' ? { robots } : {}))
        }
        if (answer.leases.length > 0) continue
        expect(answer.nextAt ?? 0).toBeGreaterThan(clock.now())
        await clock.advance((answer.nextAt ?? 0) - clock.now())
      }
      expect(leases).toBe(60)
      expect(askings).toBeLessThan(260)
    })

    test('keep their place in the line when more is found on them, in memory or not', async () => {
      for (const hostsKept of [1, 20_000]) {
        const { clock, frontier, lease } = setup({ hostsKept, ...byDomain(2_000) })
        const names = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example.com/`)
        await frontier.add(names.map((url) => page(url)))
        expect(await lease()).toHaveLength(1)
        const line = (await frontier.stats()).hosts.next
        expect(line.map(({ host, at }) => [host, at - clock.now()])).toEqual([
          ['c.example.com', 4_000],
          ['d.example.com', 6_000],
          ['b.example.com', 62_000],
        ])
        await clock.advance(1_000)
        await frontier.add(names.map((url) => page(`${url}more`)))
        expect(await lease()).toEqual([])
        expect((await frontier.stats()).hosts.next).toEqual(line)
      }
    })

    test('take turns, and the group is never idle while one of them has work', async () => {
      const { clock, frontier, end, settle } = setup({ delayMs: 100, ...byDomain(1_000) })
      const [hosts, turns, latencyMs] = [20, 200, 370]
      await frontier.add(Array.from({ length: hosts * 20 }, (_, n) => page(`https://n${n % hosts}.example.com/${n}`)))
      const served = new Map<string, number>()
      const start = clock.now()
      while (clock.now() < start + turns * (1_000 + latencyMs)) {
        const { leases, nextAt } = await frontier.lease({ worker: 'w', want: 3 })
        await clock.advance(leases.length === 0 ? (nextAt ?? 0) - clock.now() : latencyMs)
        for (const held of leases) {
          served.set(held.host, (served.get(held.host) ?? 0) + 1)
          const robots = allowAll(held.tasks[0] as Task, clock.now())
          await settle(end(held, { kind: 'done' }, held.tasks[0]?.kind === 'robots' ? { robots } : {}))
        }
      }
      const counts = [...served.values()]
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(turns)
      expect(counts).toHaveLength(hosts)
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(turns / hosts / 2)
    })
  })

  test('the pace of every group holds through any sequence of leases, answers, expiries and returns', async () => {
    const step = fc.record({ step: fc.nat(9), a: fc.nat(11), ms: fc.nat(3_000) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.constantFrom(0, 700), async (steps, domainDelayMs) => {
        const addressDelayMs = 900
        const { clock, frontier, lease, settle } = setup({
          delayMs: 300,
          leaseMs: 5_000,
          hostsKept: 2,
          groups: { domainDelayMs, addressDelayMs },
        })
        const addressOf = (name: string): string => `192.0.2.${Number(name.slice(1, 2)) % 2}`
        const domainOf = (name: string): string => name.split('.').slice(1).join('.')
        const free = new Map<string, number>()
        const held = new Map<number, { lease: Lease; groups: string[] }>()
        const groupsOf = ({ host, address }: Lease): string[] => [
          ...(address === null ? [] : [address]),
          ...(domainDelayMs === 0 ? [] : [domainOf(host)]),
        ]
        const busy = (at: number): string[] =>
          [...held.values()].filter(({ lease }) => lease.expiresAt > at).flatMap(({ groups }) => groups)
        const answer = (groups: string[], at: number): void => {
          for (const group of groups) free.set(group, at + (group.startsWith('192') ? addressDelayMs : domainDelayMs))
        }
        for (const { step, a, ms } of steps) {
          const now = clock.now()
          if (step < 3) await frontier.add([page(`https://h${a % 6}.d${a % 3}.test/${ms % 5}`)])
          else if (step < 5) await clock.advance(ms)
          else if (step < 7) {
            for (const { lease, groups } of held.values())
              if (lease.expiresAt <= now) {
                answer(groups, lease.expiresAt)
                held.delete(lease.fence)
              }
            for (const granted of await lease(1 + (a % 4))) {
              const groups = groupsOf(granted)
              expect(granted.tasks).toHaveLength(1)
              for (const group of groups) {
                expect(busy(now)).not.toContain(group)
                expect(now).toBeGreaterThanOrEqual(free.get(group) ?? 0)
              }
              held.set(granted.fence, { lease: granted, groups })
            }
          } else {
            const [taken] = [...held.values()].slice(a % Math.max(held.size, 1))
            if (taken === undefined) continue
            const task = taken.lease.tasks[0] as Task
            const base = { lease: taken.lease, task }
            held.delete(taken.lease.fence)
            if (taken.lease.address === null) {
              const change = { host: { address: addressOf(taken.lease.host) } }
              await settle({ ...base, outcome: { kind: 'returned' }, ...change })
            } else {
              const robots = task.kind === 'robots' ? { robots: allowAll(task, now) } : {}
              const outcome = { kind: a % 3 === 0 && task.kind !== 'robots' ? 'returned' : 'done' } as const
              const [result] = await settle({ ...base, outcome, answeredAt: now, ...robots })
              if (result === 'settled') answer(taken.groups, now)
              else answer(taken.groups, taken.lease.expiresAt)
            }
          }
        }
        await frontier.close()
      }),
      { numRuns: Math.ceil(100 * share) },
    )
  })
}
