/**
 * The queue of each lane, for the memory home. With a million hosts nearly every lane holds a URL or two: those are one
 * short array, and only a lane that grows long is given a sorted set. An empty one takes no room at all.
 */
import { createSortedSet, type SortedSet } from '../sorted-set.ts'

/** Entries of a lane that are kept in one array. */
const SHORT = 16

export interface Queues {
  add(lane: number, rank: number, id: number): void
  delete(lane: number, rank: number, id: number): void
  /** The first of a lane that pass, at most `count`. */
  first(lane: number, count: number, passes: (id: number) => boolean): number[]
}

/** Ranks and ids in turn, in order. */
type Short = number[]

export function createQueues(): Queues {
  const short = new Map<number, Short>()
  const long = new Map<number, SortedSet>()

  const placeIn = (queue: Short, rank: number, id: number): number => {
    let at = 0
    while (at < queue.length) {
      const other = queue[at] as number
      if (other > rank || (other === rank && (queue[at + 1] as number) >= id)) break
      at += 2
    }
    return at
  }
  const grow = (lane: number, queue: Short): void => {
    const set = createSortedSet()
    for (let at = 0; at < queue.length; at += 2) set.add(queue[at] as number, queue[at + 1] as number)
    long.set(lane, set)
    short.delete(lane)
  }

  return {
    add(lane, rank, id) {
      const set = long.get(lane)
      if (set !== undefined) return set.add(rank, id)
      const queue = short.get(lane)
      if (queue === undefined) return void short.set(lane, [rank, id])
      const at = placeIn(queue, rank, id)
      if (queue[at] === rank && queue[at + 1] === id) return
      // A copy has no room to spare, an array that grows has some for sixteen more.
      const longer = queue.toSpliced(at, 0, rank, id)
      if (longer.length > 2 * SHORT) grow(lane, longer)
      else short.set(lane, longer)
    },
    delete(lane, rank, id) {
      const set = long.get(lane)
      if (set !== undefined) {
        set.delete(rank, id)
        if (set.smallest() === undefined) long.delete(lane)
        return
      }
      const queue = short.get(lane)
      if (queue === undefined) return
      const at = placeIn(queue, rank, id)
      if (queue[at] !== rank || queue[at + 1] !== id) return
      if (queue.length === 2) short.delete(lane)
      else queue.splice(at, 2)
    },
    first(lane, count, passes) {
      const set = long.get(lane)
      if (set !== undefined) return set.first(count, Infinity, passes)
      const found: number[] = []
      const queue = short.get(lane) ?? []
      for (let at = 1; at < queue.length && found.length < count; at += 2) {
        const id = queue[at] as number
        if (passes(id)) found.push(id)
      }
      return found
    },
  }
}
