/**
 * HTTP/1.1 over one socket: an undici client that is given the socket and can never dial another. So no request is
 * ever sent twice behind our back, and none reaches an address that was not checked. One request at a time.
 */
import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import { AnswerIntake } from './answer-intake.ts'
import {
  tlsVersionOf,
  type Connection,
  type ConnectionEvents,
  type RequestHead,
  type ResponseSink,
} from './connection.ts'
import { MAX_HEADER_BYTES, type RawHeaders } from './headers.ts'

/** How long a socket may stay open unused, unless the host says less. */
export const KEEP_ALIVE_MS = 20_000

/** Made once: undici would make one for each connection, and the stack in it costs more than closing the socket. */
const GONE = new Error('the connection is closed')
const nothing = (): void => {}

export function createHttp1Connection(
  origin: string,
  socket: Socket,
  address: string,
  events: ConnectionEvents,
): Connection {
  let given = false
  let load = 0
  let retired = false
  const intake = new AnswerIntake(socket)
  const client = new Client(origin, {
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The exchange keeps time, on the clock that is passed in.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(_options, callback) {
      const first = !given
      given = true
      // Called back later: within the call undici would not yet be ready to write.
      queueMicrotask(() => {
        if (first && !socket.destroyed) callback(null, socket)
        else callback(GONE, null)
      })
    },
  })
  const destroy = (): void => {
    retired = true
    if (!client.destroyed) client.destroy(GONE, nothing)
    socket.destroy()
  }
  let closedByHost = false
  const onHostGone = (): void => {
    closedByHost = load === 0 && !retired
  }
  socket.on('error', onHostGone)
  socket.once('end', onHostGone)
  socket.once('close', () => {
    destroy()
    events.onClosed(closedByHost)
  })

  const tls = tlsVersionOf(socket)
  return {
    address,
    protocol: 'http/1.1',
    tls,
    get load() {
      return load
    },
    get free() {
      return load === 0 && !retired && !socket.destroyed
    },
    send(head, sink) {
      load++
      const exchange = new Http1Exchange(sink, socket, intake, () => {
        load--
        intake.rest()
        if (intake.isAmbiguous) retired = true
        if (retired) destroy()
        else events.onFree()
      })
      client.dispatch({ method: 'GET', path: head.path, headers: withHost(head) }, exchange)
      return {
        cancel() {
          if (!exchange.leave()) return
          // The rest of the answer is still to come, so the connection is of no more use.
          destroy()
        },
        pause: () => intake.pause(),
        resume: () => intake.resume(),
      }
    },
    retire() {
      retired = true
      if (load === 0) destroy()
    },
    destroy,
  }
}

const withHost = (head: RequestHead): Record<string, string> => ({
  host: head.authority,
  ...head.headers,
  ...head.secretHeaders,
})

class Http1Exchange implements Dispatcher.DispatchHandler {
  #sink: ResponseSink | undefined
  readonly #socket: Socket
  readonly #intake: AnswerIntake
  readonly #onOver: () => void

  constructor(sink: ResponseSink, socket: Socket, intake: AnswerIntake, onOver: () => void) {
    this.#sink = sink
    this.#socket = socket
    this.#intake = intake
    this.#onOver = onOver
  }

  /** Stops listening; false if it was over already. */
  leave(): boolean {
    if (this.#sink === undefined) return false
    this.#sink = undefined
    return true
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#sink === undefined) return controller.abort(new Error('abandoned'))
    this.#sink.onSent()
    this.#intake.expect({
      onFirstByte: () => this.#sink?.onAnswer(),
      onInterim: (status) => this.#sink?.onInterim(status),
    })
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    this.#sink?.onHead({ status, headers, text: () => this.#intake.headText() })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#intake.countBody(chunk.length)
    this.#sink?.onData(chunk)
  }

  onResponseEnd(): void {
    // Where only the end of the connection ends a body, undici takes a reset for that; but then it is not whole.
    this.#end(this.#socket.errored ?? undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }

  #end(error: Error | undefined): void {
    const sink = this.#sink
    this.#sink = undefined
    this.#onOver()
    if (error === undefined) sink?.onEnd()
    else sink?.onFailure(error)
  }
}
