/**
 * Pairs of a key and an id, in order of the key, then of the id: what is in memory of an order. There are a hundred
 * thousand short ones at a time, so each is plain data without functions of its own, and takes little when it is short.
 */

/** Keys and ids in turn, in blocks; a long block is split in two, so that inserting into a long order moves little. */
export interface OrderedPairs {
  blocks: number[][]
  size: number
}

export interface Pair {
  readonly key: number
  readonly id: number
}

/** Numbers of one block: two for each pair. */
const BLOCK = 512
/** A short block is copied when it grows: an array that grows in place keeps room for sixteen more. */
const SHORT = 32

export const orderedPairs = (): OrderedPairs => ({ blocks: [[]], size: 0 })

export function addPair(pairs: OrderedPairs, key: number, id: number): void {
  const at = locateBlock(pairs, key, id)
  const block = pairs.blocks[at] as number[]
  const index = locate(block, key, id)
  if (block[index] === key && block[index + 1] === id) return
  pairs.size += 1
  if (block.length < SHORT) pairs.blocks[at] = block.toSpliced(index, 0, key, id)
  else block.splice(index, 0, key, id)
  if (block.length > BLOCK) pairs.blocks.splice(at + 1, 0, block.splice(BLOCK / 2))
}

export function deletePair(pairs: OrderedPairs, key: number, id: number): void {
  const at = locateBlock(pairs, key, id)
  const block = pairs.blocks[at] as number[]
  const index = locate(block, key, id)
  if (block[index] !== key || block[index + 1] !== id) return
  pairs.size -= 1
  block.splice(index, 2)
  if (block.length === 0 && pairs.blocks.length > 1) pairs.blocks.splice(at, 1)
}

/** Calls back with one pair after another, from the first that is not before this one, until told to stop. */
export function walkPairs(pairs: OrderedPairs, from: Pair, visit: (key: number, id: number) => boolean): void {
  const start = locateBlock(pairs, from.key, from.id)
  for (let at = start; at < pairs.blocks.length; at++) {
    const block = pairs.blocks[at] as number[]
    for (let index = at === start ? locate(block, from.key, from.id) : 0; index < block.length; index += 2)
      if (!visit(block[index] as number, block[index + 1] as number)) return
  }
}

export const BEFORE_ALL: Pair = { key: -Infinity, id: -Infinity }
export const BEHIND_ALL: Pair = { key: Infinity, id: Infinity }

export function isBefore(key: number, id: number, otherKey: number, otherId: number): boolean {
  return key < otherKey || (key === otherKey && id < otherId)
}

/** The block where the first pair that is not before this one is or would be. */
function locateBlock({ blocks }: OrderedPairs, key: number, id: number): number {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    const block = blocks[middle] as number[]
    const last = block.length - 2
    if (last < 0 || isBefore(block[last] as number, block[last + 1] as number, key, id)) low = middle + 1
    else high = middle
  }
  return low
}

function locate(block: readonly number[], key: number, id: number): number {
  let low = 0
  let high = block.length / 2
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(block[2 * middle] as number, block[2 * middle + 1] as number, key, id)) low = middle + 1
    else high = middle
  }
  return 2 * low
}
