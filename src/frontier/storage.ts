/**
 * What the rules of the frontier need from a home: plain, synchronous keeping of rows, queues and counters, with one
 * transaction around each verb. A storage applies no rule of its own; leases are not its business, they live in the
 * process that granted them, so after a crash what was leased is simply still queued.
 */
import {
  TIERS,
  UNKNOWN_HEALTH,
  type Change,
  type HostHealth,
  type HostKey,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type TaskKind,
  type Tier,
  type Via,
} from '../model/index.ts'
import type { OutputPosition } from './contract.ts'
import { emptyRecrawlState, type RecrawlState } from './recrawl.ts'

/**
 * Where a URL stands. `queued`: in its lane's queue. `waiting`: for the time of its next attempt. `held`: too deep.
 * `aside`: looks like a trap, and waits until nothing else of its host is left. The others are final.
 */
export type UrlState = 'queued' | 'waiting' | 'held' | 'aside' | 'done' | 'failed' | 'skipped'

export function isFinal(state: UrlState): boolean {
  return state === 'done' || state === 'failed' || state === 'skipped'
}

/** The part of a lane's queue that a URL stands in: its own tier, or whichever its host's score puts it in. */
export const SLOTS = [...TIERS, 'auto'] as const
export type Slot = (typeof SLOTS)[number]

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
  readonly foundAt: number
  slot: Slot
  depth: number
  state: UrlState
  /** Its place in the queue, or the one that it had last: a whole number from 0 to 2^32 - 1, the smallest first. */
  rank: number
  attempts: number
  /** The skip reason or failure code of a final state, why it was set aside; null otherwise. */
  reason: string | null
  /** When the final state was reached, or of a `waiting` URL's next attempt; 0 otherwise. */
  at: number
}

/** What is remembered of a page that was fetched, for the next time. */
export interface VisitRow {
  readonly id: number
  /** How often it was fetched, whatever that brought. */
  visits: number
  /** How often it was another one than before. */
  changes: number
  /** Answers in a row that said the page is gone. */
  misses: number
  firstAt: number
  checkedAt: number
  changedAt: number
  /** What is believed of its rate of change: see recrawl.ts. */
  changeShape: number
  changeTimeMs: number
  /** From one visit to the next, as last planned. */
  intervalMs: number
  /** When it is to be fetched again; null when that is not planned. Kept in order by the storage. */
  dueAt: number | null
  hash: string | null
  etag: string | null
  lastModified: string | null
}

/** A robots record without the text, which may be half a megabyte and is read only when it is wanted. */
export type RobotsSummary = Omit<RobotsRecord, 'body'>

/** Without the text, and with the origin as its lane has it: one string for both. Field by field, as `copyHost`. */
export function summaryOf(robots: RobotsSummary, origin: Origin): RobotsSummary {
  return {
    origin,
    state: robots.state,
    refusal: robots.refusal,
    status: robots.status,
    detail: robots.detail,
    fetchedAt: robots.fetchedAt,
    version: robots.version,
    staleSince: robots.staleSince,
    expiresAt: robots.expiresAt,
    crawlDelayMs: robots.crawlDelayMs,
  }
}

/** The queue of one origin's URLs, gated by that origin's robots.txt. */
export interface LaneRow {
  readonly id: number
  readonly origin: Origin
  /** Rows in each part of the queue, leased ones among them. */
  readonly queued: Record<Slot, number>
  robots: RobotsSummary | undefined
  /** robots.txt is not asked for again before this time. */
  robotsNotBefore: number
  robotsAttempts: number
  /** robots.txt redirected: an errand on some host is fetching it. */
  robotsMoved: boolean
}

/** Rows in all parts of a lane's queue. */
export function queuedIn({ queued }: LaneRow): number {
  return queued.high + queued.medium + queued.low + queued.auto
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
  /** Which order it stands in: see `orderOf`. */
  order: HostOrder
  /** Of its URLs that no rule gives a tier. */
  tier: Tier
  /** Pages saved. */
  pages: number
  /** Importance that it has not passed on yet, and all that it has: see importance.ts. */
  cash: number
  credit: number
  /** Smallest depth of its pages; `UNKNOWN_DEPTH` before the first. */
  depth: number
  /** How often its pages change, over those that were fetched twice: see recrawl.ts. */
  changePages: number
  changeRate: number
  /** Visits a millisecond that are planned for its pages. */
  revisitRate: number
  answeredAt: number | null
  blockedUntil: number
  blockedReason: string | null
  health: HostHealth
  address: string | null
  closestMs: number | null
}

/** The depth of a host that has no page. */
export const UNKNOWN_DEPTH = 65_535

/** Hosts by how they answered last: well, or not at all, badly, or never asked. */
export const HOST_CLASSES = ['proven', 'unproven'] as const
export type HostClass = (typeof HOST_CLASSES)[number]

export function classOf(health: HostHealth): HostClass {
  return health.streak > 0 ? 'proven' : 'unproven'
}

/**
 * Hosts stand in one of sixteen orders, by their class and by the tiers that they have work in: a number of one bit for
 * the class and one for each tier. Whoever looks for work of a tier looks at the heads of all orders with its bit.
 */
export type HostOrder = number
export const HOST_ORDERS = 16

export function orderOf(of: HostClass, tiers: number): HostOrder {
  return (of === 'proven' ? 8 : 0) + tiers
}

/** The bit of a tier in an order. */
export function tierBit(tier: Tier): number {
  return tier === 'high' ? 1 : tier === 'medium' ? 2 : 4
}

export function classOfOrder(order: HostOrder): HostClass {
  return order >= 8 ? 'proven' : 'unproven'
}

/** A host of which nothing is known. */
export function newHost(id: number, key: HostKey): HostRow {
  return {
    id,
    key,
    due: null,
    order: 0,
    tier: 'medium',
    pages: 0,
    cash: 0,
    credit: 0,
    depth: UNKNOWN_DEPTH,
    changePages: 0,
    changeRate: 0,
    revisitRate: 0,
    answeredAt: null,
    blockedUntil: 0,
    blockedReason: null,
    health: UNKNOWN_HEALTH,
    address: null,
    closestMs: null,
  }
}

/** Field by field: a spread makes objects of twice the size, and there are many of them. */
export function copyHost(row: HostRow): HostRow {
  return {
    id: row.id,
    key: row.key,
    due: row.due,
    order: row.order,
    tier: row.tier,
    pages: row.pages,
    cash: row.cash,
    credit: row.credit,
    depth: row.depth,
    changePages: row.changePages,
    changeRate: row.changeRate,
    revisitRate: row.revisitRate,
    answeredAt: row.answeredAt,
    blockedUntil: row.blockedUntil,
    blockedReason: row.blockedReason,
    health: row.health,
    address: row.address,
    closestMs: row.closestMs,
  }
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
  /** Pages set aside. */
  aside: number
  /** Tasks in a queue, leased ones among them, and requests made, by tier. */
  tiers: Record<Tier, { queued: number; requests: number }>
  /** Pages open again that were done before. */
  refreshing: number
  /** Fetches of pages that had been fetched before, by what came of them. */
  revisits: Record<Exclude<Change, 'new'>, number>
  /** What the plan of revisits is made from: see recrawl.ts. */
  recrawl: Record<Tier, RecrawlState>
  /** All importance that hosts have and had, and what waits to be given to new ones. */
  importance: { total: number; pot: number }
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

  /** The id of a known URL, by its key; 0 when it is not known. Most links are known: must be quick. */
  find(kind: 'page' | 'sitemap', url: NormalizedUrl): number
  /** Inserts a URL that `find` does not know. Rows stand in whatever order their state says, from then on. */
  insert(row: Omit<UrlRow, 'id'>): number
  url(id: number): UrlRow
  /** Parts of a row, for those who need no more. */
  text(id: number): NormalizedUrl
  depth(id: number): number
  /** Whether its state is final. */
  isEnded(id: number): boolean
  place(id: number): Pick<UrlRow, 'lane' | 'slot'>
  update(row: UrlRow): void
  /** One more page names this URL; answers how many have. */
  countReferrer(id: number): number
  referrers(id: number): number
  setChildren(id: number, children: readonly Child[]): void
  children(id: number): readonly Child[]

  /** The first `queued` rows of a part of a lane by rank, then by id, that `skip` lets pass; at most `count`. */
  head(lane: number, slot: Slot, count: number, skip: Ids): QueueEntry[]
  /** Rows that are `waiting` until `now` at the latest, soonest first; at most `count`. */
  waitingUntil(now: number, count: number): number[]
  nextWaiting(): number | undefined
  /** Some rows of one host in this state, other than those in `skip`; none when there are no more anywhere. */
  parkedOfOneHost(state: 'held' | 'aside', count: number, skip: Ids): number[]
  /** Rows of this host that are `aside`, in order of discovery, behind this id. */
  asideOf(host: number, behind: number, count: number): number[]

  visit(id: number): VisitRow | undefined
  /** The row is the storage's from then on. */
  saveVisit(row: VisitRow): void
  /** Visits that are due at `now` or before, soonest first; at most `count`. */
  visitsUntil(now: number, count: number): number[]
  nextVisit(): number | undefined

  hostByKey(key: HostKey): HostRow | undefined
  hostById(id: number): HostRow
  insertHost(key: HostKey): HostRow
  updateHost(row: HostRow): void
  /** Hosts of one order due at `now` or before, longest first, without those lent. */
  dueHosts(of: HostOrder, now: number, count: number): DueHost[]
  /** Hosts of one order due after `now`, soonest first, without those lent. */
  upcomingHosts(of: HostOrder, now: number, count: number): DueHost[]
  /** A host that is leased is not offered as due until it is given back. Not durable: a crash gives all back. */
  lend(host: number): void
  giveBack(host: number): void
  lanesOf(host: number): LaneRow[]
  hostOfLane(id: number): number
  insertLane(host: number, origin: Origin): LaneRow
  /** Writes all of a lane but its robots record. */
  updateLane(row: LaneRow): void
  /** What was learned of the host's traps, in whatever form the rules have it. */
  traps(host: number): string | undefined
  saveTraps(host: number, learned: string): void
  saveRobots(lane: number, robots: RobotsRecord): void
  robotsBody(lane: number): string
  errandsOf(host: number): readonly Errand[]
  insertErrand(host: number, errand: Omit<Errand, 'id'>): Errand
  deleteErrand(id: number): void

  counters(): Counters
  saveCounters(counters: Counters): void
  /** Look-ups of URLs, and how often the filter in front of the exact set said `perhaps` of one that was not there. */
  lookups(): { readonly falsePositives: number }
  /** Lets go of everything; `inOrder` says that nothing is in flight and nothing failed. */
  close(inOrder: boolean): void
}

/** A set of ids, as far as it is asked. */
export interface Ids {
  has(id: number): boolean
}

export interface QueueEntry {
  readonly id: number
  readonly rank: number
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
    aside: 0,
    tiers: byTier(() => ({ queued: 0, requests: 0 })),
    refreshing: 0,
    revisits: { changed: 0, unchanged: 0, gone: 0, missed: 0 },
    recrawl: byTier(emptyRecrawlState),
    importance: { total: 0, pot: 0 },
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

function byTier<T>(make: () => T): Record<Tier, T> {
  return { high: make(), medium: make(), low: make() }
}
