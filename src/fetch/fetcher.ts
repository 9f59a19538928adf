/**
 * The HTTP client of the crawler: one call, one request, one outcome. It follows no redirect, tries nothing again and
 * knows neither pace nor robots.txt; cookies and credentials go to the origin that they belong to. It bounds what an
 * answer may cost in time, bytes and memory, and dials no address that the guard has not permitted.
 */
import type { Clock } from '../base/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import { createAddressGuard } from './address-guard.ts'
import { BodyMemory } from './body-memory.ts'
import { createCredentials } from './credentials.ts'
import { Exchange, type Timeouts } from './exchange.ts'
import { createRequestHeaders } from './headers.ts'
import { createHostOverrides } from './host-overrides.ts'
import { createSharedSecureContext } from './late-modules.ts'
import { createNameCache, type Lookup } from './name-cache.ts'
import type { OriginHeader } from './origin-headers.ts'
import type { FetchOutcome, FetchRequest } from './outcome.ts'
import { createPools } from './pools.ts'
import { targetOf } from './target.ts'

export interface FetcherOptions {
  readonly userAgent: string
  /** Sent only if given. */
  readonly acceptLanguage?: string
  readonly timeouts: Timeouts
  /** Of the decoded body: it is cut there and marked truncated. */
  readonly maxBodyBytes: number
  /** Of the body before decoding: likewise. */
  readonly maxWireBytes: number
  /** A body that comes slower than this, on average over ten seconds, is given up; default 0: any rate will do. */
  readonly minRateBytes?: number
  /** Addresses or ranges (`10.0.0.0/8`) that may be dialled although they are not public. */
  readonly allowAddresses: readonly string[]
  /** `HOST:PORT:ADDR[,ADDR…]`; the addresses are judged by the guard like any other. */
  readonly resolve: readonly string[]
  /** Cookies are kept and sent back, to the origin that set them alone. Default false. */
  readonly cookies?: boolean
  /** Header fields that are sent to one origin, and to no other. */
  readonly headers?: readonly OriginHeader[]
  /**
   * Origins with connections kept open; beyond it the one unused longest is closed. A secure one counts for six, by its
   * memory. Default 12,288: opening a connection anew costs twice as much as a request on one that is open, with TLS ten
   * times as much.
   */
  readonly maxOrigins?: number
  /** Default 8; further requests wait for one to come free. */
  readonly connectionsPerOrigin?: number
  /** Offer HTTP/2 in the TLS handshake. Default true. */
  readonly http2?: boolean
  /** False: any certificate will do. Default true. */
  readonly rejectUnauthorized?: boolean
  /** PEM certificates to trust instead of the usual ones. */
  readonly ca?: string | readonly string[]
  /** Default: the system's resolver. */
  readonly lookup?: Lookup
}

export interface Fetcher {
  /** Never rejects. */
  fetch(request: FetchRequest, signal?: AbortSignal): Promise<FetchOutcome>
  /**
   * The first permitted address of the URL's host, which `fetch` would dial first; undefined when it cannot be found
   * out or none is permitted. One address has one spelling here. Nothing is sent to the host. Never rejects.
   */
  resolve(url: NormalizedUrl): Promise<string | undefined>
  /** Ends what is under way as `aborted` and closes every connection; later calls are `aborted` too. */
  close(): Promise<void>
  readonly stats: { /** Origins with a connection open or being opened. */ readonly openOrigins: number }
}

const DEFAULT_MAX_ORIGINS = 12_288
const DEFAULT_CONNECTIONS_PER_ORIGIN = 8
const ABORTED: FetchOutcome = { kind: 'aborted' }
const UNSPEAKABLE: FetchOutcome = {
  kind: 'refused',
  detail: 'the URL has a character that HTTP cannot carry',
  address: null,
}
const NOT_THE_WEB: FetchOutcome = { kind: 'refused', detail: 'only http and https are spoken', address: null }

/** A line of a request ends where one of these is. A normalised URL has none of them. */
// oxlint-disable-next-line no-control-regex
const NOT_OF_A_URL = /[^\x21-\x7e]/

export function createFetcher(options: FetcherOptions, deps: { readonly clock: Clock }): Fetcher {
  const { clock } = deps
  const headers = createRequestHeaders(options.userAgent, options.acceptLanguage)
  const credentials = createCredentials({ cookies: options.cookies ?? false, headers: options.headers ?? [] }, clock)
  const pools = createPools(
    {
      maxOrigins: options.maxOrigins ?? DEFAULT_MAX_ORIGINS,
      connectionsPerOrigin: options.connectionsPerOrigin ?? DEFAULT_CONNECTIONS_PER_ORIGIN,
      http2: options.http2 ?? true,
      secureContext: createSharedSecureContext(options.ca),
      rejectUnauthorized: options.rejectUnauthorized ?? true,
    },
    {
      clock,
      names: createNameCache(options.lookup, clock),
      overrides: createHostOverrides(options.resolve),
      guard: createAddressGuard(options.allowAddresses),
    },
  )
  const parts = {
    clock,
    pools,
    memory: new BodyMemory(),
    timeouts: options.timeouts,
    minRateBytes: options.minRateBytes ?? 0,
  }
  const active = new Set<Exchange>()
  let closed = false

  return {
    fetch(request, signal) {
      if (closed || signal?.aborted === true) return Promise.resolve(ABORTED)
      const target = targetOf(request.url, request.address)
      if (target === undefined) return Promise.resolve(NOT_THE_WEB)
      if (NOT_OF_A_URL.test(request.url)) return Promise.resolve(UNSPEAKABLE)
      const { maxBodyBytes = options.maxBodyBytes } = request
      return new Promise((resolve) => {
        const exchange = new Exchange(
          {
            target,
            head: {
              authority: target.authority,
              path: target.path,
              headers: headers.for(request.accept, request.headers),
              secretHeaders: credentials.for(target),
            },
            limits: { maxBodyBytes, maxWireBytes: options.maxWireBytes },
            keepWire: request.keepWire ?? false,
            hideCookies: credentials.isTrusted(target),
            mayStart: request.mayStart,
            onAnswer: request.onAnswer,
          },
          parts,
          signal,
          (outcome) => {
            active.delete(exchange)
            credentials.learn(target, outcome)
            resolve(outcome)
          },
        )
        active.add(exchange)
        exchange.start()
      })
    },
    resolve(url) {
      const target = targetOf(url)
      return target === undefined ? Promise.resolve(undefined) : pools.addressOf(target)
    },
    close() {
      closed = true
      for (const exchange of active) exchange.abort()
      pools.close()
      return Promise.resolve()
    },
    stats: {
      get openOrigins() {
        return pools.size
      },
    },
  }
}
