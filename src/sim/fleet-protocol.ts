/**
 * How a worker of a fleet talks to the store: the numbers that the engine and the home on Redis have, in one table, so
 * that the model of a fleet can be asked what another number would do.
 */
export interface FleetProtocol {
  /** Hosts of each order that a look names: at least these, those that are wanted, at most these. */
  readonly extraHosts: number
  readonly mostHosts: number
  /** Where others were quicker, the reply names so many hosts beyond those still wanted, as spares for the next round. */
  readonly moreHosts: number
  /** Times that an asking goes on while others were quicker. */
  readonly rounds: number
  /** Partitions of others that are looked at when its own have nothing for a worker, and how often at most. */
  readonly elsewhere: number
  readonly elsewhereMs: number
  /** How long a settlement waits for company, how many are committed together, and how many may wait. */
  readonly gatherLeastMs: number
  readonly gatherMostMs: number
  readonly batch: number
  readonly unsettled: number
  /** One slot of so many is kept for hosts that have answered well. */
  readonly provenShare: number
  /** A lease, and when it is extended while a request goes on; nothing is sent in its last moments. */
  readonly leaseMs: number
  readonly extendAfterMs: number
  readonly leaseMarginMs: number
}

export const FLEET_PROTOCOL: FleetProtocol = {
  extraHosts: 2,
  mostHosts: 256,
  moreHosts: 64,
  rounds: 16,
  elsewhere: Infinity,
  elsewhereMs: 1_000,
  gatherLeastMs: 10,
  gatherMostMs: 50,
  batch: 64,
  unsettled: 1_024,
  provenShare: 4,
  leaseMs: 30_000,
  extendAfterMs: 15_000,
  leaseMarginMs: 1_000,
}
