/** A frontier with no rule beyond the pace of its hosts, and a robots.txt that forbids nothing: for tests and benchmarks. */
import { DEFAULT_QUOTAS, DEFAULT_RECRAWL, DEFAULT_SCORE } from '../../src/frontier/defaults.ts'
import type { FrontierOptions } from '../../src/frontier/index.ts'
import type { RobotsRecord, Task } from '../../src/model/index.ts'

const DAY_MS = 86_400_000

export const PLAIN_FRONTIER: Omit<FrontierOptions, 'policyOf'> = {
  crawlDelayMs: (askedMs) => askedMs,
  latency: { factor: 0, maxDelayMs: 0 },
  groups: { domainDelayMs: 0, addressDelayMs: 0 },
  maxPages: undefined,
  maxDepth: undefined,
  maxPagesPerHost: undefined,
  leaseMs: 60_000,
  quotas: DEFAULT_QUOTAS,
  score: DEFAULT_SCORE,
  recrawl: DEFAULT_RECRAWL,
  traps: false,
}

export function allowAll(task: Task, now: number, more: Partial<RobotsRecord> = {}): RobotsRecord {
  return {
    origin: task.origin,
    state: 'allow-all',
    refusal: null,
    status: 404,
    detail: 'HTTP 404',
    fetchedAt: now,
    version: 'none',
    staleSince: null,
    expiresAt: now + DAY_MS,
    body: '',
    crawlDelayMs: 0,
    ...more,
  }
}
