/**
 * What an embedded engine has to do for the frontier, as two verbs over plain data. Each candidate says it in its own
 * words: SQL rows, or puts and gets of binary keys.
 */

/** Whatever the engine, a URL row carries these numbers beside its text. */
export interface Row {
  readonly id: number
  readonly lane: number
  readonly rank: number
  readonly url: string
}

export interface NewUrl extends Row {
  readonly hi: number
  readonly lo: number
  readonly referrer: number
}

/** One settled page and all that it brings. */
export interface SettledPage {
  readonly row: Row
  readonly at: number
  /** The host's place in the order of due hosts, before and after. Host and lane have the same number. */
  readonly wasDue: number
  readonly due: number
  readonly found: readonly NewUrl[]
  /** Known links that the cache in memory did not answer: their fingerprints and the ids to be found. */
  readonly known: readonly { readonly hi: number; readonly lo: number; readonly id: number }[]
  /** Rows whose count of referrers grows. */
  readonly referrers: readonly number[]
}

export interface Engine {
  /** The first hosts by due time, with the head of each one's queue. */
  lease(count: number): Leased[] | Promise<Leased[]>
  /** One durable commit. */
  settle(pages: readonly SettledPage[], counters: string): void | Promise<void>
  /** The same for the first URLs of all. */
  seed(urls: readonly NewUrl[]): void | Promise<void>
  close(): void | Promise<void>
}

export interface Leased {
  readonly row: Row
  readonly due: number
}

export interface EngineOptions {
  readonly folder: string
  /** `full`: on the disk when `settle` returns. `normal`: safe against a kill, not against a power cut. */
  readonly durability: 'full' | 'normal'
}
