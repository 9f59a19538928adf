/** A host as the servers have it (lua/shared/host.lua), in the form in which every home shows its hosts. */
import type { HostKey, Origin, RobotsRecord, Tier } from '../../model/index.ts'
import type { HostView } from '../embedded/index.ts'
import { SLOTS, UNKNOWN_DEPTH, type Errand, type LaneRow, type Slot } from '../storage.ts'
import { listOf, mapOf } from './replies.ts'

/** A host with all that the servers have of it. */
export interface FleetHost extends HostView {
  readonly partition: number
  readonly leases: number
  /** Ranks of each part of each lane, with the number of entries that its list should have. */
  readonly lists: readonly {
    readonly origin: Origin
    readonly slot: Slot
    readonly rank: number
    readonly entries: number
  }[]
  readonly held: number
  readonly aside: number
  readonly errands: readonly Omit<Errand, 'id'>[]
  /** Only when they were asked for. */
  readonly bodies: Readonly<Record<string, string>>
  readonly learned: string | null
}

/** What a host is as inspect-hosts.lua tells it. */
export interface HostState {
  readonly key: HostKey
  readonly seq: number
  readonly tier: Tier
  readonly pages: number
  readonly cash: number
  readonly credit: number
  readonly depth: number
  readonly change_pages: number
  readonly change_rate: number
  readonly revisit_rate: number
  readonly answered?: number
  readonly granted?: number
  readonly blocked_until: number
  readonly blocked_reason?: string
  readonly strikes: number
  readonly streak: number
  readonly streak_since: number
  readonly blocked_at: number
  readonly latency: number
  readonly address?: string
  readonly closest?: number
  readonly due?: number
  readonly order?: number
  readonly leases: number
  readonly held: number
  readonly aside: number
  readonly lanes: unknown
  readonly errands: unknown
  readonly bodies?: unknown
  readonly learned?: string
}

interface LaneState {
  readonly origin: Origin
  readonly queued: readonly number[]
  readonly lists: unknown
  /** JSON of the record without its text. */
  readonly robots?: string
  readonly not_before: number
  readonly attempts: number
  readonly moved?: boolean
}

/** From a time of the server to one of whoever looks; 0 and null stay what they are. */
export type OurTime = <T extends number | null>(time: T) => T

export function fleetHost(state: HostState, partition: number, ours: OurTime): FleetHost {
  const lanes = listOf<LaneState>(state.lanes)
  return {
    id: state.seq,
    key: state.key,
    due: state.due === undefined ? null : ours(state.due),
    order: state.order ?? 0,
    tier: state.tier,
    pages: state.pages,
    cash: state.cash,
    credit: state.credit,
    depth: state.depth ?? UNKNOWN_DEPTH,
    changePages: state.change_pages,
    changeRate: state.change_rate,
    revisitRate: state.revisit_rate,
    answeredAt: state.answered === undefined ? null : ours(state.answered),
    blockedUntil: ours(state.blocked_until),
    blockedReason: state.blocked_reason ?? null,
    health: {
      strikes: state.strikes,
      streak: state.streak,
      streakSince: ours(state.streak_since),
      blockedAt: ours(state.blocked_at),
      latencyMs: state.latency,
    },
    address: state.address ?? null,
    closestMs: state.closest ?? null,
    partition,
    leases: state.leases,
    held: state.held,
    aside: state.aside,
    lanes: lanes.map((lane, index) => laneRow(lane, index, ours)),
    lists: lanes.flatMap(({ origin, lists }) =>
      SLOTS.flatMap((slot, index) =>
        Object.entries(mapOf<number>(listOf<unknown>(lists)[index])).map(([rank, entries]) => ({
          origin,
          slot,
          rank: Number(rank),
          entries,
        })),
      ),
    ),
    errands: listOf<Omit<Errand, 'id'>>(state.errands).map(({ origin, url, redirects }) => ({
      origin,
      url,
      redirects,
    })),
    bodies: mapOf<string>(state.bodies),
    learned: state.learned ?? null,
  }
}

function laneRow(lane: LaneState, id: number, ours: OurTime): LaneRow {
  const [high = 0, medium = 0, low = 0, auto = 0] = listOf<number>(lane.queued)
  return {
    id,
    origin: lane.origin,
    queued: { high, medium, low, auto },
    robots: lane.robots === undefined ? undefined : summaryOf(lane.robots, ours),
    robotsNotBefore: ours(lane.not_before),
    robotsAttempts: lane.attempts,
    robotsMoved: lane.moved === true,
  }
}

function summaryOf(text: string, ours: OurTime): Omit<RobotsRecord, 'body'> {
  const record = JSON.parse(text) as Omit<RobotsRecord, 'body'>
  const { fetchedAt, expiresAt, staleSince } = record
  return { ...record, fetchedAt: ours(fetchedAt), expiresAt: ours(expiresAt), staleSince: ours(staleSince) }
}
