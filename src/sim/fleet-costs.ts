/**
 * What a fleet on Redis costs: the one table that the model of a fleet rests on, and where each figure comes from. Whoever
 * measures better puts the figures here, and nowhere else. All were measured in November 2026 on two cores that others
 * used too, with Node 24 and redis-server 7.0.15: good to a third or so.
 *
 * | Figures | Measured by | What it is |
 * | --- | --- | --- |
 * | `STORE_COSTS` | `npx node bench/redis/verbs.ts` | time of one core of a master, which runs one script at a time, and bytes of keys, arguments and replies |
 * | `MEMORY_COSTS` of URLs | `npx node bench/redis.ts` | 57.7 bytes beyond its text while queued, of 1 M and 10 M; 11.9 once done, of 1 M |
 * | `MEMORY_COSTS` of hosts | `npx node bench/redis.ts`, one URL to a host | 740 bytes with a queued URL in it |
 * | `WORKER_COSTS` | `npx node bench/peers.ts`, figures in `bench/peers.json` | CPU time of the whole process for each request; the middle of three runs |
 * | `ROUND_TRIP_MS`, `CARD_BYTES_PER_S`, `MACHINE_BYTES` | assumed | one data centre, a card of 10 Gbit/s, a machine of 64 GB |
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
  look: { callUs: 110, itemUs: 18, callBytes: 1_800, itemBytes: 150 },
  lease: { callUs: 190, itemUs: 69, callBytes: 1_900, itemBytes: 1_400 },
  weigh: { callUs: 60, itemUs: 25, callBytes: 1_400, itemBytes: 570 },
  settle: { callUs: 155, itemUs: 50, callBytes: 1_500, itemBytes: 410 },
  found: { callUs: 0, itemUs: 13, callBytes: 0, itemBytes: 230 },
  deliver: { callUs: 165, itemUs: 14, callBytes: 1_600, itemBytes: 310 },
  ack: { callUs: 100, itemUs: 1, callBytes: 1_400, itemBytes: 2 },
  extend: { callUs: 105, itemUs: 0, callBytes: 2_000, itemBytes: 0 },
  beat: { callUs: 48, itemUs: 0, callBytes: 290, itemBytes: 0 },
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
  hostBytes: 610,
  queuedUrlBytes: 58,
  urlTextBytes: 70,
  doneUrlBytes: 12,
  connectionBytes: 20_000,
}

/**
 * CPU time of a worker for one request, in ms: of pages of 35 KB with a hundred links, on a crawl of its own folder. What
 * the client of the store takes comes on top.
 */
export const WORKER_COSTS = { linksOnlyMs: 0.75, everythingMs: 2.8 } as const

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
