/** A primary of a real cluster dies while several workers are at it; what they did is compared with what was promised. */
import { afterAll, expect, test } from 'vitest'
import { allowAll, conserved, page } from '../../../test/conformance/harness.ts'
import { startCluster, type RedisCluster } from '../../../test/support/redis/cluster.ts'
import { createSystemClock } from '../../base/index.ts'
import type { Lease } from '../contract.ts'
import { createFrontier } from '../index.ts'
import type { FleetFrontier } from './frontier.ts'
import { hashSlot } from './hash-slot.ts'

let cluster: RedisCluster | undefined
afterAll(() => cluster?.close())

const DELAY_MS = 100
const LEASE_MS = 1_000
const HOSTS = 24
const PAGES = 6
const WORKERS = 3
/** Long enough for the failover, the quiet time and the rest of the crawl. */
const DEADLINE_MS = 60_000

interface Request {
  readonly host: string
  readonly url: string
  readonly startedAt: number
  readonly answeredAt: number
}

test('no host is asked early, and every URL ends once', { timeout: 120_000 }, async () => {
  cluster = await startCluster({ masters: 3, replicas: 3, nodeTimeoutMs: 1_000 })
  const clock = createSystemClock()
  const { url: store } = cluster
  const open = (worker: string): FleetFrontier =>
    createFrontier({
      store,
      crawl: 'failover',
      worker,
      clock,
      leaseMs: LEASE_MS,
      policyOf: () => ({ delayMs: DELAY_MS, concurrency: 1 }),
    }) as FleetFrontier
  const workers = Array.from({ length: WORKERS }, (_, index) => open(`w${index}`))
  const [first] = workers as [FleetFrontier]
  await first.add(
    Array.from({ length: HOSTS * PAGES }, (_, index) => page(`https://h${index % HOSTS}.test/${index}`, 1)),
  )
  const requests: Request[] = []
  const settled: string[] = []
  const deadline = clock.now() + DEADLINE_MS

  const ask = async (frontier: FleetFrontier, askedAt: number, lease: Lease): Promise<void> => {
    for (const task of lease.tasks) {
      // A lease is used for as long as it lasts, counted from before it was asked for.
      const startedAt = clock.now()
      if (startedAt >= askedAt + LEASE_MS - 200) return
      await clock.sleepUntil(startedAt + 10)
      const answeredAt = clock.now()
      requests.push({ host: lease.host, url: task.url, startedAt, answeredAt })
      const robots = task.kind === 'robots' ? { robots: allowAll(task, answeredAt) } : {}
      const found = task.kind === 'page' && task.depth === 1 ? { found: [page(`${task.url}/more`, 2)] } : {}
      const { results } = await frontier.settle([
        { lease, task, outcome: { kind: 'done' }, answeredAt, ...robots, ...found },
      ])
      if (results[0] === 'settled' && task.kind === 'page') settled.push(task.url)
    }
  }
  const work = async (frontier: FleetFrontier, worker: string): Promise<string> => {
    while (clock.now() < deadline) {
      const askedAt = clock.now()
      const { leases, state } = await frontier.lease({ worker, want: 4 })
      if (state !== 'open') return state
      await Promise.all(leases.map((lease) => ask(frontier, askedAt, lease)))
      if (leases.length === 0) await clock.sleepUntil(clock.now() + 20)
    }
    return 'late'
  }
  const running = workers.map((frontier, index) => work(frontier, `w${index}`))
  while (settled.length < 40) await clock.sleepUntil(clock.now() + 10)
  const primary = await cluster.primaryOf(hashSlot('{failover:0}'))
  await primary.kill()
  expect(await Promise.all(running)).toEqual(workers.map(() => 'finished'))

  const stats = await first.stats()
  expect(conserved(stats)).toBe(true)
  expect(stats).toMatchObject({ done: 2 * HOSTS * PAGES, queued: 0, leased: 0 })
  expect(new Set(settled).size).toBe(2 * HOSTS * PAGES)
  const early = [...Map.groupBy(requests, ({ host }) => host).values()].flatMap((all) => {
    const inOrder = all.toSorted((a, b) => a.startedAt - b.startedAt)
    return inOrder.slice(1).filter((request, index) => request.startedAt < (inOrder[index]?.answeredAt ?? 0) + DELAY_MS)
  })
  expect(early).toEqual([])
  await Promise.all(workers.map((frontier) => frontier.close()))
})
