/**
 * What the rules of the frontier need from a home: plain, synchronous keeping of rows, queues and counters, with one
 * transaction around each verb. A storage applies no rule of its own; leases are not its business, they live in the
 * process that granted them, so after a crash what was leased is simply still queued.
 */
import type {
  HostHealth,
  HostKey,
  NormalizedUrl,
  Origin,
  RobotsRecord,
  TaskKind,
  Tier,
  UrlKey,
  Via,
} from '../model/index.ts'
import type { OutputPosition } from './contract.ts'

/** Where a URL stands. `queued`: in its lane's queue. `waiting`: for the time of its next attempt. `held`: too deep. */
export type UrlState = 'queued' | 'waiting' | 'held' | 'done' | 'failed' | 'skipped'

export interface UrlRow {
  readonly id: number
  readonly kind: 'page' | 'sitemap'
  readonly url: NormalizedUrl
  readonly lane: number
  readonly via: Via
  /** The row that named it first; 0 for none. */
  readonly referrer: number
  readonly redirects: number
  readonly nesting: number
  tier: Tier
  depth: number
  state: UrlState
  attempts: number
  /** The skip reason or failure code of a final state; null otherwise. */
  reason: string | null
  /** When the final state was reached, or of a `waiting` URL's next attempt; 0 otherwise. */
  at: number
}

/** A robots record without the text, which may be half a megabyte and is read only when it is wanted. */
export type RobotsSummary = Omit<RobotsRecord, 'body'>

/** The queue of one origin's URLs, gated by that origin's robots.txt. */
export interface LaneRow {
  readonly id: number
  readonly origin: Origin
  /** Rows in the queue, leased ones among them. */
  queued: number
  robots: RobotsSummary | undefined
  /** robots.txt is not asked for again before this time. */
  robotsNotBefore: number
  robotsAttempts: number
  /** robots.txt redirected: an errand on some host is fetching it. */
  robotsMoved: boolean
}

/** A robots.txt to be fetched from another place than its origin's own. */
export interface Errand {
  readonly id: number
  readonly origin: Origin
  readonly url: NormalizedUrl
  readonly redirects: number
}

export interface HostRow {
  readonly id: number
  readonly key: HostKey
  /** When it is next due, as if nothing were leased; null when it has no work. Kept in order by the storage. */
  due: number | null
  answeredAt: number | null
  blockedUntil: number
  blockedReason: string | null
  health: HostHealth
  address: string | null
  closestMs: number | null
}

/** Hosts by how they answered last: well, or not at all, badly, or never asked. Each class has an order of its own. */
export const HOST_CLASSES = ['proven', 'unproven'] as const
export type HostClass = (typeof HOST_CLASSES)[number]

export function classOf(health: HostHealth): HostClass {
  return health.streak > 0 ? 'proven' : 'unproven'
}

/** A place in the order of hosts by their due time. */
export interface DueHost {
  readonly id: number
  readonly due: number
}

/** Sums that are kept, never computed by counting. */
export interface Counters {
  discovered: number
  /** Pages not in a final state. */
  open: number
  done: number
  failed: number
  skipped: Record<string, number>
  held: number
  tiers: Record<Tier, number>
  requests: Record<TaskKind, number>
  sitemapsOpen: number
  bytes: number
  tokens: number
  hosts: number
  /** Hosts with something queued, leased or not. */
  hostsWithWork: number
  /** Settlements of requests that started before their pace permitted. */
  impolite: number
  /** The smallest time to spare of all requests, and where. */
  closest: { readonly host: HostKey; readonly spareMs: number } | null
  output: OutputPosition
}

export interface Storage {
  /**
   * Runs `work` and commits it durably; if it throws, nothing of it remains, and the storage is not to be used again.
   * `now` is kept with what is written, so that a later opening can tell that the clock was set back.
   */
  transaction<T>(now: number, work: () => T): T

  /** The id and depth of a known URL. */
  find(kind: 'page' | 'sitemap', key: UrlKey): { readonly id: number; readonly depth: number } | undefined
  insert(key: UrlKey, row: Omit<UrlRow, 'id'>): number
  url(id: number): UrlRow
  update(row: UrlRow): void
  /** One more page names this URL. May be written later than the rest, and lost in a crash. */
  countReferrer(id: number): void
  setChildren(id: number, children: readonly Child[]): void
  children(id: number): readonly Child[]

  enqueue(lane: number, rank: number, id: number): void
  dequeue(lane: number, rank: number, id: number): void
  /** The first of a lane by rank, then by id, that `skip` lets pass; at most `count`. */
  head(lane: number, count: number, skip: ReadonlySet<number>): number[]
  /** Takes out what waits until `now` at the latest, at most `count`. */
  takeWaiting(now: number, count: number): number[]
  wait(due: number, id: number): void
  nextWaiting(): number | undefined
  hold(host: number, id: number): void
  release(host: number, id: number): void
  /** Some held URLs of one host, other than those in `skip`; none when there are no more. */
  heldOfOneHost(count: number, skip: ReadonlySet<number>): number[]

  hostByKey(key: HostKey): HostRow | undefined
  hostById(id: number): HostRow
  insertHost(key: HostKey): HostRow
  updateHost(row: HostRow): void
  /** Hosts of one class due at `now` or before, longest first, without those lent. */
  dueHosts(of: HostClass, now: number, count: number): DueHost[]
  /** Hosts of one class due after `now`, soonest first, without those lent. */
  upcomingHosts(of: HostClass, now: number, count: number): DueHost[]
  /** A host that is leased is not offered as due until it is given back. Not durable: a crash gives all back. */
  lend(host: number): void
  giveBack(host: number): void
  lanesOf(host: number): LaneRow[]
  hostOfLane(id: number): number
  insertLane(host: number, origin: Origin): LaneRow
  /** Writes all of a lane but its robots record. */
  updateLane(row: LaneRow): void
  saveRobots(lane: number, robots: RobotsRecord): void
  robotsBody(lane: number): string
  errandsOf(host: number): Errand[]
  insertErrand(host: number, errand: Omit<Errand, 'id'>): Errand
  deleteErrand(id: number): void

  counters(): Counters
  saveCounters(counters: Counters): void
  /** Lets go of everything; `inOrder` says that nothing is in flight and nothing failed. */
  close(inOrder: boolean): void
}

/** A link, as the depth of what lies behind it depends on it. */
export interface Child {
  readonly id: number
  /** 1 for a link, 0 for a redirect. */
  readonly step: 0 | 1
}

export function emptyCounters(): Counters {
  return {
    discovered: 0,
    open: 0,
    done: 0,
    failed: 0,
    skipped: {},
    held: 0,
    tiers: { high: 0, medium: 0, low: 0 },
    requests: { page: 0, sitemap: 0, robots: 0 },
    sitemapsOpen: 0,
    bytes: 0,
    tokens: 0,
    hosts: 0,
    hostsWithWork: 0,
    impolite: 0,
    closest: null,
    output: {},
  }
}
