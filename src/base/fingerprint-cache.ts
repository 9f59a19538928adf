/**
 * A fixed number of fingerprints with a small value each, in typed arrays: which URLs were met lately. It forgets (a
 * full set of ways drops its oldest) and never invents: what it finds was put in.
 */
import type { Fingerprint } from './fingerprint.ts'

/** Entries of one set: where a fingerprint may stand. */
const WAYS = 4

export interface FingerprintCache {
  /** The slot of a fingerprint, or -1. Valid until the next `put`. */
  find(print: Fingerprint): number
  id(slot: number): number
  depth(slot: number): number
  put(print: Fingerprint, id: number, depth: number): void
}

/** `entries` is rounded up to a power of two; each takes 14 bytes. Ids are whole numbers below 2^32. */
export function createFingerprintCache(entries: number): FingerprintCache {
  const sets = 2 ** Math.ceil(Math.log2(Math.max(entries, WAYS) / WAYS))
  const his = new Uint32Array(sets * WAYS)
  const los = new Uint32Array(sets * WAYS)
  // 0 marks a free slot: ids begin with 1.
  const ids = new Uint32Array(sets * WAYS)
  const depths = new Uint16Array(sets * WAYS)

  const find = (print: Fingerprint): number => {
    const first = (print.lo & (sets - 1)) * WAYS
    for (let slot = first; slot < first + WAYS; slot++) {
      if (los[slot] === print.lo && his[slot] === print.hi && ids[slot] !== 0) return slot
    }
    return -1
  }
  return {
    find,
    id: (slot) => ids[slot] as number,
    depth: (slot) => depths[slot] as number,
    put(print, id, depth) {
      let slot = find(print)
      if (slot === -1) {
        const first = (print.lo & (sets - 1)) * WAYS
        his.copyWithin(first + 1, first, first + WAYS - 1)
        los.copyWithin(first + 1, first, first + WAYS - 1)
        ids.copyWithin(first + 1, first, first + WAYS - 1)
        depths.copyWithin(first + 1, first, first + WAYS - 1)
        slot = first
      }
      his[slot] = print.hi
      los[slot] = print.lo
      ids[slot] = id
      depths[slot] = Math.min(depth, 65_535)
    },
  }
}
