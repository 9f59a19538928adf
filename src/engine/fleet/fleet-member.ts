/**
 * A worker's life among others: it says that it is alive, hears when the crawl is ended for all, asks the partitions first
 * that it was given, and while nobody coordinates, does its part of that. One round after another; a store that is out of
 * reach holds the next round up, and nothing else.
 */
import type { Clock } from '../../base/index.ts'
import type { FleetFrontier, Member } from '../../frontier/index.ts'

/** Between two rounds, and how long after the last one a worker counts as gone. */
const ROUND_MS = 2_000
const ALIVE_MS = 10_000
/** How often it is looked whether somebody coordinates: while somebody does, and while nobody does. */
const LED_MS = 10_000
const ALONE_MS = 4_000
/** Between two rounds of housekeeping at least. */
const TEND_MS = 2_000

export interface FleetMemberOptions {
  readonly fleet: FleetFrontier
  /** As it stands at this moment. */
  describe(): Member
  /** Bytes of all workers together; no limit when undefined. */
  readonly maxBytes: number | undefined
  /** The crawl is ended for all, with the reason. */
  onHalted(reason: string): void
  /** The store is lost for good. */
  onFailure(error: unknown): void
}

export interface FleetMember {
  /** No further round begins, and it is not counted among the living any more, as far as the store can be told. */
  stop(): Promise<void>
}

export function startFleetMember(options: FleetMemberOptions, { clock }: { readonly clock: Clock }): FleetMember {
  const { fleet } = options
  const stopping = new AbortController()
  let lookAt = -Infinity
  let tendAt = -Infinity
  let isLed = false

  const coordinate = async (partitions: readonly number[]): Promise<void> => {
    if (clock.now() >= tendAt) {
      const { nextAt } = await fleet.tend(partitions)
      tendAt = Math.max(nextAt ?? -Infinity, clock.now() + TEND_MS)
    }
    const { maxBytes } = options
    if (maxBytes !== undefined && (await fleet.stats()).bytes >= maxBytes) await fleet.crawl.halt('bytes')
  }

  const round = async (): Promise<void> => {
    const member = options.describe()
    await fleet.crawl.beat(member, ALIVE_MS)
    const reason = await fleet.crawl.halted()
    if (reason !== undefined) return options.onHalted(reason)
    const partitions = (await fleet.crawl.assignment(member.id)) ?? []
    fleet.prefer(partitions)
    if (clock.now() >= lookAt) {
      isLed = (await fleet.crawl.members()).some(({ role }) => role === 'coordinator')
      lookAt = clock.now() + (isLed ? LED_MS : ALONE_MS)
    }
    if (!isLed) await coordinate(partitions)
  }

  const live = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round()
      await clock.sleepUntil(clock.now() + ROUND_MS, stopping.signal).catch(() => {})
    }
  }
  live().catch((error: unknown) => {
    // What a store that is being closed answers is nobody's news.
    if (!stopping.signal.aborted) options.onFailure(error)
  })
  return {
    async stop() {
      stopping.abort()
      await fleet.crawl.beat(options.describe(), 0).catch(() => {})
    },
  }
}
