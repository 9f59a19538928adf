/**
 * The youngest fingerprints with their ids, in one typed array. A fingerprint's place follows from its size, as a word's
 * in a dictionary: what is not there stands a few slots further on, and each cluster is kept in order. So the table as
 * a whole is always sorted, and is written as a run by reading it from one end to the other.
 *
 * It relies on fingerprints being spread evenly; where they are not, it is slow but still right.
 */

/** Words of a slot: the two halves of the fingerprint, and the id, which is 0 in an empty slot. */
const SLOT_WORDS = 3
/** Slots for each entry, which keeps clusters short. */
const ROOM = 2
/** Slots at the end for the last cluster. */
const SLACK = 1_024

export interface Memtable {
  readonly count: number
  /** The largest id; 0 when empty. */
  readonly lastId: number
  /** The id, or 0. */
  find(hi: number, lo: number): number
  /** False when there is no room for it. */
  add(hi: number, lo: number, id: number): boolean
  /** Takes up to `count` entries from this slot on, in order; returns the slot to go on from. */
  take(slot: number, count: number, visit: (hi: number, lo: number, id: number) => void): number
  clear(): void
}

export function createMemtable(entries: number): Memtable {
  const homes = entries * ROOM
  const scale = homes / 4_294_967_296
  const words = new Uint32Array((homes + SLACK) * SLOT_WORDS)
  let count = 0
  let lastId = 0

  /** The slot of this fingerprint, or the one where it would have to be put. */
  const placeOf = (hi: number, lo: number): number => {
    let at = ((hi * scale) | 0) * SLOT_WORDS
    for (; at < words.length && words[at + 2] !== 0; at += SLOT_WORDS) {
      const there = words[at] as number
      if (there > hi || (there === hi && (words[at + 1] as number) >= lo)) break
    }
    return at
  }

  return {
    get count() {
      return count
    },
    get lastId() {
      return lastId
    },
    find(hi, lo) {
      const at = placeOf(hi, lo)
      return at < words.length && words[at] === hi && words[at + 1] === lo ? (words[at + 2] as number) : 0
    },
    add(hi, lo, id) {
      if (count === entries) return false
      const at = placeOf(hi, lo)
      let free = at
      while (free < words.length && words[free + 2] !== 0) free += SLOT_WORDS
      if (free >= words.length) return false
      if (free > at) words.copyWithin(at + SLOT_WORDS, at, free)
      words[at] = hi
      words[at + 1] = lo
      words[at + 2] = id
      count += 1
      lastId = id
      return true
    },
    take(slot, most, visit) {
      let at = slot * SLOT_WORDS
      for (let taken = 0; at < words.length && taken < most; at += SLOT_WORDS) {
        const id = words[at + 2] as number
        if (id === 0) continue
        visit(words[at] as number, words[at + 1] as number, id)
        taken += 1
      }
      return at / SLOT_WORDS
    },
    clear() {
      words.fill(0)
      count = 0
      lastId = 0
    },
  }
}
