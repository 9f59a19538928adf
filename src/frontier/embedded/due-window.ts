/**
 * The head of the due order in memory. The table of hosts has the whole order on disk; the crawl only ever looks at its
 * beginning, many times a second, and passes over the hosts that are lent. So the beginning is read once, in portions,
 * and kept up to date here.
 *
 * It keeps true that every host due at the horizon or before is in the window unless it is lent, with the due time that
 * the table has; beyond the horizon the table is asked. Its size is bounded: a window that grows too long is cut, and
 * the horizon with it.
 */
import { createSortedSet, type SortedSet } from '../sorted-set.ts'
import type { DueHost } from '../storage.ts'

/** Hosts read at once. */
const PORTION = 1_024
/** Hosts in the window, at most; cut to half of it. */
const LONGEST = 65_536

export interface DueWindow {
  /** Due at `upTo` or before and not lent, soonest first, then by id. */
  first(count: number, upTo: number): DueHost[]
  /** Due after `time` and not lent, soonest first. */
  after(count: number, time: number): DueHost[]
  /** What the table has for this host now; null when it is not due at all, or not in this order. */
  set(id: number, due: number | null): void
  lend(id: number): void
  giveBack(id: number): void
}

/** `read` gives the table's entries behind this one, in order, at most so many. */
export function createDueWindow(
  read: (behind: DueHost, count: number) => readonly DueHost[],
  limits: { readonly portion: number; readonly longest: number } = { portion: PORTION, longest: LONGEST },
): DueWindow {
  let order: SortedSet = createSortedSet()
  const times = new Map<number, number>()
  /** What the table has for those lent, as far as it is known; null when it has nothing. */
  const lent = new Map<number, number | null>()
  let horizon: DueHost = { due: -Infinity, id: -Infinity }

  const isInside = (due: number, id: number): boolean => due < horizon.due || (due === horizon.due && id <= horizon.id)

  const insert = (id: number, due: number): void => {
    times.set(id, due)
    order.add(due, id)
  }
  const remove = (id: number): void => {
    const due = times.get(id)
    if (due === undefined) return
    times.delete(id)
    order.delete(due, id)
  }

  const readOn = (): void => {
    const found = read(horizon, limits.portion)
    for (const { id, due } of found) {
      if (lent.has(id)) lent.set(id, due)
      else insert(id, due)
    }
    const last = found.at(-1)
    horizon = last === undefined || found.length < limits.portion ? { due: Infinity, id: Infinity } : last
  }

  const cut = (): void => {
    const kept = order
      .first(Math.floor(limits.longest / 2), Infinity)
      .map((id) => ({ id, due: times.get(id) as number }))
    order = createSortedSet()
    times.clear()
    for (const { id, due } of kept) insert(id, due)
    horizon = kept.at(-1) ?? horizon
  }

  const dueHosts = (ids: readonly number[]): DueHost[] => ids.map((id) => ({ id, due: times.get(id) as number }))

  return {
    first(count, upTo) {
      let found = order.first(count, upTo)
      while (found.length < count && horizon.due <= upTo && horizon.due < Infinity) {
        readOn()
        found = order.first(count, upTo)
      }
      return dueHosts(found)
    },
    after(count, time) {
      let found = order.after(count, time)
      while (found.length < count && horizon.due < Infinity) {
        readOn()
        found = order.after(count, time)
      }
      return dueHosts(found)
    },
    set(id, due) {
      if (lent.has(id)) {
        lent.set(id, due)
        return
      }
      remove(id)
      if (due === null || !isInside(due, id)) return
      insert(id, due)
      if (times.size > limits.longest) cut()
    },
    lend(id) {
      lent.set(id, times.get(id) ?? null)
      remove(id)
    },
    giveBack(id) {
      const due = lent.get(id)
      lent.delete(id)
      if (due != null && isInside(due, id)) insert(id, due)
    },
  }
}
