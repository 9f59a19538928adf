/**
 * The shape of a fleet on a cluster: how many of everything, where its partitions lie, and which part of it is worth
 * simulating. Partitions share nothing but the workers, and hosts hash evenly over them. So a sample is the smallest
 * part that stands by itself: one partition with the workers that prefer it or, where there are fewer workers than
 * partitions, one worker with the partitions that are its own.
 */
import type { Rng } from '../base/index.ts'

export interface FleetShape {
  /** Processes. */
  readonly workers: number
  /** Fetches at once of each. */
  readonly slots: number
  readonly hosts: number
  readonly pagesPerHost: number
  readonly partitions: number
  /** Masters of the cluster. */
  readonly nodes: number
  readonly delayMs: number
  /** What a host takes to answer, on the average. */
  readonly answerMs: number
  /** URLs that a page names and its worker has not met lately: of the same host, and of others. */
  readonly linksWithin: number
  readonly linksAbroad: number
}

export const FLEET_DEFAULTS = { slots: 10, answerMs: 200, linksWithin: 10, linksAbroad: 2 } as const

/** A fence names its partition in so many. */
export const MOST_PARTITIONS = 1_024
/** Slots of a cluster. */
const CLUSTER_SLOTS = 16_384

/** What is simulated of a fleet: some of its partitions, with the workers that ask them first. */
export interface SampleShape {
  /** The number of partitions of each master on which the sample has any, and how many of them are of the sample. */
  readonly masters: readonly { readonly partitions: number; readonly simulated: number }[]
  readonly partitions: number
  /** The slots of each worker. */
  readonly workers: readonly number[]
  readonly hosts: number
  readonly pagesPerHost: number
  /** It has all the hosts and pages that its partitions have. */
  readonly isWhole: boolean
}

/**
 * How many partitions each master has, the fullest first. The slot of a partition follows from its name and is as good
 * as random, and a master has a range of slots: so some have more than others.
 */
export function placePartitions({ partitions, nodes }: FleetShape, rng: Rng): number[] {
  const counts = Array.from({ length: nodes }, () => 0)
  for (let partition = 0; partition < partitions; partition++) {
    const node = Math.floor((rng.int(CLUSTER_SLOTS) * nodes) / CLUSTER_SLOTS)
    counts[node] = (counts[node] ?? 0) + 1
  }
  return counts.sort((a, b) => b - a)
}

/** How many partitions a worker has to itself: one where there are more workers. */
export function ownPartitions({ partitions, workers }: FleetShape): number {
  return Math.max(1, Math.round(partitions / workers))
}

/**
 * A sample with at most so many requests in it, if it can be. With more hosts than can be asked at their pace, be it for
 * want of slots or of time on the masters, fewer are enough to keep all as busy; with more pages than fit, fewer are
 * simulated. Hosts that would be done in a moment are given more pages, so that there is something to be measured.
 */
export function sampleOf(shape: FleetShape, masters: SampleShape['masters'], requests: number): SampleShape {
  const partitions = masters.reduce((sum, { simulated }) => sum + simulated, 0)
  const share = partitions / shape.partitions
  const slots = Math.max(1, Math.round(shape.workers * shape.slots * share))
  const count = Math.min(slots, Math.max(1, Math.round(shape.workers * share)))
  const workers = Array.from({ length: count }, (_, index) => Math.floor((slots + index) / count))
  const allHosts = Math.max(1, Math.round(shape.hosts * share))
  const mostPerMs = Math.min(slots / shape.answerMs, (share * shape.nodes) / LEAST_STORE_MS)
  const enoughHosts = Math.ceil(SPARE_HOSTS * mostPerMs * (shape.delayMs + shape.answerMs))
  const fittingHosts = Math.floor(requests / (Math.min(shape.pagesPerHost, FEW_PAGES) + 1))
  const hosts = Math.min(allHosts, Math.max(enoughHosts, fittingHosts))
  const fittingPages = Math.floor(requests / hosts) - 1
  const fewestPages = Math.floor(requests / FEWEST_REQUESTS_PART / hosts) - 1
  const pagesPerHost = Math.max(1, fewestPages, Math.min(shape.pagesPerHost, fittingPages))
  const isWhole = hosts === allHosts && pagesPerHost === shape.pagesPerHost
  return { masters, partitions, workers, hosts, pagesPerHost, isWhole }
}

/** So many times the hosts that could be asked at once at their pace: they never run short. */
const SPARE_HOSTS = 3
/** No request costs a master less. */
const LEAST_STORE_MS = 0.3
/** Pages of a host from which on their number changes little. */
const FEW_PAGES = 20
/** A sample has at least this part of the requests that it may have. */
const FEWEST_REQUESTS_PART = 4
