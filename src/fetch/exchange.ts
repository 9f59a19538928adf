/**
 * One call, from the look-up of the name to the last decoded byte: it owns the deadlines, hears the caller's signal,
 * and settles exactly once. Every path out closes what it opened.
 */
import type { Clock } from '../base/index.ts'
import { LIMITS, type Whole } from '../model/index.ts'
import type { BodyMemory } from './body-memory.ts'
import { createBody, type Body, type BodyLimits, type BodyResult } from './body.ts'
import { codingsOf, NO_CODINGS } from './coding.ts'
import {
  BODILESS,
  type Connection,
  type PendingRequest,
  type RequestHead,
  type ResponseHead,
  type ResponseSink,
} from './connection.ts'
import type { Flow } from './decoder-chain.ts'
import { answerFailure, codeOf, encodingFailure, protocolFailure, timeoutFailure } from './failure.ts'
import { responseHeaders, type ResponseHeaders } from './headers.ts'
import type { Failure, FetchOutcome, FetchResponse, Protocol, WireExchange } from './outcome.ts'
import type { Acquired, Pools } from './pools.ts'
import type { Target } from './target.ts'
import { requestHeadText, withoutCookies } from './wire.ts'

export interface Timeouts {
  /** For the name, the connection and the handshake together. */
  readonly connectMs: number
  /** The longest silence: up to the head of the answer, and between two pieces of its body. */
  readonly readMs: number
  readonly totalMs: number
}

export interface ExchangeParts {
  readonly clock: Clock
  readonly pools: Pools
  readonly memory: BodyMemory
  readonly timeouts: Timeouts
  /** A body that comes slower than this, on average over some time, is given up; 0: any rate will do. */
  readonly minRateBytes: number
}

export interface ExchangeRequest {
  readonly target: Target
  readonly head: RequestHead
  readonly limits: BodyLimits
  readonly keepWire: boolean
  /** What is kept of the wire is without the cookies that the answer sets. */
  readonly hideCookies: boolean
  readonly mayStart: (() => boolean) | undefined
  readonly onAnswer: ((at: number) => void) | undefined
}

/** Interim answers (RFC 9110 §15.2) before the final one; more is a flood. */
const MAX_INTERIM_ANSWERS = LIMITS['interim-answers'].value
/** The time over which the rate of a body is averaged: long enough for a lost packet or two. */
const RATE_WINDOW_MS = 10_000

/** Failures after which a host is asked in HTTP/1.1 the next time: it takes HTTP/2 back, or gets it wrong. */
const NO_HTTP2: ReadonlySet<string> = new Set([
  'HTTP_1_1_REQUIRED',
  'INADEQUATE_SECURITY',
  'PROTOCOL_ERROR',
  'ERR_HTTP2_ERROR',
])

type Phase = 'connect' | 'head' | 'body'

const SILENCE: Readonly<Record<Phase, string>> = {
  connect: 'no connection',
  head: 'no answer',
  body: 'no more of the body',
}

export class Exchange implements ResponseSink {
  readonly #request: ExchangeRequest
  readonly #parts: ExchangeParts
  readonly #resolve: (outcome: FetchOutcome) => void
  readonly #signal: AbortSignal | undefined
  readonly #startedAt: number

  #settled = false
  #phase: Phase = 'connect'
  /** When the present silence began. */
  #quietSince: number
  #timerAt = Infinity
  #cancelTimer: () => void = nothing
  /** Ends whatever is under way: the dialling, the waiting or the request. */
  #cancel: () => void = nothing
  #pending: PendingRequest | undefined

  #connection: Connection | undefined
  #fresh = false
  #unusedMs = 0
  #dialled = false
  #sent = false
  #answeredAt: number | undefined
  #interimAnswers = 0
  #status: number | undefined
  #headers: ResponseHeaders | undefined
  #responseHead = ''
  #body: Body | undefined
  #transferred = false
  /** The body bytes that came since then. */
  #windowSince = 0
  #windowBytes = 0

  constructor(
    request: ExchangeRequest,
    parts: ExchangeParts,
    signal: AbortSignal | undefined,
    resolve: (outcome: FetchOutcome) => void,
  ) {
    this.#request = request
    this.#parts = parts
    this.#signal = signal
    this.#resolve = resolve
    this.#startedAt = parts.clock.now()
    this.#quietSince = this.#startedAt
  }

  start(): void {
    this.#signal?.addEventListener('abort', this.abort, { once: true })
    this.#acquire(false)
  }

  readonly abort = (): void => this.#settle({ kind: 'aborted' })

  onSent(): void {
    this.#sent = true
  }

  onAnswer(): void {
    this.#answer()
  }

  onInterim(status: number): void {
    this.#answer()
    if (++this.#interimAnswers <= MAX_INTERIM_ANSWERS) return
    this.#fail(
      protocolFailure(`more than ${MAX_INTERIM_ANSWERS} interim answers, the last with status ${status}`, false),
    )
  }

  onHead(head: ResponseHead): void {
    this.#answer()
    if (this.#settled) return
    const { status } = head
    if (status < 200) return this.#fail(protocolFailure(`the status ${status} means nothing`, false))
    this.#status = status
    this.#headers = head.headers
    const { limits, keepWire, hideCookies } = this.#request
    if (keepWire) this.#responseHead = hideCookies ? withoutCookies(head.text()) : head.text()
    const codings = BODILESS.has(status) ? NO_CODINGS : codingsOf(this.#headers)
    if (codings.kind === 'unknown') return this.#fail(encodingFailure(codings.detail, false))
    this.#body = createBody(
      codings.codings,
      limits,
      keepWire,
      this.#parts.memory,
      head.bodyBytes,
      this.#flow,
      this.#onBody,
    )
    this.#windowSince = this.#parts.clock.now()
    this.#enter('body')
  }

  onData(chunk: Uint8Array): void {
    this.#quietSince = this.#parts.clock.now()
    this.#windowBytes += chunk.length
    this.#body?.push(chunk)
  }

  onEnd(): void {
    this.#transferred = true
    if (this.#body === undefined) return this.#fail(protocolFailure('the answer ended before its head', true))
    this.#body.end()
  }

  onFailure(error: unknown): void {
    if (this.#settled) return
    // The host closed a kept connection before anything was written to it: this request has not been made yet.
    if (!this.#sent && !this.#fresh) return this.#acquire(true)
    if (this.#connection?.protocol === 'h2' && NO_HTTP2.has(codeOf(error))) {
      this.#parts.pools.avoidHttp2(this.#request.target.origin)
    }
    // Perhaps closed just then for not being used. The host may have seen the request, so it counts as made.
    if (this.#answeredAt === undefined) this.#parts.pools.keepShorter(this.#request.target.origin, this.#unusedMs)
    this.#fail(answerFailure(error))
  }

  #acquire(needFresh: boolean): void {
    this.#phase = 'connect'
    this.#cancel = nothing
    let acquired = false
    const cancel = this.#parts.pools.acquire(this.#request.target, needFresh, this.#onDial, (result) => {
      acquired = true
      this.#onAcquired(result)
    })
    if (acquired || this.#settled) return
    this.#cancel = cancel
    this.#enter('connect')
  }

  readonly #onDial = (): void => {
    this.#dialled = true
  }

  #onAcquired(result: Acquired): void {
    if (this.#settled) return
    if (result.kind === 'failure') return this.#fail(result.failure)
    if (result.kind !== 'connection') return this.#settle(result)
    this.#pending = undefined
    this.#connection = result.connection
    this.#fresh = result.fresh
    this.#unusedMs = result.unusedMs
    this.#cancel = nothing
    this.#enter('head')
    // It may have waited for its connection. From here to the writing it does not wait any more.
    if (this.#request.mayStart?.() === false) return this.abort()
    const pending = result.connection.send(this.#request.head, this)
    // A connection may fail at once, and then another may already have been asked for.
    if (this.#settled) return pending.cancel()
    if (this.#connection !== result.connection || this.#phase === 'connect') return
    this.#pending = pending
    this.#cancel = () => pending.cancel()
  }

  /** Lets a decoder hold the transfer up; the host is not to blame for the time that takes. */
  readonly #flow: Flow = {
    pause: () => this.#pending?.pause(),
    resume: () => {
      this.#quietSince = this.#parts.clock.now()
      this.#pending?.resume()
    },
  }

  readonly #onBody = (result: BodyResult): void => {
    if (result.kind === 'failure') return this.#fail(result.failure)
    const endedAt = this.#parts.clock.now()
    const protocol = this.#connection?.protocol ?? 'http/1.1'
    const response: Whole<FetchResponse> = {
      kind: 'response',
      status: this.#status ?? 0,
      headers: this.#headers ?? responseHeaders({}),
      body: result.bytes,
      wireBytes: this.#body?.wireBytes ?? 0,
      release: result.block === undefined ? undefined : releaseOnce(this.#parts.memory, result.block),
      truncated: result.limits.length > 0,
      limits: result.limits,
      startedAt: this.#startedAt,
      answeredAt: this.#answeredAt ?? endedAt,
      endedAt,
      address: this.#connection?.address ?? '',
      protocol,
      wire: this.#request.keepWire ? this.#wire(protocol, result.wire) : undefined,
    }
    this.#settle(response as FetchResponse)
  }

  #wire(protocol: Protocol, body: Uint8Array): WireExchange {
    const tls = this.#connection?.tls
    return {
      requestHead: requestHeadText(this.#request.head, protocol),
      responseHead: this.#responseHead,
      body,
      ...(tls == null ? {} : { tls }),
    }
  }

  #answer(): void {
    this.#quietSince = this.#parts.clock.now()
    if (this.#answeredAt !== undefined || this.#settled) return
    this.#answeredAt = this.#quietSince
    this.#request.onAnswer?.(this.#answeredAt)
  }

  #fail(failure: Failure): void {
    if (this.#settled) return
    this.#answer()
    this.#settle({
      kind: 'error',
      ...failure,
      startedAt: this.#startedAt,
      answeredAt: this.#answeredAt ?? this.#startedAt,
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.#headers === undefined ? {} : { headers: this.#headers }),
    })
  }

  #settle(outcome: FetchOutcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#signal?.removeEventListener('abort', this.abort)
    this.#cancelTimer()
    if (!this.#transferred) this.#cancel()
    if (outcome.kind !== 'response') this.#body?.destroy()
    this.#resolve(outcome)
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    if (phase !== 'connect') this.#quietSince = this.#parts.clock.now()
    if (this.#deadline() < this.#timerAt) this.#arm()
  }

  #deadline(): number {
    const { connectMs, readMs, totalMs } = this.#parts.timeouts
    const end = this.#startedAt + totalMs
    // What is left is ours to do.
    if (this.#transferred) return end
    const silence = this.#phase === 'connect' ? connectMs : readMs
    return Math.min(end, this.#quietSince + silence, this.#windowEnd())
  }

  #windowEnd(): number {
    const isMeasured = this.#phase === 'body' && this.#parts.minRateBytes > 0
    return isMeasured ? this.#windowSince + RATE_WINDOW_MS : Infinity
  }

  /** One timer serves all deadlines: it is set for the nearest, and when it fires early, set again. */
  #arm(): void {
    this.#cancelTimer()
    this.#timerAt = this.#deadline()
    const left = Math.max(Math.ceil(this.#timerAt - this.#parts.clock.now()), 0)
    this.#cancelTimer = this.#parts.clock.timer(left, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    if (this.#settled) return
    const { clock, timeouts, minRateBytes } = this.#parts
    const now = clock.now()
    if (now < this.#deadline()) return this.#arm()
    const isOverdue = now >= this.#startedAt + timeouts.totalMs
    const silence = this.#phase === 'connect' ? timeouts.connectMs : timeouts.readMs
    const isSilent = now >= this.#quietSince + silence
    if (!isOverdue && !isSilent && this.#windowBytes * 1000 >= minRateBytes * RATE_WINDOW_MS) {
      this.#windowSince = now
      this.#windowBytes = 0
      return this.#arm()
    }
    const sent = this.#phase === 'connect' ? this.#dialled : true
    // A connection that has fallen silent is not to be trusted with the next request.
    this.#connection?.retire()
    if (isOverdue) return this.#fail(timeoutFailure(`not done after ${timeouts.totalMs} ms`, sent))
    if (isSilent) return this.#fail(timeoutFailure(`${SILENCE[this.#phase]} after ${silence} ms`, sent))
    const seconds = RATE_WINDOW_MS / 1000
    this.#fail(timeoutFailure(`fewer than ${minRateBytes} bytes a second for ${seconds} s`, sent))
  }
}

function releaseOnce(memory: BodyMemory, block: Buffer): () => void {
  let isReleased = false
  return () => {
    if (!isReleased) memory.give(block)
    isReleased = true
  }
}

const nothing = (): void => {}
