/**
 * The checkers are worth something only if they can fail: each test breaks one part on purpose and expects some seed of
 * a small range to notice.
 */
import { expect, test } from 'vitest'
import type { Frontier, Lease } from '../../src/frontier/index.ts'
import { runSeed, type Sabotage } from '../../src/sim/index.ts'

const RANGE = 120

/** The laws that seeds saw broken, until one of `laws` is among them. */
async function noticedBy(sabotage: () => Sabotage, laws: readonly string[]): Promise<string> {
  const seen = new Set<string>()
  for (let seed = 1; seed <= RANGE; seed++) {
    const { violation } = await runSeed(seed, sabotage())
    if (violation === undefined) continue
    if (laws.includes(violation.law)) return violation.law
    seen.add(violation.law)
  }
  return `none of ${laws.join(', ')}, only ${[...seen].join(', ')}`
}

const leasing = (change: (lease: Lease) => Lease): Sabotage => ({
  frontier: (frontier) => ({
    ...frontier,
    async lease(request) {
      const answer = await frontier.lease(request)
      return { ...answer, leases: answer.leases.map(change) }
    },
  }),
})

const BREAKAGES: readonly [name: string, laws: readonly string[], sabotage: () => Sabotage][] = [
  [
    'a delay that is dropped is seen on the host',
    ['pace', 'turn'],
    () => ({ options: (options) => ({ ...options, policyOf: (host) => ({ ...options.policyOf(host), delayMs: 0 }) }) }),
  ],
  [
    'a delay that is a millisecond short is seen on the host',
    ['pace', 'turn'],
    () => ({
      options: (options) => ({
        ...options,
        policyOf(host) {
          const policy = options.policyOf(host)
          return { ...policy, delayMs: Math.max(0, policy.delayMs - 1) }
        },
      }),
    }),
  ],
  [
    'a Crawl-delay that is ignored is seen on the host',
    ['pace', 'turn'],
    () => ({ options: (options) => ({ ...options, crawlDelayMs: () => 0 }) }),
  ],
  [
    'one request too many in flight is seen on the host',
    ['in-flight'],
    () => ({
      options: (options) => ({
        ...options,
        policyOf(host) {
          const policy = options.policyOf(host)
          return { ...policy, concurrency: policy.concurrency + 1 }
        },
      }),
    }),
  ],
  [
    'groups that are not kept are seen',
    ['pace', 'in-flight'],
    () => ({
      settings: (scenario) => ({
        ...scenario,
        settings: { ...scenario.settings, delayMs: 0, latencyFactor: 0, perDomainDelayMs: 2_000 },
      }),
      options: (options) => ({ ...options, groups: { ...options.groups, domainDelayMs: 0 } }),
    }),
  ],
  [
    'a pause that is forgotten is seen',
    ['pause', 'turn'],
    () => ({
      frontier: (frontier) => ({
        ...frontier,
        settle: (settlements, output) =>
          frontier.settle(
            settlements.map((settlement) => {
              const { host, ...rest } = settlement
              return host?.blockedUntil === undefined ? settlement : rest
            }),
            output,
          ),
      }),
    }),
  ],
  [
    'a URL that is handed out twice is seen',
    ['handed-out', 'settled', 'fence'],
    () => {
      let kept: Lease | undefined
      return leasing((lease) => {
        kept ??= lease
        return lease.fence % 5 === 0 ? { ...kept, fence: lease.fence } : lease
      })
    },
  ],
  [
    'links that are forgotten are missed',
    ['conservation', 'oracle'],
    () => ({
      frontier: (frontier) => ({
        ...frontier,
        settle: (settlements, output) =>
          frontier.settle(
            settlements.map((settlement) => {
              const { found, ...rest } = settlement
              return found === undefined ? rest : { ...rest, found: found.slice(1) }
            }),
            output,
          ),
      }),
    }),
  ],
  [
    'counters that do not add up are seen',
    ['conservation'],
    () => ({
      frontier: (frontier) => ({
        ...frontier,
        async stats() {
          const stats = await frontier.stats()
          return { ...stats, done: stats.done + (stats.done === 7 ? 1 : 0) }
        },
      }),
    }),
  ],
  [
    'a record that is written twice is seen',
    ['records'],
    () => {
      let count = 0
      return {
        frontier: (frontier) => ({
          ...frontier,
          settle: (settlements, output) =>
            frontier.settle(
              settlements,
              output && {
                append: (accepted) => output.append(count++ % 5 === 4 ? [...accepted, ...accepted] : accepted),
              },
            ),
        }),
      }
    },
  ],
  [
    'records of a step that failed are seen when they are not cut back',
    ['records', 'conservation'],
    () => ({
      disk: (disk) => ({
        ...disk,
        openGrowing: (path) => ({ ...disk.openGrowing(path), truncate() {} }),
      }),
    }),
  ],
  [
    'a lease that is used for longer than it lasts is seen',
    ['in-flight', 'pace', 'handed-out'],
    () => leasing((lease) => ({ ...lease, expiresAt: lease.expiresAt + 100_000_000 })),
  ],
  [
    'a robots.txt that is ignored is seen',
    ['robots'],
    () => ({
      frontier: (frontier): Frontier => ({
        ...frontier,
        async host(key, change) {
          const record = await frontier.host(key, change)
          return (
            record && {
              ...record,
              robots: record.robots.map((robots) => ({ ...robots, state: 'allow-all', refusal: null })),
            }
          )
        },
      }),
    }),
  ],
  [
    'seeds that are lost are missed',
    ['conservation', 'oracle', 'termination'],
    () => ({
      frontier: (frontier) => ({ ...frontier, add: (found) => frontier.add(found.slice(1)) }),
    }),
  ],
]

test.each(BREAKAGES)('%s', { timeout: 120_000 }, async (_name, laws, sabotage) => {
  expect(laws).toContain(await noticedBy(sabotage, laws))
})
