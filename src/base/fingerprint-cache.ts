/**
 * A bounded number of fingerprints with an id each, in one typed array: which URLs were met lately. It forgets (a
 * full set of ways drops its oldest) and never invents: what it finds was put in. It takes memory as it fills.
 */
import type { Fingerprint } from './fingerprint.ts'

/** Entries of one set: where a fingerprint may stand. */
const WAYS = 4
/** Where the upper halves and the ids of a set begin, behind its lower halves: all of a set lies together. */
const HIS = WAYS
const IDS = 2 * WAYS
const SET_WORDS = 3 * WAYS
/** Room at first. */
const FIRST_SETS = 4_096

export interface FingerprintCache {
  /** The id of a fingerprint; 0 for none. */
  find(print: Fingerprint): number
  put(print: Fingerprint, id: number): void
}

/** `entries`, at most, is rounded up to a power of two; each takes 12 bytes. Ids are whole numbers from 1 to 2^32 - 1. */
export function createFingerprintCache(entries: number): FingerprintCache {
  const mostSets = 2 ** Math.ceil(Math.log2(Math.max(entries, WAYS) / WAYS))
  let sets = Math.min(mostSets, FIRST_SETS)
  // An id of 0 marks a free place: ids begin with 1.
  let words = new Uint32Array(sets * SET_WORDS)
  let count = 0

  /** The word of its lower half; -1 for none. */
  const placeOf = (hi: number, lo: number): number => {
    const first = (lo & (sets - 1)) * SET_WORDS
    for (let at = first; at < first + WAYS; at++) {
      if (words[at] === lo && words[at + HIS] === hi && words[at + IDS] !== 0) return at
    }
    return -1
  }
  /** As the youngest of its set. */
  const add = (hi: number, lo: number, id: number): void => {
    const first = (lo & (sets - 1)) * SET_WORDS
    if (words[first + IDS + WAYS - 1] === 0) count += 1
    for (let at = first + WAYS - 1; at > first; at--) {
      words[at] = words[at - 1] as number
      words[at + HIS] = words[at + HIS - 1] as number
      words[at + IDS] = words[at + IDS - 1] as number
    }
    words[first] = lo
    words[first + HIS] = hi
    words[first + IDS] = id
  }
  const grow = (): void => {
    const before = words
    sets *= 2
    words = new Uint32Array(sets * SET_WORDS)
    count = 0
    for (let first = 0; first < before.length; first += SET_WORDS) {
      // From the last way to the first, so that of each set the oldest is added first.
      for (let at = first + WAYS - 1; at >= first; at--) {
        const id = before[at + IDS] as number
        if (id !== 0) add(before[at + HIS] as number, before[at] as number, id)
      }
    }
  }
  return {
    find({ hi, lo }) {
      const at = placeOf(hi, lo)
      return at === -1 ? 0 : (words[at + IDS] as number)
    },
    put({ hi, lo }, id) {
      const at = placeOf(hi, lo)
      if (at !== -1) {
        words[at + IDS] = id
        return
      }
      if (sets < mostSets && 2 * count >= sets * WAYS) grow()
      add(hi, lo, id)
    },
  }
}
