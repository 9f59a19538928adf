/**
 * A fleet at the size of the internet: a few samples of it simulated exactly, each on the master on which it lies, and
 * the whole worked out from them. Then one dimension at a time is made smaller and larger, to see where it bends: up to
 * where the rate grows with it, and what is used up from there on.
 */
import { createRng } from '../base/index.ts'
import { STORE_COSTS, type StoreCosts } from './fleet-costs.ts'
import { boundBy, workOut, type Paper } from './fleet-paper.ts'
import { FLEET_PROTOCOL, type FleetProtocol } from './fleet-protocol.ts'
import { runSample } from './fleet-sample.ts'
import {
  MOST_PARTITIONS,
  ownPartitions,
  placePartitions,
  sampleOf,
  type FleetShape,
  type SampleShape,
} from './fleet-shape.ts'
import type { SampleReport, Spread } from './fleet-tally.ts'

export interface FleetScaleOptions {
  readonly shape: FleetShape
  /** Parts of the fleet that are simulated: the first on the fullest master. */
  readonly samples: number
  readonly seed: number
  /** Whether each dimension is varied too. */
  readonly sweeps?: boolean
  readonly costs?: StoreCosts
  readonly protocol?: FleetProtocol
  /** Requests that are simulated for each sample, and for each point of a sweep. */
  readonly requestsPerSample?: number
  readonly requestsPerPoint?: number
  readonly killed?: number
  readonly onProgress?: (what: string) => void
}

export const DIMENSIONS = ['workers', 'slots', 'hosts', 'nodes', 'partitions', 'pages'] as const
export type Dimension = (typeof DIMENSIONS)[number]

export interface FleetPoint {
  readonly value: number
  readonly requestsPerS: number
  readonly bound: 'hosts' | 'slots' | 'masters'
  /** The share of the time in which a master is busy. */
  readonly busy: number
  readonly storeMsPerRequest: number
  readonly leaseMs: Spread
  readonly settleMs: Spread
  readonly connections: number
  /** Of one master, with all URLs in the queues. */
  readonly queuedBytes: number
}

export interface FleetSweep {
  readonly dimension: Dimension
  readonly points: readonly FleetPoint[]
  /** Between these two values what bounds the rate changes, for the first time. */
  readonly bend: { readonly from: FleetPoint; readonly to: FleetPoint } | null
}

export interface FleetScaleReport {
  readonly shape: FleetShape
  /** Partitions of each master, the fullest first. */
  readonly masters: readonly number[]
  /** The share of the time in which each of them is busy. */
  readonly busy: readonly number[]
  readonly samples: readonly SampleReport[]
  readonly requestsPerS: number
  readonly storeMsPerRequest: number
  /** Robots.txt of every host and all its pages, at this rate. */
  readonly takesMs: number
  readonly bound: FleetPoint['bound']
  readonly paper: Paper
  readonly sweeps: readonly FleetSweep[]
}

const REQUESTS_PER_SAMPLE = 200_000
const REQUESTS_PER_POINT = 10_000
/** Of the workers of a sample, so many are killed on the way. */
const KILLED = 0.05

/** Rejects with a `Violation` when a law is broken in a sample. */
export async function runFleetScale(options: FleetScaleOptions): Promise<FleetScaleReport> {
  const { shape, costs = STORE_COSTS, protocol = FLEET_PROTOCOL, seed, killed = KILLED } = options
  const masters = placePartitions(shape, createRng(seed))
  const average = shape.partitions / shape.nodes
  const samples: SampleReport[] = []
  const lies: number[] = []
  for (let index = 0; index < options.samples; index++) {
    const place = Math.floor((index * shape.nodes) / options.samples)
    const sample = sampleOf(shape, mastersFrom(shape, masters, place), options.requestsPerSample ?? REQUESTS_PER_SAMPLE)
    const onProgress = (done: number, all: number): void =>
      options.onProgress?.(`sample ${index + 1} of ${options.samples}: ${Math.floor((100 * done) / all)}%`)
    samples.push(await runSample({ shape, sample, costs, protocol, seed: seed + index, killed, onProgress }))
    lies.push(sample.masters[0]?.partitions ?? 0)
  }
  /** A master that has no sample is taken to be as the one whose number of partitions is nearest. */
  const nearest = (partitions: number): SampleReport =>
    samples.reduce((best, each, index) =>
      Math.abs((lies[index] ?? 0) - partitions) < Math.abs((lies[samples.indexOf(best)] ?? 0) - partitions)
        ? each
        : best,
    )
  const perPartition = (sample: SampleReport): number => sample.requestsPerS / sample.partitions
  const rateOf = (partitions: number): number => {
    const sample = nearest(partitions)
    return Math.min(partitions * perPartition(sample), 1_000 / sample.storeMsPerRequest)
  }
  const requestsPerS = masters.reduce((sum, partitions) => sum + rateOf(partitions), 0)
  const busy = masters.map((partitions) => (rateOf(partitions) * nearest(partitions).storeMsPerRequest) / 1_000)
  const [fullest] = samples as [SampleReport, ...SampleReport[]]
  const paper = workOut(
    shape,
    {
      requestsPerS,
      busy: Math.max(...busy),
      unevenness: (masters[0] ?? 0) / average,
      wireBytesPerRequest: fullest.wireBytesPerRequest,
      leaseMs: fullest.leaseMs.p50,
    },
    costs,
  )
  const sweeps: FleetSweep[] = []
  if (options.sweeps === true) for (const dimension of DIMENSIONS) sweeps.push(await sweep(dimension, options))
  return {
    shape,
    masters,
    busy,
    samples,
    requestsPerS,
    storeMsPerRequest: fullest.storeMsPerRequest,
    takesMs: (shape.hosts * (shape.pagesPerHost + 1) * 1_000) / requestsPerS,
    bound: boundBy(paper),
    paper,
    sweeps,
  }
}

/** The masters of a sample: the partitions of one worker lie on one after another. */
function mastersFrom(shape: FleetShape, masters: readonly number[], place: number): SampleShape['masters'] {
  const used = masters.filter((partitions) => partitions > 0)
  const simulated = new Map<number, number>()
  for (let partition = 0; partition < ownPartitions(shape); partition++) {
    const at = Math.min(place, used.length - 1) + partition
    simulated.set(at % used.length, (simulated.get(at % used.length) ?? 0) + 1)
  }
  return [...simulated].map(([at, count]) => ({ partitions: Math.max(used[at] ?? 0, count), simulated: count }))
}

async function sweep(dimension: Dimension, options: FleetScaleOptions): Promise<FleetSweep> {
  const { costs = STORE_COSTS, protocol = FLEET_PROTOCOL, seed, requestsPerPoint = REQUESTS_PER_POINT } = options
  const points: FleetPoint[] = []
  for (const value of valuesOf(dimension, options.shape)) {
    options.onProgress?.(`${dimension}: ${value}`)
    const shape = varied(options.shape, dimension, value)
    // Masters of one size: what unevenness does is known from the samples.
    const even = Array.from({ length: shape.nodes }, () => Math.max(1, shape.partitions / shape.nodes))
    const sample = sampleOf(shape, mastersFrom(shape, even, 0), requestsPerPoint)
    const report = await runSample({ shape, sample, costs, protocol, seed, killed: 0, requests: requestsPerPoint })
    const requestsPerS = (report.requestsPerS * shape.partitions) / report.partitions
    const busy = Math.max(...report.busy)
    const { wireBytesPerRequest, leaseMs, settleMs, storeMsPerRequest } = report
    const paper = workOut(
      shape,
      { requestsPerS, busy, unevenness: 1, wireBytesPerRequest, leaseMs: leaseMs.p50 },
      costs,
    )
    const { connections, queuedBytes } = paper
    points.push({
      value,
      requestsPerS,
      bound: boundBy(paper),
      busy,
      storeMsPerRequest,
      leaseMs,
      settleMs,
      connections,
      queuedBytes,
    })
  }
  const at = points.findIndex((point, index) => index > 0 && point.bound !== points[index - 1]?.bound)
  const [from, to] = [points[at - 1], points[at]]
  return { dimension, points, bend: from === undefined || to === undefined ? null : { from, to } }
}

/** The shape with another value. Slots are spread over fewer workers or more: their number stays. */
function varied(shape: FleetShape, dimension: Dimension, value: number): FleetShape {
  if (dimension === 'pages') return { ...shape, pagesPerHost: value }
  if (dimension !== 'slots') return { ...shape, [dimension]: value }
  return { ...shape, slots: value, workers: Math.max(1, Math.round((shape.workers * shape.slots) / value)) }
}

/** Values below and above the one that the shape has, in order. */
function valuesOf(dimension: Dimension, shape: FleetShape): number[] {
  const around = (value: number, factors: readonly number[], most: number, least = 1): number[] => [
    ...new Set(factors.map((factor) => Math.min(most, Math.max(least, Math.round(value * factor))))),
  ]
  switch (dimension) {
    case 'workers':
      return around(shape.workers, [1 / 64, 1 / 16, 1 / 4, 1, 2], MOST_VALUE)
    case 'slots':
      return around(shape.slots, [1 / 2, 1, 4, 16, 64], MOST_SLOTS)
    case 'hosts':
      return around(shape.hosts, [1e-5, 1e-4, 1e-3, 1e-2, 1, 10], MOST_VALUE, shape.partitions)
    case 'nodes':
      return around(shape.nodes, [1 / 4, 1, 4, 16, 64], shape.partitions)
    case 'partitions':
      return around(shape.nodes, [1, 4, 16, 64], MOST_PARTITIONS)
    case 'pages':
      return [1, 10, 100, 1_000]
  }
}

const MOST_VALUE = 1e9
/** Fetches at once of one process. */
const MOST_SLOTS = 1_000
