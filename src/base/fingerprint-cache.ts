/**
 * A fixed number of fingerprints with an id each, in typed arrays: which URLs were met lately. It forgets (a
 * full set of ways drops its oldest) and never invents: what it finds was put in.
 */
import type { Fingerprint } from './fingerprint.ts'

/** Entries of one set: where a fingerprint may stand. */
const WAYS = 4

export interface FingerprintCache {
  /** The id of a fingerprint; 0 for none. */
  find(print: Fingerprint): number
  put(print: Fingerprint, id: number): void
}

/** `entries` is rounded up to a power of two; each takes 12 bytes. Ids are whole numbers from 1 to 2^32 - 1. */
export function createFingerprintCache(entries: number): FingerprintCache {
  const sets = 2 ** Math.ceil(Math.log2(Math.max(entries, WAYS) / WAYS))
  const his = new Uint32Array(sets * WAYS)
  const los = new Uint32Array(sets * WAYS)
  // 0 marks a free slot: ids begin with 1.
  const ids = new Uint32Array(sets * WAYS)

  const slotOf = (print: Fingerprint): number => {
    const first = (print.lo & (sets - 1)) * WAYS
    for (let slot = first; slot < first + WAYS; slot++) {
      if (los[slot] === print.lo && his[slot] === print.hi && ids[slot] !== 0) return slot
    }
    return -1
  }
  return {
    find(print) {
      const slot = slotOf(print)
      return slot === -1 ? 0 : (ids[slot] as number)
    },
    put(print, id) {
      let slot = slotOf(print)
      if (slot === -1) {
        const first = (print.lo & (sets - 1)) * WAYS
        his.copyWithin(first + 1, first, first + WAYS - 1)
        los.copyWithin(first + 1, first, first + WAYS - 1)
        ids.copyWithin(first + 1, first, first + WAYS - 1)
        slot = first
      }
      his[slot] = print.hi
      los[slot] = print.lo
      ids[slot] = id
    },
  }
}
