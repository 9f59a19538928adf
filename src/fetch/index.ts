/** Asking hosts for pages: one request, one outcome, within stated limits, to permitted addresses only. */
export { createFetcher, type Fetcher, type FetcherOptions } from './fetcher.ts'
export type { Timeouts as FetchTimeouts } from './exchange.ts'
export type { Lookup, ResolvedAddress } from './name-cache.ts'
export type { ResponseHeaders } from './headers.ts'
export type {
  FetchElsewhere,
  FetchError,
  FetchErrorCode,
  FetchOutcome,
  FetchRefused,
  FetchRequest,
  FetchResponse,
  Protocol,
  WireExchange,
} from './outcome.ts'
export { isPublicAddress } from './address.ts'
export { createAddressGuard, type AddressGuard } from './address-guard.ts'
export { MAX_ORIGIN_HEADERS, originHeaderProblem, type OriginHeader } from './origin-headers.ts'
