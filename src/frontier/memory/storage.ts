/**
 * The memory home's storage: plain maps, nothing durable. The readable reference, and what simulations run on, with a
 * million hosts of a URL or two each: so what is empty takes no room, and rows are small.
 */
import { UNKNOWN_HEALTH, type HostKey, type Origin, type UrlKey } from '../../model/index.ts'
import {
  classOf,
  emptyCounters,
  type Child,
  type DueHost,
  type Errand,
  type HostRow,
  type LaneRow,
  type Storage,
  type UrlRow,
} from '../storage.ts'
import { createQueues } from './queues.ts'
import { copyHost, copyLane, copyUrl, summarise } from './rows.ts'
import { createSortedSet } from '../sorted-set.ts'

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
  const due = { proven: createSortedSet(), unproven: createSortedSet() }
  const lent = new Set<number>()
  const held = new Map<number, Set<number>>()
  let lastErrand = 0

  const at = <T>(list: readonly T[], id: number): T => {
    const found = list[id - 1]
    if (found === undefined) throw new Error(`no row ${id}`)
    return found
  }
  const offer = (row: HostRow): void => {
    if (row.due !== null) due[classOf(row.health)].add(row.due, row.id)
  }
  const withdraw = (row: HostRow): void => {
    if (row.due !== null) due[classOf(row.health)].delete(row.due, row.id)
  }
  const dueHost = (id: number): DueHost => ({ id, due: at(hosts, id).due ?? 0 })

  return {
    transaction: (_now, work) => work(),

    find(kind, key) {
      const id = ids[kind].get(key)
      return id === undefined ? undefined : { id, depth: at(urls, id).depth }
    },
    insert(key, row) {
      const id = urls.length + 1
      urls.push(copyUrl(row, id))
      ids[row.kind].set(key, id)
      return id
    },
    url: (id) => copyUrl(at(urls, id), id),
    update(row) {
      urls[row.id - 1] = copyUrl(row, row.id)
    },
    countReferrer() {},
    setChildren: (id, list) => void children.set(id, list),
    children: (id) => children.get(id) ?? [],

    enqueue: (lane, rank, id) => queues.add(lane, rank, id),
    dequeue: (lane, rank, id) => queues.delete(lane, rank, id),
    head: (lane, count, skip) => queues.first(lane, count, (id) => !skip.has(id)),
    takeWaiting(now, count) {
      const taken = waiting.first(count, now)
      for (const id of taken) waiting.delete(at(urls, id).at, id)
      return taken
    },
    wait: (time, id) => waiting.add(time, id),
    nextWaiting: () => waiting.smallest(),
    hold(host, id) {
      const set = held.get(host)
      if (set === undefined) held.set(host, new Set([id]))
      else set.add(id)
    },
    release(host, id) {
      const set = held.get(host)
      set?.delete(id)
      if (set?.size === 0) held.delete(host)
    },
    heldOfOneHost(count, skip) {
      for (const set of held.values()) {
        const some: number[] = []
        for (const id of set) {
          if (some.length >= count) break
          if (!skip.has(id)) some.push(id)
        }
        if (some.length > 0) return some
      }
      return []
    },

    hostByKey(key) {
      const id = hostIds.get(key)
      return id === undefined ? undefined : copyHost(at(hosts, id))
    },
    hostById: (id) => copyHost(at(hosts, id)),
    insertHost(key) {
      const id = hosts.length + 1
      const row: HostRow = {
        id,
        key,
        due: null,
        answeredAt: null,
        blockedUntil: 0,
        blockedReason: null,
        health: UNKNOWN_HEALTH,
        address: null,
        closestMs: null,
      }
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
    dueHosts: (of, now, count) => due[of].first(count, now).map(dueHost),
    upcomingHosts: (of, now, count) => due[of].after(count, now).map(dueHost),
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
        queued: 0,
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
    saveRobots(lane, robots) {
      at(lanes, lane).robots = summarise(robots)
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
    close() {},
  }
}
