/**
 * The frontier: every URL of a crawl, every host's queue and turn, and every permission to talk to a host.
 *
 * This file is the contract. `memory` is its readable reference, `embedded` the durable home on one machine, `redis` the one
 * that any number of processes share; one conformance suite (test/conformance/frontier.ts) runs on each. No client,
 * transaction or file type appears here.
 *
 * What every home keeps true:
 *
 * - **Pace.** No task is handed out before its host is due: `delayMs` after the host's last answer, after any block,
 *   and with fewer than `concurrency` leases open on it. A lease is used by one slot, one request after another.
 *   Where hosts are paced together as a group, all of them have one lease open at most, and the group's delay too.
 * - **robots.txt first.** A page or sitemap is handed out only while its origin has a fresh robots record. Otherwise
 *   the lease carries one task of kind `robots`, for exactly one worker at a time.
 * - **Conservation.** `discovered = queued + leased + done + failed + skipped` at every instant, for pages.
 * - **Exactly one final outcome** for each URL; a settled URL is not handed out again, unless pages are to be fetched
 *   again: then one that is `done` comes back when its next visit is due, and ends once more.
 * - **Limits are exact.** A page is reserved when it is leased and given back when it ends as anything but `done`. A page
 *   that is fetched again has been counted.
 * - **Depth is the minimum** over all paths seen so far. A shorter path found later moves a queued page forward,
 *   frees a page that was held for being too deep, and does the same for everything that is reached through it.
 * - **Tiers share** what is due by their quotas: over any stretch of tasks in which all have hosts that are due, each
 *   gets its part, give or take two; what a tier cannot use goes to the others at once, and is not owed later.
 * - **The best first.** Within a host and a tier the URL with the highest score goes first, then the one found first.
 * - **The frontier knows when it is over**: when nothing is queued and nothing is leased.
 *
 * Times are `Clock.now()` milliseconds throughout.
 */
import type {
  Change,
  ContentSample,
  FoundUrl,
  HostHealth,
  HostKey,
  HostPolicy,
  HostRecord,
  NormalizedUrl,
  Outcome,
  RobotsRecord,
  SkipReason,
  Task,
  TaskKind,
  Tier,
  Visit,
  UrlNumbering,
} from '../model/index.ts'
import type { RecrawlOptions } from './recrawl.ts'
import type { ScoreOptions } from './score.ts'

export type { RecrawlOptions, ScoreOptions }

export interface Frontier {
  /**
   * Makes URLs known. Idempotent: insert-if-absent by `urlKey` decides, a shorter depth or one more referrer updates.
   * The URLs are normalised and in scope. Durable when the promise resolves.
   */
  add(found: readonly FoundUrl[]): Promise<AddAnswer>

  /**
   * Hands out leases on hosts that are due now, at most `want`, the one due longest first. Each carries one task or,
   * where the pace is short, a few. Leases whose time has run out are taken back first.
   */
  lease(request: LeaseRequest): Promise<LeaseAnswer>

  /**
   * Ends tasks, all of them in one atomic step: outcomes, links found, host state, counters and the position of the
   * output are committed together or not at all. A settlement whose lease is no longer held is `stale`: nothing of
   * it takes effect, and it never reaches the output. Durable when the promise resolves. (Where a crawl is spread over
   * partitions, each of them is such a step, one after another.)
   */
  settle(settlements: readonly Settlement[], output?: Output): Promise<SettleAnswer>

  /**
   * A slow page keeps its host: the lease ends `leaseMs` from now instead. Bounded by the home; false when the lease
   * is no longer held or has been extended too often, and then nothing more may be sent under it.
   */
  extend(lease: LeaseRef): Promise<boolean>

  /** What is known of a host, after the change if one is given; undefined for a host never seen. */
  host(key: HostKey, change?: HostChange): Promise<HostRecord | undefined>

  /** Counters by state, tier and reason, in constant time. */
  stats(): Promise<FrontierStats>

  /** Gives leased tasks back and lets go of the store. A crawl closed this way need not wait when it is reopened. */
  close(): Promise<void>
}

export interface AddAnswer {
  /** URLs that were new. */
  readonly added: number
  /** URLs that were known already. */
  readonly known: number
}

export interface LeaseRequest {
  /** Who asks; for people and for the fleet. */
  readonly worker: string
  /** Leases wanted, 1 or more: one for each free slot. */
  readonly want: number
  /**
   * Of these, at most so many on hosts that did not answer their last request well, or were never asked: such a host
   * may hold its slot until it times out. As many as wanted when absent.
   */
  readonly unproven?: number
  /**
   * Names this asking, unique for the worker. Asked again with the same name, because the answer was lost, the same
   * leases are answered as far as they are still open, and no others.
   */
  readonly request?: string
}

export interface LeaseRef {
  readonly host: HostKey
  /** Unique among all leases ever given in this crawl by this home, and growing. */
  readonly fence: number
}

/** Permission for one slot to talk to one host. */
export interface Lease extends LeaseRef {
  /** At least one; to be asked in this order, one after another. */
  readonly tasks: readonly Task[]
  /** To be kept between the answer to one request of this lease and the next. */
  readonly delayMs: number
  /**
   * When it was granted or, in the answer to a repeated asking, when that was answered. Times here are the frontier's: a
   * worker with another clock counts from the moment *before* it asked, as if the lease had been granted then, and so
   * never uses it for longer than it lasts.
   */
  readonly grantedAt: number
  /** Nothing may be sent before. */
  readonly notBefore: number
  /** Nothing may be sent from then on, unless extended. */
  readonly expiresAt: number
  readonly health: HostHealth
  /** The address whose pace this lease was granted by; null when none was, be it that none is known. */
  readonly address: string | null
  /** The version of the robots record under which pages and sitemaps of this lease may be asked; null for a robots.txt. */
  readonly robotsVersion: string | null
}

export interface LeaseAnswer {
  readonly leases: readonly Lease[]
  /**
   * When it is worth asking again if nothing is settled or added before; null when only that can help. Where processes
   * share a crawl, others do that too and nobody is told: then ask again now and then all the same.
   */
  readonly nextAt: number | null
  /**
   * `open`: there is work, or there may be. `finished`: nothing is queued and nothing is leased.
   * `limit`: the page limit is reached, with URLs left over and nothing leased.
   */
  readonly state: 'open' | 'finished' | 'limit'
}

/** How one task of a lease ended. A lease is over when each of its tasks is settled. */
export interface Settlement {
  readonly lease: LeaseRef
  readonly task: Task
  readonly outcome: Outcome
  /** When the host answered or failed to; absent when nothing was sent to it. */
  readonly answeredAt?: number
  /** URLs that the answer names. For `skipped: redirect`, its target. */
  readonly found?: readonly FoundUrl[]
  /** Pages that the answer links to, if nothing else is to be said of them: each is short for a URL in `found`. */
  readonly links?: readonly NormalizedUrl[]
  /** Of the links: by it a frontier in the same thread knows those that it has met. */
  readonly numbering?: UrlNumbering
  /** For a task of kind `robots` that is `done`: what it came to. */
  readonly robots?: RobotsRecord
  readonly host?: HostChange
  /** How much later than its pace required the request started, as the audit saw it; below zero is a violation. */
  readonly spareMs?: number
  /** The audit found that the host's policy did not permit the request, be it for its pace or for something else. */
  readonly impolite?: true
  /** For a page or sitemap that is `done`: what the next visit should know. */
  readonly visit?: Visit
  /** For a page that was read: what traps are learned from. */
  readonly sample?: ContentSample
  /** Decoded body bytes, for the totals. */
  readonly bytes?: number
  /** Tokens of the page, for the totals. */
  readonly tokens?: number
  /** What the output is to write; the frontier does not look at it. */
  readonly record?: unknown
}

export interface HostChange {
  /** The host is left alone until then (0: no longer), with the reason in words. */
  readonly blockedUntil?: number
  readonly blockedReason?: string | null
  /** Taken as it is, unless the host was blocked in the meantime: then only the block counts. */
  readonly health?: HostHealth
  /** The address by which the host is paced together with others. */
  readonly address?: string
}

/**
 * Where records go. The home calls `append` once in a `settle`, or once for each partition that it commits to, with exactly
 * the settlements that are accepted and before they are committed; if it throws, nothing of these is committed. The
 * position it returns is committed with them, and handed back by `FrontierStats.output` after a crash, so that the
 * output can be cut back to it.
 */
export interface Output {
  /** What it wrote is on the disk when it returns or, where there is a `sync`, when that has returned. */
  append(accepted: readonly Settlement[]): OutputPosition
  sync?(): void
  /**
   * What so many of the last calls to `append` wrote was not committed after all, and must not be found in the output.
   * Only a home that others share needs it: there a lease may be lost while its record is being written.
   */
  takeBack?(appends: number): void
}

/** The length in bytes of each output file, by its name. */
export type OutputPosition = Readonly<Record<string, number>>

export interface SettleAnswer {
  /** One for each settlement, in order. */
  readonly results: readonly ('settled' | 'stale')[]
}

export interface FrontierStats {
  /** Pages only; the law of conservation holds over these. */
  readonly discovered: number
  readonly queued: number
  readonly leased: number
  readonly done: number
  readonly failed: number
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  /** Pages queued that are held for being deeper than the limit, unless a shorter path turns up. Part of `queued`. */
  readonly held: number
  /** Pages that were done, and are open again for another visit. Part of `queued` and `leased`. */
  readonly refreshing: number
  /** Pages set aside as likely traps. Part of `queued`. */
  readonly aside: number
  /** Tasks in the queues, and requests made, by tier. */
  readonly tiers: Readonly<Record<Tier, { readonly queued: number; readonly requests: number }>>
  /** Fetches of pages that had been fetched before, by what came of them. */
  readonly revisits: Readonly<Record<Exclude<Change, 'new'>, number>>
  /** How often the filter in front of the exact set of URLs said `perhaps` of one that was new. */
  readonly bloomFalsePositives: number
  /** Requests answered or failed, by kind. */
  readonly requests: Readonly<Record<TaskKind, number>>
  /** Sitemaps still to be read. */
  readonly sitemapsQueued: number
  /** Sums over `done` pages. */
  readonly bytes: number
  readonly tokens: number
  /** Requests that started before their pace permitted, as their settlements say. There must never be one. */
  readonly impolite: number
  /** The smallest time to spare that any request had, and where; null before the first that had a pace to keep. */
  readonly closest: { readonly host: HostKey; readonly spareMs: number } | null
  readonly hosts: HostCounts
  /** The committed end of the output; empty before the first record. */
  readonly output: OutputPosition
}

export interface HostCounts {
  /** Ever seen. */
  readonly known: number
  /** With at least one open lease. */
  readonly active: number
  /** With work that is waiting for their turn, for robots.txt or for the end of a block. */
  readonly waiting: number
  /** The few that come next, soonest first, with what they wait for. At most 5. */
  readonly next: readonly { readonly host: HostKey; readonly at: number; readonly reason: string }[]
}

/** What every home needs to know; all of it may differ from one run of a crawl to the next, except `maxDepth`. */
export interface FrontierOptions {
  /** The pace of a host by configuration; robots.txt can only slow it down. Asked often: must be quick. */
  policyOf(host: HostKey): HostPolicy
  /** What is made of a Crawl-delay that a robots.txt asks for: all of it, a part, or nothing. */
  crawlDelayMs(askedMs: number): number
  /**
   * A host with a delay is never asked sooner after its answer than `factor` times its smoothed latency, up to
   * `maxDelayMs`. Factor 0: latency does not matter.
   */
  readonly latency: { readonly factor: number; readonly maxDelayMs: number }
  /**
   * Pace by more than the host: all hosts of one registrable domain, or at one address, are asked one at a time and so
   * long apart, counted from the answer. 0: not at all. A host whose address is not known yet is leased with `address`
   * null; whoever has such a lease finds the address out, gives it with `HostChange.address` and returns the task.
   */
  readonly groups: { readonly domainDelayMs: number; readonly addressDelayMs: number }
  /** No limit when undefined. */
  readonly maxPages: number | undefined
  /** No limit when undefined. Links of pages at this depth are known but held. */
  readonly maxDepth: number | undefined
  /** Pages saved of one host at most; no limit when undefined. Exact like `maxPages`, and counted over all runs. */
  readonly maxPagesPerHost: number | undefined
  /** How long a lease lasts without being extended. */
  readonly leaseMs: number
  /** The share of each tier while all have work that is due; they need not make 1 together. */
  readonly quotas: Readonly<Record<Tier, number>>
  readonly score: ScoreOptions
  readonly recrawl: RecrawlOptions
  /** Whether URLs that look like traps are set aside, by rules and by what was learned of their host. */
  readonly traps: boolean
}
