/**
 * A look into the embedded home from outside, for `status`, `why` and `audit`: read-only, also while a crawl runs,
 * one row at a time. All of it is one moment: what is committed after the inspector was opened is not seen.
 */
import { fingerprint, type FingerprintKey } from '../../base/index.ts'
import {
  TIERS,
  type HostKey,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type Tier,
  type UrlKey,
} from '../../model/index.ts'
import { rankOf } from '../intake.ts'
import { emptyCounters, type Counters, type HostRow, type LaneRow, type UrlRow, type UrlState } from '../storage.ts'
import { isLocked, openDatabaseForReading } from './database.ts'
import { hostRow, KINDS, laneRow, STATES, urlRow } from './storage.ts'

export interface UrlView extends UrlRow {
  readonly host: HostKey
  readonly origin: Origin
  readonly referrerUrl: string | null
  /** How often the URL was named. */
  readonly referrers: number
}

export interface HostView extends HostRow {
  readonly lanes: readonly LaneRow[]
}

/** Hosts by what they are doing at a given time. */
export interface HostTally {
  readonly known: number
  /** With work, and nothing to wait for. */
  readonly due: number
  /** With work, waiting for their turn. */
  readonly pausing: number
  /** With work, and to be left alone for now. */
  readonly blocked: number
  /** Without work. */
  readonly idle: number
}

/** How many rows there are of each sort, by counting them. */
export interface RowTally {
  readonly urls: readonly {
    readonly kind: UrlRow['kind']
    readonly state: UrlState
    readonly tier: Tier
    readonly reason: string | null
    readonly count: number
  }[]
  readonly highestId: number
  readonly seen: number
  readonly hosts: number
  /** Sum of what the lanes say they hold. */
  readonly laneQueued: number
  /** Entries of each waiting line, and how many of them are of a URL in that state. */
  readonly lines: Readonly<
    Record<'queued' | 'waiting' | 'held', { readonly entries: number; readonly rightful: number }>
  >
}

export interface Inspector {
  counters(): Counters
  /** Whether the last process that worked on the crawl closed it in order. */
  readonly clean: boolean
  /** Whether a process is working on the crawl at this moment. */
  isWorkedOn(): boolean
  find(kind: 'page' | 'sitemap', key: UrlKey): UrlView | undefined
  byId(id: number): UrlView | undefined
  /** All pages, in order of discovery. */
  pages(): Iterable<UrlRow>
  /** What can be said of a page without looking further. */
  place(key: UrlKey): PagePlace | undefined
  /** Counts every row; takes as long as that takes. */
  tally(): RowTally
  /** URLs of a queued URL's origin that come before it. */
  countAhead(row: UrlRow): number
  hosts(): Iterable<HostView>
  hostByKey(key: HostKey): HostView | undefined
  hostTally(now: number): HostTally
  /** Hosts with work, the one due first first. */
  nextHosts(count: number): HostView[]
  /** Origins by what their robots.txt came to: its state, or the refusal; `unread` for none yet. */
  robotsTally(): Record<string, number>
  /** Pages and sitemaps that wait for the time of their next attempt. */
  countWaiting(): number
  robots(lane: LaneRow): RobotsRecord | undefined
  close(): void
}

export interface PagePlace {
  readonly id: number
  readonly url: NormalizedUrl
  readonly state: UrlState
  readonly reason: string | null
  /** The rows of its origin's lane and of its host. */
  readonly lane: number
  readonly host: number
}

type Row = Parameters<typeof hostRow>[0]

const VIEW = `SELECT url.*, host.name AS host, lane.origin AS origin, parent.url AS referrer_url
  FROM url JOIN lane ON lane.id = url.lane JOIN host ON host.id = lane.host
  LEFT JOIN url AS parent ON parent.id = url.referrer`

export function openInspector(folder: string): Inspector {
  const db = openDatabaseForReading(folder)
  const meta = (key: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: unknown } | undefined)?.value
  // The moment is taken with the first read.
  db.exec('BEGIN')
  const key = JSON.parse((meta('fingerprint_key') as string | undefined) ?? '{"a":0,"b":0}') as FingerprintKey
  const lanesOf = db.prepare(
    'SELECT lane.*, summary FROM lane LEFT JOIN robots ON robots.lane = lane.id WHERE host = ?',
  )
  const byPrint = db.prepare(`${VIEW} JOIN seen ON seen.url = url.id WHERE fingerprint = ?`)
  const byRowId = db.prepare(`${VIEW} WHERE url.id = ?`)
  const placeOf = db.prepare(
    `SELECT url.id, url.url, state, reason, lane, host FROM seen JOIN url ON url.id = seen.url
     JOIN lane ON lane.id = url.lane WHERE fingerprint = ?`,
  )

  const view = (row: Row): HostView => {
    const host = hostRow(row)
    return { ...host, lanes: (lanesOf.all(host.id) as Row[]).map(laneRow) }
  }
  const urlView = (row: Row | undefined): UrlView | undefined =>
    row === undefined
      ? undefined
      : {
          ...urlRow(row, row['id'] as number),
          host: row['host'] as HostKey,
          origin: row['origin'] as Origin,
          referrerUrl: row['referrer_url'] as string | null,
          referrers: row['referrers'] as number,
        }
  const printOf = (kind: 'page' | 'sitemap', url: UrlKey): bigint => {
    const { hi, lo } = fingerprint(kind === 'page' ? url : `${kind} ${url}`, key, { hi: 0, lo: 0 })
    return BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo))
  }
  const number = (sql: string, ...values: number[]): number =>
    (db.prepare(sql).get(...values) as { n: number | null }).n ?? 0
  /** Entries of a waiting line beside those of URLs that belong there, by the state's place in `STATES`. */
  const line = (table: 'queue' | 'waiting' | 'held', state: number): { entries: number; rightful: number } => ({
    entries: number(`SELECT count(*) AS n FROM ${table}`),
    rightful: number(
      `SELECT count(DISTINCT line.url) AS n FROM ${table} AS line JOIN url ON url.id = line.url WHERE url.state = ${state}`,
    ),
  })

  return {
    counters: () => ({ ...emptyCounters(), ...(JSON.parse((meta('counters') as string) ?? '{}') as Counters) }),
    clean: meta('clean') === 1,
    isWorkedOn: () => isLocked(folder),
    find: (kind, url) => urlView(byPrint.get(printOf(kind, url)) as Row | undefined),
    byId: (id) => urlView(byRowId.get(id) as Row | undefined),
    *pages() {
      const rows = db.prepare('SELECT * FROM url WHERE kind = 0 ORDER BY id').iterate()
      for (const row of rows as Iterable<Row>) yield urlRow(row, row['id'] as number)
    },
    place(url) {
      const row = placeOf.get(printOf('page', url)) as (Omit<PagePlace, 'state'> & { state: number }) | undefined
      return row === undefined ? undefined : { ...row, state: STATES[row.state] as UrlState }
    },
    tally() {
      const urls = db.prepare('SELECT kind, state, tier, reason, count(*) AS n FROM url GROUP BY 1, 2, 3, 4').all()
      return {
        urls: (urls as Row[]).map((row) => ({
          kind: KINDS[row['kind'] as number] as UrlRow['kind'],
          state: STATES[row['state'] as number] as UrlState,
          tier: TIERS[row['tier'] as number] as Tier,
          reason: row['reason'] as string | null,
          count: row['n'] as number,
        })),
        highestId: number('SELECT max(id) AS n FROM url'),
        seen: number('SELECT count(*) AS n FROM seen'),
        hosts: number('SELECT count(*) AS n FROM host'),
        laneQueued: number('SELECT sum(queued) AS n FROM lane'),
        lines: {
          queued: line('queue', STATES.indexOf('queued')),
          waiting: line('waiting', STATES.indexOf('waiting')),
          held: line('held', STATES.indexOf('held')),
        },
      }
    },
    countAhead: (row) =>
      number('SELECT count(*) AS n FROM queue WHERE lane = ? AND (rank, url) < (?, ?)', row.lane, rankOf(row), row.id),
    *hosts() {
      const rows = db.prepare('SELECT * FROM host ORDER BY id').iterate()
      for (const row of rows as Iterable<Row>) yield view(row)
    },
    hostByKey(name) {
      const row = db.prepare('SELECT * FROM host WHERE name = ?').get(name)
      return row === undefined ? undefined : view(row as Row)
    },
    hostTally(now) {
      const known = number('SELECT count(*) AS n FROM host')
      const hosts = 'SELECT count(*) AS n FROM host WHERE (streak > 0) IN (0, 1)'
      const due = number(`${hosts} AND due <= ?`, now)
      const later = number(`${hosts} AND due > ?`, now)
      const blocked = number(`${hosts} AND due > ? AND blocked_until > ?`, now, now)
      return { known, due, pausing: later - blocked, blocked, idle: known - due - later }
    },
    nextHosts(count) {
      const first = 'SELECT * FROM host WHERE (streak > 0) = ? AND due IS NOT NULL ORDER BY due LIMIT ?'
      const rows = db
        .prepare(`SELECT * FROM (${first}) UNION ALL SELECT * FROM (${first}) ORDER BY due LIMIT ?`)
        .all(0, count, 1, count, count)
      return (rows as Row[]).map(view)
    },
    robotsTally() {
      const rows = db
        .prepare(
          `SELECT coalesce(summary ->> 'refusal', summary ->> 'state', 'unread') AS name, count(*) AS n
           FROM lane LEFT JOIN robots ON robots.lane = lane.id GROUP BY 1`,
        )
        .all() as { name: string; n: number }[]
      return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
    },
    countWaiting: () => number('SELECT count(*) AS n FROM waiting'),
    robots(lane) {
      if (lane.robots === undefined) return undefined
      const { body } = db.prepare('SELECT body FROM robots WHERE lane = ?').get(lane.id) as { body: string }
      return { ...lane.robots, body }
    },
    close: () => db.close(),
  }
}
