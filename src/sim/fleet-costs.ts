/**
 * What a fleet on Redis costs its servers: the one table that the model of a fleet rests on. Times are of one core of a
 * master, which runs one script at a time. Whoever measures better puts the figures here, and nowhere else.
 *
 * Verbs and bytes: measured on redis-server 7.0.15, as CPU of the server and by its slow log, with the home on Redis
 * itself: one partition of 20,000 hosts, pages that name ten URLs of their host and two of others, calls with 1, 10 and
 * 40 pages. About 50 µs of each call are the text that all verbs share. Two shared cores: good to a third or so.
 * Memory: a host with a queued URL took 740 bytes there; what a URL takes is what the home may cost at most.
 */

/** A call takes `callUs`, and `itemUs` more for each host, lease, settlement or URL in it. */
export interface VerbCost {
  readonly callUs: number
  readonly itemUs: number
  /** On the wire, there and back, with the framing of TCP left aside. */
  readonly callBytes: number
  readonly itemBytes: number
}

export interface StoreCosts {
  /** What is due in a partition; an item is a host that it names. */
  readonly look: VerbCost
  /**
   * An item is a lease with one task. When some were not to be had, the reply names other
   * hosts, which count as those of a look do.
   */
  readonly lease: VerbCost
  /** Before a settlement: which leases are still held. An item is a lease. */
  readonly weigh: VerbCost
  /** An item is a settlement, the URLs that it names not counted. */
  readonly settle: VerbCost
  /** URLs of the partition's own hosts that a settlement names, most of them known already. */
  readonly found: VerbCost
  /** URLs for another partition, from the outbox of the one where they were found. */
  readonly deliver: VerbCost
  /** Strikes what was delivered from the outbox. An item is a message. */
  readonly ack: VerbCost
  readonly extend: VerbCost
  /** Keys of the crawl as a whole, on one master: a worker says that it is alive, and hears what is new. */
  readonly beat: VerbCost
}

export const STORE_COSTS: StoreCosts = {
  look: { callUs: 290, itemUs: 13, callBytes: 3_200, itemBytes: 80 },
  lease: { callUs: 400, itemUs: 100, callBytes: 3_600, itemBytes: 700 },
  weigh: { callUs: 150, itemUs: 30, callBytes: 3_600, itemBytes: 300 },
  settle: { callUs: 280, itemUs: 80, callBytes: 3_600, itemBytes: 900 },
  found: { callUs: 0, itemUs: 26, callBytes: 0, itemBytes: 200 },
  deliver: { callUs: 190, itemUs: 20, callBytes: 3_600, itemBytes: 200 },
  ack: { callUs: 110, itemUs: 2, callBytes: 2_400, itemBytes: 20 },
  extend: { callUs: 110, itemUs: 15, callBytes: 3_200, itemBytes: 40 },
  beat: { callUs: 10, itemUs: 0, callBytes: 500, itemBytes: 0 },
}

export interface MemoryCosts {
  readonly hostBytes: number
  /** Beyond its text, and its text. */
  readonly queuedUrlBytes: number
  readonly urlTextBytes: number
  readonly doneUrlBytes: number
  /** Buffers of one open connection. */
  readonly connectionBytes: number
}

export const MEMORY_COSTS: MemoryCosts = {
  hostBytes: 600,
  queuedUrlBytes: 100,
  urlTextBytes: 60,
  doneUrlBytes: 16,
  connectionBytes: 20_000,
}

/** The round trip between a worker and a master, in the same data centre. */
export const ROUND_TRIP_MS = 0.5

/** How often a worker says that it is alive. */
export const BEAT_MS = 5_000

/** How many clients a server admits when it is not told otherwise. */
export const USUAL_MAX_CLIENTS = 10_000

/** What one network card of a master carries, for the point at which it would bend. */
export const CARD_BYTES_PER_S = 1_250_000_000
/** What one machine for a master may have of memory. */
export const MACHINE_BYTES = 64_000_000_000

export const costMs = (cost: VerbCost, items: number): number => (cost.callUs + cost.itemUs * items) / 1_000

export const wireBytes = (cost: VerbCost, items: number): number => cost.callBytes + cost.itemBytes * items
