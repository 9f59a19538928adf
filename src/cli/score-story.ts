/**
 * Why a URL has its tier and its place in the queue: the rule or the score of its host, and the parts of its own score
 * with what each is made from. The arithmetic is the frontier's own; here it is put into words.
 */
import { formatDuration } from '../base/index.ts'
import { scoreOptionsOf, type Settings, type TierRule } from '../config/index.ts'
import {
  hostImportance,
  hostScore,
  scoreOf,
  scoreParts,
  type HostView,
  type ScoreParts,
  type UrlView,
  type VisitRow,
} from '../frontier/index.ts'
import type { NormalizedUrl, Tier } from '../model/index.ts'
import { compilePattern } from '../url/index.ts'
import { countOf } from './count-words.ts'
import type { CrawlView } from './crawl-view.ts'

export interface TierStory {
  readonly tier: Tier
  /** `rule`: by a pattern of the configuration, or whoever found it. `host`: by the score of its host. */
  readonly by: 'rule' | 'host'
  /** The pattern; null when the configuration has none for it any more. */
  readonly rule?: string | null
  /** Of its host, and from where on tiers begin. */
  readonly hostScore?: number
  readonly highFrom?: number
  readonly lowBelow?: number
}

export interface ScoreStory {
  readonly score: number
  /** Each from 0 to 1. */
  readonly parts: ScoreParts
  readonly weights: ScoreParts
  readonly inputs: {
    /** From 0 to 1; 0.5 is average. */
    readonly hostImportance: number
    readonly referrers: number
    /** As it is believed to change; null before that is known. */
    readonly changeIntervalMs: number | null
    readonly waitingMs: number
    readonly depth: number
  }
}

export function tierStory(row: UrlView, host: HostView, { settings, inspector }: CrawlView): TierStory {
  if (row.slot !== 'auto') {
    return { tier: row.slot, by: 'rule', rule: ruleFor(row.url, settings.tiers, row.slot) }
  }
  const score = scoreOptionsOf(settings)
  return {
    tier: host.tier,
    by: 'host',
    hostScore: hostScore(host, inspector.counters(), score),
    highFrom: score.tiers.high,
    lowBelow: score.tiers.low,
  }
}

/** The first rule decides. One that says otherwise was not there when the URL was found. */
function ruleFor(url: NormalizedUrl, rules: readonly TierRule[], tier: Tier): string | null {
  const rule = rules.find(({ match }) => compilePattern(match).matches(url))
  return rule?.tier === tier ? rule.match : null
}

export function scoreStory(
  row: UrlView,
  host: HostView,
  visit: VisitRow | undefined,
  { settings, inspector }: { readonly settings: Settings; readonly inspector: CrawlView['inspector'] },
  now: number,
): ScoreStory {
  const options = scoreOptionsOf(settings)
  const since = visit?.checkedAt ?? row.foundAt
  const changeRate = visit === undefined ? undefined : visit.changeShape / visit.changeTimeMs
  const importance = hostImportance(host, inspector.counters())
  const { depth, referrers } = row
  const parts = scoreParts({ depth, referrers, changeRate, since, hostImportance: importance }, now, options)
  return {
    score: scoreOf(parts, options),
    parts,
    weights: options.weights,
    inputs: {
      hostImportance: importance,
      referrers,
      changeIntervalMs: changeRate === undefined ? null : 1 / changeRate,
      waitingMs: Math.max(0, now - since),
      depth,
    },
  }
}

export function tierWords({ tier, by, rule, hostScore = 0, highFrom = 0, lowBelow = 0 }: TierStory): string {
  if (by === 'host') {
    return `${tier}, by the score of its host: ${hundredths(hostScore)} (high from ${highFrom}, low below ${lowBelow})`
  }
  return rule == null ? `${tier}, as it was found with` : `${tier}, by the rule ${rule}`
}

/** The sum, and a line for each part of it. */
export function scoreLines({ score, parts, weights, inputs }: ScoreStory, ageMs: number): string[] {
  const names = Object.keys(parts) as (keyof ScoreParts)[]
  const sum = names.map((name) => `${hundredths(weights[name])} × ${name}`).join(' + ')
  const change =
    inputs.changeIntervalMs === null
      ? 'nothing is known of it yet'
      : `believed to change every ${formatDuration(inputs.changeIntervalMs)}`
  const because: Record<keyof ScoreParts, string> = {
    importance: `its host ${hundredths(inputs.hostImportance)} (0.5 is average), named ${countOf(inputs.referrers, 'time')}`,
    change,
    age: `waiting for ${formatDuration(inputs.waitingMs)} of ${formatDuration(ageMs)}`,
    depth: `${countOf(inputs.depth, 'link')} from a seed`,
  }
  return [
    `${thousandths(score)} = ${sum}`,
    ...names.map((name) => `${name} ${hundredths(parts[name])}: ${because[name]}`),
  ]
}

const hundredths = (value: number): string => String(Math.round(value * 100) / 100)
const thousandths = (value: number): string => value.toFixed(3)
