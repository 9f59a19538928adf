/**
 * The head of an order in memory: hosts by their due time, URLs by the time of their next attempt. A table has the order
 * on disk; the crawl only ever looks at its beginning, many times a second, so the beginning is read once, in portions,
 * and kept up to date here.
 *
 * Rows that changed and are not written to the table yet are pending. It keeps true that the window holds every pending
 * entry, and all others up to the horizon; beyond it the table is asked. Its size is bounded: a window that grows too
 * long is cut, and the horizon with it.
 */
import {
  addPair,
  BEFORE_ALL,
  BEHIND_ALL,
  deletePair,
  isBefore,
  orderedPairs,
  walkPairs,
  type Pair,
} from './ordered-pairs.ts'

export interface WindowLimits {
  /** Entries read at once. */
  readonly portion: number
  /** Entries in the window beside those pending, at most; cut to half of it. */
  readonly longest: number
}

const LIMITS: WindowLimits = { portion: 1_024, longest: 65_536 }

export interface OrderWindow {
  readonly size: number
  /** With a key of at most `upTo`, smallest first, then by id, as far as they pass. */
  first(count: number, upTo: number, passes?: (id: number) => boolean): Pair[]
  /** With a key above this one, smallest first. */
  after(count: number, key: number): Pair[]
  /** Those in the window with this key and an id behind this one: all that are pending, perhaps others. */
  idsAt(key: number, behind: number): number[]
  /** What is known of a row here. */
  keyOf(id: number): number | undefined
  /** What is now so of this row; null when it is not in this order. */
  set(id: number, key: number | null): void
  /** Takes a row out; answers its key if it was here. */
  take(id: number): number | undefined
  /** The table has it now. */
  stored(id: number): void
}

export interface OrderTable {
  /** The table's entries behind this one, in order, at most so many. */
  read(behind: Pair, count: number): readonly Pair[]
  /** Whether the row changed since the table was written: what the table has of it does not count. */
  isChanged(id: number): boolean
  /** Whether the table may lack the row for being new. */
  isNew?(id: number): boolean
  /** Told of an entry that was read; answers whether it is to stay out of the window. */
  isKeptOut?(entry: Pair): boolean
}

export function createOrderWindow(table: OrderTable, limits: WindowLimits = LIMITS): OrderWindow {
  let pairs = orderedPairs()
  const keys = new Map<number, number>()
  let horizon: Pair = BEFORE_ALL
  /** Entries that may come to stay before the length of the window is looked at again. */
  let room = limits.longest

  const isPending = (id: number): boolean => table.isChanged(id) || table.isNew?.(id) === true
  const isInside = (key: number, id: number): boolean => !isBefore(horizon.key, horizon.id, key, id)

  const insert = (id: number, key: number): void => {
    keys.set(id, key)
    addPair(pairs, key, id)
  }
  const remove = (id: number): number | undefined => {
    const key = keys.get(id)
    if (key === undefined) return undefined
    keys.delete(id)
    deletePair(pairs, key, id)
    return key
  }

  /** Entries that count, of those behind this one in the table; and where the next ones would begin. */
  const read = (behind: Pair, count: number): { found: Pair[]; end: Pair } => {
    const rows = table.read(behind, count)
    return {
      found: rows.filter((entry) => !table.isChanged(entry.id) && table.isKeptOut?.(entry) !== true),
      end: rows.length < count ? BEHIND_ALL : (rows.at(-1) as Pair),
    }
  }

  const readOn = (): void => {
    const { found, end } = read(horizon, limits.portion)
    for (const { id, key } of found) insert(id, key)
    room -= found.length
    horizon = end
  }

  const cut = (): void => {
    const old = pairs
    let kept = 0
    let last: Pair = BEFORE_ALL
    pairs = orderedPairs()
    keys.clear()
    walkPairs(old, BEFORE_ALL, (key, id) => {
      if (isInside(key, id) && kept < limits.longest / 2) {
        kept += 1
        last = { key, id }
        insert(id, key)
      } else if (isPending(id)) insert(id, key)
      return true
    })
    horizon = last
  }

  const inside = (from: Pair, count: number, upTo: number, passes?: (id: number) => boolean): Pair[] => {
    const found: Pair[] = []
    if (count <= 0) return found
    walkPairs(pairs, from, (key, id) => {
      if (key > upTo || !isInside(key, id)) return false
      if (passes === undefined || passes(id)) found.push({ key, id })
      return found.length < count
    })
    return found
  }

  /** The table's next entries together with those pending, without moving the window. */
  const peek = (count: number, key: number): Pair[] => {
    const found: Pair[] = []
    let behind: Pair = { key, id: Infinity }
    // Few are wanted as a rule; more are read at once when those found do not count.
    for (let size = count + 8; found.length < count && behind.key < Infinity; size *= 4) {
      const next = read(behind, Math.min(size, limits.portion))
      found.push(...next.found.filter(({ id }) => !keys.has(id)))
      behind = next.end
    }
    let more = count
    walkPairs(pairs, { key, id: Infinity }, (each, id) => {
      found.push({ key: each, id })
      more -= 1
      return more > 0
    })
    return found.sort((a, b) => a.key - b.key || a.id - b.id).slice(0, count)
  }

  return {
    get size() {
      return keys.size
    },
    first(count, upTo, passes) {
      let found = inside(BEFORE_ALL, count, upTo, passes)
      while (found.length < count && horizon.key <= upTo && horizon.key < Infinity) {
        readOn()
        found = inside(BEFORE_ALL, count, upTo, passes)
      }
      return found
    },
    after(count, key) {
      // What lies between may be long, and is not what is asked for.
      if (isBefore(horizon.key, horizon.id, key, Infinity)) return peek(count, key)
      let found = inside({ key, id: Infinity }, count, Infinity)
      while (found.length < count && horizon.key < Infinity) {
        readOn()
        found = inside({ key, id: Infinity }, count, Infinity)
      }
      return found
    },
    idsAt(key, behind) {
      const found: number[] = []
      walkPairs(pairs, { key, id: behind + 1 }, (each, id) => each === key && found.push(id) > 0)
      return found
    },
    keyOf: (id) => keys.get(id),
    set(id, key) {
      remove(id)
      if (key === null) return
      if (!isInside(key, id) && !isPending(id)) return
      insert(id, key)
    },
    take: remove,
    stored(id) {
      const key = keys.get(id)
      if (key === undefined) return
      if (!isInside(key, id)) return void remove(id)
      room -= 1
      if (room > 0) return
      if (pairs.size > limits.longest) cut()
      room = limits.longest / 2
    },
  }
}
