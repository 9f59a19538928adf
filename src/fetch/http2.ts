/**
 * HTTP/2 over one socket, on node:http2. One call is one stream, which is never sent again, be it after GOAWAY or
 * REFUSED_STREAM, and only END_STREAM without an error code completes it.
 */
import type { ClientHttp2Stream } from 'node:http2'
import {
  tlsVersionOf,
  BODILESS,
  KEEP_ALIVE_MS,
  type Connection,
  type ConnectionEvents,
  type PendingRequest,
  type RequestHead,
  type ResponseSink,
} from './connection.ts'
import type { Dialled } from './dial.ts'
import { ClosedEarly, codeOf, RefusedAnswer } from './failure.ts'
import { MAX_HEADER_BYTES, MAX_HEADER_FIELDS, responseHeaders } from './headers.ts'
import { http2 } from './late-modules.ts'
import { http2HeadText } from './wire.ts'

const MAX_STREAMS = 100
/** Beyond this nghttp2 breaks the stream off by itself, and no words are found for it. */
const MAX_FIELDS_READ = 4 * MAX_HEADER_FIELDS
/** Frames about the connection itself, PING and SETTINGS, between two pieces of an answer; more are a flood. */
const MAX_IDLE_CHATTER = 1000
/** What may be under way unread: a page of usual size needs no round trip for more. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 1024 * 1024

export function createHttp2Connection(
  origin: string,
  { socket, address }: Dialled,
  events: ConnectionEvents,
): Connection {
  let load = 0
  let retired = false
  let sessionError: unknown
  const session = http2().connect(origin, {
    createConnection: () => socket,
    peerMaxConcurrentStreams: MAX_STREAMS,
    maxHeaderListPairs: MAX_FIELDS_READ,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
  })
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
  socket.on('error', () => {})
  session.on('error', (error) => (sessionError ??= error))
  session.on('goaway', (code) => {
    retired = true
    if (code !== http2().constants.NGHTTP2_NO_ERROR) sessionError ??= new Farewell(code)
  })
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
  let chatter = 0
  const onChatter = (): void => {
    if (++chatter <= MAX_IDLE_CHATTER) return
    sessionError = new RefusedAnswer('the host floods the connection with PING or SETTINGS frames')
    destroy()
  }
  session.on('ping', onChatter)
  session.on('remoteSettings', onChatter)
  const over = (): void => {
    load--
    if (load > 0) return
    if (retired) destroy()
    else session.unref()
  }

  const tls = tlsVersionOf(socket)
  return {
    address,
    protocol: 'h2',
    keptMs: KEEP_ALIVE_MS,
    usedAt: 0,
    tls,
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
        return NOT_SENT
      }
      load++
      session.ref()
      let listener: ResponseSink | undefined = sink
      listener.onSent()
      listen(stream, {
        sink: () => {
          chatter = 0
          return listener
        },
        sessionError: () => sessionError,
        isGone: () => session.destroyed,
      })
      stream.once('close', () => {
        listener = undefined
        over()
        if (!retired) events.onFree()
      })
      return {
        cancel() {
          if (listener === undefined) return
          listener = undefined
          stream.on('error', () => {})
          stream.close(http2().constants.NGHTTP2_CANCEL)
          stream.destroy()
        },
        pause: () => stream.pause(),
        resume: () => stream.resume(),
      }
    },
    retire() {
      retired = true
      if (load === 0) destroy()
    },
    destroy,
  }
}

const nothing = (): void => {}
const NOT_SENT: PendingRequest = { cancel: nothing, pause: nothing, resume: nothing }

const limitOf = (peerLimit = MAX_STREAMS): number => Math.min(peerLimit, MAX_STREAMS)

const pseudoHeaders = (head: RequestHead): Record<string, string> => ({
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': head.authority,
  ':path': head.path,
  ...head.headers,
  ...head.secretHeaders,
})

interface Listening {
  sink(): ResponseSink | undefined
  sessionError(): unknown
  /** The whole connection is at an end. */
  isGone(): boolean
}

function listen(stream: ClientHttp2Stream, { sink, sessionError, isGone }: Listening): void {
  let answered = false
  let ended = false
  /** Body bytes still to come, where the head says how many there are. */
  let missing = 0
  let failure: unknown

  stream.on('headers', (headers) => {
    sink()?.onAnswer()
    sink()?.onInterim(headers[':status'] ?? 0)
  })
  stream.once('response', (headers, _flags, rawHeaders: readonly string[]) => {
    const status = headers[':status'] ?? 0
    failure = excessOf(rawHeaders)
    if (failure !== undefined) return stream.close(http2().constants.NGHTTP2_ENHANCE_YOUR_CALM)
    answered = true
    if (!BODILESS.has(status)) missing = Number(headers['content-length'] ?? 0)
    sink()?.onAnswer()
    sink()?.onHead({
      status,
      headers: responseHeaders(headers),
      bodyBytes: missing > 0 ? missing : undefined,
      text: () => http2HeadText(status, rawHeaders),
    })
  })
  stream.on('data', (chunk: Uint8Array) => {
    missing -= chunk.length
    sink()?.onData(chunk)
  })
  stream.once('end', () => (ended = true))
  stream.on('error', (error) => (failure ??= error))
  stream.once('close', () => {
    const listener = sink()
    if (listener === undefined) return
    const { rstCode } = stream
    // nghttp2 holds an END_STREAM against Content-Length, but not a reset without an error, which Node shows as an end.
    const isWhole = answered && ended && !(missing > 0)
    if (isWhole && rstCode === http2().constants.NGHTTP2_NO_ERROR && failure === undefined) return listener.onEnd()
    const reset = isGone() ? new ClosedEarly() : new StreamReset(rstCode)
    listener.onFailure(sessionError() ?? beyondReset(failure) ?? reset)
  })
}

/** What node:http2 says of a stream that was reset is less than its code says. */
const beyondReset = (failure: unknown): unknown => (codeOf(failure) === 'ERR_HTTP2_STREAM_ERROR' ? undefined : failure)

function excessOf(rawHeaders: readonly string[]): RefusedAnswer | undefined {
  const bytes = rawHeaders.reduce((sum, text) => sum + text.length, 0)
  if (bytes > MAX_HEADER_BYTES) return new RefusedAnswer('the header fields are too large')
  return rawHeaders.length / 2 > MAX_HEADER_FIELDS ? new RefusedAnswer('there are too many header fields') : undefined
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

const resetName = (code: number): string => RESET_CODES[code] ?? `error ${code}`

class StreamReset extends Error {
  readonly code: string

  constructor(rstCode: number) {
    super('the HTTP/2 stream was reset before the answer was complete')
    this.code = resetName(rstCode)
  }
}

class Farewell extends Error {
  readonly code: string

  constructor(goawayCode: number) {
    super('the host ended the HTTP/2 connection before the answer was complete')
    this.code = resetName(goawayCode)
  }
}
