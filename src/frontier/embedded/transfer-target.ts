/**
 * The embedded home, written from elsewhere: a crawl that comes from another home, portion by portion. Each portion is
 * one transaction, together with how far the move has come and how long the output is, so a move that was killed goes on
 * behind the last one. Until it is complete the crawl is barred.
 *
 * What can be counted is counted here from what is written; the sums of the other home are for comparison.
 */
import { join } from 'node:path'
import type { Clock } from '../../base/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { hostKey, originOf } from '../../url/index.ts'
import type { OutputPosition } from '../contract.ts'
import {
  classOf,
  orderOf,
  queuedIn,
  SLOTS,
  tierBit,
  type Counters,
  type HostRow,
  type LaneRow,
  type Storage,
  type UrlRow,
  type VisitRow,
} from '../storage.ts'
import { countsOf, type CarriedCounts, type CarriedHost, type CarriedTotals, type CarriedUrl } from '../transfer.ts'
import { explained, openDatabase, SEEN_FOLDER } from './database.ts'
import { createFolderRunFiles } from './seen/index.ts'
import { createEmbeddedStorage } from './storage.ts'
import { liftBar, readBar, writeBar, type Bar } from './transfer-bar.ts'

/** Referrers are counted one by one, and beyond some hundreds one more says nothing. */
const MOST_REFERRERS = 300
/** Hosts are given their turn in portions of this size. */
const HOSTS_AT_ONCE = 1_000
const BLOOM = { capacity: 100_000_000, falsePositiveRate: 0.01 }

export interface EmbeddedTarget {
  /** Why nobody may work on the crawl; undefined for one that is open to be worked on, and not ours to write. */
  readonly bar: Bar | undefined
  /** The move by which all of the crawl has come; undefined while it has not. */
  readonly arrivedBy: string | undefined
  /** As it was given with the last portion; undefined before the first. */
  readonly progress: string | undefined
  readonly output: OutputPosition
  readonly counts: CarriedCounts
  /** One portion. What `work` writes is committed together with the progress and the position of the output. */
  portion(progress: string, work: (writer: EmbeddedWriter) => void): void
  /** Gives every host its turn, and opens the crawl to be worked on. */
  complete(totals: CarriedTotals): void
  close(): void
}

export interface EmbeddedWriter {
  /** A host that is there already is written over. */
  host(host: CarriedHost): void
  has(kind: UrlRow['kind'], url: NormalizedUrl): boolean
  /** A new URL; one that is there already takes on what this says, and keeps the visits that it has. */
  url(url: CarriedUrl): void
  /** What the visits of a URL brought; nothing happens for one that is not there. */
  visit(kind: UrlRow['kind'], url: NormalizedUrl, visit: Omit<VisitRow, 'id'>): void
  /** How deep a URL is, and what it names; as far as they are there. */
  children(url: NormalizedUrl, depth: number, children: CarriedUrl['children']): void
  output(position: OutputPosition): void
}

export function openEmbeddedTarget(folder: string, bar: Bar, deps: { readonly clock: Clock }): EmbeddedTarget {
  const { clock } = deps
  const { db, close } = openDatabase(folder)
  return explained(folder, () => {
    try {
      const meta = (key: string): string | undefined =>
        (db.prepare('SELECT value FROM meta WHERE key = ?').get(key) as { value: string } | undefined)?.value
      const keep = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
      if (readBar(db) === undefined && meta('counters') === undefined) writeBar(db, bar)
      const storage = createEmbeddedStorage(db, {
        folder,
        files: createFolderRunFiles(join(folder, SEEN_FOLDER)),
        bloom: BLOOM,
        onClose: close,
        clock,
      })
      const counters = storage.counters()
      const writer = createWriter(storage, counters)
      return {
        get bar() {
          return readBar(db)
        },
        get arrivedBy() {
          return meta('arrived_by')
        },
        get progress() {
          return meta('transfer')
        },
        get output() {
          return counters.output
        },
        get counts() {
          return countsOf(counters)
        },
        portion(progress, work) {
          storage.transaction(clock.now(), () => {
            work(writer)
            keep.run('transfer', progress)
            storage.saveCounters(counters)
          })
        },
        complete(totals) {
          for (let behind = 0; ;) {
            const rows = db.prepare('SELECT id FROM host WHERE id > ? ORDER BY id LIMIT ?').all(behind, HOSTS_AT_ONCE)
            const ids = (rows as { id: number }[]).map(({ id }) => id)
            storage.transaction(clock.now(), () => {
              for (const id of ids) giveTurn(storage, counters, storage.hostById(id))
              storage.saveCounters(counters)
            })
            if (ids.length < HOSTS_AT_ONCE) break
            behind = ids.at(-1) ?? behind
          }
          storage.transaction(clock.now(), () => {
            const { requested, ...rest } = totals
            Object.assign(counters, rest)
            for (const tier of ['high', 'medium', 'low'] as const) counters.tiers[tier].requests = requested[tier]
            storage.saveCounters(counters)
            liftBar(db)
            if (bar.move !== undefined) keep.run('arrived_by', bar.move)
            db.prepare("DELETE FROM meta WHERE key = 'transfer'").run()
          })
        },
        close: () => storage.close(true),
      }
    } catch (error) {
      close()
      throw error
    }
  })
}

function createWriter(storage: Storage, counters: Counters): EmbeddedWriter {
  const laneOf = (url: NormalizedUrl): { host: HostRow; lane: LaneRow } => {
    const key = hostKey(url)
    let host = storage.hostByKey(key)
    if (host === undefined) {
      host = storage.insertHost(key)
      counters.hosts += 1
    }
    const origin = originOf(url)
    const lane = storage.lanesOf(host.id).find((each) => each.origin === origin) ?? storage.insertLane(host.id, origin)
    return { host, lane }
  }
  const idOf = (kind: UrlRow['kind'], url: NormalizedUrl): number => storage.find(kind, url)
  const referrerId = (url: NormalizedUrl | null): number =>
    url === null ? 0 : idOf('page', url) || idOf('sitemap', url)

  const link = (id: number, children: CarriedUrl['children']): void => {
    const links = children.map((child) => ({ id: idOf(child.kind, child.url), step: child.step }))
    const known = links.filter((each) => each.id !== 0)
    if (known.length > 0) storage.setChildren(id, known)
  }

  /** A row has come into its state, or leaves it. */
  const count = (row: Omit<UrlRow, 'id'>, isRevisit: boolean, host: HostRow, lane: LaneRow, by: 1 | -1): void => {
    const isOpen = row.state !== 'done' && row.state !== 'failed' && row.state !== 'skipped'
    if (row.state === 'queued') {
      lane.queued[row.slot] += by
      counters.tiers[row.slot === 'auto' ? host.tier : row.slot].queued += by
      storage.updateLane(lane)
    } else if (row.state === 'held') counters.held += by
    else if (row.state === 'aside') counters.aside += by
    if (row.kind === 'sitemap') {
      if (isOpen) counters.sitemapsOpen += by
      return
    }
    counters.discovered += by
    if (isOpen) counters.open += by
    if (isOpen && isRevisit) counters.refreshing += by
    if (row.state === 'done') counters.done += by
    if (row.state === 'failed') counters.failed += by
    if (row.state === 'skipped') {
      const reason = row.reason ?? ''
      counters.skipped[reason] = (counters.skipped[reason] ?? 0) + by
    }
  }

  return {
    host({ lanes, errands, traps, ...carried }) {
      let row = storage.hostByKey(carried.key)
      if (row === undefined) {
        row = storage.insertHost(carried.key)
        counters.hosts += 1
      }
      storage.updateHost({ ...row, ...carried, id: row.id })
      const present = storage.lanesOf(row.id)
      for (const lane of lanes) {
        const known = present.find(({ origin }) => origin === lane.origin) ?? storage.insertLane(row.id, lane.origin)
        const { robotsNotBefore, robotsAttempts, robotsMoved, robots } = lane
        storage.updateLane({ ...known, robotsNotBefore, robotsAttempts, robotsMoved })
        if (robots !== null) storage.saveRobots(known.id, robots)
      }
      for (const errand of storage.errandsOf(row.id)) storage.deleteErrand(errand.id)
      for (const errand of errands) storage.insertErrand(row.id, errand)
      if (traps !== null) storage.saveTraps(row.id, traps)
    },
    has: (kind, url) => idOf(kind, url) !== 0,
    url({ referrer, referrers, visit, children, ...carried }) {
      const { host, lane } = laneOf(carried.url)
      let id = storage.find(carried.kind, carried.url)
      if (id === 0) {
        const row = { ...carried, lane: lane.id, referrer: referrerId(referrer) }
        id = storage.insert(row)
        count(row, visit !== null, host, lane, 1)
      } else {
        const before = storage.url(id)
        const wasVisited = storage.visit(id) !== undefined
        count(before, wasVisited, host, lane, -1)
        const { slot, depth, state, rank, attempts, reason, at } = carried
        const after = { ...before, slot, depth, state, rank, attempts, reason, at }
        count(after, wasVisited || visit !== null, host, lane, 1)
        storage.update(after)
      }
      for (let times = storage.referrers(id); times < Math.min(referrers, MOST_REFERRERS); times++) {
        storage.countReferrer(id)
      }
      if (visit !== null) storage.saveVisit({ ...visit, id })
      link(id, children)
    },
    visit(kind, url, visit) {
      const id = idOf(kind, url)
      if (id !== 0) storage.saveVisit({ ...visit, id })
    },
    children(url, depth, children) {
      const id = idOf('page', url)
      if (id === 0) return
      const row = storage.url(id)
      if (depth < row.depth) storage.update({ ...row, depth })
      link(id, children)
    },
    output(position) {
      counters.output = position
    },
  }
}

/**
 * Puts a host where it will be looked at: at its last answer or the end of its block. That may be too early, never too
 * late; the rules put right what is too early when it comes up.
 */
function giveTurn(storage: Storage, counters: Counters, host: HostRow): void {
  const errands = storage.errandsOf(host.id)
  let tiers = errands.length > 0 ? tierBit(host.tier) : 0
  let work = errands.length
  for (const lane of storage.lanesOf(host.id)) {
    work += queuedIn(lane)
    for (const slot of SLOTS) if (lane.queued[slot] > 0) tiers |= tierBit(slot === 'auto' ? host.tier : slot)
  }
  const due = work === 0 ? null : Math.max(host.answeredAt ?? 0, host.blockedUntil)
  counters.hostsWithWork += Number(due !== null) - Number(host.due !== null)
  storage.updateHost({ ...host, due, order: orderOf(classOf(host.health), tiers) })
}
