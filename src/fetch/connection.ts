/** What both kinds of connection have in common: they take requests and report to a sink. */
import type { RawHeaders, RequestHeaders } from './headers.ts'
import type { Protocol } from './outcome.ts'

/** Answers that never have a body: the length and coding that they may tell are those of another answer (RFC 9110 §8.6). */
export const BODILESS: ReadonlySet<number> = new Set([204, 304])

export interface RequestHead {
  readonly authority: string
  readonly path: string
  readonly headers: RequestHeaders
}

/** Hears of one request, in this order; nothing after `onEnd` or `onFailure`, and nothing once it is cancelled. */
export interface ResponseSink {
  /** From here on the host may have seen the request. */
  onSent(): void
  /** The first byte of an answer, be it an interim one. */
  onAnswer(): void
  /** May be called several times with a status below 200 before the final one. */
  onHead(status: number, headers: RawHeaders): void
  onData(chunk: Uint8Array): void
  onEnd(): void
  onFailure(error: unknown): void
}

export interface Connection {
  readonly address: string
  readonly protocol: Protocol
  /** How many requests are on it. */
  readonly load: number
  /** It can take one more request now. */
  readonly free: boolean
  /** Returns how to cancel. */
  send(head: RequestHead, sink: ResponseSink): () => void
  /** Takes no more requests, and closes after the last one. */
  retire(): void
  destroy(): void
}

export interface ConnectionEvents {
  /** A request ended and the connection can take another. */
  onFree(): void
  /** Called once. `byHost`: the other side closed it while nothing was asked on it. */
  onClosed(byHost: boolean): void
}
