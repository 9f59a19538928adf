/**
 * Tiptoe for programs: the crawler, and the parts of it that stand alone.
 *
 * Inside, types keep wrong values out; here plain JavaScript may call. So each part takes what can only mean one
 * thing (a `URL` for its text, a missing option), and refuses the rest with a TypeError that names the argument.
 */
import type { Clock } from './base/index.ts'
import {
  createNearDuplicateIndex as createIndex,
  hammingDistance as distanceOf,
  simhash as fingerprintOf,
  type NearDuplicateIndex,
} from './content/index.ts'
import { isPublicAddress as isPublic } from './fetch/index.ts'
import {
  createFrontier as openFrontier,
  isStoreUrl,
  type CreateFrontierOptions,
  type Frontier,
} from './frontier/index.ts'
import {
  TiptoeError,
  type HostKey,
  type NormalizedUrl,
  type Origin,
  type RobotsRecord,
  type UrlKey,
} from './model/index.ts'
import {
  decodeBody as decode,
  extractLinks as linksOf,
  parseSitemap as readSitemap,
  type DecodedBody,
  type Link,
  type SitemapOptions,
  type SitemapReading,
} from './parse/index.ts'
import {
  createHostLimiter as createLimiter,
  createHostRegistry as createRegistry,
  type HostLimiter,
  type HostRegistry as Registry,
  type HostRegistryOptions,
  type RobotsVerdict,
} from './politeness/index.ts'
import { parseRobots as readRobots, type Robots } from './robots/index.ts'
import { hostKey as hostOf, normalizeUrl as normalize, originOf as originFrom, urlKey as keyOf } from './url/index.ts'

export { createCrawler, PAGES_AHEAD } from './crawler.ts'
export type { Crawler, CrawlerOptions, Seeds } from './crawler.ts'
export type { CrawlTotals } from './engine/index.ts'
export type { EndReason } from './engine/index.ts'
export { createSystemClock, createVirtualClock } from './base/index.ts'
export type { Clock, VirtualClock } from './base/index.ts'
export { bestIntervalMs, hintModified, observeChange, planVisit, retireVisit } from './frontier/index.ts'
export { scoreOf, scoreParts } from './frontier/index.ts'
export { FAILURES, SKIP_REASONS, TiptoeError } from './model/index.ts'
export type {
  CrawlEvents,
  ErrorCode,
  FailRecord,
  FailureCode,
  FoundUrl,
  HostHealth,
  HostKey,
  HostPolicy,
  HostRecord,
  ImpoliteRequest,
  NormalizedUrl,
  Origin,
  Outcome,
  Page,
  PageRecord,
  RevisitRecord,
  RobotsDirectives,
  RobotsRecord,
  SkipReason,
  SkipRecord,
  Task,
  TaskKind,
  Tier,
  UrlKey,
  Via,
  Visit,
} from './model/index.ts'
export type { NearDuplicate, NearDuplicateIndex } from './content/index.ts'
export type {
  AddAnswer,
  CreateFrontierOptions,
  Frontier,
  FrontierOptions,
  FrontierStats,
  HostChange,
  HostCounts,
  Lease,
  LeaseAnswer,
  LeaseRef,
  LeaseRequest,
  Output,
  ChangeBelief,
  OutputPosition,
  PlanVisitInput,
  RecrawlInterval,
  RecrawlOptions,
  RecrawlState,
  ScoreInputs,
  ScoreOptions,
  ScoreParts,
  SettleAnswer,
  Settlement,
  VisitRow,
} from './frontier/index.ts'
export type { DecodedBody, Link, LinkSource, SitemapEntry, SitemapOptions, SitemapReading } from './parse/index.ts'
export type { HostLimiter, HostRegistryOptions, RobotsVerdict as HostVerdict } from './politeness/index.ts'
export type { Robots, RobotsVerdict } from './robots/index.ts'

/** What a robots.txt says to a crawler about a URL, by RFC 9309, with the line that decides. */
export function parseRobots(body: string | Uint8Array): Robots {
  const robots = readRobots(textOrBytesOf('body', body))
  return {
    sitemaps: robots.sitemaps,
    crawlDelayMs: (productToken) => robots.crawlDelayMs(textOf('productToken', productToken)),
    check: (productToken, url) => robots.check(textOf('productToken', productToken), urlTextOf('url', url)),
    contentSignals: (productToken, url) =>
      robots.contentSignals(textOf('productToken', productToken), urlTextOf('url', url)),
  }
}

/** The URL that is fetched: absolute, http or https, without a fragment; undefined if there is none in the text. */
export function normalizeUrl(raw: string | URL, base?: string | URL | null): NormalizedUrl | undefined {
  const text = urlTextOf('raw', raw)
  return base === undefined || base === null ? normalize(text) : normalize(text, urlTextOf('base', base))
}

/** What is deduplicated: two URLs have one key exactly if RFC 3986 says that they are the same. */
export function urlKey(url: string | URL): UrlKey {
  return keyOf(urlTextOf('url', url))
}

/** The host that is paced: lower case, without the port. */
export function hostKey(url: string | URL): HostKey {
  return hostOf(webUrlOf('url', url))
}

/** The scheme, host and port that a robots.txt speaks for. */
export function originOf(url: string | URL): Origin {
  return originFrom(webUrlOf('url', url))
}

/** The links of an HTML page in document order, resolved and each once. */
export function extractLinks(html: string | Uint8Array, pageUrl: string | URL): Link[] {
  const page = textOrBytesOf('html', html)
  const base = urlTextOf('pageUrl', pageUrl)
  if (typeof page === 'string') return linksOf(page, base)
  // The query of a link is encoded as its page is.
  const { text, charset } = decode(page, 'text/html')
  return linksOf(text, base, charset)
}

/** The URLs that a sitemap, sitemap index, feed or list names, read as a stream and unpacked where needed. */
export function parseSitemap(
  sitemap: string | Uint8Array | AsyncIterable<Uint8Array>,
  url: string | URL,
  options: SitemapOptions = {},
): SitemapReading {
  const base = urlTextOf('url', url)
  if (typeof sitemap === 'object' && sitemap !== null && Symbol.asyncIterator in sitemap) {
    return readSitemap(sitemap, base, options)
  }
  const whole = textOrBytesOf('sitemap', sitemap)
  if (typeof whole !== 'string') return readSitemap(whole, base, options)
  // Text has been decoded already, whatever the file says of its encoding.
  return readSitemap(new TextEncoder().encode(whole), base, { ...options, contentType: 'text/xml; charset=utf-8' })
}

/** The text of a body as a browser would read it, and the encoding that this took. */
export function decodeBody(bytes: Uint8Array, contentType?: string | null): DecodedBody {
  const type = contentType === undefined || contentType === null ? null : textOf('contentType', contentType)
  return decode(bytesOf('bytes', bytes), type)
}

/** A 64-bit fingerprint of a text that changes little when the text changes little. */
export function simhash(text: string): bigint {
  return fingerprintOf(textOf('text', text))
}

/** The number of bits in which two fingerprints differ. */
export function hammingDistance(a: bigint, b: bigint): number {
  return distanceOf(fingerprint('a', a), fingerprint('b', b))
}

/** Finds the fingerprints within a few bits of another without looking at all of them. */
export function createNearDuplicateIndex(
  options: { distance?: number | undefined; maxEntries?: number | undefined } = {},
): NearDuplicateIndex {
  const { distance = 3, maxEntries } = options
  const index = createIndex({ distance, ...(maxEntries === undefined ? {} : { maxEntries }) })
  return {
    add: (hash, id) => index.add(fingerprint('hash', hash), textOf('id', id)),
    find: (hash, limit) => index.find(fingerprint('hash', hash), limit),
    get size() {
      return index.size
    },
  }
}

/** Lets requests to one host go one after another with a delay between them, and hosts independently of each other. */
export function createHostLimiter(options: { clock?: Clock | undefined } = {}): HostLimiter {
  const { clock } = options
  const limiter = createLimiter(clock === undefined ? {} : { clock })
  return {
    wait: async (host, delayMs, signal) => limiter.wait(textOf('host', host), delayMs, signal),
    sweep: () => limiter.sweep(),
    get size() {
      return limiter.size
    },
  }
}

export interface HostRegistry extends Omit<Registry, 'learn' | 'verdict'> {
  /** The verdict of the URL's origin. Undefined when its robots.txt is not known: nothing may be asked then. */
  verdict(url: NormalizedUrl, robotsVersion?: string | null): Promise<RobotsVerdict | undefined>
  /** Takes in a record that was just fetched. What it need not say: its version, and that it is no stopgap. */
  learn(
    record: Omit<RobotsRecord, 'version' | 'staleSince'> & Partial<Pick<RobotsRecord, 'version' | 'staleSince'>>,
  ): void
}

/** The pace of every host by configuration, and the verdict of its robots.txt on every URL, in bounded memory. */
export function createHostRegistry(
  options: Partial<HostRegistryOptions> & Pick<HostRegistryOptions, 'productToken'>,
): HostRegistry {
  const { defaultPolicy = { delayMs: 1_000, concurrency: 1 }, load = async () => undefined } = optionsOf(options)
  const productToken = textOf('productToken', options.productToken)
  const registry = createRegistry({ ...options, defaultPolicy, load, productToken })
  return {
    policyOf: (host) => registry.policyOf(textOf('host', host) as HostKey),
    verdict: async (url, robotsVersion) => registry.verdict(webUrlOf('url', url), robotsVersion),
    recordOf: async (origin) => registry.recordOf(textOf('origin', origin) as Origin),
    learn: (record) => registry.learn({ version: 'unknown', staleSince: null, ...record }),
  }
}

/** Whether an IP address is reachable from, and meant for, the whole internet; false for what is no address. */
export function isPublicAddress(ip: string): boolean {
  return typeof ip === 'string' && isPublic(ip)
}

/**
 * Every URL of a crawl, every host's turn and every permission to talk to a host: in memory, durable in a folder, or on
 * Redis for many processes at once.
 */
export function createFrontier(options: Partial<CreateFrontierOptions> = {}): Frontier {
  const store = textOf('store', optionsOf(options).store ?? 'memory')
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(store) && !isStoreUrl(store)) {
    throw new TiptoeError('usage', `${store.split(':')[0]}: is not a kind of store that can be opened`, {
      hint: '`memory`, a folder, or an address like redis://host:6379',
    })
  }
  return openFrontier({ ...options, store })
}

function optionsOf<T>(options: T): T {
  if (typeof options === 'object' && options !== null) return options
  throw new TypeError(`options must be an object, not ${kindOf(options)}`)
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a string, not ${kindOf(value)}`)
}

function urlTextOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof URL) return value.href
  throw new TypeError(`${name} must be a string or a URL, not ${kindOf(value)}`)
}

function webUrlOf(name: string, value: unknown): NormalizedUrl {
  const text = urlTextOf(name, value)
  const url = normalize(text)
  if (url !== undefined) return url
  throw new TypeError(`${name} must be an http or https URL, not ${JSON.stringify(text.slice(0, 200))}`)
}

function bytesOf(name: string, value: unknown): Uint8Array {
  const bytes = asBytes(value)
  if (bytes !== undefined) return bytes
  throw new TypeError(`${name} must be a Uint8Array, not ${kindOf(value)}`)
}

function textOrBytesOf(name: string, value: unknown): string | Uint8Array {
  const either = typeof value === 'string' ? value : asBytes(value)
  if (either !== undefined) return either
  throw new TypeError(`${name} must be a string or a Uint8Array, not ${kindOf(value)}`)
}

/** Also a view of another kind or from another realm, which `instanceof` does not know. */
function asBytes(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined
}

function fingerprint(name: string, value: unknown): bigint {
  if (typeof value === 'bigint') return value
  const advice = typeof value === 'string' ? '; a record has it in hex: BigInt(`0x${page.simhash}`)' : ''
  throw new TypeError(`${name} must be a bigint, not ${kindOf(value)}${advice}`)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value
}
