/**
 * Rows of the frontier as values of columns, and back. Values come and go as lists, in the order of the columns in the
 * statement beside them: rows as objects would take twice as long to read.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { TIERS, type HostKey, type NormalizedUrl, type Origin } from '../../model/index.ts'
import {
  SLOTS,
  summaryOf,
  type Errand,
  type HostRow,
  type LaneRow,
  type RobotsSummary,
  type UrlRow,
  type UrlState,
  type VisitRow,
} from '../storage.ts'

export const KINDS = ['page', 'sitemap'] as const
export const VIAS = ['seed', 'link', 'sitemap', 'redirect', 'canonical'] as const
export const STATES = ['queued', 'waiting', 'held', 'done', 'failed', 'skipped', 'aside'] as const

export type Value = string | number | null
export type Values = readonly Value[]

/** JSON has no infinity: [1] and [-1] stand for it. */
type Cell = Value | readonly [1 | -1]
const toCell = (value: Value): Cell => (value === Infinity ? [1] : value === -Infinity ? [-1] : value)
const toValue = (cell: Cell): Value =>
  cell !== null && typeof cell === 'object' ? cell[0] * Infinity : (cell satisfies Value)

/** In place: of thousands of values hardly one is infinite. */
function toCells(values: Value[]): Cell[] {
  const cells: Cell[] = values
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value === Infinity || value === -Infinity) cells[index] = toCell(value)
  }
  return cells
}

const packList = (values: Value[]): string => JSON.stringify(toCells(values))
const unpackList = (text: string): Value[] => (JSON.parse(text) as Cell[]).map(toValue)

/** A statement that answers with lists of values. */
export function prepareList(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

/** What of a URL changes, and what it takes to find it in its order. */
export type UrlChange = Pick<UrlRow, 'id' | 'lane' | 'slot' | 'depth' | 'state' | 'rank' | 'attempts' | 'reason' | 'at'>
/** What of a lane changes. */
export type LaneChange = Omit<LaneRow, 'origin' | 'robots'>

/** Where a URL's row stands: in which order, and at which place. */
export type Place = Pick<UrlRow, 'lane' | 'slot' | 'rank' | 'state' | 'at'>

export const INSERT_URL = 'INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
export const urlValues = (id: number, row: Omit<UrlRow, 'id'>): Value[] => [
  id,
  row.url,
  row.lane,
  KINDS.indexOf(row.kind),
  VIAS.indexOf(row.via),
  row.referrer,
  row.redirects,
  row.nesting,
  row.foundAt,
  SLOTS.indexOf(row.slot),
  row.depth,
  STATES.indexOf(row.state),
  row.rank,
]

/** Whether a row is all in `url`, with nothing that only `state` has. */
export const isPlain = (row: Omit<UrlRow, 'id'>): boolean =>
  (row.state === 'queued' || row.state === 'held') && row.attempts === 0 && row.reason === null && row.at === 0

/** All of a URL but its visit, and whether it has one: what `state` has goes before what `url` has. */
const URL_COLUMNS = `url.id, url.url, url.lane, url.kind, url.via, url.referrer, url.redirects, url.nesting, url.found_at,
    coalesce(state.slot, url.slot), coalesce(state.depth, url.depth), coalesce(state.state, url.state),
    coalesce(state.rank, url.rank), coalesce(attempts, 0), reason, coalesce(at, 0), visit IS NULL`
const URL_TABLES = 'url LEFT JOIN state ON state.id = url.id'
const WITH_REFERRER = 'LEFT JOIN url AS parent ON parent.id = url.referrer'
export const URL_BY_ID = `SELECT ${URL_COLUMNS} FROM ${URL_TABLES} WHERE url.id = ?`
/** And with the text of its referrer behind it. */
export const URL_WITH_REFERRER = `SELECT ${URL_COLUMNS}, parent.url FROM ${URL_TABLES} ${WITH_REFERRER} WHERE url.id = ?`

/** The same of a URL that `state` has no row of, with nothing looked for there. */
const PLAIN_COLUMNS = `url.id, url.url, url.lane, url.kind, url.via, url.referrer, url.redirects, url.nesting,
    url.found_at, url.slot, url.depth, url.state, url.rank, 0, NULL, 0, 1`
export const PLAIN_URL_BY_ID = `SELECT ${PLAIN_COLUMNS} FROM url WHERE id = ?`
export const PLAIN_URL_WITH_REFERRER = `SELECT ${PLAIN_COLUMNS}, parent.url FROM url ${WITH_REFERRER} WHERE url.id = ?`

/** Of these. */
export function urlRow(values: Values): UrlRow {
  return {
    id: values[0] as number,
    kind: KINDS[values[3] as number] as UrlRow['kind'],
    url: values[1] as NormalizedUrl,
    lane: values[2] as number,
    via: VIAS[values[4] as number] as UrlRow['via'],
    referrer: values[5] as number,
    redirects: values[6] as number,
    nesting: values[7] as number,
    foundAt: values[8] as number,
    slot: SLOTS[values[9] as number] as UrlRow['slot'],
    depth: values[10] as number,
    state: STATES[values[11] as number] as UrlState,
    rank: values[12] as number,
    attempts: values[13] as number,
    reason: values[14] as string | null,
    at: values[15] as number,
  }
}

/** Of the same: whether the tables have no visit of it. */
export const isUnvisited = (values: Values): boolean => values[16] === 1

/** Of those with it; undefined when it has none. */
export const referrerOf = (values: Values): { readonly id: number; readonly text: NormalizedUrl } | undefined =>
  values[17] == null ? undefined : { id: values[5] as number, text: values[17] as NormalizedUrl }

/** The row with what changed laid over it; a copy in any case. Written out, since a spread takes twice the room. */
export function copyUrl(row: UrlRow, change: UrlChange): UrlRow {
  return {
    id: row.id,
    kind: row.kind,
    url: row.url,
    lane: row.lane,
    via: row.via,
    referrer: row.referrer,
    redirects: row.redirects,
    nesting: row.nesting,
    foundAt: row.foundAt,
    slot: change.slot,
    depth: change.depth,
    state: change.state,
    rank: change.rank,
    attempts: change.attempts,
    reason: change.reason,
    at: change.at,
  }
}

/** What of a URL changed, and where it stood before. */
export const changedUrl = (row: UrlRow, before: Place | undefined): UrlChange & { readonly before: typeof before } => ({
  id: row.id,
  lane: row.lane,
  slot: row.slot,
  depth: row.depth,
  state: row.state,
  rank: row.rank,
  attempts: row.attempts,
  reason: row.reason,
  at: row.at,
  before,
})

export const placeIn = ({ lane, slot, rank, state, at }: Place): Place => ({ lane, slot, rank, state, at })

/** The two parts of `state`. */
export const CHANGE_COLUMNS = ['slot', 'depth', 'state', 'rank', 'attempts', 'reason', 'at'] as const
export const VISIT_COLUMNS = ['due_at', 'visit'] as const

const upsert = (...columns: string[]): string =>
  `INSERT INTO state (id, ${columns.join()}) VALUES (?${', ?'.repeat(columns.length)})
   ON CONFLICT DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join()}`
export const SAVE_CHANGE = upsert(...CHANGE_COLUMNS)
export const SAVE_VISIT = upsert(...VISIT_COLUMNS)
export const SAVE_BOTH = upsert(...CHANGE_COLUMNS, ...VISIT_COLUMNS)

export const changeValues = (change: UrlChange): Value[] => [
  SLOTS.indexOf(change.slot),
  change.depth,
  STATES.indexOf(change.state),
  change.rank,
  change.attempts,
  change.reason,
  change.at,
]

export const VISIT_BY_ID = `SELECT id, ${VISIT_COLUMNS.join()} FROM state WHERE id = ?`

/** Times are stored less the offset, so that all of them can be moved at once. */
export const visitValues = (row: VisitRow, offsetMs: number): Value[] => [
  row.dueAt === null ? null : row.dueAt - offsetMs,
  packList([
    row.visits,
    row.changes,
    row.misses,
    row.firstAt - offsetMs,
    row.checkedAt - offsetMs,
    row.changedAt - offsetMs,
    row.changeShape,
    row.changeTimeMs,
    row.intervalMs,
    row.hash,
    row.etag,
    row.lastModified,
  ]),
]

/** Of the id and `VISIT_COLUMNS`; undefined for a URL that was never visited. */
export function visitRow([id, due, visit]: Values, offsetMs: number): VisitRow | undefined {
  if (visit == null) return undefined
  const values = unpackList(visit as string)
  return {
    id: id as number,
    visits: values[0] as number,
    changes: values[1] as number,
    misses: values[2] as number,
    firstAt: (values[3] as number) + offsetMs,
    checkedAt: (values[4] as number) + offsetMs,
    changedAt: (values[5] as number) + offsetMs,
    changeShape: values[6] as number,
    changeTimeMs: values[7] as number,
    intervalMs: values[8] as number,
    dueAt: due === null ? null : (due as number) + offsetMs,
    hash: values[9] as string | null,
    etag: values[10] as string | null,
    lastModified: values[11] as string | null,
  }
}

/** What of `host` changes. */
export const HOST_COLUMNS = [
  'due',
  'line',
  'tier',
  'pages',
  'cash',
  'credit',
  'depth',
  'change_pages',
  'change_rate',
  'revisit_rate',
  'answered_at',
  'blocked_until',
  'blocked_reason',
  'strikes',
  'streak',
  'streak_since',
  'blocked_at',
  'latency_ms',
  'address',
  'closest_ms',
] as const
export const UPDATE_HOST = `UPDATE host SET ${HOST_COLUMNS.map((name) => `${name} = ?`).join()} WHERE id = ?`
export const hostValues = (row: HostRow): Value[] => [
  row.due,
  row.order,
  TIERS.indexOf(row.tier),
  row.pages,
  row.cash,
  row.credit,
  row.depth,
  row.changePages,
  row.changeRate,
  row.revisitRate,
  row.answeredAt,
  row.blockedUntil,
  row.blockedReason,
  row.health.strikes,
  row.health.streak,
  row.health.streakSince,
  row.health.blockedAt,
  row.health.latencyMs,
  row.address,
  row.closestMs,
]

/** Of the id, the name and `HOST_COLUMNS`: all columns, as they stand in the table. */
export function hostRow(values: Values): HostRow {
  return {
    id: values[0] as number,
    key: values[1] as HostKey,
    due: values[2] as number | null,
    order: values[3] as number,
    tier: TIERS[values[4] as number] as HostRow['tier'],
    pages: values[5] as number,
    cash: values[6] as number,
    credit: values[7] as number,
    depth: values[8] as number,
    changePages: values[9] as number,
    changeRate: values[10] as number,
    revisitRate: values[11] as number,
    answeredAt: values[12] as number | null,
    blockedUntil: values[13] as number,
    blockedReason: values[14] as string | null,
    health: {
      strikes: values[15] as number,
      streak: values[16] as number,
      streakSince: values[17] as number,
      blockedAt: values[18] as number,
      latencyMs: values[19] as number,
    },
    address: values[20] as string | null,
    closestMs: values[21] as number | null,
  }
}

/** What of `lane` changes. */
export const LANE_COLUMNS = [...SLOTS, 'robots_not_before', 'robots_attempts', 'robots_moved'] as const
export const UPDATE_LANE = `UPDATE lane SET ${LANE_COLUMNS.map((name) => `${name} = ?`).join()} WHERE id = ?`
export const laneValues = (row: LaneChange): Value[] => [
  row.queued.high,
  row.queued.medium,
  row.queued.low,
  row.queued.auto,
  row.robotsNotBefore,
  row.robotsAttempts,
  row.robotsMoved ? 1 : 0,
]

/** Field by field: a spread takes more room. */
const copyCounts = ({ high, medium, low, auto }: LaneRow['queued']): LaneRow['queued'] => ({ high, medium, low, auto })

export const laneChange = (row: LaneRow): LaneChange => ({
  id: row.id,
  queued: copyCounts(row.queued),
  robotsNotBefore: row.robotsNotBefore,
  robotsAttempts: row.robotsAttempts,
  robotsMoved: row.robotsMoved,
})

/** Of the id and `LANE_COLUMNS`. */
const readLane = (values: Values): LaneChange => ({
  id: values[0] as number,
  queued: {
    high: values[1] as number,
    medium: values[2] as number,
    low: values[3] as number,
    auto: values[4] as number,
  },
  robotsNotBefore: values[5] as number,
  robotsAttempts: values[6] as number,
  robotsMoved: values[7] === 1,
})

/** Lanes of a host, each with the summary of its robots record. */
export const LANES_OF = `SELECT lane.id, ${LANE_COLUMNS.join()}, origin, summary
  FROM lane LEFT JOIN robots ON robots.lane = lane.id WHERE host = ? ORDER BY lane.id`
/** Of these; `change` is newer, if there is one. */
export function laneRow(values: Values, change: LaneChange = readLane(values)): LaneRow {
  const summary = values[9] as string | null
  const origin = values[8] as Origin
  return {
    id: change.id,
    origin,
    queued: copyCounts(change.queued),
    robots: summary === null ? undefined : summaryOf(JSON.parse(summary) as RobotsSummary, origin),
    robotsNotBefore: change.robotsNotBefore,
    robotsAttempts: change.robotsAttempts,
    robotsMoved: change.robotsMoved,
  }
}

export const ERRANDS_OF = 'SELECT id, origin, url, redirects FROM errand WHERE host = ? ORDER BY id'
export const errandRow = (values: Values): Errand => ({
  id: values[0] as number,
  origin: values[1] as Origin,
  url: values[2] as NormalizedUrl,
  redirects: values[3] as number,
})
