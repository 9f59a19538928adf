/**
 * Every limit on what a server may cost us, in one table: the reference page is made from it, the modules that keep a
 * limit take its value from here, and a test meets each of them. What is beyond a limit is recorded as cut or refused
 * under the name of the limit, never as if it were whole.
 */

/** What happens beyond a limit. `cut`: what lies beyond is missing, and the record says so. `refused`: nothing is kept. */
export type BeyondLimit = 'cut' | 'refused'

export interface Limit {
  /** The most there may be; for `min-rate` the least. Where an option sets it, its default. */
  readonly value: number
  readonly unit: 'bytes' | 'characters' | 'ms' | 'bytes/s' | 'to 1' | ''
  readonly beyond: BeyondLimit
  /** One sentence without a full stop: what is counted. */
  readonly what: string
  /** The key of the configuration that sets it. */
  readonly option?: string
}

const KB = 1024
const MB = 1024 * KB

export const LIMITS = {
  'body-size': {
    value: 10_000_000,
    unit: 'bytes',
    beyond: 'cut',
    what: 'the body of a page, after decompression',
    option: 'crawler.limits.max_body_size',
  },
  'wire-size': {
    value: 50 * MB,
    unit: 'bytes',
    beyond: 'cut',
    what: 'a body as it comes over the wire; a larger max_body_size raises it',
  },
  ratio: {
    value: 200,
    unit: 'to 1',
    beyond: 'cut',
    what: 'how much larger a body of more than 1 MB may get by decompression; of one beyond it, 1 MB is kept',
  },
  codings: {
    value: 5,
    unit: '',
    beyond: 'refused',
    what: 'content codings on top of each other, in all header fields together',
  },
  windows: {
    value: 16 * MB,
    unit: 'bytes',
    beyond: 'refused',
    what: 'what the br and zstd codings of one body may look back on, in equal shares',
  },
  'header-size': { value: 64 * KB, unit: 'bytes', beyond: 'refused', what: 'the header fields of an answer' },
  'header-count': { value: 256, unit: '', beyond: 'refused', what: 'the header fields of an answer' },
  'interim-answers': { value: 16, unit: '', beyond: 'refused', what: 'answers of status 1xx before the real one' },
  redirects: {
    value: 10,
    unit: '',
    beyond: 'refused',
    what: 'redirects in a row',
    option: 'crawler.limits.max_redirects',
  },
  'total-time': {
    value: 60_000,
    unit: 'ms',
    beyond: 'refused',
    what: 'from the request to the last byte of its answer',
    option: 'crawler.timeouts.total',
  },
  'read-time': {
    value: 30_000,
    unit: 'ms',
    beyond: 'refused',
    what: 'without a byte',
    option: 'crawler.timeouts.read',
  },
  'min-rate': {
    value: 100,
    unit: 'bytes/s',
    beyond: 'refused',
    what: 'the slowest that a body may come, over ten seconds',
    option: 'crawler.timeouts.min_rate',
  },
  links: { value: 20_000, unit: '', beyond: 'cut', what: 'distinct links of a page or a feed' },
  'links-size': {
    value: 4 * MB,
    unit: 'characters',
    beyond: 'cut',
    what: 'the URLs of all links of a page, or of all entries and links of a feed',
  },
  'url-length': { value: 8_192, unit: 'characters', beyond: 'refused', what: 'a URL; a link that is longer is none' },
  nesting: {
    value: 200,
    unit: '',
    beyond: 'cut',
    what: 'elements inside each other; the text of deeper ones is kept without its form',
  },
  tags: { value: 1_000_000, unit: '', beyond: 'cut', what: 'tags of a page that are read for its Markdown' },
  'markdown-size': {
    value: 8 * MB,
    unit: 'characters',
    beyond: 'cut',
    what: 'the Markdown of a page, and no more than 256 Ki and four times its HTML',
  },
  'read-page-time': {
    value: 10_000,
    unit: 'ms',
    beyond: 'refused',
    what: 'reading a page, in a thread of its own; three attempts',
  },
  'read-page-memory': {
    value: 512 * MB,
    unit: 'bytes',
    beyond: 'refused',
    what: 'memory of the thread that reads a page; three attempts',
  },
  'feed-entries': { value: 50_000, unit: '', beyond: 'cut', what: 'entries of one feed' },
  'sitemap-entries': { value: 50_000, unit: '', beyond: 'cut', what: 'entries of one sitemap' },
  'sitemap-size': { value: 50 * MB, unit: 'bytes', beyond: 'cut', what: 'a sitemap, after decompression' },
  'sitemap-nesting': { value: 3, unit: '', beyond: 'refused', what: 'index files above a sitemap' },
  'robots-size': {
    value: 512_000,
    unit: 'bytes',
    beyond: 'cut',
    what: 'a robots.txt (RFC 9309 §2.5 asks for 500 KiB at least)',
  },
  'robots-redirects': { value: 5, unit: '', beyond: 'refused', what: 'redirects of a robots.txt (RFC 9309 §2.3.1.2)' },
  'robots-sitemaps': { value: 200, unit: '', beyond: 'cut', what: 'sitemaps that one robots.txt names' },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
