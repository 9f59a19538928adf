/**
 * What became of a task. Both unions are closed and appear unchanged in the output, the metrics and the command
 * line, so that every URL ever discovered can be explained in the same words everywhere.
 */
import type { NormalizedUrl } from './url.ts'

/** Why a URL was not fetched, or was asked for and led elsewhere. Each is final and recorded in `skipped.jsonl`. */
export const SKIP_REASONS = {
  robots: 'robots.txt of its origin disallows it',
  'robots-unreachable':
    'robots.txt could not be had (server error or no answer), so nothing of its origin may be asked',
  'crawl-delay': 'robots.txt asks for a longer Crawl-delay than max_crawl_delay permits us to wait',
  'host-unavailable': 'the host refused or failed every request for as long as patience allows, and we stopped asking',
  depth: 'deeper than max_depth',
  'host-budget': 'its host has as many pages as max_pages_per_host allows',
  trap: 'it looks like one of endlessly many URLs that say the same',
  gone: 'it was there before, and is gone for good',
  redirect: 'answered with a redirect; the target is a URL of its own',
  'redirect-scope': 'answered with a redirect that leaves the scope',
  'redirect-limit': 'one redirect too many in a row',
  address: 'its host resolves to an address, or its port is one, that may not be dialled',
} as const
export type SkipReason = keyof typeof SKIP_REASONS

/** Why a URL was given up on. Each is final and recorded in `failed.jsonl`. */
export const FAILURES = {
  http: 'the host answered with an error status',
  dns: 'the host name could not be resolved',
  connect: 'no connection could be made',
  tls: 'the secure connection could not be set up',
  timeout: 'no answer in time',
  protocol: 'the answer was not valid HTTP, or broke off',
  encoding: 'the body could not be decoded',
  'too-large': 'larger than max_body_size allows, and nothing of it could be used',
  redirect: 'a redirect without a usable target',
  parse: 'the page could not be processed',
} as const
export type FailureCode = keyof typeof FAILURES

/** How one attempt at a task ended, as the frontier needs to know it. */
export type Outcome =
  /** A page was saved, a sitemap read, a robots.txt answered: final. */
  | { readonly kind: 'done' }
  /** Not fetched, or led elsewhere: final. Gives a reserved page back. */
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  /** Given up on: final. Gives a reserved page back. */
  | { readonly kind: 'failed'; readonly code: FailureCode }
  /** Try again, not before `notBefore` (clock ms). `counts` says whether this was an attempt of the URL's own. */
  | { readonly kind: 'retry'; readonly notBefore: number; readonly counts: boolean }
  /** robots.txt only: ask `url`, on whatever host it is, for the same origin. */
  | { readonly kind: 'moved'; readonly url: NormalizedUrl }
  /** Untouched: back to where it was, as if never leased. */
  | { readonly kind: 'returned' }
