/**
 * From a list of permitted addresses to one open socket: TCP to whichever answers first (RFC 8305 with staggered
 * starts), then TLS with ALPN. It dials exactly the addresses it is given and resolves nothing itself.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import type { Clock } from '../base/index.ts'
import { connectFailure, isOutOfFiles, tlsFailure, type FailedAttempt } from './failure.ts'
import { tls } from './late-modules.ts'
import type { Failure, Protocol } from './outcome.ts'
import type { Target } from './target.ts'

export interface DialSettings {
  secureContext(): SecureContext
  readonly rejectUnauthorized: boolean
}

export interface Dialled {
  readonly kind: 'socket'
  readonly socket: Socket | TLSSocket
  readonly address: string
  readonly protocol: Protocol
  /** Says who gets the bytes that come, lent for the call; to be called at once. HTTP/2 takes the socket itself. */
  receive(listener: (bytes: Buffer) => void): void
}

export interface DialFailed {
  readonly kind: 'failure'
  readonly failure: Failure
  /** It failed because too many files are open on this machine. */
  readonly outOfFiles: boolean
}

export type DialResult = Dialled | DialFailed

/** RFC 8305 §5: the "Connection Attempt Delay". */
const NEXT_ATTEMPT_MS = 250
/** A name with many addresses is given up on after this many. */
const MAX_ATTEMPTS = 6
/**
 * What comes on plain sockets is read into one buffer for all of them, and is dealt with before the next read: so a
 * kept connection holds none. Wide enough that a page of usual size is read at once.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)

/** Calls `done` once, unless cancelled. Returns how to cancel, which closes everything. */
export function dial(
  target: Target,
  addresses: readonly string[],
  offerHttp2: boolean,
  settings: DialSettings,
  clock: Clock,
  done: (result: DialResult) => void,
): () => void {
  let cancelTls = (): void => {}
  const cancelTcp = raceTcp(addresses, target.port, !target.secure, clock, (result) => {
    if (result.kind === 'failed') {
      const outOfFiles = result.attempts.some(({ error }) => isOutOfFiles(error))
      return done({ kind: 'failure', failure: connectFailure(result.attempts), outOfFiles })
    }
    const { socket, address, receive } = result
    if (!target.secure) return done({ kind: 'socket', socket, address, protocol: 'http/1.1', receive })
    cancelTls = shakeHands(socket, address, target.hostname, offerHttp2, settings, done)
  })
  return () => {
    cancelTcp()
    cancelTls()
  }
}

type TcpResult =
  | ({ readonly kind: 'open'; readonly address: string } & OpenSocket)
  | { readonly kind: 'failed'; readonly attempts: readonly FailedAttempt[] }

interface OpenSocket {
  readonly socket: Socket
  readonly receive: Dialled['receive']
}

/** `isPlain`: no TLS will be put upon it. */
function openSocket(address: string, port: number, isPlain: boolean): OpenSocket {
  let listener = (_bytes: Buffer): void => {}
  const callback = (size: number): boolean => {
    listener(READ_BUFFER.subarray(0, size))
    return true
  }
  const socket = connectTcp({
    host: address,
    port,
    lookup: neverLookUp,
    noDelay: true,
    keepAlive: true,
    ...(isPlain ? { onread: { buffer: READ_BUFFER, callback } } : {}),
  })
  return { socket, receive: (given) => (listener = given) }
}

function raceTcp(
  addresses: readonly string[],
  port: number,
  isPlain: boolean,
  clock: Clock,
  done: (result: TcpResult) => void,
): () => void {
  const order = interleaveFamilies(addresses).slice(0, MAX_ATTEMPTS)
  const open = new Set<Socket>()
  const failed: FailedAttempt[] = []
  let next = 0
  let over = false
  let cancelTimer = (): void => {}

  const finish = (winner?: Socket): void => {
    over = true
    cancelTimer()
    for (const socket of open) if (socket !== winner) socket.destroy()
    open.clear()
  }
  const start = (): void => {
    cancelTimer()
    const address = order[next++]
    if (over || address === undefined) return
    const { socket, receive } = openSocket(address, port, isPlain)
    open.add(socket)
    // Also keeps a late error of a socket that lost, or was handed on, from ending the process.
    socket.on('error', (error) => {
      if (over || !open.delete(socket)) return
      failed.push({ address, error })
      if (failed.length === order.length) {
        finish()
        done({ kind: 'failed', attempts: failed })
      } else if (next < order.length) {
        start()
      }
    })
    socket.once('connect', () => {
      if (over) return
      finish(socket)
      done({ kind: 'open', socket, address, receive })
    })
    if (next < order.length) cancelTimer = clock.timer(NEXT_ATTEMPT_MS, start)
  }
  start()
  return () => finish()
}

/** What is not an address by the system's reading would be looked up as a name: an address that nobody has judged. */
const neverLookUp: LookupFunction = (hostname, _options, callback) => {
  callback(Object.assign(new Error(`${hostname} is not an address`), { code: 'EADDRNOTAVAIL' }), '', 0)
}

/** The resolver's order, with the families taking turns, so that one broken family costs one attempt (RFC 8305 §4). */
function interleaveFamilies(addresses: readonly string[]): string[] {
  const isSix = (address: string): boolean => address.includes(':')
  const firstIsSix = addresses.length > 0 && isSix(addresses[0] ?? '')
  const first = addresses.filter((address) => isSix(address) === firstIsSix)
  const second = addresses.filter((address) => isSix(address) !== firstIsSix)
  const order: string[] = []
  for (let index = 0; order.length < addresses.length; index++) {
    for (const address of [first[index], second[index]]) if (address !== undefined) order.push(address)
  }
  return order
}

const HTTP1_ONLY = ['http/1.1']
const HTTP2_FIRST = ['h2', 'http/1.1']

function shakeHands(
  tcp: Socket,
  address: string,
  hostname: string,
  offerHttp2: boolean,
  settings: DialSettings,
  done: (result: DialResult) => void,
): () => void {
  // The trailing dot of a fully qualified name is no part of its certificate (RFC 6066 §3).
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  let over = false
  const socket = tls().connect({
    socket: tcp,
    host: name,
    // An address is no server name (RFC 6066 §3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: offerHttp2 ? HTTP2_FIRST : HTTP1_ONLY,
    secureContext: settings.secureContext(),
    rejectUnauthorized: settings.rejectUnauthorized,
  })
  const fail = (error: unknown): void => {
    if (over) return
    over = true
    socket.destroy()
    tcp.destroy()
    done({ kind: 'failure', failure: tlsFailure(name, error), outOfFiles: false })
  }
  socket.on('error', fail)
  socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  socket.once('secureConnect', () => {
    if (over) return
    over = true
    const protocol = socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1'
    done({ kind: 'socket', socket, address, protocol, receive: (listener) => socket.on('data', listener) })
  })
  return () => {
    if (over) return
    over = true
    socket.destroy()
    tcp.destroy()
  }
}
