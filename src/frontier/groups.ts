/**
 * Pace by more than the host: hosts of one registrable domain, or at one address, are one group. A group has one lease
 * open at most, and its delay counts from the last answer of any member.
 *
 * A host that finds its group busy is given a place: the first waits for the moment when the group is free, each other
 * one a delay behind the last place given. The place becomes its due time, so that a thousand names on one server cost
 * one look each turn, not a thousand. A place is no promise: whoever is due when the group is free is served.
 *
 * What is kept here is bounded by the groups whose delay or line has not passed yet. None of it is durable: after a
 * crawl is opened again, each group waits its delay once.
 */
import { registrableDomain } from '../url/index.ts'
import { createAgenda } from './agenda.ts'
import type { FrontierOptions } from './contract.ts'
import type { HostRow } from './storage.ts'

/** Weight of the last turn in the smoothed one. */
const SMOOTHING = 0.2
/**
 * Places are given a little closer than turns take. Somebody is then always there when the group is free; who comes
 * too early, and finds another one waiting already, gets a new place behind all others.
 */
const TURN_SHARE = 0.9

interface Group {
  readonly name: string
  readonly delayMs: number
  /** When the open lease runs out; null while there is none. */
  leasedUntil: number | null
  /** When the group may be asked again; while leased, as far as that is known. */
  freeAt: number
  /** The last place given. */
  tail: number
  /** How long its leases last, smoothed. */
  turnMs: number
  leasedAt: number
  /** The host that is due as soon as the group is free. */
  next: number | null
}

/** A host that waits for a group, and since when it need not any more. */
export interface Wake {
  readonly host: number
  readonly at: number
}

export interface Groups {
  /** Whether any host is paced by a group: then leases carry one task, and a host has one lease at most. */
  readonly enabled: boolean
  /** The longest delay of the groups of a host; 0 without any. */
  delayMs(row: HostRow): number
  /** The address that the host is paced by; null when none is. */
  addressOf(row: HostRow): string | null
  /** The place of a host whose turn has come but whose group is not free; undefined when it may be leased now. */
  place(row: HostRow, inLine: boolean, now: number): number | undefined
  /** The groups of this host have a lease. Returns the names by which to release them. */
  take(row: HostRow, expiresAt: number, now: number): readonly string[]
  /** The lease is over, with an answer at that time if anything was sent. Returns who need not wait any longer. */
  release(names: readonly string[], answeredAt: number | null): Wake[]
  /** Drops what needs no remembering. */
  forget(now: number): void
}

export function createGroups(options: FrontierOptions['groups'], openedAt: number | null): Groups {
  const { domainDelayMs, addressDelayMs } = options
  const groups = new Map<string, Group>()
  const ends = createAgenda<Group>()

  const membership = (row: HostRow): { name: string; delayMs: number }[] => {
    const names: { name: string; delayMs: number }[] = []
    if (domainDelayMs > 0) names.push({ name: `domain ${registrableDomain(row.key)}`, delayMs: domainDelayMs })
    if (addressDelayMs > 0 && row.address !== null)
      names.push({ name: `address ${row.address}`, delayMs: addressDelayMs })
    return names
  }

  const remember = (group: Group): void => {
    if (group.leasedUntil === null) ends.set(group, Math.max(group.freeAt, group.tail))
    else ends.delete(group)
  }

  const groupOf = (name: string, delayMs: number): Group => {
    let group = groups.get(name)
    if (group === undefined) {
      const freeAt = openedAt === null ? 0 : openedAt + delayMs
      group = { name, delayMs, leasedUntil: null, freeAt, tail: 0, turnMs: 0, leasedAt: 0, next: null }
      groups.set(name, group)
      remember(group)
    }
    return group
  }
  const groupsOf = (row: HostRow): Group[] => membership(row).map(({ name, delayMs }) => groupOf(name, delayMs))
  const isFree = (group: Group, now: number): boolean => group.leasedUntil === null && group.freeAt <= now

  /** `inLine`: the host has waited for a place that has come. Others go behind all who wait. */
  const placeIn = (group: Group, host: number, inLine: boolean, now: number): number => {
    const isLeased = group.leasedUntil !== null
    const freeAt = isLeased ? Math.max(group.leasedUntil ?? 0, now) + group.delayMs : group.freeAt
    const isNext = group.next === null && (inLine || group.tail <= now)
    if (isNext) group.next = host
    // The next one has a place in the line too, although it will be woken as soon as the group is free.
    if (!isNext || group.tail <= now) group.tail = Math.max(group.tail, now) + group.delayMs + TURN_SHARE * group.turnMs
    remember(group)
    return isNext ? freeAt : group.tail
  }

  return {
    enabled: domainDelayMs > 0 || addressDelayMs > 0,
    delayMs: (row) => membership(row).reduce((longest, { delayMs }) => Math.max(longest, delayMs), 0),
    addressOf: (row) => (addressDelayMs > 0 ? row.address : null),
    place(row, inLine, now) {
      const all = groupsOf(row)
      for (const group of all) if (group.next === row.id) group.next = null
      const busy = all.filter((group) => !isFree(group, now))
      return busy.length === 0 ? undefined : Math.max(...busy.map((group) => placeIn(group, row.id, inLine, now)))
    },
    take(row, expiresAt, now) {
      return groupsOf(row).map((group) => {
        group.leasedUntil = expiresAt
        group.leasedAt = now
        group.tail = Math.max(group.tail, now)
        remember(group)
        return group.name
      })
    },
    release(names, answeredAt) {
      const wakes: Wake[] = []
      for (const name of names) {
        const group = groups.get(name)
        if (group === undefined) continue
        group.leasedUntil = null
        if (answeredAt !== null) {
          group.freeAt = Math.max(group.freeAt, answeredAt + group.delayMs)
          const turnMs = Math.max(answeredAt - group.leasedAt, 0)
          group.turnMs = group.turnMs === 0 ? turnMs : group.turnMs + SMOOTHING * (turnMs - group.turnMs)
        }
        if (group.next !== null) wakes.push({ host: group.next, at: group.freeAt })
        remember(group)
      }
      return wakes
    },
    forget(now) {
      for (let first = ends.first(); first !== undefined && first.at <= now; first = ends.first()) {
        ends.delete(first.item)
        groups.delete(first.item.name)
      }
    },
  }
}
