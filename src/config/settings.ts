/**
 * The resolved configuration: plain data with camelCase names and units in them, complete and validated. Only this
 * module makes a `Settings`; everyone else reads it. What a person may write to get there is in `options.ts`.
 */
import type { Tier } from '../model/index.ts'
import type { ScopeMode } from '../url/index.ts'

export const FORMATS = ['jsonl', 'markdown', 'html', 'warc'] as const
export type Format = (typeof FORMATS)[number]

/** What to do with a host whose Crawl-delay is longer than `maxCrawlDelayMs`. */
export const CRAWL_DELAY_POLICIES = ['skip', 'clamp'] as const
export type CrawlDelayPolicy = (typeof CRAWL_DELAY_POLICIES)[number]

/** Where records go. */
export const SINKS = ['files', 'redis-stream'] as const
export type SinkName = (typeof SINKS)[number]

/** Dial `address` whenever `host` and `port` are asked for, as in curl. */
export interface ResolveRule {
  /** Lower case, without brackets. */
  readonly host: string
  readonly port: number
  /** An IPv4 or IPv6 address, without brackets. */
  readonly address: string
}

/** A header field for one origin. The value is a secret: it is shown nowhere and kept nowhere. */
export interface OriginHeader {
  /** `https://example.com`, as `URL.origin` spells it. */
  readonly origin: string
  /** Lower case. */
  readonly name: string
  /** The value itself, or `$NAME` for the environment variable that holds it. */
  readonly value: string
}

export interface TierRule {
  readonly match: string
  readonly tier: Tier
}

/** What differs for the hosts or URLs that `match` names; the first rule that matches wins. */
export interface SiteRule {
  readonly match: string
  readonly delayMs?: number
  readonly concurrency?: number
}

export interface Settings {
  /** As typed: a scheme may be missing. */
  readonly seeds: readonly string[]
  /** A file with one seed per line; `-` is stdin. */
  readonly inputFile?: string
  /** Absent: the command line chooses a folder by the first seed. */
  readonly outDirectory?: string

  readonly scope: ScopeMode
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly sitemaps: boolean
  readonly followNofollow: boolean

  /** An absent limit does not limit. */
  readonly maxPages?: number
  /** 0: the seeds alone. */
  readonly maxDepth?: number
  readonly maxTimeMs?: number
  readonly maxBytes?: number
  /** Requests that all workers of a store start in a second. */
  readonly maxRate?: number
  /** Pages saved of one host, over all runs. */
  readonly maxPagesPerHost?: number
  readonly maxBodyBytes: number
  readonly maxRedirects: number
  /** How long a stopping crawl lets what runs end; 0: not at all. */
  readonly drainMs: number

  readonly delayMs: number
  readonly respectCrawlDelay: boolean
  readonly maxCrawlDelayMs: number
  readonly crawlDelayOverMax: CrawlDelayPolicy
  readonly perHost: number
  /** Between requests to one address, whichever hosts are there; 0: addresses are not paced. */
  readonly perIpDelayMs: number
  /** Between requests to one registrable domain; 0: domains are not paced. */
  readonly perDomainDelayMs: number
  /** A host is asked no sooner after its answer than this many times its latency; 0: latency does not matter. */
  readonly latencyFactor: number
  /** The longest delay that a host's latency can make. */
  readonly latencyMaxDelayMs: number
  /** How long a host may refuse or fail every request before its URLs are skipped; absent: for ever. */
  readonly patienceMs?: number
  /** How long a robots.txt is used before it is asked for again; a day at most (RFC 9309 §2.4). */
  readonly robotsMaxAgeMs: number
  /** See `concurrentFetches` for what the next two make together. */
  readonly concurrency: number
  readonly workers: number

  readonly userAgent: string
  /** Cookies are kept and sent back, to the origin that set them alone. */
  readonly cookies: boolean
  /** Header fields that are sent to one origin, and to no other. */
  readonly headers: readonly OriginHeader[]
  /** Present: robots.txt is not asked for, and this is why. */
  readonly ignoreRobotsBecause?: string
  readonly connectTimeoutMs: number
  readonly readTimeoutMs: number
  readonly timeoutMs: number
  readonly attempts: number
  readonly retryDelayMs: number
  readonly backoffMultiplier: number
  /** A body that comes slower than this, on average over some time, is given up; 0: any rate will do. */
  readonly minRateBytes: number
  readonly resolve: readonly ResolveRule[]
  readonly allowAddresses: readonly string[]

  readonly formats: readonly Format[]
  readonly sink: SinkName
  readonly recordLinks: boolean
  /** What pages say is read; without it there is no Markdown, no fingerprint and nothing that traps are learned from. */
  readonly content: boolean
  /** A WARC file is ended, and another begun, when it is this large. */
  readonly archiveBytes: number
  /** Exit 1 when more than this share of the URLs tried could not be had. */
  readonly failOnPercent: number

  readonly highPriorityQuotaPercent: number
  readonly mediumPriorityQuotaPercent: number
  readonly lowPriorityQuotaPercent: number
  readonly tiers: readonly TierRule[]
  /** How much each part of a score counts, seen against the others: see `scoreOptionsOf`. */
  readonly scoreImportance: number
  readonly scoreChange: number
  readonly scoreAge: number
  readonly scoreDepth: number
  /** A URL that has waited so long has the full score for its age. */
  readonly scoreAgeHorizonMs: number
  /** A host of at least the first score is of tier high, one below the second of tier low. */
  readonly highScore: number
  readonly lowScore: number
  readonly traps: boolean
  readonly bloomFilterSize: number
  readonly falsePositiveRate: number
  /** Names of query parameters that are taken out of every URL; `*` stands for any characters. */
  readonly stripParameters: readonly string[]
  /** Links of pages that repeat another one are not followed. */
  readonly skipDuplicates: boolean
  /** Fingerprints kept to find near-duplicates by; 0: none are looked for. */
  readonly nearDuplicates: number
  /**
   * Threads that work at most, that of the frontier among them. Absent: as many as the machine runs at once. 0: that one
   * alone, without a bound on a page's time and memory.
   */
  readonly threads?: number

  /** The crawl goes on, and fetches its pages again when they are due. */
  readonly recrawl: boolean
  /** How often the pages of a tier are fetched again on average: see `recrawlOptionsOf`. */
  readonly recrawlHighMs: number
  readonly recrawlMediumMs: number
  readonly recrawlLowMs: number
  /** The least and most time between two visits of one page; absent: by the average of its tier. */
  readonly recrawlShortestMs?: number
  readonly recrawlLongestMs?: number
  /** The part of a host's pace that visits of known pages may take. */
  readonly recrawlHostSharePercent: number
  readonly sites: readonly SiteRule[]

  /** The address of a store on servers, perhaps with a password; absent: the crawl is kept in its folder. */
  readonly store?: string
  readonly crawlName?: string
  readonly partitions: number
  /** See `leaseTimeInForce`. */
  readonly leaseTimeMs: number
  readonly storeCaFile?: string
  readonly workerId?: string
  /** Where a process says how it is; absent: nowhere. */
  readonly healthAddress?: string
}

/** No machine fetches more pages than this at once: each may hold a socket and a body of `maxBodyBytes`. */
export const MAX_CONCURRENT_FETCHES = 1000

/** How many fetches run at once on this machine: all its workers together, within what one machine can carry. */
export function concurrentFetches(settings: Pick<Settings, 'workers' | 'concurrency'>): number {
  return Math.min(settings.workers * settings.concurrency, MAX_CONCURRENT_FETCHES)
}

/** How long a lease lasts on a store: a lease is extended ten times at most, at half its time, for one long request. */
export function leaseTimeInForce({ leaseTimeMs, timeoutMs }: Pick<Settings, 'leaseTimeMs' | 'timeoutMs'>): number {
  return Math.max(leaseTimeMs, timeoutMs / 2)
}

/** Hosts that are paced together cannot be kept apart. */
export function partitionsInForce(
  settings: Pick<Settings, 'partitions' | 'perIpDelayMs' | 'perDomainDelayMs'>,
): number {
  return settings.perIpDelayMs + settings.perDomainDelayMs > 0 ? 1 : settings.partitions
}

/** What is made of a Crawl-delay that a robots.txt asks for. One that is too long altogether is for `crawlDelayOverMax`. */
export function crawlDelayInForce(
  askedMs: number,
  settings: Pick<Settings, 'respectCrawlDelay' | 'maxCrawlDelayMs'>,
): number {
  return settings.respectCrawlDelay ? Math.min(askedMs, settings.maxCrawlDelayMs) : 0
}
