/**
 * The embedded home's storage: SQLite in one file, and files of fingerprints beside it, so that a crawl of any size
 * opens at once and never lives in memory as a whole. What is new is appended; what changes is logged with its commit
 * and written to its table later, in order (writing.ts). All that is kept in memory is bounded.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Clock, FingerprintKey, Rng } from '../../base/index.ts'
import type { HostKey, NormalizedUrl, Origin } from '../../model/index.ts'
import {
  copyHost,
  emptyCounters,
  isFinal,
  UNKNOWN_DEPTH,
  type Child,
  type Counters,
  type HostRow,
  type Storage,
  type UrlRow,
} from '../storage.ts'
import { openChanges } from './changes.ts'
import { explained } from './database.ts'
import { lookUp, nothingTouched, putRow } from './generation.ts'
import { createIdSet } from './id-set.ts'
import { createKnownUrls } from './known-urls.ts'
import { SKEW_GRAIN_MS } from './opening.ts'
import {
  changedUrl,
  copyUrl,
  errandRow,
  ERRANDS_OF,
  hostRow,
  INSERT_URL,
  isPlain,
  isUnvisited,
  laneChange,
  laneRow,
  LANES_OF,
  placeIn,
  PLAIN_URL_BY_ID,
  PLAIN_URL_WITH_REFERRER,
  prepareList,
  referrerOf,
  URL_BY_ID,
  URL_WITH_REFERRER,
  urlRow,
  urlValues,
  VISIT_BY_ID,
  visitRow,
  type Values,
} from './rows.ts'
import type { OrderLimits } from './orders.ts'
import type { RunFiles } from './seen/index.ts'
import type { WritingLimits } from './writing.ts'

/** Rows of URLs kept as objects, of those used last and of those before them; each is in use while it is leased. */
const ROWS_KEPT = 4_096
/** A long transaction settles up when so many rows have changed, so that memory has a bound in it too. */
const CHANGES_BETWEEN = 8_192

/** A URL's row as it is now. */
interface KeptUrl {
  row: UrlRow
  /** It is known that there is no visit of it. */
  isUnvisited: boolean
}

export interface StorageLimits {
  readonly recentUrls: number
  readonly memtable: number
  readonly writing: WritingLimits
  readonly orders: OrderLimits
}

export interface EmbeddedStorageOptions {
  /** Where the database is, for what is said of its errors. */
  readonly folder: string
  /** Where the files of fingerprints are. */
  readonly files: RunFiles
  /** The filter in front of the exact set: for how many URLs, and how often it may be wrong. */
  readonly bloom: { readonly capacity: number; readonly falsePositiveRate: number }
  /** Draws the key of a new crawl's fingerprints; the machine's own randomness when absent. */
  readonly rng?: Rng | undefined
  readonly clock: Clock
  /** Sizes of what is kept in memory, where they are to be other than usual. */
  readonly limits?: StorageLimits
  onClose(): void
}

export function createEmbeddedStorage(db: DatabaseSync, options: EmbeddedStorageOptions): Storage {
  const { folder } = options
  const statement = {
    insertUrl: db.prepare(INSERT_URL),
    url: prepareList(db, URL_BY_ID),
    urlWithReferrer: prepareList(db, URL_WITH_REFERRER),
    plainUrl: prepareList(db, PLAIN_URL_BY_ID),
    plainUrlWithReferrer: prepareList(db, PLAIN_URL_WITH_REFERRER),
    text: prepareList(db, 'SELECT url FROM url WHERE id = ?'),
    visit: prepareList(db, VISIT_BY_ID),
    setChildren: db.prepare('INSERT OR REPLACE INTO children VALUES (?, ?)'),
    children: db.prepare('SELECT links FROM children WHERE url = ?'),
    asideOf: db.prepare('SELECT url FROM aside WHERE host = ? AND url > ? ORDER BY url'),
    hostByKey: prepareList(db, 'SELECT * FROM host WHERE name = ?'),
    hostById: prepareList(db, 'SELECT * FROM host WHERE id = ?'),
    insertHost: db.prepare('INSERT INTO host (name, depth) VALUES (?, ?)'),
    lanesOf: prepareList(db, LANES_OF),
    insertLane: prepareList(db, 'INSERT INTO lane (host, origin) VALUES (?, ?) RETURNING id, origin'),
    traps: db.prepare('SELECT learned FROM trap WHERE host = ?'),
    saveTraps: db.prepare('INSERT OR REPLACE INTO trap VALUES (?, ?)'),
    saveRobots: db.prepare('INSERT OR REPLACE INTO robots VALUES (?, ?, ?)'),
    robotsBody: db.prepare('SELECT body FROM robots WHERE lane = ?'),
    errandsOf: prepareList(db, ERRANDS_OF),
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

  const { limits } = options
  const known = createKnownUrls(db, { key: fingerprintKey(), ...options, ...limits })
  const changes = openChanges(db, limits)
  const { generations, orders, facts, marks, log, writing, visitOffsetMs } = changes
  const touched = nothingTouched()
  /** As they are now: those used last, and those used before them, which leave together. */
  let rows = new Map<number, KeptUrl>()
  let olderRows = new Map<number, KeptUrl>()
  /** Of the row that was read last: who reads a row to fetch its page asks for this next. */
  let referrer: { readonly id: number; readonly text: NormalizedUrl } | undefined
  /** URLs that are known to be in a final state. */
  const ended = createIdSet()
  /** Errands of all hosts together: nearly always there is none to look for. */
  let errands = (db.prepare('SELECT count(*) AS n FROM errand').get() as { n: number }).n
  let newUrls = 0
  /** Rows that were touched since the last entry of the log. */
  let touches = 0
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

  const keep = (kept: KeptUrl): void => {
    if (rows.size >= ROWS_KEPT) {
      olderRows = rows
      rows = new Map()
    }
    rows.set(kept.row.id, kept)
  }
  const keptOf = (id: number): KeptUrl | undefined => {
    const kept = rows.get(id)
    if (kept !== undefined) return kept
    const older = olderRows.get(id)
    if (older !== undefined) keep(older)
    return older
  }
  /** Nobody asks for what is over: that it is, is known without its row. */
  const forget = (id: number): void => {
    rows.delete(id)
    olderRows.delete(id)
  }
  const rowOf = (id: number, withReferrer = false): UrlRow => {
    const kept = keptOf(id)
    if (kept !== undefined) return kept.row
    const read = marks.isChanged(id)
      ? withReferrer
        ? statement.urlWithReferrer
        : statement.url
      : withReferrer
        ? statement.plainUrlWithReferrer
        : statement.plainUrl
    const stored = read.get(id) as unknown as Values | undefined
    if (stored === undefined) throw new Error(`no URL has the id ${id}`)
    if (withReferrer) referrer = referrerOf(stored)
    const row = urlRow(stored)
    const change = lookUp(generations, 'urls', id)
    const newest = change === undefined ? row : copyUrl(row, change)
    keep({ row: newest, isUnvisited: isUnvisited(stored) && lookUp(generations, 'visits', id) === undefined })
    return newest
  }

  const saveTime = (now: number): void => {
    const skewMs = options.clock.wall() - options.clock.now()
    const isSet = Math.abs(skewMs - savedSkewMs) >= SKEW_GRAIN_MS
    if (wrote || isSet) statement.saveMeta.run('last_now', now)
    if (!isSet) return
    statement.saveMeta.run('last_skew', skewMs)
    savedSkewMs = skewMs
  }

  /** Logs what changed, and does a share of the writing that was put off. */
  const settleUp = (): void => {
    const count = newUrls + touches
    // Who only looks does not pay for others with a wait for the disk.
    if (count === 0 && !facts.hasCounts) return
    facts.work()
    if (count === 0) return
    if (count > newUrls) log.append(touched, generations.young)
    for (const list of Object.values(touched)) list.clear()
    newUrls = 0
    touches = 0
    known.work()
    writing.work(count)
  }
  const changed = (): void => {
    wrote = true
    if (newUrls + touches >= CHANGES_BETWEEN) settleUp()
  }
  const touch = (table: keyof typeof touched, id: number): void => {
    const list = touched[table]
    const before = list.ids.length
    list.add(id)
    touches += list.ids.length - before
  }

  const changeUrl = (row: UrlRow, before: Parameters<typeof orders.enter>[0]): void => {
    const earlier = generations.young.urls.get(row.id)
    const change = changedUrl(row, earlier === undefined ? placeIn(before) : earlier.before)
    putRow(generations, 'urls', row.id, change)
    if (isFinal(row.state)) ended.add(row.id)
    else ended.delete(row.id)
    touch('urls', row.id)
    orders.enter(change)
  }

  return {
    transaction(now, work) {
      return explained(folder, () => {
        statement.begin.run()
        try {
          wrote = false
          const result = work()
          settleUp()
          // With every time that is stored, what the clock said: see opening.ts.
          saveTime(now)
          statement.commit.run()
          known.committed()
          return result
        } catch (error) {
          // SQLite may have rolled back by itself, as it does when the disk is full.
          if (db.isTransaction) statement.rollback.run()
          throw error
        }
      })
    },

    find: (kind, url) => known.find(kind, url),
    depth(id) {
      const cached = facts.depth(id)
      if (cached !== undefined) return cached
      const { depth } = rowOf(id)
      facts.setDepth(id, depth)
      return depth
    },
    isEnded(id) {
      if (ended.has(id)) return true
      const isEnded = isFinal(rowOf(id).state)
      if (isEnded) ended.add(id)
      return isEnded
    },
    insert(row) {
      changes.lastUrl += 1
      const id = changes.lastUrl
      const { young } = generations
      statement.insertUrl.run(...urlValues(id, row))
      known.add(row.kind, row.url, id)
      facts.born(id, row.depth)
      young.newUrls += 1
      newUrls += 1
      if (!isPlain(row)) changeUrl({ ...row, id }, { ...row, id })
      else {
        orders.enter({ ...row, id })
        if (row.state === 'queued') young.newLanes.add(row.lane)
        else young.newHeld.push(id)
      }
      changed()
      return id
    },
    url(id) {
      const row = rowOf(id, true)
      return copyUrl(row, row)
    },
    place: (id) => rowOf(id),
    text(id) {
      if (id === referrer?.id) return referrer.text
      const kept = keptOf(id)
      if (kept !== undefined) return kept.row.url
      return (statement.text.get(id) as unknown as Values | undefined)?.[0] as NormalizedUrl
    },
    update(row) {
      const before = lookUp(generations, 'urls', row.id) ?? rowOf(row.id)
      orders.leave(before)
      changeUrl(row, before)
      if (row.depth !== before.depth) {
        facts.setDepth(row.id, row.depth)
        generations.young.depthBlocks.add(facts.blockOf(row.id))
      }
      if (isFinal(row.state)) forget(row.id)
      else {
        const kept = keptOf(row.id)
        if (kept === undefined) keep({ row: copyUrl(row, row), isUnvisited: false })
        else kept.row = copyUrl(row, row)
      }
      changed()
    },
    countReferrer: (id) => facts.count(id),
    referrers: (id) => facts.referrers(id),
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

    head: (lane, slot, count, skip) => orders.queues.head(lane, slot, count, skip),
    waitingUntil: (now, count) => orders.waiting.first(count, now).map(({ id }) => id),
    nextWaiting: () => orders.waiting.first(1, Infinity)[0]?.key,
    parkedOfOneHost(state, count, skip) {
      const found = orders[state].first(count, Infinity, (id) => !skip.has(id))
      return found.filter(({ key }) => key === found[0]?.key).map(({ id }) => id)
    },
    asideOf(host, behind, count) {
      const found = new Set(orders.aside.idsAt(host, behind))
      let more = count
      for (const { url: id } of statement.asideOf.iterate(host, behind) as Iterable<{ url: number }>) {
        if (found.has(id) || lookUp(generations, 'urls', id) !== undefined) continue
        found.add(id)
        more -= 1
        if (more <= 0) break
      }
      return [...found].sort((a, b) => a - b).slice(0, count)
    },

    visit(id) {
      const changed = lookUp(generations, 'visits', id)
      if (changed !== undefined) return { ...changed }
      if (!marks.isChanged(id) || keptOf(id)?.isUnvisited === true) return undefined
      const row = statement.visit.get(id) as unknown as Values | undefined
      return row === undefined ? undefined : visitRow(row, visitOffsetMs)
    },
    saveVisit(row) {
      putRow(generations, 'visits', row.id, row)
      const kept = keptOf(row.id)
      if (kept !== undefined) kept.isUnvisited = false
      touch('visits', row.id)
      orders.visits.set(row.id, row.dueAt)
      changed()
    },
    visitsUntil: (now, count) => orders.visits.first(count, now).map(({ id }) => id),
    nextVisit: () => orders.visits.first(1, Infinity)[0]?.key,

    hostByKey(name) {
      const row = statement.hostByKey.get(name) as unknown as Values | undefined
      return row === undefined ? undefined : newestHost(row)
    },
    hostById(id) {
      const changed = lookUp(generations, 'hosts', id)
      return changed === undefined ? hostRow(statement.hostById.get(id) as unknown as Values) : copyHost(changed)
    },
    insertHost(name: HostKey) {
      const id = Number(statement.insertHost.run(name, UNKNOWN_DEPTH).lastInsertRowid)
      return hostRow(statement.hostById.get(id) as unknown as Values)
    },
    updateHost(row) {
      putRow(generations, 'hosts', row.id, copyHost(row))
      touch('hosts', row.id)
      orders.hosts.set(row)
      changed()
    },
    dueHosts: (of, now, count) => orders.hosts.due(of, now, count),
    upcomingHosts: (of, now, count) => orders.hosts.upcoming(of, now, count),
    lend: (host) => orders.hosts.lend(host),
    giveBack: (host) => orders.hosts.giveBack(host),
    lanesOf: (host) =>
      (statement.lanesOf.all(host) as unknown as Values[]).map((row) =>
        laneRow(row, lookUp(generations, 'lanes', row[0] as number)),
      ),
    hostOfLane: (id) => orders.hostOfLane(id),
    insertLane(host, named: Origin) {
      // What is kept is the text of the row, which is its own: the one that was named is a piece of a URL, and keeps it.
      const [id, origin] = statement.insertLane.get(host, named) as unknown as [number, Origin]
      return {
        id,
        origin,
        queued: { high: 0, medium: 0, low: 0, auto: 0 },
        robots: undefined,
        robotsNotBefore: 0,
        robotsAttempts: 0,
        robotsMoved: false,
      }
    },
    updateLane(row) {
      putRow(generations, 'lanes', row.id, laneChange(row))
      touch('lanes', row.id)
      changed()
    },
    traps: (host) => (statement.traps.get(host) as { learned: string } | undefined)?.learned,
    saveTraps: (host, learned) => void statement.saveTraps.run(host, learned),
    saveRobots(lane, robots) {
      const { body, ...summary } = robots
      statement.saveRobots.run(lane, JSON.stringify(summary), body)
    },
    robotsBody: (lane) => (statement.robotsBody.get(lane) as { body: string } | undefined)?.body ?? '',
    errandsOf: (host) =>
      errands === 0 ? [] : (statement.errandsOf.all(host) as unknown as Values[]).map((row) => errandRow(row)),
    insertErrand(host, errand) {
      const { lastInsertRowid } = statement.insertErrand.run(host, errand.origin, errand.url, errand.redirects)
      errands += 1
      return { ...errand, id: Number(lastInsertRowid) }
    },
    deleteErrand(id) {
      errands -= Number(statement.deleteErrand.run(id).changes)
    },

    counters: () => ({ ...emptyCounters(), ...(JSON.parse(savedCounters ?? '{}') as Partial<Counters>) }),
    saveCounters(counters) {
      const text = JSON.stringify(counters)
      if (text === savedCounters) return
      wrote = true
      statement.saveMeta.run('counters', text)
      savedCounters = text
    },
    lookups: () => ({ falsePositives: known.falsePositives }),
    close(inOrder) {
      explained(folder, () => {
        try {
          if (!inOrder) return
          statement.begin.run()
          settleUp()
          facts.flush()
          wrote = true
          saveTime(options.clock.now())
          statement.saveMeta.run('clean', 1)
          statement.commit.run()
          known.committed()
        } finally {
          known.close()
          options.onClose()
        }
      })
    },
  }

  function newestHost(row: Values): HostRow {
    const changed = lookUp(generations, 'hosts', row[0] as number)
    return changed === undefined ? hostRow(row) : copyHost(changed)
  }
}
