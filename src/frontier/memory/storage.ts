/**
 * The memory home's storage: plain maps, nothing durable. The readable reference, and what simulations run on, with a
 * million hosts of a URL or two each: so what is empty takes no room, and rows are small.
 */
import type { HostKey, Origin, UrlKey } from '../../model/index.ts'
import { keyOfNormalized } from '../../url/index.ts'
import {
  copyHost,
  emptyCounters,
  HOST_ORDERS,
  isFinal,
  newHost,
  SLOTS,
  summaryOf,
  type Child,
  type DueHost,
  type Errand,
  type HostOrder,
  type HostRow,
  type LaneRow,
  type Slot,
  type Storage,
  type UrlRow,
  type VisitRow,
} from '../storage.ts'
import { createQueues } from './queues.ts'
import { copyLane, copyUrl } from './rows.ts'
import { createSortedSet, type SortedSet } from '../sorted-set.ts'

export function createMemoryStorage(): Storage {
  const counters = emptyCounters()
  const ids = { page: new Map<UrlKey, number>(), sitemap: new Map<UrlKey, number>() }
  const urls: UrlRow[] = []
  const children = new Map<number, readonly Child[]>()
  const hosts: HostRow[] = []
  const hostIds = new Map<HostKey, number>()
  const lanes: LaneRow[] = []
  const hostOfLane: number[] = []
  const bodies = new Map<number, string>()
  // Nearly every host has one origin: its lane stands by itself.
  const firstLanes: number[] = []
  const furtherLanes = new Map<number, number[]>()
  const errands = new Map<number, Errand[]>()
  const hostOfErrand = new Map<number, number>()
  const queues = createQueues()
  const waiting = createSortedSet()
  const due: readonly SortedSet[] = Array.from({ length: HOST_ORDERS }, createSortedSet)
  const lent = new Set<number>()
  /** Of each host, in order of discovery. */
  const parked = { held: new Map<number, SortedSet>(), aside: new Map<number, SortedSet>() }
  const referrers: number[] = []
  const visits = new Map<number, VisitRow>()
  const visitOrder = createSortedSet()
  const traps = new Map<number, string>()
  let lastErrand = 0

  const at = <T>(list: readonly T[], id: number): T => {
    const found = list[id - 1]
    if (found === undefined) throw new Error(`no row ${id}`)
    return found
  }
  const orderAt = (order: HostOrder): SortedSet => due[order] as SortedSet
  const offer = (row: HostRow): void => {
    if (row.due !== null) orderAt(row.order).add(row.due, row.id)
  }
  const withdraw = (row: HostRow): void => {
    if (row.due !== null) orderAt(row.order).delete(row.due, row.id)
  }
  /** One queue for each part of a lane. */
  const queueOf = (lane: number, slot: Slot): number => lane * SLOTS.length + SLOTS.indexOf(slot)

  /** Puts a row into the order that its state says. */
  const enter = ({ id, state, lane, slot, rank, at: time }: UrlRow): void => {
    if (state === 'queued') queues.add(queueOf(lane, slot), rank, id)
    else if (state === 'waiting') waiting.add(time, id)
    else if (state === 'held' || state === 'aside') {
      const host = at(hostOfLane, lane)
      let set = parked[state].get(host)
      if (set === undefined) parked[state].set(host, (set = createSortedSet()))
      set.add(id, id)
    }
  }
  const leave = ({ id, state, lane, slot, rank, at: time }: UrlRow): void => {
    if (state === 'queued') queues.delete(queueOf(lane, slot), rank, id)
    else if (state === 'waiting') waiting.delete(time, id)
    else if (state === 'held' || state === 'aside') {
      const host = at(hostOfLane, lane)
      const set = parked[state].get(host)
      set?.delete(id, id)
      if (set?.smallest() === undefined) parked[state].delete(host)
    }
  }
  const dueHost = (id: number): DueHost => ({ id, due: at(hosts, id).due ?? 0 })

  return {
    transaction: (_now, work) => work(),

    find: (kind, url) => ids[kind].get(keyOfNormalized(url)) ?? 0,
    insert(row) {
      const id = urls.length + 1
      const copy = copyUrl(row, id)
      urls.push(copy)
      referrers.push(1)
      ids[row.kind].set(keyOfNormalized(row.url), id)
      enter(copy)
      return id
    },
    url: (id) => copyUrl(at(urls, id), id),
    text: (id) => at(urls, id).url,
    depth: (id) => at(urls, id).depth,
    isEnded: (id) => isFinal(at(urls, id).state),
    place: (id) => at(urls, id),
    update(row) {
      leave(at(urls, row.id))
      const copy = copyUrl(row, row.id)
      urls[row.id - 1] = copy
      enter(copy)
    },
    countReferrer(id) {
      const count = at(referrers, id) + 1
      referrers[id - 1] = count
      return count
    },
    referrers: (id) => at(referrers, id),
    setChildren: (id, list) => void children.set(id, list),
    children: (id) => children.get(id) ?? [],

    head: (lane, slot, count, skip) =>
      queues.first(queueOf(lane, slot), count, (id) => !skip.has(id)).map((id) => ({ id, rank: at(urls, id).rank })),
    waitingUntil: (now, count) => waiting.first(count, now),
    nextWaiting: () => waiting.smallest(),
    parkedOfOneHost(state, count, skip) {
      for (const set of parked[state].values()) {
        const some = set.first(count, Infinity, (id) => !skip.has(id))
        if (some.length > 0) return some
      }
      return []
    },
    asideOf: (host, behind, count) => parked.aside.get(host)?.after(count, behind) ?? [],

    visit(id) {
      const row = visits.get(id)
      return row === undefined ? undefined : { ...row }
    },
    saveVisit(row) {
      const before = visits.get(row.id)
      if (before !== undefined && before.dueAt !== null) visitOrder.delete(before.dueAt, row.id)
      visits.set(row.id, { ...row })
      if (row.dueAt !== null) visitOrder.add(row.dueAt, row.id)
    },
    visitsUntil: (now, count) => visitOrder.first(count, now),
    nextVisit: () => visitOrder.smallest(),

    hostByKey(key) {
      const id = hostIds.get(key)
      return id === undefined ? undefined : copyHost(at(hosts, id))
    },
    hostById: (id) => copyHost(at(hosts, id)),
    insertHost(key) {
      const id = hosts.length + 1
      const row = newHost(id, key)
      hosts.push(row)
      firstLanes.push(0)
      hostIds.set(key, id)
      return copyHost(row)
    },
    updateHost(row) {
      const isOffered = !lent.has(row.id)
      if (isOffered) withdraw(at(hosts, row.id))
      hosts[row.id - 1] = copyHost(row)
      if (isOffered) offer(row)
    },
    dueHosts: (of, now, count) => orderAt(of).first(count, now).map(dueHost),
    upcomingHosts: (of, now, count) => orderAt(of).after(count, now).map(dueHost),
    lend(host) {
      withdraw(at(hosts, host))
      lent.add(host)
    },
    giveBack(host) {
      if (lent.delete(host)) offer(at(hosts, host))
    },
    lanesOf(host) {
      const first = at(firstLanes, host)
      const all = first === 0 ? [] : [first, ...(furtherLanes.get(host) ?? [])]
      return all.map((id) => copyLane(at(lanes, id), at(lanes, id).robots))
    },
    hostOfLane: (id) => at(hostOfLane, id),
    insertLane(host, origin: Origin) {
      const id = lanes.length + 1
      const row: LaneRow = {
        id,
        origin,
        queued: { high: 0, medium: 0, low: 0, auto: 0 },
        robots: undefined,
        robotsNotBefore: 0,
        robotsAttempts: 0,
        robotsMoved: false,
      }
      lanes.push(row)
      hostOfLane.push(host)
      if (at(firstLanes, host) === 0) firstLanes[host - 1] = id
      else furtherLanes.set(host, [...(furtherLanes.get(host) ?? []), id])
      return copyLane(row, undefined)
    },
    updateLane(row) {
      lanes[row.id - 1] = copyLane(row, at(lanes, row.id).robots)
    },
    traps: (host) => traps.get(host),
    saveTraps: (host, learned) => void traps.set(host, learned),
    saveRobots(lane, robots) {
      at(lanes, lane).robots = summaryOf(robots, robots.origin)
      if (robots.body === '') bodies.delete(lane)
      else bodies.set(lane, robots.body)
    },
    robotsBody: (lane) => bodies.get(lane) ?? '',
    errandsOf: (host) => [...(errands.get(host) ?? [])],
    insertErrand(host, errand) {
      const row = { ...errand, id: ++lastErrand }
      errands.set(host, [...(errands.get(host) ?? []), row])
      hostOfErrand.set(row.id, host)
      return row
    },
    deleteErrand(id) {
      const host = hostOfErrand.get(id)
      if (host === undefined) return
      hostOfErrand.delete(id)
      const left = (errands.get(host) ?? []).filter((errand) => errand.id !== id)
      if (left.length === 0) errands.delete(host)
      else errands.set(host, left)
    },

    counters: () => counters,
    saveCounters() {},
    lookups: () => ({ falsePositives: 0 }),
    close() {},
  }
}
