/**
 * The checkers are worth something only if they can fail: each test breaks one part on purpose and expects some seed of
 * a small range to notice.
 */
import { expect, test } from 'vitest'
import type { Frontier, Lease, Settlement } from '../../src/frontier/index.ts'
import { runSeed, scenarioOf, type Aspect, type Sabotage } from '../../src/sim/index.ts'

const RANGE = 120

/** The laws that seeds saw broken, until one of `laws` is among them. */
async function noticedBy(sabotage: () => Sabotage, laws: readonly string[], aspects?: Aspect[]): Promise<string> {
  const seen = new Set<string>()
  for (let seed = 1; seed <= RANGE; seed++) {
    if (aspects !== undefined && !aspects.includes(scenarioOf(seed).aspect)) continue
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

/** Records of pages that were fetched again are written twice. */
const doubled = (accepted: readonly Settlement[]): Settlement[] =>
  accepted.flatMap((settlement) =>
    (settlement.record as { kind: string } | undefined)?.kind === 'revisit' ? [settlement, settlement] : [settlement],
  )

/** Every tenth answer is handed to the archive so often. */
const archiving = (times: 0 | 2): Sabotage => {
  let count = 0
  const changed = (settlement: Settlement): Settlement[] => {
    const record = settlement.record as { readonly exchange?: unknown } | undefined
    if (record?.exchange === undefined || ++count % 10 !== 0) return [settlement]
    const { exchange, ...rest } = record
    if (times === 2) return [settlement, { ...settlement, record: { kind: 'exchange', exchange } }]
    const { record: _record, ...bare } = settlement
    return ['kind' in rest && rest.kind === 'exchange' ? bare : { ...settlement, record: rest }]
  }
  return {
    frontier: (frontier) => ({
      ...frontier,
      settle: (settlements, output) =>
        frontier.settle(
          settlements,
          output && { ...output, append: (accepted) => output.append(accepted.flatMap(changed)) },
        ),
    }),
  }
}

/** A disk that does not do this with files of this name. */
const idle = (name: string, verb: 'truncate' | 'sync'): Sabotage => ({
  disk: (disk) => ({
    ...disk,
    openGrowing(path) {
      const file = disk.openGrowing(path)
      return path.endsWith(name) ? { ...file, [verb]() {} } : file
    },
  }),
})

const BREAKAGES: readonly [name: string, laws: readonly string[], sabotage: () => Sabotage, aspects?: Aspect[]][] = [
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
                ...output,
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
  [
    'quotas that are not kept are seen',
    ['quota'],
    () => ({ options: (options) => ({ ...options, quotas: { high: 0.01, medium: 0.1, low: 0.89 } }) }),
    ['tiers'],
  ],
  [
    'a host that is due and kept from a worker is seen',
    ['idle'],
    () => ({
      frontier: (frontier) => ({ ...frontier, lease: (request) => frontier.lease({ ...request, want: 1 }) }),
    }),
    ['tiers'],
  ],
  [
    'pages that go by the order in which they were found, whatever they are worth, are seen',
    ['order'],
    () => ({
      options: (options) => ({
        ...options,
        score: { ...options.score, weights: { importance: 0, change: 0, age: 0, depth: 0 } },
      }),
    }),
  ],
  [
    'one page beyond the budget of its host is seen',
    ['budget'],
    () => ({
      options: ({ maxPagesPerHost, ...options }) => ({
        ...options,
        maxPagesPerHost: maxPagesPerHost === undefined ? undefined : maxPagesPerHost + 1,
      }),
    }),
    ['budget'],
  ],
  [
    'one page beyond the limit is seen',
    ['limit'],
    () => ({
      options: ({ maxPages, ...options }) => ({
        ...options,
        maxPages: maxPages === undefined ? undefined : maxPages + 1,
      }),
    }),
  ],
  [
    'pages that come back too soon are seen',
    ['revisit', 'conservation'],
    () => ({
      options: (options) => {
        const tooSoon = { averageMs: 20_000, leastMs: 10_000, mostMs: 40_000 }
        return {
          ...options,
          recrawl: { ...options.recrawl, intervals: { high: tooSoon, medium: tooSoon, low: tooSoon } },
        }
      },
    }),
    ['recrawl'],
  ],
  [
    'pages that do not come back are missed',
    ['revisit'],
    () => ({ options: (options) => ({ ...options, recrawl: { ...options.recrawl, mode: 'off' } }) }),
    ['once'],
  ],
  [
    'a revisit that is recorded twice is seen',
    ['records'],
    () => ({
      frontier: (frontier) => ({
        ...frontier,
        settle: (settlements, output) =>
          frontier.settle(settlements, output && { ...output, append: (accepted) => output.append(doubled(accepted)) }),
      }),
    }),
    ['recrawl', 'once'],
  ],
  [
    'what the next visit should know is missed when it is forgotten',
    ['revisit'],
    () =>
      leasing((lease) => ({
        ...lease,
        tasks: lease.tasks.map((task) =>
          task.last === undefined ? task : { ...task, last: { ...task.last, hash: null, etag: null } },
        ),
      })),
    ['recrawl', 'once'],
  ],
  ['an answer that is not archived is missed', ['archive'], () => archiving(0)],
  ['an answer that is archived twice is seen', ['archive'], () => archiving(2)],
  ['an archive that is not cut after a crash is seen', ['archive'], () => idle('.warc.gz', 'truncate')],
  ['an index that is not cut after a crash is seen', ['archive'], () => idle('.cdxj', 'truncate')],
  ['an archive that is not on the disk is missed', ['archive', 'termination'], () => idle('.warc.gz', 'sync')],
  [
    'a file that was begun and never committed is seen when it stays',
    ['archive'],
    () => ({ disk: (disk) => ({ ...disk, remove() {} }) }),
  ],
  [
    'a trap that nobody notices is seen',
    ['trap'],
    () => ({ options: (options) => ({ ...options, traps: false }) }),
    ['trap'],
  ],
]

test.each(BREAKAGES)('%s', { timeout: 120_000 }, async (_name, laws, sabotage, aspects) => {
  expect(laws).toContain(await noticedBy(sabotage, laws, aspects))
})
