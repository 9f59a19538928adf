/**
 * Numbers in order of a rank, then of themselves: what an index gives a database. Sorted arrays in
 * blocks, so that inserting into a long one moves little, and ranks and numbers apart, so that each takes eight bytes.
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

interface Block {
  readonly ranks: number[]
  readonly ids: number[]
}

export function createSortedSet(): SortedSet {
  const blocks: Block[] = [{ ranks: [], ids: [] }]

  const isBefore = (block: Block, index: number, rank: number, id: number): boolean => {
    const other = block.ranks[index] as number
    return other < rank || (other === rank && (block.ids[index] as number) < id)
  }

  /** The block where the first entry that is not before (rank, id) is or would be. */
  const locateBlock = (rank: number, id: number): number => {
    let low = 0
    let high = blocks.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      const block = blocks[middle] as Block
      if (block.ids.length === 0 || isBefore(block, block.ids.length - 1, rank, id)) low = middle + 1
      else high = middle
    }
    return low
  }
  const locateIn = (block: Block, rank: number, id: number): number => {
    let from = 0
    let to = block.ids.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore(block, middle, rank, id)) from = middle + 1
      else to = middle
    }
    return from
  }
  const isAt = (block: Block, index: number, rank: number, id: number): boolean =>
    block.ranks[index] === rank && block.ids[index] === id

  /** Calls back with one entry after another, from the first that is not before (rank, id), until told to stop. */
  const walk = (rank: number, id: number, visit: (rank: number, id: number) => boolean): void => {
    const start = locateBlock(rank, id)
    for (let at = start; at < blocks.length; at++) {
      const block = blocks[at] as Block
      for (let index = at === start ? locateIn(block, rank, id) : 0; index < block.ids.length; index++)
        if (!visit(block.ranks[index] as number, block.ids[index] as number)) return
    }
  }

  return {
    add(rank, id) {
      const at = locateBlock(rank, id)
      const block = blocks[at] as Block
      const index = locateIn(block, rank, id)
      if (isAt(block, index, rank, id)) return
      block.ranks.splice(index, 0, rank)
      block.ids.splice(index, 0, id)
      if (block.ids.length <= BLOCK) return
      blocks.splice(at + 1, 0, { ranks: block.ranks.splice(BLOCK / 2), ids: block.ids.splice(BLOCK / 2) })
    },
    delete(rank, id) {
      const at = locateBlock(rank, id)
      const block = blocks[at] as Block
      const index = locateIn(block, rank, id)
      if (!isAt(block, index, rank, id)) return
      block.ranks.splice(index, 1)
      block.ids.splice(index, 1)
      if (block.ids.length === 0 && blocks.length > 1) blocks.splice(at, 1)
    },
    first(count, upTo, passes) {
      const found: number[] = []
      walk(-Infinity, -Infinity, (rank, id) => {
        if (rank > upTo || found.length >= count) return false
        if (passes === undefined || passes(id)) found.push(id)
        return true
      })
      return found
    },
    after(count, rank) {
      const found: number[] = []
      walk(rank, Infinity, (_, id) => found.length < count && found.push(id) > 0)
      return found
    },
    smallest: () => blocks[0]?.ranks[0],
  }
}
