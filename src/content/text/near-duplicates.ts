/**
 * Finds fingerprints within a small Hamming distance, by the names that they were given, without looking at all of
 * them. The answer is exact, as far as `near-hashes.ts` is. An entry takes 8 bytes and 4 to 8 for each of distance + 1
 * blocks, besides its name.
 *
 * It remembers between half of `maxEntries` and all of them: when the younger half is full, the older half is forgotten.
 */
import { MAX_DISTANCE, createNearHashes, highWord, lowWord } from './near-hashes.ts'

export interface NearDuplicate {
  readonly id: string
  readonly distance: number
}

export interface NearDuplicateIndex {
  add(hash: bigint, id: string): void
  /** The entries within the distance, nearest first and then in order of their adding; at most `limit` of them. */
  find(hash: bigint, limit?: number): NearDuplicate[]
  readonly size: number
}

const DEFAULT_MAX_ENTRIES = 4_000_000
const DEFAULT_LIMIT = 1000

export function createNearDuplicateIndex(options: {
  /** 0 to 7 bits; 3 is usual for 64-bit fingerprints of web pages. */
  distance: number
  maxEntries?: number
}): NearDuplicateIndex {
  const { distance, maxEntries = DEFAULT_MAX_ENTRIES } = options
  if (!Number.isInteger(distance) || distance < 0 || distance > MAX_DISTANCE) {
    throw new RangeError(`distance must be a whole number from 0 to ${MAX_DISTANCE}, not ${distance}`)
  }
  if (!(maxEntries >= 1)) throw new RangeError(`maxEntries must be at least 1, not ${maxEntries}`)
  const hashes = createNearHashes({ distance, capacity: Math.floor(maxEntries) })
  const ids: string[] = []
  return {
    add(hash, id) {
      ids[hashes.add(lowWord(hash), highWord(hash))] = id
    },
    find(hash, limit = DEFAULT_LIMIT) {
      const found: { readonly slot: number; readonly distance: number }[] = []
      hashes.find(lowWord(hash), highWord(hash), (slot, apart) => found.push({ slot, distance: apart }))
      return found
        .sort((a, b) => a.distance - b.distance || hashes.ageOf(b.slot) - hashes.ageOf(a.slot))
        .slice(0, limit)
        .map((match) => ({ id: ids[match.slot] as string, distance: match.distance }))
    },
    get size() {
      return hashes.size
    },
  }
}
