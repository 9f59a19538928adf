/**
 * The embedded home's storage: SQLite in one file, read and written row by row, so that a crawl of any size opens at
 * once and never lives in memory as a whole. What is kept in memory is bounded: rows in use, fingerprints met lately.
 */
import type { DatabaseSync } from 'node:sqlite'
import { createFingerprintCache, fingerprint, type Clock, type FingerprintKey, type Rng } from '../../base/index.ts'
import { TIERS, type HostKey, type NormalizedUrl, type Origin, type UrlKey } from '../../model/index.ts'
import {
  classOf,
  emptyCounters,
  HOST_CLASSES,
  type Child,
  type Counters,
  type DueHost,
  type Errand,
  type HostClass,
  type HostRow,
  type LaneRow,
  type RobotsSummary,
  type Storage,
  type UrlRow,
} from '../storage.ts'
import { explained } from './database.ts'
import { createDueWindow, type DueWindow } from './due-window.ts'
import { SKEW_GRAIN_MS } from './opening.ts'

/** Fingerprints of URLs met lately, unless told otherwise: most links of a page are links of the page before. 15 MB. */
const RECENT_URLS = 2 ** 20
/** Rows kept as objects; each is in use for as long as it is leased. */
const ROWS_KEPT = 8_192
/** Referrer counts are written when this many URLs have new ones, and at the end. */
const REFERRERS_KEPT = 20_000

export const KINDS = ['page', 'sitemap'] as const
export const VIAS = ['seed', 'link', 'sitemap', 'redirect'] as const
export const STATES = ['queued', 'waiting', 'held', 'done', 'failed', 'skipped'] as const

type Row = Record<string, string | number | null | Uint8Array>

export interface EmbeddedStorageOptions {
  /** Where the database is, for what is said of its errors. */
  readonly folder: string
  /** Fingerprints of URLs kept in memory. */
  readonly recentUrls?: number
  /** Draws the key of a new crawl's fingerprints; the machine's own randomness when absent. */
  readonly rng?: Rng | undefined
  readonly clock: Clock
  onClose(): void
}

export function createEmbeddedStorage(db: DatabaseSync, options: EmbeddedStorageOptions): Storage {
  const { folder } = options
  const statement = {
    find: db.prepare('SELECT url.id, url.depth FROM seen JOIN url ON url.id = seen.url WHERE fingerprint = ?'),
    insertSeen: db.prepare('INSERT INTO seen VALUES (?, ?)'),
    insertUrl: db.prepare('INSERT INTO url VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)'),
    url: db.prepare('SELECT * FROM url WHERE id = ?'),
    updateUrl: db.prepare(
      'UPDATE url SET tier = ?, depth = ?, state = ?, attempts = ?, reason = ?, at = ? WHERE id = ?',
    ),
    addReferrers: db.prepare('UPDATE url SET referrers = referrers + ? WHERE id = ?'),
    setChildren: db.prepare('INSERT OR REPLACE INTO children VALUES (?, ?)'),
    children: db.prepare('SELECT links FROM children WHERE url = ?'),
    enqueue: db.prepare('INSERT INTO queue VALUES (?, ?, ?)'),
    dequeue: db.prepare('DELETE FROM queue WHERE lane = ? AND rank = ? AND url = ?'),
    head: db.prepare('SELECT url FROM queue WHERE lane = ? ORDER BY rank, url'),
    waitingUntil: db.prepare('SELECT due, url FROM waiting WHERE due <= ? ORDER BY due LIMIT ?'),
    insertWaiting: db.prepare('INSERT INTO waiting VALUES (?, ?)'),
    deleteWaiting: db.prepare('DELETE FROM waiting WHERE due = ? AND url = ?'),
    nextWaiting: db.prepare('SELECT min(due) AS due FROM waiting'),
    hold: db.prepare('INSERT INTO held VALUES (?, ?)'),
    release: db.prepare('DELETE FROM held WHERE host = ? AND url = ?'),
    held: db.prepare('SELECT host, url FROM held ORDER BY host, url'),
    hostByKey: db.prepare('SELECT * FROM host WHERE name = ?'),
    hostById: db.prepare('SELECT * FROM host WHERE id = ?'),
    insertHost: db.prepare('INSERT INTO host VALUES (NULL, ?, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL)'),
    updateHost: db.prepare(
      `UPDATE host SET due = ?, answered_at = ?, blocked_until = ?, blocked_reason = ?, strikes = ?, streak = ?,
       streak_since = ?, blocked_at = ?, latency_ms = ?, address = ?, closest_ms = ? WHERE id = ?`,
    ),
    dueBehind: db.prepare(
      'SELECT id, due FROM host WHERE (streak > 0) = ?1 AND due >= ?2 AND (due > ?2 OR id > ?3) ORDER BY due, id LIMIT ?4',
    ),
    lanesOf: db.prepare('SELECT lane.*, summary FROM lane LEFT JOIN robots ON robots.lane = lane.id WHERE host = ?'),
    hostOfLane: db.prepare('SELECT host FROM lane WHERE id = ?'),
    insertLane: db.prepare('INSERT INTO lane VALUES (NULL, ?, ?, 0, 0, 0, 0)'),
    updateLane: db.prepare(
      'UPDATE lane SET queued = ?, robots_not_before = ?, robots_attempts = ?, robots_moved = ? WHERE id = ?',
    ),
    saveRobots: db.prepare('INSERT OR REPLACE INTO robots VALUES (?, ?, ?)'),
    robotsBody: db.prepare('SELECT body FROM robots WHERE lane = ?'),
    errandsOf: db.prepare('SELECT * FROM errand WHERE host = ? ORDER BY id'),
    insertErrand: db.prepare('INSERT INTO errand VALUES (NULL, ?, ?, ?, ?)'),
    deleteErrand: db.prepare('DELETE FROM errand WHERE id = ?'),
    meta: db.prepare('SELECT value FROM meta WHERE key = ?'),
    saveMeta: db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
    begin: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
  }

  const metaValue = (key: string): string | undefined =>
    (statement.meta.get(key) as { value: string } | undefined)?.value

  const key = fingerprintKey()
  const recent = createFingerprintCache(options.recentUrls ?? RECENT_URLS)
  const print = { hi: 0, lo: 0 }
  const rows = new Map<number, UrlRow>()
  const referrers = new Map<number, number>()
  const firstWaiting = (): number => (statement.nextWaiting.get() as { due: number | null }).due ?? Infinity
  let nextWaiting = firstWaiting()
  let savedSkewMs = 0
  let wrote = false
  let savedCounters = metaValue('counters')

  /** Drawn once for each crawl; see base/fingerprint. */
  function fingerprintKey(): FingerprintKey {
    const stored = metaValue('fingerprint_key')
    if (stored !== undefined) return JSON.parse(stored) as FingerprintKey
    const { rng } = options
    const [a = 0, b = 0] =
      rng === undefined ? crypto.getRandomValues(new Int32Array(2)) : [rng.int(2 ** 32) | 0, rng.int(2 ** 32) | 0]
    statement.saveMeta.run('fingerprint_key', JSON.stringify({ a, b }))
    return { a, b }
  }

  const fingerprintOf = (kind: string, url: UrlKey): void =>
    void fingerprint(kind === 'page' ? url : `${kind} ${url}`, key, print)
  /** SQLite's integers are signed. */
  const asInteger = (): bigint => BigInt.asIntN(64, (BigInt(print.hi) << 32n) | BigInt(print.lo))

  const remember = (row: UrlRow): void => {
    if (rows.size >= ROWS_KEPT) rows.delete(rows.keys().next().value as number)
    rows.set(row.id, row)
  }

  const saveTime = (now: number): void => {
    const skewMs = options.clock.wall() - now
    const isSet = Math.abs(skewMs - savedSkewMs) >= SKEW_GRAIN_MS
    if (wrote || isSet) statement.saveMeta.run('last_now', now)
    if (!isSet) return
    statement.saveMeta.run('last_skew', skewMs)
    savedSkewMs = skewMs
  }

  const flushReferrers = (): void => {
    for (const [id, count] of referrers) statement.addReferrers.run(count, id)
    referrers.clear()
  }

  /** The entries of one class behind this one, in order. */
  const dueBehind =
    (of: HostClass) =>
    ({ due, id }: DueHost, count: number): DueHost[] =>
      statement.dueBehind.all(Number(of === 'proven'), due, id, count) as unknown as DueHost[]
  const due: Readonly<Record<HostClass, DueWindow>> = {
    proven: createDueWindow(dueBehind('proven')),
    unproven: createDueWindow(dueBehind('unproven')),
  }

  return {
    transaction(now, work) {
      return explained(folder, () => {
        statement.begin.run()
        try {
          wrote = false
          const result = work()
          if (referrers.size > REFERRERS_KEPT) flushReferrers()
          // With every time that is stored, what the clock said: see opening.ts.
          saveTime(now)
          statement.commit.run()
          return result
        } catch (error) {
          // SQLite may have rolled back by itself, as it does when the disk is full.
          if (db.isTransaction) statement.rollback.run()
          throw error
        }
      })
    },

    find(kind, url) {
      // The depth found here may be an older, greater one; whoever acts on it looks at the row.
      fingerprintOf(kind, url)
      const slot = recent.find(print)
      if (slot !== -1) return { id: recent.id(slot), depth: recent.depth(slot) }
      const row = statement.find.get(asInteger()) as { id: number; depth: number } | undefined
      if (row !== undefined) recent.put(print, row.id, row.depth)
      return row
    },
    insert(url, row) {
      const id = Number(
        statement.insertUrl.run(
          row.url,
          KINDS.indexOf(row.kind),
          row.lane,
          VIAS.indexOf(row.via),
          row.referrer,
          row.redirects,
          row.nesting,
          TIERS.indexOf(row.tier),
          row.depth,
          STATES.indexOf(row.state),
          row.attempts,
          row.reason,
          row.at,
        ).lastInsertRowid,
      )
      fingerprintOf(row.kind, url)
      statement.insertSeen.run(asInteger(), id)
      recent.put(print, id, row.depth)
      return id
    },
    url(id) {
      let row = rows.get(id)
      if (row === undefined) {
        row = urlRow(statement.url.get(id) as Row | undefined, id)
        remember(row)
      }
      return { ...row }
    },
    update(row) {
      const state = STATES.indexOf(row.state)
      statement.updateUrl.run(TIERS.indexOf(row.tier), row.depth, state, row.attempts, row.reason, row.at, row.id)
      rows.delete(row.id)
      remember({ ...row })
    },
    countReferrer: (id) => void referrers.set(id, (referrers.get(id) ?? 0) + 1),
    setChildren(id, children) {
      const words = Uint32Array.from(children, (child) => child.id * 2 + child.step)
      statement.setChildren.run(id, new Uint8Array(words.buffer))
    },
    children(id) {
      const row = statement.children.get(id) as { links: Uint8Array } | undefined
      if (row === undefined) return []
      const words = new Uint32Array(row.links.slice().buffer)
      return Array.from(words, (word): Child => ({ id: Math.floor(word / 2), step: (word & 1) as 0 | 1 }))
    },

    enqueue: (lane, rank, id) => void statement.enqueue.run(lane, rank, id),
    dequeue: (lane, rank, id) => void statement.dequeue.run(lane, rank, id),
    head(lane, count, skip) {
      const ids: number[] = []
      for (const row of statement.head.iterate(lane) as Iterable<Row>) {
        if (!skip.has(row['url'] as number)) ids.push(row['url'] as number)
        if (ids.length >= count) break
      }
      return ids
    },
    takeWaiting(now, count) {
      if (nextWaiting > now) return []
      const taken = statement.waitingUntil.all(now, count) as { due: number; url: number }[]
      for (const entry of taken) statement.deleteWaiting.run(entry.due, entry.url)
      nextWaiting = firstWaiting()
      return taken.map((entry) => entry.url)
    },
    wait(time, id) {
      statement.insertWaiting.run(time, id)
      nextWaiting = Math.min(nextWaiting, time)
    },
    nextWaiting: () => (nextWaiting === Infinity ? undefined : nextWaiting),
    hold: (host, id) => void statement.hold.run(host, id),
    release: (host, id) => void statement.release.run(host, id),
    heldOfOneHost(count, skip) {
      const ids: number[] = []
      let host: number | undefined
      for (const row of statement.held.iterate() as Iterable<Row>) {
        if (skip.has(row['url'] as number)) continue
        host ??= row['host'] as number
        if (row['host'] !== host || ids.length >= count) break
        ids.push(row['url'] as number)
      }
      return ids
    },

    hostByKey: (name) => optional(statement.hostByKey.get(name) as Row | undefined, hostRow),
    hostById: (id) => hostRow(statement.hostById.get(id) as Row),
    insertHost: (name) =>
      hostRow(statement.hostById.get(Number(statement.insertHost.run(name).lastInsertRowid)) as Row),
    updateHost(row) {
      const { health } = row
      wrote = true
      statement.updateHost.run(
        row.due,
        row.answeredAt,
        row.blockedUntil,
        row.blockedReason,
        health.strikes,
        health.streak,
        health.streakSince,
        health.blockedAt,
        health.latencyMs,
        row.address,
        row.closestMs,
        row.id,
      )
      for (const of of HOST_CLASSES) due[of].set(row.id, of === classOf(health) ? row.due : null)
    },
    dueHosts: (of, now, count) => due[of].first(count, now),
    upcomingHosts: (of, now, count) => due[of].after(count, now),
    lend(host) {
      for (const of of HOST_CLASSES) due[of].lend(host)
    },
    giveBack(host) {
      for (const of of HOST_CLASSES) due[of].giveBack(host)
    },
    lanesOf: (host) => (statement.lanesOf.all(host) as Row[]).map(laneRow),
    hostOfLane: (id) => (statement.hostOfLane.get(id) as { host: number }).host,
    insertLane(host, origin) {
      const id = Number(statement.insertLane.run(host, origin).lastInsertRowid)
      return {
        id,
        origin,
        queued: 0,
        robots: undefined,
        robotsNotBefore: 0,
        robotsAttempts: 0,
        robotsMoved: false,
      }
    },
    updateLane: (row) =>
      void statement.updateLane.run(
        row.queued,
        row.robotsNotBefore,
        row.robotsAttempts,
        row.robotsMoved ? 1 : 0,
        row.id,
      ),
    saveRobots(lane, robots) {
      const { body, ...summary } = robots
      statement.saveRobots.run(lane, JSON.stringify(summary), body)
    },
    robotsBody: (lane) => (statement.robotsBody.get(lane) as { body: string } | undefined)?.body ?? '',
    errandsOf: (host) => (statement.errandsOf.all(host) as Row[]).map(errandRow),
    insertErrand(host, errand) {
      const { lastInsertRowid } = statement.insertErrand.run(host, errand.origin, errand.url, errand.redirects)
      return { ...errand, id: Number(lastInsertRowid) }
    },
    deleteErrand: (id) => void statement.deleteErrand.run(id),

    counters: () => ({ ...emptyCounters(), ...(JSON.parse(savedCounters ?? '{}') as Partial<Counters>) }),
    saveCounters(counters) {
      const text = JSON.stringify(counters)
      if (text === savedCounters) return
      wrote = true
      statement.saveMeta.run('counters', text)
      savedCounters = text
    },
    close(inOrder) {
      explained(folder, () => {
        try {
          if (!inOrder) return
          // One transaction: on its own, each count would be a commit with a wait for the disk.
          statement.begin.run()
          flushReferrers()
          wrote = true
          saveTime(options.clock.now())
          statement.saveMeta.run('clean', 1)
          statement.commit.run()
        } finally {
          options.onClose()
        }
      })
    },
  }
}

function optional<T>(row: Row | undefined, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row)
}

export function urlRow(row: Row | undefined, id: number): UrlRow {
  if (row === undefined) throw new Error(`no URL has the id ${id}`)
  return {
    id,
    kind: KINDS[row['kind'] as number] as UrlRow['kind'],
    url: row['url'] as NormalizedUrl,
    lane: row['lane'] as number,
    via: VIAS[row['via'] as number] as UrlRow['via'],
    referrer: row['referrer'] as number,
    redirects: row['redirects'] as number,
    nesting: row['nesting'] as number,
    tier: TIERS[row['tier'] as number] as UrlRow['tier'],
    depth: row['depth'] as number,
    state: STATES[row['state'] as number] as UrlRow['state'],
    attempts: row['attempts'] as number,
    reason: row['reason'] as string | null,
    at: row['at'] as number,
  }
}

export function hostRow(row: Row): HostRow {
  return {
    id: row['id'] as number,
    key: row['name'] as HostKey,
    due: row['due'] as number | null,
    answeredAt: row['answered_at'] as number | null,
    blockedUntil: row['blocked_until'] as number,
    blockedReason: row['blocked_reason'] as string | null,
    health: {
      strikes: row['strikes'] as number,
      streak: row['streak'] as number,
      streakSince: row['streak_since'] as number,
      blockedAt: row['blocked_at'] as number,
      latencyMs: row['latency_ms'] as number,
    },
    address: row['address'] as string | null,
    closestMs: row['closest_ms'] as number | null,
  }
}

export function laneRow(row: Row): LaneRow {
  const summary = row['summary'] as string | null
  return {
    id: row['id'] as number,
    origin: row['origin'] as Origin,
    queued: row['queued'] as number,
    robots: summary === null ? undefined : (JSON.parse(summary) as RobotsSummary),
    robotsNotBefore: row['robots_not_before'] as number,
    robotsAttempts: row['robots_attempts'] as number,
    robotsMoved: row['robots_moved'] === 1,
  }
}

function errandRow(row: Row): Errand {
  return {
    id: row['id'] as number,
    origin: row['origin'] as Origin,
    url: row['url'] as NormalizedUrl,
    redirects: row['redirects'] as number,
  }
}
