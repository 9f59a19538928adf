/**
 * Numbers in order of a rank, then of themselves: what an index gives a database, for the memory home. A sorted array
 * in blocks, so that inserting into a long one moves little.
 */

/** A block is split in two when it grows beyond this. */
const BLOCK = 512

export interface SortedSet {
  add(rank: number, id: number): void
  delete(rank: number, id: number): void
  /** The first `count` ids with a rank of at most `upTo` that pass. */
  first(count: number, upTo: number, passes?: (id: number) => boolean): number[]
  /** The first `count` ids with a rank above `rank`. */
  after(count: number, rank: number): number[]
  smallest(): number | undefined
}

type Entry = readonly [rank: number, id: number]

export function createSortedSet(): SortedSet {
  const blocks: Entry[][] = [[]]

  const isBefore = (a: Entry, rank: number, id: number): boolean => a[0] < rank || (a[0] === rank && a[1] < id)

  /** The place of the first entry that is not before (rank, id). */
  const locate = (rank: number, id: number): [block: number, index: number] => {
    let low = 0
    let high = blocks.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const last = blocks[middle]?.at(-1)
      if (last === undefined || isBefore(last, rank, id)) low = middle + 1
      else high = middle
    }
    const block = blocks[low] ?? []
    let from = 0
    let to = block.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore(block[middle] as Entry, rank, id)) from = middle + 1
      else to = middle
    }
    return [low, from]
  }

  function* from(rank: number, id: number): Generator<Entry> {
    const [start, index] = locate(rank, id)
    for (let block = start; block < blocks.length; block++) {
      const entries = blocks[block] ?? []
      for (let at = block === start ? index : 0; at < entries.length; at++) yield entries[at] as Entry
    }
  }

  return {
    add(rank, id) {
      const [block, index] = locate(rank, id)
      const entries = blocks[block] as Entry[]
      const present = entries[index]
      if (present !== undefined && present[0] === rank && present[1] === id) return
      entries.splice(index, 0, [rank, id])
      if (entries.length > BLOCK) blocks.splice(block + 1, 0, entries.splice(BLOCK / 2))
    },
    delete(rank, id) {
      const [block, index] = locate(rank, id)
      const entries = blocks[block] as Entry[]
      const present = entries[index]
      if (present === undefined || present[0] !== rank || present[1] !== id) return
      entries.splice(index, 1)
      if (entries.length === 0 && blocks.length > 1) blocks.splice(block, 1)
    },
    first(count, upTo, passes) {
      const found: number[] = []
      for (const [rank, id] of from(-Infinity, -Infinity)) {
        if (rank > upTo || found.length >= count) break
        if (passes === undefined || passes(id)) found.push(id)
      }
      return found
    },
    after(count, rank) {
      const found: number[] = []
      for (const [, id] of from(rank, Infinity)) {
        if (found.length >= count) break
        found.push(id)
      }
      return found
    },
    smallest: () => blocks[0]?.[0]?.[0],
  }
}
