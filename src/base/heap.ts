/** A priority queue: the smallest first by a rank, in order of insertion among equals. A binary heap in one array. */
export interface Heap<T> {
  push(rank: number, item: T): void
  /** The smallest, without taking it out. */
  peek(): { readonly rank: number; readonly item: T } | undefined
  pop(): { readonly rank: number; readonly item: T } | undefined
  readonly size: number
}

interface Entry<T> {
  readonly rank: number
  readonly serial: number
  readonly item: T
}

export function createHeap<T>(): Heap<T> {
  const entries: Entry<T>[] = []
  let serial = 0

  const isBefore = (a: Entry<T>, b: Entry<T>): boolean => a.rank < b.rank || (a.rank === b.rank && a.serial < b.serial)

  const rise = (entry: Entry<T>): void => {
    let index = entries.length
    entries.push(entry)
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = entries[above] as Entry<T>
      if (!isBefore(entry, parent)) break
      entries[index] = parent
      index = above
    }
    entries[index] = entry
  }

  const sink = (entry: Entry<T>): void => {
    let index = 0
    for (;;) {
      let below = 2 * index + 1
      if (below >= entries.length) break
      const right = entries[below + 1]
      if (right !== undefined && isBefore(right, entries[below] as Entry<T>)) below += 1
      const child = entries[below] as Entry<T>
      if (!isBefore(child, entry)) break
      entries[index] = child
      index = below
    }
    entries[index] = entry
  }

  return {
    push: (rank, item) => rise({ rank, serial: serial++, item }),
    peek: () => entries[0],
    pop() {
      const first = entries[0]
      const last = entries.pop()
      if (last !== undefined && entries.length > 0) sink(last)
      return first
    },
    get size() {
      return entries.length
    },
  }
}
