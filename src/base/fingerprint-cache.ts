/**
 * A bounded number of fingerprints with an id each, in typed arrays: which URLs were met lately. It forgets (a
 * full set of ways drops its oldest) and never invents: what it finds was put in. It takes memory as it fills.
 */
import type { Fingerprint } from './fingerprint.ts'

/** Entries of one set: where a fingerprint may stand. */
const WAYS = 4
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
  let his = new Uint32Array(sets * WAYS)
  let los = new Uint32Array(sets * WAYS)
  // 0 marks a free slot: ids begin with 1.
  let ids = new Uint32Array(sets * WAYS)
  let count = 0

  const slotOf = (hi: number, lo: number): number => {
    const first = (lo & (sets - 1)) * WAYS
    for (let slot = first; slot < first + WAYS; slot++) {
      if (los[slot] === lo && his[slot] === hi && ids[slot] !== 0) return slot
    }
    return -1
  }
  /** As the youngest of its set. */
  const add = (hi: number, lo: number, id: number): void => {
    const first = (lo & (sets - 1)) * WAYS
    if (ids[first + WAYS - 1] === 0) count += 1
    his.copyWithin(first + 1, first, first + WAYS - 1)
    los.copyWithin(first + 1, first, first + WAYS - 1)
    ids.copyWithin(first + 1, first, first + WAYS - 1)
    his[first] = hi
    los[first] = lo
    ids[first] = id
  }
  const grow = (): void => {
    const before = { his, los, ids }
    sets *= 2
    his = new Uint32Array(sets * WAYS)
    los = new Uint32Array(sets * WAYS)
    ids = new Uint32Array(sets * WAYS)
    count = 0
    // From the last slot to the first, so that of each set the oldest is added first.
    for (let slot = before.ids.length - 1; slot >= 0; slot--) {
      const id = before.ids[slot] as number
      if (id !== 0) add(before.his[slot] as number, before.los[slot] as number, id)
    }
  }
  return {
    find({ hi, lo }) {
      const slot = slotOf(hi, lo)
      return slot === -1 ? 0 : (ids[slot] as number)
    },
    put({ hi, lo }, id) {
      const slot = slotOf(hi, lo)
      if (slot !== -1) {
        ids[slot] = id
        return
      }
      if (sets < mostSets && 2 * count >= sets * WAYS) grow()
      add(hi, lo, id)
    },
  }
}
