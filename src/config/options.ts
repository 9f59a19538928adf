/**
 * The one table of options, in the order in which people read them. Flags, environment variables, keys of the
 * configuration file, names of the library, JSON Schema, help and the reference page are all made from it, so an
 * option that is added here exists everywhere. Bounds stand here too: no option accepts a value without a limit.
 */
import { LIMITS } from '../model/index.ts'
import { SCOPE_MODES } from '../url/index.ts'
import {
  addressBlock,
  formats,
  parameterNames,
  pattern,
  resolveRules,
  seed,
  siteRules,
  tierRules,
  userAgent,
} from './crawl-kinds.ts'
import { listenAddress, shortName, storeUrl } from './fleet-kinds.ts'
import { originHeaders } from './header-kind.ts'
import { boolean, choice, decimal, duration, integer, list, percent, size, text, type Kind } from './kinds.ts'
import { kebabCase, variableName } from './names.ts'
import { CRAWL_DELAY_POLICIES, MAX_CONCURRENT_FETCHES, SINKS, type Settings } from './settings.ts'

/** Where a site's owner can read what Tiptoe is; part of the default user agent. */
export const BOT_URL = 'https://tiptoe.example/bot'

export const GROUPS = [
  'Start',
  'Scope',
  'Limits',
  'Pace',
  'Requests',
  'Network',
  'Output',
  'Frontier',
  'Recrawling',
  'Fleet',
] as const
export type Group = (typeof GROUPS)[number]

interface Row<K extends keyof Settings, T> {
  /** Its name for programs; flag and variable are made from it. */
  readonly name: string
  readonly setting: K
  readonly group: Group
  /** Its place in the configuration file. */
  readonly path: string
  readonly kind: Kind<T>
  /** Absent: unset, and an empty value in the file unsets it. A function is given the version of Tiptoe. */
  readonly default?: T | ((version: string) => T)
  /** `true`: a flag of the same name. Text: a flag of that name. Absent: file, variable and library alone. */
  readonly flag?: true | string
  readonly short?: string
  /** Its value has parts of its own: in a variable it is written as YAML. */
  readonly variable?: 'yaml'
  /** The word `none` unsets it. */
  readonly none?: true
  /** It decides which pages a crawl has, so it cannot change when the crawl is resumed. */
  readonly shapes?: true
  /** All workers of a crawl must have the same: it decides how politely, how much and where to they crawl together. */
  readonly shared?: true
  /** It belongs to one process, and is not kept with a crawl that has several. */
  readonly local?: true
  /** It matters to commands that only make a request or two. */
  readonly network?: true
  /** One sentence without a full stop, lower case. */
  readonly help: string
}

type AnyRow = { [K in keyof Settings]-?: Row<K, NonNullable<Settings[K]>> }[keyof Settings]

const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS
const DAY_MS = 24 * HOUR_MS
const MAX_PER_HOST = 100
/** A fleet's file may name many workers; on one machine `concurrentFetches` bounds what they make together. */
const MAX_WORKERS = 1_000_000

/** 24 times the longest average. */
const MAX_LONGEST_MS = 24 * 365 * DAY_MS

const delay = duration(0, DAY_MS)
const timeout = duration(1, HOUR_MS)
const perHost = integer(1, MAX_PER_HOST)
/** Of a score, or how much a part of it counts. */
const fraction = decimal(0, 1)
const interval = duration(SECOND_MS, 365 * DAY_MS)

const TABLE = [
  {
    name: 'seeds',
    setting: 'seeds',
    group: 'Start',
    path: 'seeds',
    kind: list(seed),
    default: [],
    shapes: true,
    local: true,
    help: 'where the crawl starts; on the command line they are the arguments',
  },
  {
    name: 'input',
    setting: 'inputFile',
    group: 'Start',
    path: 'input',
    kind: text('the name of a file, or - for stdin', 'FILE'),
    flag: true,
    short: 'i',
    shapes: true,
    local: true,
    help: 'read more seeds from a file, one per line; - is stdin',
  },
  {
    name: 'out',
    setting: 'outDirectory',
    group: 'Start',
    path: 'output.directory',
    kind: text('the name of a folder', 'DIR'),
    flag: true,
    short: 'o',
    local: true,
    help: "folder for the results and the state of the crawl; tiptoe-HOST after the first seed's host when not given",
  },
  {
    name: 'scope',
    setting: 'scope',
    group: 'Scope',
    path: 'crawler.scope.mode',
    kind: choice(SCOPE_MODES),
    default: 'prefix',
    flag: true,
    shapes: true,
    help: "which links to follow: under the seed's directory, on its host, in its registrable domain, or anywhere",
  },
  {
    name: 'include',
    setting: 'include',
    group: 'Scope',
    path: 'crawler.scope.include',
    kind: list(pattern),
    default: [],
    flag: true,
    shapes: true,
    help: 'only URLs that match one of these patterns',
  },
  {
    name: 'exclude',
    setting: 'exclude',
    group: 'Scope',
    path: 'crawler.scope.exclude',
    kind: list(pattern),
    default: [],
    flag: true,
    shapes: true,
    help: 'no URLs that match one of these patterns',
  },
  {
    name: 'sitemaps',
    setting: 'sitemaps',
    group: 'Scope',
    path: 'crawler.discovery.sitemaps',
    kind: boolean,
    default: true,
    flag: true,
    shapes: true,
    help: 'read the sitemaps of the hosts',
  },
  {
    name: 'followNofollow',
    setting: 'followNofollow',
    group: 'Scope',
    path: 'crawler.discovery.follow_nofollow',
    kind: boolean,
    default: false,
    flag: true,
    shapes: true,
    help: 'follow links marked nofollow too',
  },
  {
    name: 'maxPages',
    setting: 'maxPages',
    group: 'Limits',
    path: 'crawler.limits.max_pages',
    kind: integer(1),
    none: true,
    flag: true,
    shared: true,
    help: 'stop after this many pages, exactly',
  },
  {
    name: 'maxDepth',
    setting: 'maxDepth',
    group: 'Limits',
    path: 'crawler.limits.max_depth',
    kind: integer(0),
    none: true,
    flag: true,
    shapes: true,
    help: 'follow at most this many links from a seed; 0 is the seeds alone',
  },
  {
    name: 'maxTime',
    setting: 'maxTimeMs',
    group: 'Limits',
    path: 'crawler.limits.max_time',
    kind: duration(1, 365 * DAY_MS),
    none: true,
    flag: true,
    help: 'stop after this time',
  },
  {
    name: 'maxBytes',
    setting: 'maxBytes',
    group: 'Limits',
    path: 'crawler.limits.max_bytes',
    kind: size(1),
    none: true,
    flag: true,
    help: 'stop after downloading this much',
  },
  {
    name: 'maxRate',
    setting: 'maxRate',
    group: 'Limits',
    path: 'crawler.limits.max_rate',
    kind: integer(1, 1_000_000),
    none: true,
    flag: true,
    shared: true,
    help: 'start at most this many requests a second, all workers of a store together',
  },
  {
    name: 'maxPagesPerHost',
    setting: 'maxPagesPerHost',
    group: 'Limits',
    path: 'crawler.limits.max_pages_per_host',
    kind: integer(1),
    none: true,
    flag: true,
    shared: true,
    help: 'save at most this many pages of one host, exactly, and skip the rest of it',
  },
  {
    name: 'maxBodySize',
    setting: 'maxBodyBytes',
    group: 'Limits',
    path: 'crawler.limits.max_body_size',
    kind: size(1),
    default: LIMITS['body-size'].value,
    flag: true,
    network: true,
    help: 'keep at most this much of one page, after decompression',
  },
  {
    name: 'maxRedirects',
    setting: 'maxRedirects',
    group: 'Limits',
    path: 'crawler.limits.max_redirects',
    kind: integer(0, 100),
    default: LIMITS.redirects.value,
    flag: true,
    network: true,
    help: 'follow at most this many redirects in a row',
  },
  {
    name: 'drain',
    setting: 'drainMs',
    group: 'Limits',
    path: 'crawler.shutdown.drain',
    kind: duration(0, HOUR_MS),
    default: 5 * SECOND_MS,
    flag: true,
    local: true,
    help: 'on a signal, let what runs end for at most this time',
  },
  {
    name: 'delay',
    setting: 'delayMs',
    group: 'Pace',
    path: 'crawler.rate_limiting.default_delay',
    kind: delay,
    default: SECOND_MS,
    flag: true,
    shared: true,
    help: "wait this long between a host's answer and the next request to it",
  },
  {
    name: 'respectCrawlDelay',
    setting: 'respectCrawlDelay',
    group: 'Pace',
    path: 'crawler.rate_limiting.respect_crawl_delay',
    kind: boolean,
    default: true,
    shared: true,
    help: 'wait longer where robots.txt has a longer Crawl-delay',
  },
  {
    name: 'maxCrawlDelay',
    setting: 'maxCrawlDelayMs',
    group: 'Pace',
    path: 'crawler.rate_limiting.max_crawl_delay',
    kind: delay,
    default: 60 * SECOND_MS,
    flag: true,
    shared: true,
    help: 'the longest Crawl-delay that we wait for',
  },
  {
    name: 'crawlDelayOverMax',
    setting: 'crawlDelayOverMax',
    group: 'Pace',
    path: 'crawler.rate_limiting.crawl_delay_over_max',
    kind: choice(CRAWL_DELAY_POLICIES),
    default: 'skip',
    flag: true,
    shared: true,
    help: 'skip a host that asks for a longer Crawl-delay, or clamp the delay to the longest',
  },
  {
    name: 'perHost',
    setting: 'perHost',
    group: 'Pace',
    path: 'crawler.rate_limiting.max_concurrent_per_host',
    kind: perHost,
    default: 1,
    flag: true,
    shared: true,
    help: 'requests in flight to one host at once',
  },
  {
    name: 'perIpDelay',
    setting: 'perIpDelayMs',
    group: 'Pace',
    path: 'crawler.rate_limiting.per_ip_delay',
    kind: delay,
    default: 0,
    flag: true,
    shared: true,
    help: 'besides, wait this long between requests to one address, whichever hosts are there; 0s: addresses do not matter',
  },
  {
    name: 'perDomainDelay',
    setting: 'perDomainDelayMs',
    group: 'Pace',
    path: 'crawler.rate_limiting.per_domain_delay',
    kind: delay,
    default: 0,
    flag: true,
    shared: true,
    help: 'besides, wait this long between requests to one registrable domain; 0s: domains do not matter',
  },
  {
    name: 'latencyFactor',
    setting: 'latencyFactor',
    group: 'Pace',
    path: 'crawler.rate_limiting.latency_factor',
    kind: decimal(0, 100),
    default: 1,
    shared: true,
    help: 'wait at least this many times as long as a host takes to answer; 0: its latency does not matter',
  },
  {
    name: 'latencyMaxDelay',
    setting: 'latencyMaxDelayMs',
    group: 'Pace',
    path: 'crawler.rate_limiting.latency_max_delay',
    kind: delay,
    default: 30 * SECOND_MS,
    shared: true,
    help: "the longest delay that a host's latency can make",
  },
  {
    name: 'concurrency',
    setting: 'concurrency',
    group: 'Pace',
    path: 'crawler.workers.concurrency_per_worker',
    kind: integer(1, MAX_CONCURRENT_FETCHES),
    default: 20,
    flag: true,
    local: true,
    help: 'fetches at once, over all hosts',
  },
  {
    name: 'workers',
    setting: 'workers',
    group: 'Pace',
    path: 'crawler.workers.count',
    kind: integer(1, MAX_WORKERS),
    default: 1,
    local: true,
    help: `workers; on one machine their fetches at once add up, to ${MAX_CONCURRENT_FETCHES} at most`,
  },
  {
    name: 'threads',
    setting: 'threads',
    group: 'Pace',
    path: 'crawler.workers.threads',
    kind: integer(0, 64),
    flag: true,
    local: true,
    help: 'threads that work on the crawl at most, as many as the machine runs at once unless told; 0: one, and a page can take it down',
  },
  {
    name: 'sites',
    setting: 'sites',
    group: 'Pace',
    path: 'sites',
    kind: siteRules({ delay, concurrency: perHost }),
    default: [],
    variable: 'yaml',
    shared: true,
    help: 'another delay or concurrency for some hosts or URL patterns; the first match wins',
  },
  {
    name: 'userAgent',
    setting: 'userAgent',
    group: 'Requests',
    path: 'crawler.user_agent',
    kind: userAgent,
    default: (version: string) => `Tiptoe/${version} (+${BOT_URL})`,
    flag: true,
    short: 'U',
    network: true,
    shared: true,
    help: 'who we say we are; robots.txt is read for the name it begins with',
  },
  {
    name: 'cookies',
    setting: 'cookies',
    group: 'Requests',
    path: 'crawler.cookies',
    kind: boolean,
    default: false,
    flag: true,
    help: 'keep cookies and send them back, to the origin that set them alone',
  },
  {
    name: 'headers',
    setting: 'headers',
    group: 'Requests',
    path: 'crawler.headers',
    kind: originHeaders,
    default: [],
    flag: 'header',
    variable: 'yaml',
    network: true,
    help: 'send this header field to this origin alone; $NAME in the value is read from the environment, a value given in full is not kept with the crawl',
  },
  {
    name: 'ignoreRobotsBecause',
    setting: 'ignoreRobotsBecause',
    group: 'Requests',
    path: 'crawler.robots.ignore_because',
    kind: text('a reason, which is recorded', 'REASON'),
    flag: 'no-robots',
    shapes: true,
    help: 'do not ask for robots.txt; the reason is recorded',
  },
  {
    name: 'robotsMaxAge',
    setting: 'robotsMaxAgeMs',
    group: 'Requests',
    path: 'crawler.robots.max_age',
    kind: duration(SECOND_MS, DAY_MS),
    default: DAY_MS,
    flag: true,
    shared: true,
    help: 'ask for robots.txt again when our copy is this old',
  },
  {
    name: 'connectTimeout',
    setting: 'connectTimeoutMs',
    group: 'Requests',
    path: 'crawler.timeouts.connection',
    kind: timeout,
    default: 10 * SECOND_MS,
    flag: true,
    network: true,
    help: 'give up when there is no connection after this time',
  },
  {
    name: 'readTimeout',
    setting: 'readTimeoutMs',
    group: 'Requests',
    path: 'crawler.timeouts.read',
    kind: timeout,
    default: LIMITS['read-time'].value,
    flag: true,
    network: true,
    help: 'give up when nothing arrives for this time',
  },
  {
    name: 'timeout',
    setting: 'timeoutMs',
    group: 'Requests',
    path: 'crawler.timeouts.total',
    kind: timeout,
    default: LIMITS['total-time'].value,
    flag: true,
    network: true,
    help: 'give up when a request is not complete after this time',
  },
  {
    name: 'minRate',
    setting: 'minRateBytes',
    group: 'Requests',
    path: 'crawler.timeouts.min_rate',
    kind: size(0),
    default: LIMITS['min-rate'].value,
    network: true,
    help: 'give up on a body that comes with fewer bytes a second than this over ten seconds; 0: never',
  },
  {
    name: 'attempts',
    setting: 'attempts',
    group: 'Requests',
    path: 'crawler.retries.max_attempts',
    kind: integer(1, 20),
    default: 3,
    flag: true,
    help: 'try a URL this many times in all',
  },
  {
    name: 'retryDelay',
    setting: 'retryDelayMs',
    group: 'Requests',
    path: 'crawler.retries.base_delay',
    kind: delay,
    default: SECOND_MS,
    help: 'wait this long before the second attempt',
  },
  {
    name: 'backoffMultiplier',
    setting: 'backoffMultiplier',
    group: 'Requests',
    path: 'crawler.retries.backoff_multiplier',
    kind: decimal(1, 10),
    default: 2,
    help: 'each further wait is this many times longer',
  },
  {
    name: 'patience',
    setting: 'patienceMs',
    group: 'Requests',
    path: 'crawler.retries.patience',
    kind: duration(0, 365 * DAY_MS),
    default: 30 * 60 * SECOND_MS,
    none: true,
    flag: true,
    help: 'skip the rest of a host that has refused or failed every request for this time; none: never',
  },
  {
    name: 'resolve',
    setting: 'resolve',
    group: 'Network',
    path: 'crawler.network.resolve',
    kind: resolveRules,
    default: [],
    flag: true,
    network: true,
    help: 'dial this address for this host and port, as in curl; the port may be one that is not for the web',
  },
  {
    name: 'allowAddress',
    setting: 'allowAddresses',
    group: 'Network',
    path: 'crawler.network.allow_addresses',
    kind: list(addressBlock),
    default: [],
    flag: true,
    network: true,
    help: 'private or loopback addresses that may be dialled all the same',
  },
  {
    name: 'format',
    setting: 'formats',
    group: 'Output',
    path: 'output.formats',
    kind: formats,
    default: ['jsonl', 'markdown'],
    flag: true,
    help: 'what to write, separated by commas: jsonl, markdown, html, warc',
  },
  {
    name: 'sink',
    setting: 'sink',
    group: 'Output',
    path: 'output.sink',
    kind: choice(SINKS),
    default: 'files',
    flag: true,
    shared: true,
    help: 'where records go: into the files of the output folder, or into a stream of the Redis store',
  },
  {
    name: 'content',
    setting: 'content',
    group: 'Output',
    path: 'output.content',
    kind: boolean,
    default: true,
    flag: true,
    help: 'read what pages say; without it records have links and what a page says of itself, but no Markdown, headings, tokens or fingerprints',
  },
  {
    name: 'recordLinks',
    setting: 'recordLinks',
    group: 'Output',
    path: 'output.record_links',
    kind: boolean,
    default: false,
    flag: true,
    help: 'list the links of every page in its record',
  },
  {
    name: 'archiveSize',
    setting: 'archiveBytes',
    group: 'Output',
    path: 'output.archive_size',
    kind: size(100_000),
    default: 1024 ** 3,
    flag: true,
    help: 'begin another WARC file when one is this large',
  },
  {
    name: 'failOn',
    setting: 'failOnPercent',
    group: 'Output',
    path: 'output.fail_on',
    kind: percent(0),
    default: 50,
    flag: true,
    help: 'exit 1 when more than this share of the URLs tried could not be had',
  },
  {
    name: 'highPriorityQuota',
    setting: 'highPriorityQuotaPercent',
    group: 'Frontier',
    path: 'crawler.frontier.high_priority_quota',
    kind: percent(0),
    default: 40,
    help: 'share of the fetches for tier high while all tiers have work; the three make 100%',
  },
  {
    name: 'mediumPriorityQuota',
    setting: 'mediumPriorityQuotaPercent',
    group: 'Frontier',
    path: 'crawler.frontier.medium_priority_quota',
    kind: percent(0),
    default: 40,
    help: 'the same for tier medium',
  },
  {
    name: 'lowPriorityQuota',
    setting: 'lowPriorityQuotaPercent',
    group: 'Frontier',
    path: 'crawler.frontier.low_priority_quota',
    kind: percent(0),
    default: 20,
    help: 'the same for tier low',
  },
  {
    name: 'tiers',
    setting: 'tiers',
    group: 'Frontier',
    path: 'crawler.tiers',
    kind: tierRules,
    default: [],
    variable: 'yaml',
    help: 'the tier of the URLs that match a pattern; the first match wins, and other URLs have the tier of their host by its score',
  },
  {
    name: 'scoreImportance',
    setting: 'scoreImportance',
    group: 'Frontier',
    path: 'crawler.frontier.score.importance',
    kind: fraction,
    default: 0.4,
    help: 'how much the importance of a host and the links to a page count in its score, against the other three parts',
  },
  {
    name: 'scoreChange',
    setting: 'scoreChange',
    group: 'Frontier',
    path: 'crawler.frontier.score.change',
    kind: fraction,
    default: 0.3,
    help: 'how much it counts how often pages of the host change',
  },
  {
    name: 'scoreAge',
    setting: 'scoreAge',
    group: 'Frontier',
    path: 'crawler.frontier.score.age',
    kind: fraction,
    default: 0.2,
    help: 'how much it counts how long a URL has waited',
  },
  {
    name: 'scoreDepth',
    setting: 'scoreDepth',
    group: 'Frontier',
    path: 'crawler.frontier.score.depth',
    kind: fraction,
    default: 0.1,
    help: 'how much it counts how few links away from a seed it is',
  },
  {
    name: 'scoreAgeHorizon',
    setting: 'scoreAgeHorizonMs',
    group: 'Frontier',
    path: 'crawler.frontier.score.age_horizon',
    kind: duration(DAY_MS, 365 * DAY_MS),
    default: 7 * DAY_MS,
    help: 'a URL that has waited this long has the full score for its age',
  },
  {
    name: 'highScore',
    setting: 'highScore',
    group: 'Frontier',
    path: 'crawler.frontier.score.high_score',
    kind: fraction,
    default: 0.6,
    help: 'a host of at least this score is of tier high',
  },
  {
    name: 'lowScore',
    setting: 'lowScore',
    group: 'Frontier',
    path: 'crawler.frontier.score.low_score',
    kind: fraction,
    default: 0.3,
    help: 'a host below this score is of tier low',
  },
  {
    name: 'traps',
    setting: 'traps',
    group: 'Frontier',
    path: 'crawler.traps.enabled',
    kind: boolean,
    default: true,
    flag: true,
    help: 'set URLs aside that look like traps: one of endlessly many that say the same',
  },
  {
    name: 'bloomFilterSize',
    setting: 'bloomFilterSize',
    group: 'Frontier',
    path: 'crawler.deduplication.bloom_filter_size',
    kind: integer(1, 10_000_000_000),
    default: 100_000_000,
    help: 'URLs that the filter in front of the store of known URLs is sized for',
  },
  {
    name: 'falsePositiveRate',
    setting: 'falsePositiveRate',
    group: 'Frontier',
    path: 'crawler.deduplication.false_positive_rate',
    kind: decimal(0, 1, true),
    default: 0.01,
    help: 'how often that filter may send us to the store in vain; no URL is ever lost to it',
  },
  {
    name: 'stripParameters',
    setting: 'stripParameters',
    group: 'Frontier',
    path: 'crawler.deduplication.strip_parameters',
    kind: parameterNames,
    default: [],
    flag: true,
    shapes: true,
    help: 'take query parameters of these names out of every URL; utm_* has a wildcard, tracking stands for the well-known ones',
  },
  {
    name: 'skipDuplicates',
    setting: 'skipDuplicates',
    group: 'Frontier',
    path: 'crawler.deduplication.skip_duplicates',
    kind: boolean,
    default: false,
    flag: true,
    help: 'do not follow the links of pages that repeat another one',
  },
  {
    name: 'nearDuplicates',
    setting: 'nearDuplicates',
    group: 'Frontier',
    path: 'crawler.deduplication.near_duplicates',
    kind: integer(0, 100_000_000),
    default: 4_000_000,
    help: 'fingerprints of texts kept to find near-duplicates by, some 48 bytes of memory each; 0: none are looked for',
  },
  {
    name: 'recrawl',
    setting: 'recrawl',
    group: 'Recrawling',
    path: 'recrawl.enabled',
    kind: boolean,
    default: false,
    flag: true,
    shared: true,
    help: 'go on until stopped, and fetch pages again when they are due',
  },
  {
    name: 'recrawlHigh',
    setting: 'recrawlHighMs',
    group: 'Recrawling',
    path: 'recrawl.high',
    kind: interval,
    default: HOUR_MS,
    help: 'from one visit of a page to the next, on average over the pages of tier high; those that change more come more often',
  },
  {
    name: 'recrawlMedium',
    setting: 'recrawlMediumMs',
    group: 'Recrawling',
    path: 'recrawl.medium',
    kind: interval,
    default: DAY_MS,
    help: 'the same over the pages of tier medium',
  },
  {
    name: 'recrawlLow',
    setting: 'recrawlLowMs',
    group: 'Recrawling',
    path: 'recrawl.low',
    kind: interval,
    default: 7 * DAY_MS,
    help: 'the same over the pages of tier low',
  },
  {
    name: 'recrawlShortest',
    setting: 'recrawlShortestMs',
    group: 'Recrawling',
    path: 'recrawl.shortest',
    kind: interval,
    none: true,
    help: "the least time between two visits of one page, of whichever tier; when not given, a 24th of its tier's average, and a minute at least",
  },
  {
    name: 'recrawlLongest',
    setting: 'recrawlLongestMs',
    group: 'Recrawling',
    path: 'recrawl.longest',
    kind: duration(SECOND_MS, MAX_LONGEST_MS),
    none: true,
    help: "the most time between two visits of one page, where its host's pace permits; when not given, 24 times its tier's average",
  },
  {
    name: 'recrawlHostShare',
    setting: 'recrawlHostSharePercent',
    group: 'Recrawling',
    path: 'recrawl.host_share',
    kind: percent(1),
    default: 50,
    help: "the part of a host's pace that visits of known pages may take; the rest is for new ones",
  },
  {
    name: 'store',
    setting: 'store',
    group: 'Fleet',
    path: 'store.url',
    kind: storeUrl,
    flag: true,
    local: true,
    help: 'keep the crawl on this Redis or Valkey, for any number of workers; its password is read from TIPTOE_STORE_PASSWORD',
  },
  {
    name: 'crawl',
    setting: 'crawlName',
    group: 'Fleet',
    path: 'store.crawl',
    kind: shortName,
    flag: true,
    local: true,
    help: 'the name of the crawl on the store; every store may have many',
  },
  {
    name: 'partitions',
    setting: 'partitions',
    group: 'Fleet',
    path: 'store.partitions',
    kind: integer(1, 1_024),
    default: 16,
    flag: true,
    shared: true,
    help: 'parts of the crawl on the store, spread over its servers; a crawl keeps the number that it began with, and is in one part where hosts are paced by domain or address',
  },
  {
    name: 'leaseTime',
    setting: 'leaseTimeMs',
    group: 'Fleet',
    path: 'store.lease_time',
    kind: duration(5 * SECOND_MS, HOUR_MS),
    default: 30 * SECOND_MS,
    flag: true,
    shared: true,
    help: 'how long the hosts of a worker that is lost are left alone; half the request timeout at least',
  },
  {
    name: 'storeCa',
    setting: 'storeCaFile',
    group: 'Fleet',
    path: 'store.tls_ca',
    kind: text('the name of a file', 'FILE'),
    flag: true,
    local: true,
    help: "certificates (PEM) that the store's own is checked against, instead of those of the system",
  },
  {
    name: 'workerId',
    setting: 'workerId',
    group: 'Fleet',
    path: 'worker.id',
    kind: shortName,
    flag: true,
    local: true,
    help: 'the name of this worker or coordinator, unlike any other; one is made up and kept in the folder when not given',
  },
  {
    name: 'health',
    setting: 'healthAddress',
    group: 'Fleet',
    path: 'health.listen',
    kind: listenAddress,
    flag: true,
    local: true,
    help: 'answer GET /healthz and /readyz at this address',
  },
] as const satisfies readonly AnyRow[]

type TableRow = (typeof TABLE)[number]
export type OptionName = TableRow['name']

/** A row for code that treats all rows alike. */
export type Option = Row<keyof Settings, unknown> & { readonly name: OptionName }

/** The annotation fails to compile when a setting has no row. */
export const OPTIONS: keyof Settings extends TableRow['setting'] ? readonly Option[] : never = TABLE

export function defaultOf(option: Option, version: string): unknown {
  return typeof option.default === 'function'
    ? (option.default as (version: string) => unknown)(version)
    : option.default
}

/** The long flag without its dashes, in the form that changes the default: a switch that is on is turned off. */
export function flagOf(option: Option): string | undefined {
  if (option.flag === undefined) return undefined
  if (option.flag !== true) return option.flag
  return option.default === true ? `no-${kebabCase(option.name)}` : kebabCase(option.name)
}

export function variableOf(option: Option): string {
  return variableName(option.name)
}

/** What the option is called in a message to someone at a terminal. */
export function labelOf(option: Option): string {
  const flag = flagOf(option)
  return flag === undefined ? option.path : `--${flag}`
}

/** The keys of the configuration file as a tree: inner nodes are sections, leaves are options. */
export type Section = Map<string, Section | Option>

export function sections(): Section {
  const root: Section = new Map()
  for (const option of OPTIONS) {
    const names = option.path.split('.')
    let section = root
    for (const name of names.slice(0, -1)) {
      const inner = section.get(name)
      if (inner instanceof Map) section = inner
      else {
        const created: Section = new Map()
        section.set(name, created)
        section = created
      }
    }
    section.set(names.at(-1) ?? '', option)
  }
  return root
}
