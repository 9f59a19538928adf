/**
 * What this process has told the servers of URLs lately, so that it need not tell them again: most links of a crawl are
 * known, and bring nothing new. A fixed number of fingerprints with the smallest depth and the number of sightings, in
 * typed arrays. It forgets (the oldest of a full set), which costs a message and nothing else.
 */
import { isMilestone } from '../score.ts'
import type { UrlNumber } from './fingerprints.ts'

/** Entries of one set: where a fingerprint may stand. */
const WAYS = 4
const MOST_SIGHTINGS = 65_535
const MOST_DEPTH = 65_535

/** What is to be told of a sighting: by how many referrers more the URL has; nothing when that can wait. */
export type Told = { readonly times: number } | undefined

export interface KnownTable {
  /** A page names this URL at that depth. */
  see(url: UrlNumber, depth: number): Told
  /** What was told may be lost. */
  clear(): void
}

/** `entries` is rounded up to a power of two; each takes 12 bytes. */
export function createKnownTable(entries: number): KnownTable {
  const sets = 2 ** Math.ceil(Math.log2(Math.max(entries, WAYS) / WAYS))
  const highs = new Uint32Array(sets * WAYS)
  const lows = new Uint32Array(sets * WAYS)
  const depths = new Uint16Array(sets * WAYS)
  /** 0 for an entry that is free. */
  const sightings = new Uint16Array(sets * WAYS)

  const indexOf = (start: number, { high, low }: UrlNumber): number => {
    for (let index = start; index < start + WAYS; index++) {
      if (lows[index] === low && highs[index] === high && sightings[index] !== 0) return index
    }
    return -1
  }
  /** The newest of a set stands first. */
  const insert = (start: number, url: UrlNumber, depth: number): void => {
    for (const array of [highs, lows, depths, sightings]) array.copyWithin(start + 1, start, start + WAYS - 1)
    highs[start] = url.high
    lows[start] = url.low
    depths[start] = depth
    sightings[start] = 1
  }

  return {
    see(url, anyDepth) {
      const depth = Math.min(anyDepth, MOST_DEPTH)
      const start = (url.low & (sets - 1)) * WAYS
      const index = indexOf(start, url)
      if (index === -1) {
        insert(start, url, depth)
        return { times: 1 }
      }
      const count = Math.min((sightings[index] as number) + 1, MOST_SIGHTINGS)
      sightings[index] = count
      const isShorter = depth < (depths[index] as number)
      if (isShorter) depths[index] = depth
      // Of what was seen up to a milestone, a quarter was told at the one before.
      if (isMilestone(count)) return { times: count - count / 4 }
      return isShorter ? { times: 0 } : undefined
    },
    clear() {
      sightings.fill(0)
    },
  }
}
