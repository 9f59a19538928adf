import { describe, expect, test } from 'vitest'
import { describeFrontier } from '../../../test/conformance/frontier.ts'
import { allowAll, page } from '../../../test/conformance/harness.ts'
import { createRng, createVirtualClock, type Clock } from '../../base/index.ts'
import type { Task } from '../../model/index.ts'
import { createMemoryDatabase, type Frontier, type FrontierOptions, type Lease, type MemoryDatabase } from '../index.ts'
import { PLAIN_FRONTIER } from '../../../test/support/plain-frontier.ts'

describeFrontier('embedded, in memory', (options, clock) => createMemoryDatabase().open(options, { clock }))

describe('a database in memory', () => {
  const options: FrontierOptions = {
    ...PLAIN_FRONTIER,
    policyOf: () => ({ delayMs: 1_000, concurrency: 1 }),
    traps: true,
  }
  const begin = async (database: MemoryDatabase, clock: Clock): Promise<Frontier> => {
    const frontier = database.open(options, { clock, rng: createRng(1) })
    await frontier.add([page('https://a.test/1')])
    const [lease] = (await frontier.lease({ worker: 'w', want: 1 })).leases as [Lease]
    const task = lease.tasks[0] as Task
    const robots = allowAll(task, clock.now())
    await frontier.settle([{ lease, task, outcome: { kind: 'done' }, answeredAt: clock.now(), robots }])
    return frontier
  }
  const leases = async (frontier: Frontier): Promise<readonly Lease[]> =>
    (await frontier.lease({ worker: 'w', want: 9 })).leases

  test('outlives a frontier that is killed: what was leased is queued, every host waits its delay once', async () => {
    const clock = createVirtualClock()
    const database = createMemoryDatabase()
    const first = await begin(database, clock)
    await clock.advance(1_000)
    expect(await leases(first)).toHaveLength(1)
    const second = database.open(options, { clock })
    await expect(first.stats()).rejects.toThrow('killed')
    expect(await second.stats()).toMatchObject({ discovered: 1, queued: 1, leased: 0, requests: { robots: 1 } })
    await clock.advance(999)
    expect(await leases(second)).toEqual([])
    await clock.advance(1)
    expect((await leases(second))[0]?.tasks).toMatchObject([{ kind: 'page' }])
    database.close()
  })

  test('rolls back what a kill interrupts', async () => {
    const clock = createVirtualClock()
    const database = createMemoryDatabase()
    const first = await begin(database, clock)
    await clock.advance(1_000)
    const [lease] = (await leases(first)) as [Lease]
    let second: Frontier | undefined
    const output = {
      append() {
        second = database.open(options, { clock })
        return { 'pages.jsonl': 1 }
      },
    }
    const settlement = { lease, task: lease.tasks[0] as Task, outcome: { kind: 'done' as const } }
    await expect(first.settle([settlement], output)).rejects.toThrow()
    expect(await second?.stats()).toMatchObject({ discovered: 1, queued: 1, done: 0, output: {} })
    await clock.advance(1_000)
    expect((await leases(second as Frontier))[0]?.tasks).toMatchObject([{ url: 'https://a.test/1' }])
    const third = database.open(options, { clock })
    expect(await third.stats()).toMatchObject({ discovered: 1, queued: 1, done: 0, output: {} })
    database.close()
  })

  test('closed in order, needs no wait when it is opened again but for the grain of the clock', async () => {
    const clock = createVirtualClock()
    const database = createMemoryDatabase()
    const first = await begin(database, clock)
    await clock.advance(1_000)
    await first.close()
    const second = database.open(options, { clock })
    expect(await leases(second)).toHaveLength(0)
    await clock.advance(2)
    expect(await leases(second)).toHaveLength(1)
    database.close()
  })

  test('goes by the time that the wall clock shows, when the last run’s steady clock had fallen behind it', async () => {
    const steady = createVirtualClock()
    const database = createMemoryDatabase()
    // The machine slept for an hour: its steady clock stood still, and a new process begins at the wall clock.
    const slept = { ...steady, wall: () => steady.now() + 3_600_000 }
    const first = await begin(database, slept)
    await steady.advance(400)
    await first.close()
    const woken = createVirtualClock(steady.now() + 3_600_000)
    const second = database.open(options, { clock: woken })
    await woken.advance(601)
    expect(await leases(second)).toHaveLength(0)
    await woken.advance(1)
    expect(await leases(second)).toHaveLength(1)
    database.close()
  })
})
