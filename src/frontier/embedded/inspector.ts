/**
 * A look into the embedded home from outside, for `status`, `why` and `audit`: read-only, also while a crawl runs,
 * one row at a time.
 */
import { fingerprint, type FingerprintKey } from '../../base/index.ts'
import type { HostKey, Origin, RobotsRecord, UrlKey } from '../../model/index.ts'
import { emptyCounters, type Counters, type HostRow, type LaneRow, type UrlRow } from '../storage.ts'
import { openDatabaseForReading } from './database.ts'
import { hostRow, laneRow, urlRow } from './storage.ts'

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

export interface Inspector {
  counters(): Counters
  /** Whether the last process that worked on the crawl closed it in order. */
  readonly clean: boolean
  find(kind: 'page' | 'sitemap', key: UrlKey): UrlView | undefined
  /** All pages, in order of discovery. */
  pages(): Iterable<UrlRow>
  hosts(): Iterable<HostView>
  hostByKey(key: HostKey): HostView | undefined
  robots(lane: LaneRow): RobotsRecord | undefined
  close(): void
}

export function openInspector(folder: string): Inspector {
  const db = openDatabaseForReading(folder)
  const meta = (key: string): unknown =>
    (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: unknown } | undefined)?.value
  const key = JSON.parse((meta('fingerprint_key') as string | undefined) ?? '{"a":0,"b":0}') as FingerprintKey
  const lanesOf = db.prepare(
    'SELECT lane.*, summary FROM lane LEFT JOIN robots ON robots.lane = lane.id WHERE host = ?',
  )
  const view = (row: Parameters<typeof hostRow>[0]): HostView => {
    const host = hostRow(row)
    return { ...host, lanes: (lanesOf.all(host.id) as Parameters<typeof laneRow>[0][]).map(laneRow) }
  }
  return {
    counters: () => ({ ...emptyCounters(), ...(JSON.parse((meta('counters') as string) ?? '{}') as Counters) }),
    clean: meta('clean') === 1,
    find(kind, url) {
      const { hi, lo } = fingerprint(kind === 'page' ? url : `${kind} ${url}`, key, { hi: 0, lo: 0 })
      const print = BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo))
      const row = db
        .prepare(
          `SELECT url.*, host.name AS host, lane.origin AS origin, parent.url AS referrer_url
           FROM seen JOIN url ON url.id = seen.url JOIN lane ON lane.id = url.lane JOIN host ON host.id = lane.host
           LEFT JOIN url AS parent ON parent.id = url.referrer WHERE fingerprint = ?`,
        )
        .get(print) as Record<string, string | number | null> | undefined
      if (row === undefined) return undefined
      return {
        ...urlRow(row, row['id'] as number),
        host: row['host'] as HostKey,
        origin: row['origin'] as Origin,
        referrerUrl: row['referrer_url'] as string | null,
        referrers: row['referrers'] as number,
      }
    },
    *pages() {
      const rows = db.prepare('SELECT * FROM url WHERE kind = 0 ORDER BY id').iterate()
      for (const row of rows as Iterable<Record<string, string | number | null>>) yield urlRow(row, row['id'] as number)
    },
    *hosts() {
      const rows = db.prepare('SELECT * FROM host ORDER BY id').iterate()
      for (const row of rows as Iterable<Record<string, string | number | null>>) yield view(row)
    },
    hostByKey(name) {
      const row = db.prepare('SELECT * FROM host WHERE name = ?').get(name)
      return row === undefined ? undefined : view(row as Record<string, string | number | null>)
    },
    robots(lane) {
      if (lane.robots === undefined) return undefined
      const { body } = db.prepare('SELECT body FROM robots WHERE lane = ?').get(lane.id) as { body: string }
      return { ...lane.robots, body }
    },
    close: () => db.close(),
  }
}
