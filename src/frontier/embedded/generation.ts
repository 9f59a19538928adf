/**
 * Changed rows in memory that the tables do not have yet. They come in generations: one that takes changes, and one at
 * most that is closed and being written. A row is looked for in the first, then in the second, then in the tables.
 */
import type { HostRow, VisitRow } from '../storage.ts'
import type { LaneChange, Place, UrlChange } from './rows.ts'

export interface Generation {
  readonly urls: Map<number, UrlChange>
  /** Where the tables have, or will have, the changed URLs before this generation is written, as far as it is known. */
  readonly places: Map<number, Place>
  readonly visits: Map<number, VisitRow>
  readonly hosts: Map<number, HostRow>
  readonly lanes: Map<number, LaneChange>
  /** Lanes with new URLs in their queue. */
  readonly newLanes: Set<number>
  /** New URLs that are parked. */
  readonly newHeld: number[]
  /** Blocks of facts with a depth that changed. */
  readonly depthBlocks: Set<number>
  /** Its URLs are new up to this one, and its changes are in the log up to this entry; 0 while it is open. */
  lastUrl: number
  lastLog: number
  newUrls: number
}

export function createGeneration(): Generation {
  return {
    urls: new Map(),
    places: new Map(),
    visits: new Map(),
    hosts: new Map(),
    lanes: new Map(),
    newLanes: new Set(),
    newHeld: [],
    depthBlocks: new Set(),
    lastUrl: 0,
    lastLog: 0,
    newUrls: 0,
  }
}

/** Rows that changed, whatever their table. */
export function changesOf({ urls, visits, hosts, lanes }: Generation): number {
  return urls.size + visits.size + hosts.size + lanes.size
}

/** The generations at hand; the storage reads through them. */
export interface Generations {
  young: Generation
  frozen: Generation | undefined
}

/** The tables that a generation has changes of. */
export type Changed = 'urls' | 'visits' | 'hosts' | 'lanes'

export function lookUp<K extends Changed>(
  { young, frozen }: Generations,
  table: K,
  id: number,
): (Generation[K] extends Map<number, infer V> ? V : never) | undefined {
  type Found = (Generation[K] extends Map<number, infer V> ? V : never) | undefined
  return (young[table].get(id) ?? frozen?.[table].get(id)) as Found
}
