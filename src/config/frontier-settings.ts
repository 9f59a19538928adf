/**
 * What the settings mean to the frontier: shares instead of percentages, weights that make one, and for each tier how
 * often and within which bounds its pages are fetched again. Pure; whoever opens a frontier or explains one uses it.
 */
import type { FrontierOptions, RecrawlOptions, ScoreOptions } from '../frontier/index.ts'
import type { Settings } from './settings.ts'

/** Unless bounds are given, pages are visited up to so many times as often as their tier's average, or as seldom. */
const SPREAD = 24
/** And no sooner than this, unless the average itself is sooner. */
const LEAST_MS = 60_000

export function quotasOf(settings: Settings): FrontierOptions['quotas'] {
  return {
    high: settings.highPriorityQuotaPercent / 100,
    medium: settings.mediumPriorityQuotaPercent / 100,
    low: settings.lowPriorityQuotaPercent / 100,
  }
}

/** The weights make 1 together, so that a score is from 0 to 1 whatever was written. */
export function scoreOptionsOf(settings: Settings): ScoreOptions {
  const { scoreImportance: importance, scoreChange: change, scoreAge: age, scoreDepth: depth } = settings
  const total = importance + change + age + depth
  return {
    weights: { importance: importance / total, change: change / total, age: age / total, depth: depth / total },
    ageMs: settings.scoreAgeHorizonMs,
    tiers: { high: settings.highScore, low: settings.lowScore },
  }
}

export function recrawlOptionsOf(settings: Settings, mode: RecrawlOptions['mode']): RecrawlOptions {
  const intervals = (averageMs: number): RecrawlOptions['intervals']['high'] => {
    const leastMs = settings.recrawlShortestMs ?? Math.min(averageMs, Math.max(averageMs / SPREAD, LEAST_MS))
    const mostMs = settings.recrawlLongestMs ?? averageMs * SPREAD
    // A bound that is given holds for every tier, also for one whose average lies beyond it.
    const least = Math.min(leastMs, settings.recrawlLongestMs ?? Infinity)
    const most = Math.max(mostMs, settings.recrawlShortestMs ?? 0)
    return { averageMs: Math.min(Math.max(averageMs, least), most), leastMs: least, mostMs: most }
  }
  return {
    mode,
    intervals: {
      high: intervals(settings.recrawlHighMs),
      medium: intervals(settings.recrawlMediumMs),
      low: intervals(settings.recrawlLowMs),
    },
    hostShare: settings.recrawlHostSharePercent / 100,
  }
}
