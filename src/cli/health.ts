/**
 * How a process is, for whoever watches over it: `GET /healthz` answers 200 for as long as the process does its rounds,
 * `GET /readyz` only while the store can be reached. Small JSON; nothing else is served.
 */
import { listenParts } from '../config/index.ts'
import { TiptoeError } from '../model/index.ts'

/** Whoever asks is done within this time, or is cut off. */
const REQUEST_MS = 5_000
const MOST_CONNECTIONS = 64

export interface HealthReport {
  readonly role: 'worker' | 'coordinator'
  readonly crawl: string
  readonly id: string
  /** Whether the store can be reached. */
  readonly ready: boolean
  /** What else is worth a look. */
  readonly [detail: string]: string | number | boolean | null
}

export interface HealthServer {
  /** `127.0.0.1:9090`, with the port that was taken. */
  readonly address: string
  close(): Promise<void>
}

export async function serveHealth(listen: string, report: () => HealthReport): Promise<HealthServer> {
  const parts = listenParts(listen)
  if (parts === undefined) throw new TiptoeError('usage', `${listen} is no address to listen at`)
  // Node's HTTP brings a second client of its own with it, 4 MB that few have a use for.
  const { createServer } = await import('node:http')
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]
    const known = path === '/healthz' || path === '/readyz'
    const isAsked = request.method === 'GET' || request.method === 'HEAD'
    const now = report()
    const status = !known ? 404 : !isAsked ? 405 : path === '/readyz' && !now.ready ? 503 : 200
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' })
    response.end(
      known && isAsked ? `${JSON.stringify({ status: status === 200 ? 'ok' : 'store out of reach', ...now })}\n` : '',
    )
    request.resume()
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new TiptoeError('network', `cannot listen at ${listen} for --health: ${cause.code ?? cause.message}`, {
          cause,
          hint: 'choose another address or port',
        }),
      ),
    )
    server.listen(parts.port, parts.host, resolve)
  })
  // A process that has nothing else to do is not kept alive by being watched.
  server.unref()
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : parts.port
  return {
    address: `${parts.host.includes(':') ? `[${parts.host}]` : parts.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
