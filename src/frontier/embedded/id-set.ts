/** A set of ids, one bit for each up to the largest: ids are given in a row, so little of it is empty. */
export interface IdSet {
  has(id: number): boolean
  add(id: number): void
  delete(id: number): void
}

/** Ids in the order in which they came, each once. */
export interface IdList {
  add(id: number): void
  clear(): void
  readonly ids: readonly number[]
}

/** Words at first: for 32,768 ids. */
const WORDS = 1_024

export function createIdSet(): IdSet {
  let words = new Uint32Array(WORDS)
  return {
    has: (id) => (((words[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1,
    add(id) {
      const index = id >>> 5
      if (index >= words.length) {
        const longer = new Uint32Array(Math.max(index + 1, 2 * words.length))
        longer.set(words)
        words = longer
      }
      words[index] = (words[index] as number) | (1 << (id & 31))
    },
    delete(id) {
      const index = id >>> 5
      if (index < words.length) words[index] = (words[index] as number) & ~(1 << (id & 31))
    },
  }
}

/** A list, and a bit for each id that is in it: a Set would take ten times as long to add one. */
export function createIdList(): IdList {
  const present = createIdSet()
  let ids: number[] = []
  return {
    add(id) {
      if (present.has(id)) return
      present.add(id)
      ids.push(id)
    },
    clear() {
      for (const id of ids) present.delete(id)
      ids = []
    },
    get ids() {
      return ids
    },
  }
}
