/**
 * A settled URL, made from its record: the servers of a fleet have nothing of it but its fingerprint. What a record does
 * not say, as why a page was put into its tier, is as if nothing special had been the case.
 */
import { emptyRecrawlState, planVisit, type CarriedUrl, type RecrawlOptions } from '../../frontier/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import type { MergedRecord } from './merged-records.ts'

/** Of a page of which nothing else is known. */
const USUAL_WEIGHT = 0.5

export interface CarryingRules {
  readonly recrawl: RecrawlOptions
  readonly delayMs: number
}

export function carriedRecord(merged: MergedRecord, rules: CarryingRules): CarriedUrl {
  const { kind, record, visits } = merged
  const at = Date.parse(
    kind === 'page' ? record.fetchedAt : kind === 'revisit' ? (record.fetchedAt ?? record.checkedAt) : record.at,
  )
  const isEnd = kind === 'skip' || kind === 'fail' || (kind === 'revisit' && record.retired === true)
  const common = {
    kind: 'page' as const,
    url: record.url as NormalizedUrl,
    redirects: 0,
    nesting: 0,
    slot: 'auto' as const,
    rank: 0,
    depth: record.depth,
    foundAt: at,
    at,
    referrers: 1,
    children: [],
    via: 'via' in record ? record.via : 'link',
    referrer: ('referrer' in record ? record.referrer : null) as NormalizedUrl | null,
    attempts: 'attempts' in record ? record.attempts : 1,
  }
  if (kind === 'skip')
    return {
      ...common,
      attempts: record.status === undefined ? 0 : 1,
      state: 'skipped',
      reason: record.reason,
      visit: null,
    }
  if (kind === 'fail') return { ...common, state: 'failed', reason: record.error, visit: null }
  const visit = visitOf(merged, at, rules)
  return {
    ...common,
    state: isEnd ? 'skipped' : 'done',
    reason: isEnd ? 'gone' : null,
    visit: { ...visit, visits, ...(isEnd ? { dueAt: null } : {}) },
  }
}

/** What would be kept of a page that was had then for the first time. The fleet's own plan goes before it, if it has one. */
function visitOf(
  { kind, record }: Extract<MergedRecord, { kind: 'page' | 'revisit' }>,
  at: number,
  { recrawl, delayMs }: CarryingRules,
): NonNullable<CarriedUrl['visit']> {
  const isPage = kind === 'page'
  const { id: _id, ...visit } = planVisit({
    id: 0,
    before: undefined,
    visit: {
      change: 'new',
      hash: isPage ? record.contentHash : null,
      etag: isPage ? (record.etag ?? null) : null,
      lastModified: isPage ? (record.lastModified ?? null) : null,
    },
    now: at,
    interval: recrawl.intervals[record.tier],
    hostShare: recrawl.hostShare,
    state: emptyRecrawlState(),
    host: { changePages: 0, changeRate: 0, revisitRate: 0 },
    delayMs,
    weight: USUAL_WEIGHT,
  })
  return visit
}
