/** A frontier on a server, as the benchmarks of the home on Redis have it, and the outcome of a task that went well. */
import { createRng, type Clock } from '../../src/base/index.ts'
import type { Lease, Settlement } from '../../src/frontier/index.ts'
import { connectRedis } from '../../src/frontier/redis/connection.ts'
import { createRedisFrontier, type FleetFrontier } from '../../src/frontier/redis/frontier.ts'
import type { RedisLink } from '../../src/frontier/redis/link.ts'
import type { Task } from '../../src/model/index.ts'
import { allowAll, PLAIN_FRONTIER } from '../../test/support/plain-frontier.ts'

export interface BenchFrontier {
  readonly frontier: FleetFrontier
  close(): Promise<void>
}

/** As a process of its own would: what is settled by one of them waits for nothing but what it settled before. */
export function openOnServer(
  url: string,
  given: { readonly worker: string; readonly partitions: number; readonly delayMs: number; readonly crawl?: string },
  clock: Clock,
  /** What stands between the frontier and the server. */
  through: (link: RedisLink) => RedisLink = (link) => link,
): BenchFrontier {
  const { worker, partitions, delayMs, crawl = 'bench' } = given
  const link = connectRedis(url, { clock, rng: createRng(1) })
  const policyOf = () => ({ delayMs, concurrency: 1 })
  const options = { ...PLAIN_FRONTIER, policyOf, worker, crawl, partitions, stream: false, isTimeTold: false }
  const frontier = createRedisFrontier(options, { link: through(link), clock })
  return {
    frontier,
    async close() {
      await frontier.close()
      await link.close()
    },
  }
}

export function settledAsDone(lease: Lease, task: Task, clock: Clock): Settlement {
  const now = clock.now()
  const done = { lease, task, outcome: { kind: 'done' }, answeredAt: now } as const
  if (task.kind !== 'robots') return done
  return { ...done, robots: allowAll(task, now), host: { health: { ...lease.health, streak: 1 } } }
}
