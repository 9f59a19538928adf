/** What a frontier does when it is not told otherwise. */
import type { RecrawlOptions, ScoreOptions } from './contract.ts'

/** The pace of a host when nothing else is said: one request at a time, a second apart. */
export const DEFAULT_POLICY = { delayMs: 1_000, concurrency: 1 }
/** Longer than the longest request (60 s in all) with time to spare for what follows it. */
export const DEFAULT_LEASE_MS = 120_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const DEFAULT_QUOTAS = { high: 0.4, medium: 0.4, low: 0.2 } as const
export const DEFAULT_SCORE: ScoreOptions = {
  weights: { importance: 0.4, change: 0.3, age: 0.2, depth: 0.1 },
  ageMs: 7 * DAY_MS,
  tiers: { high: 0.6, low: 0.3 },
}
export const DEFAULT_RECRAWL: RecrawlOptions = {
  mode: 'off',
  intervals: {
    high: { averageMs: HOUR_MS, leastMs: 150_000, mostMs: DAY_MS },
    medium: { averageMs: DAY_MS, leastMs: HOUR_MS, mostMs: 24 * DAY_MS },
    low: { averageMs: 7 * DAY_MS, leastMs: 7 * HOUR_MS, mostMs: 168 * DAY_MS },
  },
  hostShare: 0.5,
}
export const DEFAULT_BLOOM = { capacity: 100_000_000, falsePositiveRate: 0.01 }
