/**
 * The heads of the queues in memory: for each part of a lane that is in use, its first entries. The table `queue` has
 * all of them on disk, but for those pending: of URLs that are new or changed, and not written there yet. It also has
 * some that are gone (see marks.ts), which are passed over, and deleted together.
 *
 * It keeps true that a line holds every pending entry of its queue, and all others up to its horizon. So a queue with
 * many deletions that the table does not know of yet is passed over once, not at every look. Lines that were not used of
 * late forget what the table has; one that grows long is cut.
 */
import { SLOTS, type Ids, type QueueEntry, type Slot } from '../storage.ts'
import {
  addPair,
  BEFORE_ALL,
  BEHIND_ALL,
  deletePair,
  isBefore,
  walkPairs,
  type OrderedPairs,
  type Pair,
} from './ordered-pairs.ts'

export interface QueueLimits {
  /** Lines that remember what the table has, and entries of all of these together. */
  readonly lines: number
  readonly entries: number
  /** Entries read at first; twice as many each further time, up to the last. */
  readonly firstPortion: number
  readonly lastPortion: number
  /** Entries of the table that a line has taken in when it is cut to half of that. */
  readonly longest: number
  /** Entries that are gone are worth deleting when so many of them were read together. */
  readonly gone: number
}

export const QUEUE_LIMITS: QueueLimits = {
  lines: 16_384,
  entries: 262_144,
  firstPortion: 6,
  lastPortion: 256,
  longest: 2_048,
  gone: 4,
}

export interface QueueLines {
  /** The first that `skip` lets pass. */
  head(lane: number, slot: Slot, count: number, skip: Ids): QueueEntry[]
  /** An entry that the table does not have. */
  enter(lane: number, slot: Slot, rank: number, id: number): void
  leave(lane: number, slot: Slot, rank: number, id: number): void
  /** The table has an entry that was entered. */
  stored(lane: number, slot: Slot, rank: number, id: number): void
  /** What the lines of a lane hold of ids above `after`, up to `upTo`. */
  entries(lane: number, after: number, upTo: number): (QueueEntry & { readonly slot: Slot })[]
}

export interface QueueTable {
  /** The first entries of a queue, as many as the first portion. */
  first(lane: number, slot: number): readonly Pair[]
  /** Those behind this one. */
  read(lane: number, slot: number, behind: Pair, count: number): readonly Pair[]
  /** Whether the row changed since the table was written: what the table has of it does not count. */
  isChanged(id: number): boolean
  /** Whether the table may lack the row's entry for being new. */
  isNew(id: number): boolean
  /** Whether what the table has of the row does not count any more, and may be deleted. */
  isGone(id: number): boolean
  /** These are gone and worth deleting. */
  forget(lane: number, slot: number, entries: readonly Pair[]): void
}

/** One object for each, since there are many with an entry or two. */
interface Line extends OrderedPairs {
  readonly key: number
  horizon: Pair
  portion: number
  /** Entries that it took in from the table since it was last cut. */
  taken: number
  /** Whether it has a horizon. */
  isOpen: boolean
  /** Whether it was used since it was last looked at whether it may close. */
  isUsed: boolean
}

export function createQueueLines(table: QueueTable, limits: QueueLimits = QUEUE_LIMITS): QueueLines {
  const lines = new Map<number, Line>()
  /** Those with a horizon, in the order in which one is looked for that may close. */
  const open: Line[] = []
  let hand = 0
  /** Entries of these. */
  let openEntries = 0

  const add = (line: Line, key: number, id: number): void => {
    const before = line.size
    addPair(line, key, id)
    if (line.isOpen) openEntries += line.size - before
  }
  const remove = (line: Line, key: number, id: number): void => {
    const before = line.size
    deletePair(line, key, id)
    if (line.isOpen) openEntries += line.size - before
    else if (line.size === 0) lines.delete(line.key)
  }
  const keyOf = (lane: number, slot: Slot): number => lane * SLOTS.length + SLOTS.indexOf(slot)
  const isInside = (line: Line, key: number, id: number): boolean =>
    !isBefore(line.horizon.key, line.horizon.id, key, id)

  const lineOf = (key: number): Line => {
    let line = lines.get(key)
    if (line === undefined) {
      line = {
        key,
        blocks: [[]],
        size: 0,
        horizon: BEFORE_ALL,
        portion: limits.firstPortion,
        taken: 0,
        isOpen: false,
        isUsed: false,
      }
      lines.set(key, line)
    }
    return line
  }

  /** Keeps the first of what the table has, at most so many, and all that is pending. */
  const cut = (line: Line, longest: number): void => {
    const old = { blocks: line.blocks, size: line.size }
    let last: Pair = BEFORE_ALL
    let kept = 0
    line.blocks = [[]]
    line.size = 0
    walkPairs(old, BEFORE_ALL, (key, id) => {
      if (isInside(line, key, id) && kept < longest) {
        kept += 1
        last = { key, id }
        addPair(line, key, id)
      } else if (table.isChanged(id) || table.isNew(id)) addPair(line, key, id)
      return true
    })
    openEntries += line.size - old.size
    line.taken = kept
    line.horizon = last
  }

  /** The one at the hand; another takes its place. */
  const close = (line: Line): void => {
    cut(line, 0)
    openEntries -= line.size
    line.isOpen = false
    line.portion = limits.firstPortion
    if (line.size === 0) lines.delete(line.key)
    const last = open.pop() as Line
    if (last !== line) open[hand] = last
  }

  /** Those not used of late are closed when there are too many. */
  const use = (line: Line): void => {
    if (!line.isOpen) {
      line.isOpen = true
      openEntries += line.size
      open.push(line)
    }
    line.isUsed = true
    if (isCrowded()) makeRoom(line)
  }
  const isCrowded = (): boolean => open.length > limits.lines || openEntries > limits.entries
  /** The hand goes round twice at most: who was used since it came by last is spared once. */
  const makeRoom = (used: Line): void => {
    while (isCrowded() && open.length > 1) {
      if (hand >= open.length) hand = 0
      const line = open[hand] as Line
      if (line !== used && !line.isUsed) close(line)
      else {
        line.isUsed = false
        hand += 1
      }
    }
    used.isUsed = true
  }

  const readOn = (line: Line, lane: number, slot: Slot): void => {
    const part = SLOTS.indexOf(slot)
    const isFirst = line.horizon === BEFORE_ALL && line.portion === limits.firstPortion
    const found = isFirst ? table.first(lane, part) : table.read(lane, part, line.horizon, line.portion)
    let gone = 0
    for (const { key, id } of found) {
      if (table.isGone(id)) gone += 1
      else if (!table.isChanged(id)) add(line, key, id)
    }
    if (gone >= limits.gone)
      table.forget(
        lane,
        part,
        found.filter(({ id }) => table.isGone(id)),
      )
    line.horizon = found.length < line.portion ? BEHIND_ALL : (found.at(-1) as Pair)
    line.taken += found.length
    line.portion = Math.min(limits.lastPortion, line.portion * 2)
  }

  const inside = (line: Line, count: number, skip: Ids): QueueEntry[] => {
    const found: QueueEntry[] = []
    walkPairs(line, BEFORE_ALL, (key, id) => {
      if (!isInside(line, key, id)) return false
      if (!skip.has(id)) found.push({ id, rank: key })
      return found.length < count
    })
    return found
  }

  return {
    head(lane, slot, count, skip) {
      if (count <= 0) return []
      const line = lineOf(keyOf(lane, slot))
      use(line)
      let found = inside(line, count, skip)
      while (found.length < count && line.horizon.key < Infinity) {
        readOn(line, lane, slot)
        found = inside(line, count, skip)
      }
      return found
    },
    enter: (lane, slot, rank, id) => add(lineOf(keyOf(lane, slot)), rank, id),
    leave(lane, slot, rank, id) {
      const line = lines.get(keyOf(lane, slot))
      if (line !== undefined) remove(line, rank, id)
    },
    stored(lane, slot, rank, id) {
      const line = lines.get(keyOf(lane, slot))
      if (line === undefined) return
      if (!isInside(line, rank, id)) return remove(line, rank, id)
      line.taken += 1
      if (line.taken > limits.longest) cut(line, limits.longest / 2)
    },
    entries(lane, after, upTo) {
      const found: (QueueEntry & { slot: Slot })[] = []
      for (const slot of SLOTS) {
        const line = lines.get(keyOf(lane, slot))
        if (line === undefined) continue
        walkPairs(line, BEFORE_ALL, (rank, id) => {
          if (id > after && id <= upTo) found.push({ id, rank, slot })
          return true
        })
      }
      return found
    },
  }
}
