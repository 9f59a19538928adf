/** Real servers on loopback for tests, and a fetcher that may reach them. All are closed when the test ends. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createSystemClock, type Clock } from '../../base/index.ts'
import type { NormalizedUrl } from '../../model/index.ts'
import { createFetcher, type Fetcher, type FetcherOptions, type FetchOutcome, type FetchRequest } from '../index.ts'
import { TEST_CERTIFICATE, TEST_KEY } from './certificates.ts'

export const asUrl = (text: string): NormalizedUrl => text as NormalizedUrl

/** Resolves with the port. */
async function listen(server: Server | Http2SecureServer, address = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export const serveHttp = (handler: RequestListener): Promise<number> => listen(createHttpServer(handler))

/** On all of 127.0.0.0/8, for names that have several addresses. */
export const serveHttpEverywhere = (handler: RequestListener): Promise<number> =>
  listen(createHttpServer(handler), '0.0.0.0')

/** Hands each connection over once the head of the first request is in. */
export const serveRaw = (handler: (socket: Socket) => void): Promise<number> =>
  listen(createTcpServer((socket) => socket.once('data', () => handler(socket))))

/** Answers each request on each connection with the same bytes, and closes if told to. */
export const serveBytes = (bytes: string | Uint8Array, close = false): Promise<number> =>
  serveRaw((socket) => {
    socket.write(bytes)
    if (close) socket.end()
    else socket.on('data', () => socket.write(bytes))
  })

export const serveConnections = (handler: (socket: Socket) => void): Promise<number> => listen(createTcpServer(handler))

export type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

export function serveHttp2(handler: StreamHandler, options: SecureServerOptions = {}): Promise<number> {
  const server = createSecureServer({ key: TEST_KEY, cert: TEST_CERTIFICATE, ...options })
  server.on('sessionError', () => {})
  // Only HTTP/1.1 comes this way; streams have their own event.
  server.on('request', (request, response) => {
    if (request.httpVersionMajor === 1) response.end('in HTTP/1.1')
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    handler(stream, headers)
  })
  return listen(server)
}

/** One HTTP/2 frame (RFC 9113 §4.1). */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4
/** `:status: 200` in HPACK. */
export const STATUS_200 = Buffer.from([0x88])

/** A header field in HPACK, written out (RFC 7541 §6.2.2). */
export function field(name: string, value: string): Buffer {
  const text = (characters: string): Buffer =>
    Buffer.concat([Buffer.from(prefixed(characters.length)), Buffer.from(characters, 'latin1')])
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

/** A length in a prefix of seven bits (RFC 7541 §5.1). */
function prefixed(length: number): number[] {
  if (length < 127) return [length]
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return [...bytes, rest]
}
const PREFACE_BYTES = 24

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

/** Speaks HTTP/2 frame by frame, for answers that a proper server would not give. */
export function serveFrames(answer: (streamId: number, socket: Socket) => Uint8Array[]): Promise<number> {
  const options = { key: TEST_KEY, cert: TEST_CERTIFICATE, ALPNProtocols: ['h2'] }
  const server = createTlsServer(options, (socket) => {
    let pending = Buffer.alloc(0)
    let skip = PREFACE_BYTES
    socket.on('error', () => {})
    socket.write(frame(FRAME.settings, 0, 0))
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= skip + 9) {
        const length = pending.readUIntBE(skip, 3)
        if (pending.length < skip + 9 + length) return
        const isHeaders = pending[skip + 3] === FRAME.headers
        const streamId = pending.readUInt32BE(skip + 5)
        pending = pending.subarray(skip + 9 + length)
        skip = 0
        if (isHeaders) for (const bytes of answer(streamId, socket)) socket.write(bytes)
      }
    })
  })
  return listen(server)
}

export interface TestFetcher extends Fetcher {
  get(url: string, request?: Omit<FetchRequest, 'url'>, signal?: AbortSignal): Promise<FetchOutcome>
}

export const MEGABYTE = 1024 * 1024

export function testFetcher(options: Partial<FetcherOptions> = {}, clock: Clock = createSystemClock()): TestFetcher {
  const fetcher = createFetcher(
    {
      userAgent: 'TiptoeTest/1.0',
      timeouts: { connectMs: 10_000, readMs: 10_000, totalMs: 15_000 },
      maxBodyBytes: 4 * MEGABYTE,
      maxWireBytes: 4 * MEGABYTE,
      allowAddresses: ['127.0.0.0/8'],
      resolve: [],
      ca: TEST_CERTIFICATE,
      ...options,
    },
    { clock },
  )
  onTestFinished(() => fetcher.close())
  return {
    ...fetcher,
    get stats() {
      return fetcher.stats
    },
    get: (url, request = {}, signal) => fetcher.fetch({ url: asUrl(url), ...request }, signal),
  }
}

export function expectResponse(outcome: FetchOutcome): Extract<FetchOutcome, { kind: 'response' }> {
  if (outcome.kind !== 'response') throw new Error(`expected a response, got ${JSON.stringify(outcome)}`)
  return outcome
}

export function expectError(outcome: FetchOutcome): Extract<FetchOutcome, { kind: 'error' }> {
  if (outcome.kind !== 'error') throw new Error(`expected an error, got ${JSON.stringify(outcome).slice(0, 300)}`)
  return outcome
}

export const textOf = (outcome: FetchOutcome): string => new TextDecoder().decode(expectResponse(outcome).body)

/** A promise and the way to fulfil it, for events that a server sees. */
export const signalled = <T = void>(): PromiseWithResolvers<T> => Promise.withResolvers<T>()
