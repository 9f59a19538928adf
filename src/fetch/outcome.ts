/**
 * What is asked for and what came of it. Whatever the network does is one of these values; `fetch` never rejects.
 * All times are `clock.now()`.
 */
import type { NormalizedUrl, LimitName } from '../model/index.ts'
import type { ResponseHeaders } from './headers.ts'

export interface FetchRequest {
  readonly url: NormalizedUrl
  /** Sent besides, or instead of, the usual ones; for conditional requests. Names in any case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Overrides the fetcher's own cap on the decoded body. */
  readonly maxBodyBytes?: number
  readonly accept?: string
  /** Only this address is asked, spelled as `resolve` spells it. Absent: any permitted address of the host. */
  readonly address?: string
  /** Keep the exchange as it went over the wire, for archives. */
  readonly keepWire?: boolean
  /**
   * Asked at the last moment before the request is written, for each attempt: false, and nothing is written, and the
   * outcome is `aborted`. Nothing is waited for between the asking and the writing.
   */
  readonly mayStart?: () => boolean
  /** Called once, when the first byte of the answer or the failure is there; never for any other outcome. */
  readonly onAnswer?: (at: number) => void
}

export interface FetchResponse {
  readonly kind: 'response'
  /** 200 or above: interim answers are passed over. A redirect is a response like any other. */
  readonly status: number
  readonly headers: ResponseHeaders
  /** Decoded, at most `maxBodyBytes`. */
  readonly body: Uint8Array
  /** Body bytes as they came over the wire, before decoding. */
  readonly wireBytes: number
  /**
   * Lets the memory of the body, and of its wire form, be used for another page: neither may be looked at any more.
   * Nobody has to call it; without it the memory is found again by the collector, which costs more. Absent where there
   * is nothing to be had.
   */
  readonly release?: () => void
  /** The body went on beyond a limit and was cut there. */
  readonly truncated: boolean
  /** Which limits: `body-size`, `wire-size`, `ratio`. None unless it is truncated. */
  readonly limits: readonly LimitName[]
  readonly startedAt: number
  /** The first byte of the answer. */
  readonly answeredAt: number
  readonly endedAt: number
  /** The address that was dialled. */
  readonly address: string
  readonly protocol: Protocol
  /** Present when it was asked for. */
  readonly wire?: WireExchange
}

/** An exchange as it went over the wire. HTTP/2 is written as HTTP/1.1 would have it. */
export interface WireExchange {
  /** Request line and header lines, each ended by CRLF, and the empty line: Latin-1. */
  readonly requestHead: string
  /**
   * Status line and header lines likewise, in the order and case in which they came; without the cookies that it sets,
   * if those are sent back or the origin gets credentials.
   */
  readonly responseHead: string
  /** The body without chunks, but still compressed, as far as it was read. */
  readonly body: Uint8Array
  /** The version of TLS, as TLS itself numbers it: `1.3`; absent when there was none. */
  readonly tls?: string
}

/** The address guard said no, and nothing was sent. */
export interface FetchRefused {
  readonly kind: 'refused'
  readonly detail: string
  readonly address: string | null
}

/** The host is no longer at the address that was asked for, and nothing was sent. */
export interface FetchElsewhere {
  readonly kind: 'elsewhere'
  /** The first permitted address that it has now. */
  readonly address: string
}

export interface FetchError extends Failure {
  readonly kind: 'error'
  readonly startedAt: number
  /** When it failed, or when its first byte arrived, if it got that far. */
  readonly answeredAt: number
  /** The status and header fields, if it failed after those. */
  readonly status?: number
  readonly headers?: ResponseHeaders
}

export type FetchOutcome = FetchResponse | FetchRefused | FetchElsewhere | FetchError | { readonly kind: 'aborted' }

export type Protocol = 'http/1.1' | 'h2'

export type FetchErrorCode = 'dns' | 'connect' | 'tls' | 'timeout' | 'protocol' | 'encoding' | 'too-large'

/** A failure in words, and what follows from it. */
export interface Failure {
  readonly code: FetchErrorCode
  /** For people, with the system's own code where there is one. */
  readonly detail: string
  /** The same request may succeed later. */
  readonly retryable: boolean
  /** This machine itself seems to have no network. */
  readonly offline: boolean
  /** A connection attempt or a request reached the host, so its pace counts from `answeredAt`. */
  readonly sent: boolean
}
