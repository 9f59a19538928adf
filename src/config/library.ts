/** Options for programs: the names of the table, values as text or as the data that they stand for. */
import { TiptoeError } from '../model/index.ts'
import type { ScopeMode } from '../url/index.ts'
import { spell } from './config-file.ts'
import type { Layer } from './layer.ts'
import { nearest } from './names.ts'
import { OPTIONS, type OptionName } from './options.ts'
import { resolveLayers } from './resolve.ts'
import type { CrawlDelayPolicy, Format, OriginHeader, Settings, SinkName, TierRule } from './settings.ts'

/** Milliseconds, or text with a unit such as `'200ms'` or `'1s'`. */
export type Duration = number | string
/** Bytes, or text with a unit such as `'10MB'`. */
export type Size = number | string

/** From 0 to 1, or text such as `'40%'`. */
export type Share = number | string

/** Every option is optional; the defaults are those of the command line. */
export interface CrawlerOptions {
  /** Where the crawl starts; `run` takes seeds as well. */
  seeds?: readonly string[]
  /** A file with one seed per line. */
  input?: string
  /** Folder for the results and the state of the crawl. */
  out?: string
  /** Which links to follow: `prefix` is under the seed's directory. Default `prefix`. */
  scope?: ScopeMode
  /** Only URLs that match one of these patterns. */
  include?: readonly string[]
  /** No URLs that match one of these patterns. */
  exclude?: readonly string[]
  /** Read the sitemaps of the hosts. Default true. */
  sitemaps?: boolean
  /** Follow links marked nofollow too. Default false. */
  followNofollow?: boolean
  /** Stop after this many pages, exactly. */
  maxPages?: number
  /** Follow at most this many links from a seed; 0 is the seeds alone. */
  maxDepth?: number
  /** Stop after this time. */
  maxTime?: Duration
  /** Stop after downloading this much. */
  maxBytes?: Size
  /** Start at most this many requests a second, all workers of a store together. */
  maxRate?: number
  /** Save at most this many pages of one host. */
  maxPagesPerHost?: number
  /** Keep at most this much of one page, after decompression. Default 10 MB. */
  maxBodySize?: Size
  /** Follow at most this many redirects in a row. Default 10. */
  maxRedirects?: number
  /** How long a stopping crawl lets what runs end. Default 5 s. */
  drain?: Duration
  /** Between a host's answer and the next request to it. Default 1 s. */
  delay?: Duration
  /** Wait longer where robots.txt has a longer Crawl-delay. Default true. */
  respectCrawlDelay?: boolean
  /** The longest Crawl-delay that we wait for. Default 60 s. */
  maxCrawlDelay?: Duration
  /** Skip a host that asks for a longer one, or clamp it. Default `skip`. */
  crawlDelayOverMax?: CrawlDelayPolicy
  /** Requests in flight to one host at once. Default 1. */
  perHost?: number
  /** Besides, between requests to one address, whichever hosts are there. Default 0: addresses do not matter. */
  perIpDelay?: Duration
  /** Besides, between requests to one registrable domain. Default 0: domains do not matter. */
  perDomainDelay?: Duration
  /** Wait at least this many times as long as a host takes to answer. Default 1; 0: its latency does not matter. */
  latencyFactor?: number
  /** The longest delay that a host's latency can make. Default 30 s. */
  latencyMaxDelay?: Duration
  /** Fetches at once, over all hosts. Default 20. */
  concurrency?: number
  /** Default 1. */
  workers?: number
  /**
   * Threads that work on the crawl at most. Default: as many as the machine runs at once. 1: all is done in the thread that
   * asks for it. 0: that too, and a page can take it down.
   */
  threads?: number
  /** Another delay or concurrency for some hosts or URL patterns; the first match wins. */
  sites?: Readonly<Record<string, { delay?: Duration; concurrency?: number }>>
  /** Who we say we are; it begins with the product token that robots.txt is read for. */
  userAgent?: string
  /** Keep cookies and send them back, to the origin that set them alone. Default false. */
  cookies?: boolean
  /** Header fields for one origin alone, or text such as `'https://example.com Authorization: Bearer $TOKEN'`. */
  headers?: readonly (OriginHeader | string)[]
  /** Do not ask for robots.txt, for this reason, which is recorded. */
  ignoreRobotsBecause?: string
  /** Ask for robots.txt again when our copy is this old. Default and maximum 24 h. */
  robotsMaxAge?: Duration
  /** Default 10 s. */
  connectTimeout?: Duration
  /** Default 30 s. */
  readTimeout?: Duration
  /** For a whole request. Default 60 s. */
  timeout?: Duration
  /** Give up on a body with fewer bytes a second than this over ten seconds. Default 100; 0: never. */
  minRate?: Size
  /** Tries of one URL in all. Default 3. */
  attempts?: number
  /** Before the second attempt. Default 1 s. */
  retryDelay?: Duration
  /** Each further wait is this many times longer. Default 2. */
  backoffMultiplier?: number
  /** Skip the rest of a host that has refused or failed every request for this time. Default 30 min; `'none'`: never. */
  patience?: Duration
  /** `HOST:PORT:ADDRESS`, as in curl. */
  resolve?: readonly string[]
  /** Private or loopback addresses, or blocks of them, that may be dialled all the same. */
  allowAddress?: readonly string[]
  /** What to write into the output folder. Default `jsonl` and `markdown`. */
  format?: readonly Format[]
  /** Where records go: into files, or into a stream of the Redis store. Default `files`. */
  sink?: SinkName
  /** List the links of every page in its record. Default false. */
  recordLinks?: boolean
  /** Read what pages say. Without it records have no headings, tokens or fingerprints, and there is no Markdown. Default true. */
  content?: boolean
  /** Begin another WARC file when one is this large. Default 1 GiB. */
  archiveSize?: Size
  /** The share of failures above which the crawl counts as failed. Default 50 %. */
  failOn?: Share
  /** Share of the fetches by tier while all have work; the three make 100 %. */
  highPriorityQuota?: Share
  mediumPriorityQuota?: Share
  lowPriorityQuota?: Share
  /** The tier of the URLs that match a pattern; the first match wins. */
  tiers?: readonly TierRule[]
  /** How much each part of a score counts, seen against the others. Defaults 0.4, 0.3, 0.2 and 0.1. */
  scoreImportance?: number
  scoreChange?: number
  scoreAge?: number
  scoreDepth?: number
  /** A URL that has waited this long has the full score for its age. Default 7 days. */
  scoreAgeHorizon?: Duration
  /** A host of at least this score is of tier high. Default 0.6. */
  highScore?: number
  /** A host below this score is of tier low. Default 0.3. */
  lowScore?: number
  /** Set URLs aside that look like traps. Default true. */
  traps?: boolean
  /** URLs that the filter in front of the store of known URLs is sized for. */
  bloomFilterSize?: number
  /** Between 0 and 1. */
  falsePositiveRate?: number
  /** Query parameters to take out of every URL: names with `*` for any characters, or `tracking`. Default none. */
  stripParameters?: readonly string[]
  /** Do not follow the links of pages that repeat another one. Default false. */
  skipDuplicates?: boolean
  /** Fingerprints of texts kept to find near-duplicates by. Default 4,000,000; 0: none are looked for. */
  nearDuplicates?: number
  /** Go on until stopped, and fetch pages again when they are due. Default false. */
  recrawl?: boolean
  /** From one visit of a page to the next, on average over the pages of a tier. Defaults 1 hour, 1 day and 7 days. */
  recrawlHigh?: Duration
  recrawlMedium?: Duration
  recrawlLow?: Duration
  /** The least time between two visits of one page. Default: a 24th of its tier's average, and a minute at least. */
  recrawlShortest?: Duration
  /** The most time between two visits of one page. Default: 24 times its tier's average. */
  recrawlLongest?: Duration
  /** The part of a host's pace that visits of known pages may take. Default 50 %. */
  recrawlHostShare?: Share
  /** The address of a Redis or Valkey that the crawl is kept on, for any number of workers. */
  store?: string
  /** The name of the crawl on that store. */
  crawl?: string
  /** Parts of the crawl on the store. Default 16. */
  partitions?: number
  /** How long the hosts of a worker that is lost are left alone. Default 30 s. */
  leaseTime?: Duration
  /** A file with the certificates (PEM) that the store's own is checked against. */
  storeCa?: string
  /** The name of this worker, unlike any other. */
  workerId?: string
  /** Where a worker of the command line says how it is; of no use to a program. */
  health?: string
}

/** Validated as on the command line; a fault is a usage error that names the option. */
export function settingsFromLibrary(options: CrawlerOptions, version: string): Settings {
  const names: readonly string[] = OPTIONS.map(({ name }) => name)
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const guess = nearest(name, names)
    const hint = guess === undefined ? {} : { hint: `did you mean ${guess}?` }
    throw new TiptoeError('usage', `unknown option ${name}`, hint)
  }
  const layer: Layer = {
    // The mapped type fails to compile when the interface above and the table part ways.
    values: options satisfies { readonly [K in OptionName]?: CrawlerOptions[K] },
    durationUnit: 'ms',
    source: (option) => `option ${option.name}`,
    place: (option, at) => spell([option.name, ...at]),
  }
  return resolveLayers([layer], version).settings
}
