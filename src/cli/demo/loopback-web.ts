/**
 * A web of any number of hosts behind one port of 127.0.0.1, told apart by the Host header. The demo crawls it, and
 * the tests read its log: what a host really saw, in order of arrival, is the only proof of politeness that counts.
 *
 * It keeps true: every request that reaches the server is in the log, or is refused with 507, so that no check can
 * pass on half of the evidence. It never sends anything to anyone else, and it leaves name resolution to the client
 * (`resolveFlags`).
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSystemClock, type Clock } from '../../base/index.ts'

const ADDRESS = '127.0.0.1'
/** Requests kept in the log unless told otherwise; one entry takes about 200 bytes. */
const LOG_LIMIT = 2_000_000
/** Room for the longest URL that a test may send. */
const HEADER_BYTES = 65_536

/** What a behaviour is told of one request. */
export interface WebRequest {
  readonly method: string
  readonly host: string
  /** As sent, percent-encoding and all, without the query. */
  readonly path: string
  /** With its question mark; empty when there is none. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** How often this path and query has been asked of this host, this time included: 1 at first. */
  readonly n: number
  /** The URL of a page on any host of this web. */
  readonly url: (host: string, path?: string) => string
}

export interface Answer {
  /** 200 unless given. */
  readonly status?: number
  /** `content-type` is guessed from the path unless given. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  /** How long the first byte (or the breaking of the connection) is held back. */
  readonly delayMs?: number
  /** Takes the request and never answers. */
  readonly hang?: true
  /** Breaks the connection instead of answering. */
  readonly destroy?: true
}

/**
 * How one host answers: a function, or a table by path and query, or by path alone. What the table does not know is
 * a 404; a function that throws is a 500 with its message.
 */
export type HostBehaviour = ((request: WebRequest) => Answer | Promise<Answer>) | Readonly<Record<string, Answer>>

/** One request as the server saw it. Times are milliseconds of one monotonic clock, with a fraction. */
export interface LogEntry {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly userAgent: string | null
  readonly arrivedAt: number
  /**
   * Just before the first byte was written or the connection broken by us, so never later than the client can know
   * of it; null while there is no answer, and for good if the client left first.
   */
  readonly answeredAt: number | null
  /** The last byte was handed over, or the connection ended; null while the request is in flight. */
  readonly endedAt: number | null
  /** Null when nothing was answered. */
  readonly status: number | null
}

export interface LoopbackWeb {
  readonly port: number
  /** Every request so far, in order of arrival. */
  readonly log: readonly LogEntry[]
  readonly url: (host: string, path?: string) => string
  /** `HOST:PORT:127.0.0.1` for each host, as `--resolve` takes it. */
  resolveFlags(): string[]
  /** Breaks what is open and gives the port back. */
  close(): Promise<void>
}

export interface LoopbackWebOptions {
  readonly clock?: Clock
  readonly logLimit?: number
}

type Draft = { -readonly [K in keyof LogEntry]: LogEntry[K] }

interface VirtualHost {
  readonly behaviour: HostBehaviour
  /** Times each path and query was asked; no larger than the log. */
  readonly asked: Map<string, number>
}

export async function createLoopbackWeb(
  hosts: Readonly<Record<string, HostBehaviour>>,
  options: LoopbackWebOptions = {},
): Promise<LoopbackWeb> {
  const clock = options.clock ?? createSystemClock()
  const logLimit = options.logLimit ?? LOG_LIMIT
  const virtualHosts = new Map<string, VirtualHost>()
  for (const [name, behaviour] of Object.entries(hosts)) {
    virtualHosts.set(name.toLowerCase(), { behaviour, asked: new Map() })
  }
  const log: Draft[] = []
  let port = 0
  const url = (host: string, path = '/'): string => `http://${host}:${port}${path}`

  const send = (entry: Draft, response: ServerResponse, answer: Answer): void => {
    if (response.destroyed) return
    if (answer.destroy === true) {
      entry.answeredAt = clock.now()
      response.destroy()
      return
    }
    const body = answer.body ?? ''
    response.statusCode = answer.status ?? 200
    for (const name in answer.headers) response.setHeader(name, answer.headers[name] as string | readonly string[])
    if (body.length > 0 && !response.hasHeader('content-type')) {
      response.setHeader('content-type', contentTypeOf(entry.path))
    }
    entry.status = response.statusCode
    entry.answeredAt = clock.now()
    response.end(body)
  }

  const deliver = (entry: Draft, response: ServerResponse, answer: Answer): void => {
    if (answer.hang === true) return
    const delayMs = answer.delayMs ?? 0
    if (delayMs === 0) return send(entry, response, answer)
    const cancel = clock.timer(delayMs, () => send(entry, response, answer))
    response.once('close', cancel)
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const arrivedAt = clock.now()
    if (log.length >= logLimit) {
      response.statusCode = 507
      response.end('the log of this web is full\n')
      return
    }
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    const entry: Draft = {
      host: hostOf(request.headers.host ?? ''),
      method: request.method ?? 'GET',
      path: mark < 0 ? target : target.slice(0, mark),
      query: mark < 0 ? '' : target.slice(mark),
      userAgent: request.headers['user-agent'] ?? null,
      arrivedAt,
      answeredAt: null,
      endedAt: null,
      status: null,
    }
    log.push(entry)
    const end = (): void => {
      entry.endedAt ??= clock.now()
    }
    // `finish` comes with the last byte; `close` alone when the connection ended before it.
    response.once('finish', end)
    response.once('close', end)
    // A client may leave at any moment; that is an end like any other, not an error of this server.
    response.on('error', end)

    const virtualHost = virtualHosts.get(entry.host)
    if (virtualHost === undefined) return deliver(entry, response, { status: 421, body: 'no such host in this web\n' })
    const n = (virtualHost.asked.get(target) ?? 0) + 1
    virtualHost.asked.set(target, n)
    const { behaviour } = virtualHost
    if (typeof behaviour !== 'function') return deliver(entry, response, lookUp(behaviour, entry.path, target))

    const { host, method, path, query } = entry
    const fail = (error: unknown): void =>
      deliver(entry, response, { status: 500, headers: { 'content-type': 'text/plain' }, body: String(error) })
    try {
      const answer = behaviour({ method, host, path, query, headers: request.headers, n, url })
      if (answer instanceof Promise) answer.then((late) => deliver(entry, response, late)).catch(fail)
      else deliver(entry, response, answer)
    } catch (error) {
      fail(error)
    }
  }

  // Without an idle timeout, no connection is closed by the server at the moment at which a client uses it again.
  const server = createServer({ maxHeaderSize: HEADER_BYTES, keepAliveTimeout: 0 }, handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, ADDRESS, resolve)
  })
  port = (server.address() as AddressInfo).port

  return {
    port,
    log,
    url,
    resolveFlags: () => [...virtualHosts.keys()].map((name) => `${name}:${port}:${ADDRESS}`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function lookUp(table: Readonly<Record<string, Answer>>, path: string, target: string): Answer {
  if (Object.hasOwn(table, target)) return table[target] as Answer
  if (Object.hasOwn(table, path)) return table[path] as Answer
  return { status: 404, body: '<!doctype html><title>Not found</title><p>There is no such page here.</p>\n' }
}

/** The host of a Host header: lower case, without the port. */
function hostOf(header: string): string {
  const colon = header.lastIndexOf(':')
  const name = colon > header.lastIndexOf(']') ? header.slice(0, colon) : header
  return name.toLowerCase()
}

function contentTypeOf(path: string): string {
  if (path.endsWith('.txt')) return 'text/plain; charset=utf-8'
  if (path.endsWith('.xml')) return 'application/xml; charset=utf-8'
  return 'text/html; charset=utf-8'
}
