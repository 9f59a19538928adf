/** A map with a stated maximum: the entry used longest ago leaves when one too many comes in. */
export interface Lru<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
  /** Drops the entry used longest ago, if there is one. */
  dropOldest(): void
  /** All entries, those used longest ago first. */
  entries(): Iterable<[K, V]>
  readonly size: number
}

export function createLru<K, V>(maximum: number, onEvict?: (key: K, value: V) => void): Lru<K, V> {
  const entries = new Map<K, V>()
  /** The entry used last: as a rule it is the next one as well, and need not move. */
  let youngest: K | undefined
  const dropOldest = (): void => {
    const oldest = entries.entries().next().value
    if (oldest === undefined) return
    entries.delete(oldest[0])
    onEvict?.(oldest[0], oldest[1])
  }
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined || key === youngest) return value
      // A Map iterates in order of insertion: inserting again makes this the youngest.
      entries.delete(key)
      entries.set(key, value)
      youngest = key
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      youngest = key
      if (entries.size > maximum) dropOldest()
    },
    delete: (key) => void entries.delete(key),
    dropOldest,
    entries: () => entries.entries(),
    get size() {
      return entries.size
    },
  }
}
