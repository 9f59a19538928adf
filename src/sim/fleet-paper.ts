/**
 * A fleet on paper: what each resource would permit by itself, and how much of it a rate of requests uses. The rate and
 * what a request costs come from the simulation; the rest is arithmetic.
 */
import {
  BEAT_MS,
  CARD_BYTES_PER_S,
  costMs,
  MACHINE_BYTES,
  MEMORY_COSTS,
  USUAL_MAX_CLIENTS,
  WORKER_COSTS,
  type StoreCosts,
} from './fleet-costs.ts'
import type { FleetShape } from './fleet-shape.ts'

/** What a fleet may run out of. */
export const RESOURCES = ['hosts', 'slots', 'masters', 'connections', 'memory', 'network', 'beats'] as const
export type Resource = (typeof RESOURCES)[number]

export interface Measured {
  readonly requestsPerS: number
  /** The share of the time in which the fullest master is busy. */
  readonly busy: number
  /** How many times the partitions of the average master the fullest has. */
  readonly unevenness: number
  readonly wireBytesPerRequest: number
  /** From asking to the leases: the time in which a slot is free and has nothing. */
  readonly leaseMs: number
}

export interface Paper {
  /** Requests a second that the pace of the hosts permits, and that the slots do while the store costs no time. */
  readonly hostsPermit: number
  readonly slotsPermit: number
  /** Of the fullest master, at the end of the crawl and with all URLs in the queues. */
  readonly doneBytes: number
  readonly queuedBytes: number
  readonly connections: number
  readonly networkBytesPerS: number
  /** Cores that all workers keep busy at this rate: where they only follow links, and with all that can be had. */
  readonly workerCores: { readonly linksOnly: number; readonly everything: number }
  /** The share of each resource that is in use: at 1 there is no more of it. */
  readonly used: Readonly<Record<Resource, number>>
}

export function workOut(shape: FleetShape, measured: Measured, costs: StoreCosts): Paper {
  const { workers, slots, hosts, pagesPerHost, nodes, delayMs, answerMs } = shape
  const hostsPermit = (hosts * 1_000) / (delayMs + answerMs)
  const slotsPermit = (workers * slots * 1_000) / answerMs
  const onFullest = measured.unevenness / nodes
  const urls = hosts * pagesPerHost
  const connectionBytes = workers * MEMORY_COSTS.connectionBytes
  const hostBytes = hosts * MEMORY_COSTS.hostBytes
  const queuedUrlBytes = MEMORY_COSTS.queuedUrlBytes + MEMORY_COSTS.urlTextBytes
  const doneBytes = (hostBytes + urls * MEMORY_COSTS.doneUrlBytes) * onFullest + connectionBytes
  const queuedBytes = (hostBytes + urls * queuedUrlBytes) * onFullest + connectionBytes
  const networkBytesPerS = measured.requestsPerS * measured.wireBytesPerRequest * onFullest
  // A worker delivers what it finds to every partition, so it is connected to every master.
  const connections = workers
  return {
    hostsPermit,
    slotsPermit,
    doneBytes,
    queuedBytes,
    connections,
    networkBytesPerS,
    workerCores: {
      linksOnly: (measured.requestsPerS * WORKER_COSTS.linksOnlyMs) / 1_000,
      everything: (measured.requestsPerS * WORKER_COSTS.everythingMs) / 1_000,
    },
    used: {
      hosts: measured.requestsPerS / hostsPermit,
      slots: (measured.requestsPerS / slotsPermit) * (1 + measured.leaseMs / answerMs),
      masters: measured.busy,
      connections: connections / USUAL_MAX_CLIENTS,
      memory: queuedBytes / MACHINE_BYTES,
      network: networkBytesPerS / CARD_BYTES_PER_S,
      beats: (workers / BEAT_MS) * costMs(costs.beat, 0),
    },
  }
}

/** What keeps the rate from being higher. */
export function boundBy({ used }: Paper): 'hosts' | 'slots' | 'masters' {
  if (used.masters >= SATURATED) return 'masters'
  return used.hosts >= PACED ? 'hosts' : 'slots'
}

/** A master that is busy for so much of the time makes everybody wait. */
const SATURATED = 0.9
/** Hosts are also asked a little late: each waits for its settlement, and for a worker that asks. */
const PACED = 0.75
