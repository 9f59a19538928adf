/**
 * A look into the embedded home from outside, for `status`, `why` and `audit`: read-only, also while a crawl runs,
 * one row at a time. All of it is one moment: what is committed after the inspector was opened is not seen.
 */
import type { HostKey, NormalizedUrl, Origin, RobotsRecord, UrlKey } from '../../model/index.ts'
import {
  emptyCounters,
  SLOTS,
  type Counters,
  type HostRow,
  type LaneRow,
  type Slot,
  type UrlRow,
  type UrlState,
  type VisitRow,
} from '../storage.ts'
import { isLocked } from './database.ts'
import { createFacts } from './facts.ts'
import { hostRow, KINDS, laneRow, LANES_OF, prepareList, STATES, urlRow, visitRow, type Values } from './rows.ts'
import { createSeenLook } from './seen-look.ts'
import { openSnapshot } from './snapshot.ts'
import { readBar } from './transfer-bar.ts'

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
    readonly slot: Slot
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
    Record<'queued' | 'waiting' | 'held' | 'aside', { readonly entries: number; readonly rightful: number }>
  >
}

export interface Inspector {
  counters(): Counters
  /** Whether the last process that worked on the crawl closed it in order. */
  readonly clean: boolean
  /** Why nobody may work on the crawl, in words; undefined when everybody may. */
  readonly barred: string | undefined
  /** Whether a process is working on the crawl at this moment. */
  isWorkedOn(): boolean
  find(kind: 'page' | 'sitemap', key: UrlKey): UrlView | undefined
  byId(id: number): UrlView | undefined
  /** All pages, in order of discovery. */
  pages(): Iterable<UrlRow>
  /** What its last visits brought; undefined for a URL that was never fetched. */
  visit(id: number): VisitRow | undefined
  /** When the first page is to be fetched again. */
  nextVisit(): number | undefined
  /** What was learned of the host's traps. */
  traps(host: number): string | undefined
  lookups(): { readonly falsePositives: number }
  /** What can be said of a page without looking further. */
  place(key: UrlKey): PagePlace | undefined
  /** Counts every row; takes as long as that takes. */
  tally(): RowTally
  /** URLs of a queued URL's origin and tier that come before it. */
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

const VIEW = `SELECT url.*, host.name AS host, lane.origin AS origin, parent.url AS referrer_url
  FROM url JOIN main.lane AS lane ON lane.id = url.lane JOIN main.host AS host ON host.id = lane.host
  LEFT JOIN main.url AS parent ON parent.id = url.referrer WHERE url.id = ?`

export function openInspector(folder: string): Inspector {
  const { db, visitOffsetMs } = openSnapshot(folder)
  const seen = createSeenLook(folder)
  // Nothing can be written here, so nothing leaves memory.
  const facts = createFacts(db, Infinity)
  const meta = (key: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: unknown } | undefined)?.value
  const lanesOf = prepareList(db, LANES_OF)
  const byRowId = prepareList(db, VIEW)
  const visitOf = prepareList(db, 'SELECT * FROM visit WHERE id = ?')
  const placeOf = db.prepare(
    `SELECT url.id, url.url, state, reason, lane, host FROM url JOIN main.lane AS lane ON lane.id = url.lane
     WHERE url.id = ?`,
  )

  const view = (row: Values): HostView => {
    const host = hostRow(row)
    return { ...host, lanes: (lanesOf.all(host.id) as unknown as Values[]).map((lane) => laneRow(lane)) }
  }
  const urlView = (id: number): UrlView | undefined => {
    const row = byRowId.get(id) as unknown as Values | undefined
    if (row === undefined) return undefined
    const [host, origin, referrerUrl] = row.slice(-3) as [HostKey, Origin, string | null]
    return { ...urlRow(row), host, origin, referrerUrl, referrers: facts.referrers(id) }
  }
  const number = (sql: string, ...values: number[]): number =>
    (db.prepare(sql).get(...values) as { n: number | null }).n ?? 0
  /** Entries of a waiting line beside those of URLs that belong there, by the state's place in `STATES`. */
  const line = (
    table: 'queue' | 'waiting' | 'held' | 'aside',
    state: number,
  ): { entries: number; rightful: number } => ({
    entries: number(`SELECT count(*) AS n FROM ${table}`),
    rightful: number(
      `SELECT count(DISTINCT line.url) AS n FROM ${table} AS line JOIN url ON url.id = line.url WHERE url.state = ${state}`,
    ),
  })

  return {
    counters: () => ({ ...emptyCounters(), ...(JSON.parse((meta('counters') as string) ?? '{}') as Counters) }),
    clean: meta('clean') === 1,
    barred: readBar(db)?.message,
    isWorkedOn: () => isLocked(folder),
    // The set may be younger than this moment: then there is no such row.
    find: (kind, url) => urlView(seen.find(kind, url)),
    byId: urlView,
    *pages() {
      const rows = prepareList(db, 'SELECT * FROM url WHERE kind = 0 ORDER BY id').iterate()
      for (const row of rows as unknown as Iterable<Values>) yield urlRow(row)
    },
    visit(id) {
      const row = visitOf.get(id) as unknown as Values | undefined
      return row === undefined ? undefined : visitRow(row, visitOffsetMs)
    },
    nextVisit() {
      const sql = 'SELECT due_at AS due FROM visit WHERE due_at > -1e999 ORDER BY due_at LIMIT 1'
      const row = db.prepare(sql).get() as { due: number } | undefined
      return row === undefined ? undefined : row.due + visitOffsetMs
    },
    traps: (host) =>
      (db.prepare('SELECT learned FROM trap WHERE host = ?').get(host) as { learned: string } | undefined)?.learned,
    lookups: () => ({ falsePositives: (meta('false_positives') as number | undefined) ?? 0 }),
    place(url) {
      const row = placeOf.get(seen.find('page', url)) as (Omit<PagePlace, 'state'> & { state: number }) | undefined
      return row === undefined ? undefined : { ...row, state: STATES[row.state] as UrlState }
    },
    tally() {
      const urls = prepareList(db, 'SELECT kind, state, slot, reason, count(*) FROM url GROUP BY 1, 2, 3, 4').all()
      return {
        urls: (urls as unknown as [number, number, number, string | null, number][]).map(
          ([kind, state, slot, reason, count]) => ({
            kind: KINDS[kind] as UrlRow['kind'],
            state: STATES[state] as UrlState,
            slot: SLOTS[slot] as Slot,
            reason,
            count,
          }),
        ),
        highestId: number('SELECT max(id) AS n FROM url'),
        seen: seen.count(),
        hosts: number('SELECT count(*) AS n FROM host'),
        laneQueued: number(`SELECT sum(${SLOTS.join(' + ')}) AS n FROM lane`),
        lines: {
          queued: line('queue', STATES.indexOf('queued')),
          waiting: line('waiting', STATES.indexOf('waiting')),
          held: line('held', STATES.indexOf('held')),
          aside: line('aside', STATES.indexOf('aside')),
        },
      }
    },
    countAhead({ lane, slot, rank, id }) {
      const { tier } = db
        .prepare('SELECT host.tier FROM main.lane AS lane JOIN host ON host.id = lane.host WHERE lane.id = ?')
        .get(lane) as { tier: number }
      // What has no tier of its own is of its host's, and stands beside what has that tier.
      const auto = SLOTS.indexOf('auto')
      const own = SLOTS.indexOf(slot)
      const other = own === auto ? tier : own === tier ? auto : own
      const sql = 'SELECT count(*) AS n FROM queue WHERE lane = ? AND slot IN (?, ?) AND (rank, url) < (?, ?)'
      return number(sql, lane, own, other, rank, id)
    },
    *hosts() {
      const rows = prepareList(db, 'SELECT * FROM host ORDER BY id').iterate()
      for (const row of rows as unknown as Iterable<Values>) yield view(row)
    },
    hostByKey(name) {
      const row = prepareList(db, 'SELECT * FROM host WHERE name = ?').get(name) as unknown as Values | undefined
      return row === undefined ? undefined : view(row)
    },
    hostTally(now) {
      const known = number('SELECT count(*) AS n FROM host')
      const due = number('SELECT count(*) AS n FROM host WHERE due <= ?', now)
      const later = number('SELECT count(*) AS n FROM host WHERE due > ?', now)
      const blocked = number('SELECT count(*) AS n FROM host WHERE due > ? AND blocked_until > ?', now, now)
      return { known, due, pausing: later - blocked, blocked, idle: known - due - later }
    },
    nextHosts(count) {
      const rows = prepareList(db, 'SELECT * FROM host WHERE due IS NOT NULL ORDER BY due, id LIMIT ?').all(count)
      return (rows as unknown as Values[]).map(view)
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
    close() {
      seen.close()
      db.close()
    },
  }
}
