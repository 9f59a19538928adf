/**
 * Changed rows in memory that the tables do not have yet. They come in generations: one that takes changes, and one at
 * most that is closed and being written. A row is looked for in the first, then in the second, then in the tables.
 */
import type { HostRow, VisitRow } from '../storage.ts'
import { createIdList, createIdSet, type IdList, type IdSet } from './id-set.ts'
import type { LaneChange, Place, UrlChange } from './rows.ts'

/** A URL that changed, and where the tables have, or will have, it before this is written; undefined: ask them. */
export interface ChangedUrl extends UrlChange {
  readonly before?: Place | undefined
}

export interface Generation {
  readonly urls: Map<number, ChangedUrl>
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
  /** Of each table, the rows that a generation may have: most have not changed, and a bit says so sooner than a Map. */
  readonly changed: Readonly<Record<Changed, IdSet>>
}

export const createGenerations = (): Generations => ({
  young: createGeneration(),
  frozen: undefined,
  changed: { urls: createIdSet(), visits: createIdSet(), hosts: createIdSet(), lanes: createIdSet() },
})

/** The tables that a generation has changes of. */
export type Changed = 'urls' | 'visits' | 'hosts' | 'lanes'

/** Rows that changed since the log was last told. */
export type Touched = Readonly<Record<Changed, Pick<IdList, 'ids'>>>

export const nothingTouched = (): Readonly<Record<Changed, IdList>> => ({
  urls: createIdList(),
  visits: createIdList(),
  hosts: createIdList(),
  lanes: createIdList(),
})

type Row<K extends Changed> = Generation[K] extends Map<number, infer V> ? V : never

export function lookUp<K extends Changed>(
  { young, frozen, changed }: Generations,
  table: K,
  id: number,
): Row<K> | undefined {
  if (!changed[table].has(id)) return undefined
  return (young[table].get(id) ?? frozen?.[table].get(id)) as Row<K> | undefined
}

/** A row has changed. */
export function putRow<K extends Changed>({ young, changed }: Generations, table: K, id: number, row: Row<K>): void {
  ;(young[table] as Map<number, Row<K>>).set(id, row)
  changed[table].add(id)
}

/**
 * The tables have what the closed generation has of a row. Answers whether they have all of it. The row itself goes with
 * its generation: with its bit gone nobody finds it there.
 */
export function dropRow({ young, changed }: Generations, table: Changed, id: number): boolean {
  if (young[table].has(id)) return false
  changed[table].delete(id)
  return true
}

/** All rows of a generation that was read have changed. */
export function markChanged({ changed }: Generations, generation: Generation): void {
  for (const table of ['urls', 'visits', 'hosts', 'lanes'] as const)
    for (const id of generation[table].keys()) changed[table].add(id)
}
