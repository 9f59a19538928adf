/**
 * Copies of rows, so that nobody holds on to one that is stored. Each is written out field by field: a spread makes
 * objects of twice the size, and there are millions of them.
 */
import type { LaneRow, RobotsSummary, UrlRow } from '../storage.ts'

export function copyUrl(row: Omit<UrlRow, 'id'>, id: number): UrlRow {
  return {
    id,
    kind: row.kind,
    url: row.url,
    lane: row.lane,
    via: row.via,
    referrer: row.referrer,
    redirects: row.redirects,
    nesting: row.nesting,
    foundAt: row.foundAt,
    slot: row.slot,
    depth: row.depth,
    state: row.state,
    rank: row.rank,
    attempts: row.attempts,
    reason: row.reason,
    at: row.at,
  }
}

export function copyLane(row: LaneRow, robots: RobotsSummary | undefined): LaneRow {
  return {
    id: row.id,
    origin: row.origin,
    queued: { ...row.queued },
    robots,
    robotsNotBefore: row.robotsNotBefore,
    robotsAttempts: row.robotsAttempts,
    robotsMoved: row.robotsMoved,
  }
}
