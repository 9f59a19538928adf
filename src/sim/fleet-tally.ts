/**
 * What is counted of a simulated part of a fleet. Rates and times are those between two marks, behind the start and before
 * hosts run short, so that neither the beginning nor the end is taken for how it goes on.
 */
import type { Master } from './fleet-master.ts'
import { createQuantiles } from './fleet-quantiles.ts'
import type { SampleShape } from './fleet-shape.ts'

export interface SampleReport {
  readonly partitions: number
  readonly hosts: number
  readonly pagesPerHost: number
  readonly isWhole: boolean
  readonly requests: number
  readonly simulatedMs: number
  /** Of the sample, while all of it is at work. */
  readonly requestsPerS: number
  /** The share of the time in which each of its masters is busy; more than 1 while a backlog grows. */
  readonly busy: readonly number[]
  /** Time of a master for one request. */
  readonly storeMsPerRequest: number
  readonly wireBytesPerRequest: number
  readonly leasesPerCall: number
  readonly settlementsPerCall: number
  /** Hosts that were due when looked at, and somebody else's when leased; as a share of all leases. */
  readonly taken: number
  /** From asking to the leases, and from the beginning of a commit to its end. */
  readonly leaseMs: Spread
  readonly settleMs: Spread
  /** From the moment a host is due to the start of its request. */
  readonly lagMs: Spread
}

export interface Spread {
  readonly p50: number
  readonly p99: number
}

export interface FleetTally {
  requests: number
  wireBytes: number
  granted: number
  leaseCalls: number
  taken: number
  settled: number
  settleCalls: number
  /** Times that count only between the marks. */
  noteLease(ms: number): void
  noteSettle(ms: number): void
  noteLag(ms: number): void
  /** A request goes out. */
  request(): void
  report(): SampleReport
}

/** The marks, as shares of all requests that are expected. */
const COUNTED_FROM = 0.1
const COUNTED_TO = 0.8

/** What was counted up to a moment. */
interface Mark {
  readonly at: number
  readonly requests: number
  readonly workMs: readonly number[]
}

export function createFleetTally(options: {
  readonly sample: SampleShape
  readonly masters: readonly Master[]
  /** All requests that there will be. */
  readonly expected: number
  readonly startAt: number
  now(): number
}): FleetTally {
  const { sample, masters, expected, startAt, now } = options
  const leaseMs = createQuantiles()
  const settleMs = createQuantiles()
  const lagMs = createQuantiles()
  let from: Mark | undefined
  let to: Mark | undefined

  const mark = (): Mark => ({ at: now(), requests: tally.requests, workMs: masters.map(({ workMs }) => workMs) })
  const noteIn =
    ({ note }: ReturnType<typeof createQuantiles>) =>
    (ms: number): void => {
      if (from !== undefined && to === undefined) note(ms)
    }
  const spread = ({ at }: ReturnType<typeof createQuantiles>): Spread => ({ p50: at(0.5), p99: at(0.99) })

  const tally: FleetTally = {
    requests: 0,
    wireBytes: 0,
    granted: 0,
    leaseCalls: 0,
    taken: 0,
    settled: 0,
    settleCalls: 0,
    noteLease: noteIn(leaseMs),
    noteSettle: noteIn(settleMs),
    noteLag: noteIn(lagMs),
    request() {
      tally.requests += 1
      if (from === undefined && tally.requests >= COUNTED_FROM * expected) from = mark()
      if (to === undefined && tally.requests >= COUNTED_TO * expected) to = mark()
    },
    report() {
      const start: Mark = from ?? { at: startAt, requests: 0, workMs: masters.map(() => 0) }
      const stop = to ?? mark()
      const countedMs = Math.max(1, stop.at - start.at)
      const counted = Math.max(1, stop.requests - start.requests)
      const workMs = stop.workMs.map((work, index) => work - (start.workMs[index] ?? 0))
      /** Of the sample's own partitions. */
      const ownWorkMs = workMs.reduce((sum, work, index) => {
        const { partitions: all, simulated } = sample.masters[index] as SampleShape['masters'][number]
        return sum + (work * simulated) / all
      }, 0)
      return {
        partitions: sample.partitions,
        hosts: sample.hosts,
        pagesPerHost: sample.pagesPerHost,
        isWhole: sample.isWhole,
        requests: tally.requests,
        simulatedMs: now() - startAt,
        requestsPerS: (counted / countedMs) * 1_000,
        busy: workMs.map((work) => work / countedMs),
        storeMsPerRequest: ownWorkMs / counted,
        wireBytesPerRequest: tally.wireBytes / Math.max(1, tally.requests),
        leasesPerCall: tally.granted / Math.max(1, tally.leaseCalls),
        settlementsPerCall: tally.settled / Math.max(1, tally.settleCalls),
        taken: tally.taken / Math.max(1, tally.granted),
        leaseMs: spread(leaseMs),
        settleMs: spread(settleMs),
        lagMs: spread(lagMs),
      }
    },
  }
  return tally
}
