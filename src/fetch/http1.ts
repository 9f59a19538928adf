/**
 * HTTP/1.1 over one socket, one request at a time. Nothing is ever sent twice, and nothing is sent to another address
 * than the one that was checked: a connection that fails is at its end.
 */
import type { Socket } from 'node:net'
import type { AnswerHead } from './answer-head.ts'
import { AnswerReader, type AnswerListener } from './answer-reader.ts'
import {
  KEEP_ALIVE_MS,
  tlsVersionOf,
  type Connection,
  type ConnectionEvents,
  type PendingRequest,
  type RequestHead,
  type ResponseSink,
} from './connection.ts'
import type { Dialled } from './dial.ts'
import { ClosedEarly, RefusedAnswer } from './failure.ts'
import { requestText } from './wire.ts'

/** A host that says how long it keeps a connection closes it about then: it is left alone so much sooner. */
const CLOSING_MARGIN_MS = 2_000
const BARE_LINE_END = /(?<!\r)\n/

export const createHttp1Connection = (_origin: string, dialled: Dialled, events: ConnectionEvents): Connection =>
  new Http1Connection(dialled, events)

class Http1Connection implements Connection, PendingRequest, AnswerListener {
  readonly address: string
  readonly protocol = 'http/1.1'
  readonly tls: string | null
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  readonly #reader = new AnswerReader(this)
  #sink: ResponseSink | undefined
  #isRetired = false
  #isPaused = false
  #isClosedByHost = false
  keptMs = KEEP_ALIVE_MS
  usedAt = 0

  constructor({ socket, address, receive }: Dialled, events: ConnectionEvents) {
    this.address = address
    this.tls = tlsVersionOf(socket)
    this.#socket = socket
    this.#events = events
    receive((bytes) => {
      // What nobody asked for must not pass for the answer to the next request.
      if (!this.#reader.push(bytes)) this.destroy()
    })
    socket.on('error', (error) => this.#onHostGone(error))
    socket.once('end', () => this.#onHostGone())
    socket.once('close', () => {
      this.#onHostGone()
      this.#events.onClosed(this.#isClosedByHost)
    })
  }

  get load(): number {
    return this.#sink === undefined ? 0 : 1
  }

  get free(): boolean {
    return this.#sink === undefined && !this.#isRetired && !this.#socket.destroyed
  }

  send(head: RequestHead, sink: ResponseSink): PendingRequest {
    this.#sink = sink
    this.#reader.expect()
    this.#socket.ref()
    sink.onSent()
    this.#socket.write(requestText(head), 'latin1')
    return this
  }

  retire(): void {
    this.#isRetired = true
    if (this.#sink === undefined) this.destroy()
  }

  destroy(): void {
    this.#isRetired = true
    this.#reader.stop()
    this.#socket.destroy()
  }

  /** The rest of the answer is still to come, so the connection is of no more use. */
  cancel(): void {
    if (this.#sink === undefined) return
    this.#sink = undefined
    this.destroy()
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  onFirstByte(): void {
    this.#sink?.onAnswer()
  }

  onInterim(status: number): void {
    this.#sink?.onInterim(status)
  }

  onHead(head: AnswerHead): void {
    if (head.keptMs !== undefined) this.keptMs = Math.min(KEEP_ALIVE_MS, head.keptMs - CLOSING_MARGIN_MS)
    this.#sink?.onHead({
      status: head.status,
      headers: head.headers,
      bodyBytes: typeof head.body === 'number' ? head.body : undefined,
      text: () => (BARE_LINE_END.test(head.raw) ? head.raw.replaceAll(/\r?\n/g, '\r\n') : head.raw),
    })
  }

  onData(part: Buffer): void {
    this.#sink?.onData(part)
  }

  onEnd(isReusable: boolean): void {
    const sink = this.#sink
    this.#sink = undefined
    this.resume()
    if (!isReusable || this.keptMs <= 0) this.#isRetired = true
    if (this.#isRetired) this.destroy()
    else {
      this.#socket.unref()
      this.#events.onFree()
    }
    sink?.onEnd()
  }

  onRefused(words: string): void {
    this.#fail(new RefusedAnswer(words))
  }

  #onHostGone(error?: Error): void {
    if (this.#sink === undefined) {
      this.#isClosedByHost ||= !this.#isRetired
      this.destroy()
    } else if (error !== undefined || !this.#reader.close()) this.#fail(error ?? new ClosedEarly())
  }

  #fail(error: Error): void {
    const sink = this.#sink
    this.#sink = undefined
    this.destroy()
    sink?.onFailure(error)
  }
}
