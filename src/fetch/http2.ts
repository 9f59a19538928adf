/**
 * HTTP/2 over one socket, on node:http2 itself: undici's client on top of it sends a request again after GOAWAY or
 * REFUSED_STREAM, and leaves no hold on reset codes and header limits. Here one call is one stream, and only
 * END_STREAM without an error code completes it.
 */
import { connect, constants, type ClientHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { BODILESS, type Connection, type ConnectionEvents, type RequestHead, type ResponseSink } from './connection.ts'
import { MAX_HEADER_BYTES, type RawHeaders } from './headers.ts'

const MAX_STREAMS = 100
const MAX_HEADER_FIELDS = 256
/** What may be under way unread: a page of usual size needs no round trip for more. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 1024 * 1024

export function createHttp2Connection(
  origin: string,
  socket: Socket,
  address: string,
  events: ConnectionEvents,
): Connection {
  let load = 0
  let retired = false
  let sessionError: unknown
  const session = connect(origin, {
    createConnection: () => socket,
    peerMaxConcurrentStreams: MAX_STREAMS,
    maxHeaderListPairs: MAX_HEADER_FIELDS,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
  })
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
  socket.on('error', () => {})
  session.on('error', (error) => (sessionError = error))
  session.on('goaway', () => (retired = true))
  session.once('close', () => {
    retired = true
    socket.destroy()
    events.onClosed(false)
  })
  const destroy = (): void => {
    retired = true
    session.destroy()
    socket.destroy()
  }
  const over = (): void => {
    load--
    if (load > 0) return
    if (retired) destroy()
    else session.unref()
  }

  return {
    address,
    protocol: 'h2',
    get load() {
      return load
    },
    get free() {
      return (
        !retired &&
        !session.closed &&
        !session.destroyed &&
        load < limitOf(session.remoteSettings?.maxConcurrentStreams)
      )
    },
    send(head, sink) {
      let stream: ClientHttp2Stream
      try {
        stream = session.request(pseudoHeaders(head), { endStream: true })
      } catch (error) {
        // Closed in between: nothing was sent.
        retired = true
        sink.onFailure(error)
        return () => {}
      }
      load++
      session.ref()
      let listener: ResponseSink | undefined = sink
      listener.onSent()
      listen(
        stream,
        () => listener,
        () => sessionError,
      )
      stream.once('close', () => {
        listener = undefined
        over()
        if (!retired) events.onFree()
      })
      return () => {
        if (listener === undefined) return
        listener = undefined
        stream.on('error', () => {})
        stream.close(constants.NGHTTP2_CANCEL)
        stream.destroy()
      }
    },
    retire() {
      retired = true
      if (load === 0) destroy()
    },
    destroy,
  }
}

const limitOf = (peerLimit = MAX_STREAMS): number => Math.min(peerLimit, MAX_STREAMS)

const pseudoHeaders = (head: RequestHead): Record<string, string> => ({
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': head.authority,
  ':path': head.path,
  ...head.headers,
})

function listen(stream: ClientHttp2Stream, sink: () => ResponseSink | undefined, sessionError: () => unknown): void {
  let answered = false
  let ended = false
  /** Body bytes still to come, where the head says how many there are. */
  let missing = 0
  let failure: unknown

  const head = (headers: Record<string, unknown>): void => {
    sink()?.onAnswer()
    sink()?.onHead(Number(headers[':status'] ?? 0), headers as RawHeaders)
  }
  stream.on('headers', head)
  stream.once('response', (headers) => {
    answered = true
    if (!BODILESS.has(headers[':status'] ?? 0)) missing = Number(headers['content-length'] ?? 0)
    head(headers)
  })
  stream.on('data', (chunk: Uint8Array) => {
    missing -= chunk.length
    sink()?.onData(chunk)
  })
  stream.once('end', () => (ended = true))
  stream.on('error', (error) => (failure = error))
  stream.once('close', () => {
    const listener = sink()
    if (listener === undefined) return
    const { rstCode } = stream
    // nghttp2 holds an END_STREAM against Content-Length, but not a reset without an error, which Node shows as an end.
    const isWhole = answered && ended && !(missing > 0)
    if (isWhole && rstCode === constants.NGHTTP2_NO_ERROR && failure === undefined) return listener.onEnd()
    if (rstCode !== constants.NGHTTP2_NO_ERROR) return listener.onFailure(new StreamReset(rstCode))
    listener.onFailure(sessionError() ?? failure ?? new StreamReset(rstCode))
  })
}

/** RFC 9113 §7, by number. */
const RESET_CODES: readonly string[] = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
]

class StreamReset extends Error {
  readonly code: string

  constructor(rstCode: number) {
    super('the HTTP/2 stream was reset before the answer was complete')
    this.code = RESET_CODES[rstCode] ?? `error ${rstCode}`
  }
}
