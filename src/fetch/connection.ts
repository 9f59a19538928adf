/** What both kinds of connection have in common: they take requests and report to a sink. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { RequestHeaders, ResponseHeaders } from './headers.ts'
import type { Protocol } from './outcome.ts'

/** Answers that never have a body: the length and coding that they may tell are those of another answer (RFC 9110 §8.6). */
export const BODILESS: ReadonlySet<number> = new Set([204, 304])

/** How long a connection may stay open unused, unless the host says less. */
export const KEEP_ALIVE_MS = 20_000

export interface RequestHead {
  readonly authority: string
  readonly path: string
  readonly headers: RequestHeaders
  /** Sent after the others, in place of one of the same name, and told to nobody: cookies and what users set for an origin. */
  readonly secretHeaders: RequestHeaders
}

export interface ResponseHead {
  readonly status: number
  readonly headers: ResponseHeaders
  /** How many bytes of body the host says will come; undefined if it does not say. */
  readonly bodyBytes: number | undefined
  /** As HTTP/1.1 writes it; to be asked for, if at all, before the answer is over. */
  text(): string
}

/** Hears of one request, in this order; nothing after `onEnd` or `onFailure`, and nothing once it is cancelled. */
export interface ResponseSink {
  /** From here on the host may have seen the request. */
  onSent(): void
  /** The first byte of an answer, be it an interim one. */
  onAnswer(): void
  /** An answer with a status from 100 to 199 came before the final one; there may be several. */
  onInterim(status: number): void
  onHead(head: ResponseHead): void
  /** Lent for the call: whoever keeps it copies it. */
  onData(chunk: Uint8Array): void
  onEnd(): void
  onFailure(error: unknown): void
}

export interface Connection {
  readonly address: string
  readonly protocol: Protocol
  /** The version of TLS, as TLS itself numbers it: `1.3`; null when there is none. */
  readonly tls: string | null
  /** How many requests are on it. */
  readonly load: number
  /** It can take one more request now. */
  readonly free: boolean
  /** For how long it may be left unused and still be used again. */
  readonly keptMs: number
  /** When a request was last begun or ended on it; written by the pools. */
  usedAt: number
  /** Writes the request before it returns. */
  send(head: RequestHead, sink: ResponseSink): PendingRequest
  /** Takes no more requests, and closes after the last one. */
  retire(): void
  destroy(): void
}

export interface PendingRequest {
  cancel(): void
  /** Holds the body up: soon no more of it comes, and the host has to wait. */
  pause(): void
  resume(): void
}

export interface ConnectionEvents {
  /** A request ended and the connection can take another. */
  onFree(): void
  /** Called once. `byHost`: the other side closed it while nothing was asked on it. */
  onClosed(byHost: boolean): void
}

/** Of a socket on which everything is set up. */
export function tlsVersionOf(socket: Socket | TLSSocket): string | null {
  return 'encrypted' in socket ? (/^TLSv(\d(?:\.\d)?)$/.exec(socket.getProtocol() ?? '')?.[1] ?? null) : null
}
