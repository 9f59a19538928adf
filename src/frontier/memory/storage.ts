/** The memory home's storage: plain maps, nothing durable. The readable reference, and what simulations run on. */
import type { HostKey, Origin, UrlKey } from '../../model/index.ts'
import {
  emptyCounters,
  type Child,
  type Errand,
  type HostRow,
  type LaneRow,
  type Storage,
  type UrlRow,
} from '../storage.ts'
import { createSortedSet } from './sorted-set.ts'

export function createMemoryStorage(): Storage {
  const counters = emptyCounters()
  const ids = new Map<string, number>()
  const urls: UrlRow[] = []
  const children = new Map<number, readonly Child[]>()
  const hosts: HostRow[] = []
  const hostIds = new Map<HostKey, number>()
  const lanes: { row: LaneRow; host: number; body: string }[] = []
  const lanesOf = new Map<number, LaneRow[]>()
  const errands = new Map<number, { host: number; errand: Errand }>()
  const queues = new Map<number, ReturnType<typeof createSortedSet>>()
  const waiting = createSortedSet()
  const due = createSortedSet()
  const dueTimes = new Map<number, number>()
  const held = new Map<number, Set<number>>()
  let lastErrand = 0

  const at = <T>(list: readonly T[], id: number): T => {
    const found = list[id - 1]
    if (found === undefined) throw new Error(`no row ${id}`)
    return found
  }
  const name = (kind: string, key: UrlKey): string => `${kind} ${key}`
  const queueOf = (lane: number): ReturnType<typeof createSortedSet> => {
    let queue = queues.get(lane)
    if (queue === undefined) queues.set(lane, (queue = createSortedSet()))
    return queue
  }

  return {
    transaction: (work) => work(),

    find(kind, key) {
      const id = ids.get(name(kind, key))
      return id === undefined ? undefined : { id, depth: at(urls, id).depth }
    },
    insert(key, row) {
      const id = urls.length + 1
      urls.push({ ...row, id })
      ids.set(name(row.kind, key), id)
      return id
    },
    url: (id) => ({ ...at(urls, id) }),
    update(row) {
      urls[row.id - 1] = { ...row }
    },
    countReferrer() {},
    setChildren: (id, list) => void children.set(id, list),
    children: (id) => children.get(id) ?? [],

    enqueue: (lane, rank, id) => queueOf(lane).add(rank, id),
    dequeue: (lane, rank, id) => queueOf(lane).delete(rank, id),
    head: (lane, count, skip) => queueOf(lane).first(count, Infinity, (id) => !skip.has(id)),
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
      return id === undefined ? undefined : { ...at(hosts, id) }
    },
    hostById: (id) => ({ ...at(hosts, id) }),
    insertHost(key) {
      const id = hosts.length + 1
      const row: HostRow = {
        id,
        key,
        due: null,
        answeredAt: null,
        blockedUntil: 0,
        blockedReason: null,
        strikes: 0,
      }
      hosts.push(row)
      hostIds.set(key, id)
      return { ...row }
    },
    updateHost(row) {
      const before = dueTimes.get(row.id)
      if (before !== undefined) due.delete(before, row.id)
      dueTimes.delete(row.id)
      if (row.due !== null) {
        due.add(row.due, row.id)
        dueTimes.set(row.id, row.due)
      }
      hosts[row.id - 1] = { ...row }
    },
    dueHosts: (now, count) => due.first(count, now).map((id) => ({ ...at(hosts, id) })),
    upcomingHosts: (now, count) => due.after(count, now).map((id) => ({ ...at(hosts, id) })),
    lanesOf: (host) => (lanesOf.get(host) ?? []).map((row) => ({ ...row })),
    hostOfLane: (id) => at(lanes, id).host,
    insertLane(host, origin: Origin) {
      const row: LaneRow = {
        id: lanes.length + 1,
        origin,
        queued: 0,
        robots: undefined,
        robotsNotBefore: 0,
        robotsAttempts: 0,
        robotsMoved: false,
      }
      lanes.push({ row, host, body: '' })
      lanesOf.set(host, [...(lanesOf.get(host) ?? []), row])
      return { ...row }
    },
    updateLane(row) {
      Object.assign(at(lanes, row.id).row, row)
    },
    saveRobots(lane, robots) {
      const { body, ...summary } = robots
      const entry = at(lanes, lane)
      entry.row.robots = summary
      entry.body = body
    },
    robotsBody: (lane) => at(lanes, lane).body,
    errandsOf: (host) => [...errands.values()].filter((entry) => entry.host === host).map((entry) => entry.errand),
    insertErrand(host, errand) {
      const row = { ...errand, id: ++lastErrand }
      errands.set(row.id, { host, errand: row })
      return row
    },
    deleteErrand: (id) => void errands.delete(id),

    counters: () => counters,
    saveCounters() {},
    close() {},
  }
}
