/**
 * One connection to one server. It is made when it is first needed and again after it broke, by one attempt at a time;
 * commands are sent in the order given, many at once. A server that lets commands wait for `silenceMs` without
 * answering anything is taken for gone: the connection is torn down and all that waits on it rejects. Whether and when
 * to try again is the caller's business.
 */
import type { Clock } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import type { Reply } from './link.ts'
import { addressText, type StoreAddress } from './store-url.ts'

export interface NodeOptions {
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  readonly tls: TlsOptions | undefined
  readonly silenceMs: number
}

export interface TlsOptions {
  /** Certificates in PEM of those who may vouch for the servers; without it the usual ones. */
  readonly authority?: string
  /** Takes any certificate: the way is encrypted, but nobody knows to whom. */
  readonly insecure?: boolean
}

export interface RedisNode {
  readonly address: string
  /** Rejects with `ReplyError` for what the server answered, else with what broke the connection. */
  send(args: readonly string[]): Promise<Reply>
  /** Two commands of which nothing comes in between; resolves with the reply to the second. */
  sendBoth(first: readonly string[], second: readonly string[]): Promise<Reply>
  /** How long commands have been waiting without any answer; 0 when none waits. */
  silentMs(): number
  /** Ends the connection; the next command makes a new one. */
  drop(reason: string): void
  /** Ends the connection, and no other is made. */
  close(): void
}

/** An error that came from the server, with its text; everything else is an error of the connection. */
export class ReplyError extends Error {}

/** As much of the package's client as is used. */
interface Client {
  connect(): Promise<unknown>
  sendCommand(args: readonly string[]): Promise<unknown>
  destroy(): void
  on(event: 'connect' | 'error', listener: (error?: unknown) => void): unknown
}

/** The client is an optional peer: those who crawl on one machine do not need it. */
async function loadClient(): Promise<typeof import('@redis/client')> {
  try {
    return await import('@redis/client')
  } catch (cause) {
    const hint = 'npm install @redis/client'
    throw new TiptoeError('store', 'a store on Redis needs the package @redis/client', { hint, cause })
  }
}

export function createNode(address: StoreAddress, options: NodeOptions, clock: Clock): RedisNode {
  const name = addressText(address)
  let connecting: Promise<Client> | undefined
  let current: { readonly client: Client; end(): void } | undefined
  let serverError: (new (...args: never[]) => Error) | undefined
  let dropReason: string | undefined
  let unanswered = 0
  let heardAt = 0
  let cancelWatch: (() => void) | undefined
  let closed = false

  const forget = (client: Client): void => {
    if (current?.client !== client) return
    current = undefined
    connecting = undefined
  }
  const connect = async (): Promise<Client> => {
    dropReason = undefined
    const library = await loadClient()
    if (closed) throw new Error('connection closed')
    serverError = library.ErrorReply
    const client: Client = library.createClient(clientOptions(address, options))
    const ending = createEnding(client)
    current = { client, end: ending.end }
    // Whatever else it says, an error means that replies can no longer be matched with what was sent.
    client.on('error', (error) => {
      forget(client)
      ending.end(error)
    })
    // A server that is stopped accepts connections and then says nothing.
    const cancel = clock.timer(options.silenceMs, () => {
      dropReason = options.tls === undefined ? 'no answer' : 'no answer to the TLS handshake'
      ending.end()
    })
    try {
      await Promise.race([client.connect(), ending.over])
      if (current?.client !== client) throw new Error('connection lost')
      return client
    } catch (error) {
      forget(client)
      throw dropReason === undefined ? error : new Error(dropReason)
    } finally {
      cancel()
    }
  }
  /** A server that does not know a command repeats its arguments. */
  const withoutSecret = (text: string): string =>
    options.password === undefined || options.password === '' ? text : text.replaceAll(options.password, '***')
  const translated = (error: unknown): unknown => {
    if (serverError !== undefined && error instanceof serverError) return new ReplyError(withoutSecret(error.message))
    return dropReason === undefined ? error : new Error(dropReason)
  }
  const ready = (): Promise<Client> => {
    if (connecting !== undefined) return connecting
    const attempt = connect()
    connecting = attempt
    attempt.catch(() => {
      if (connecting === attempt) connecting = undefined
    })
    return attempt
  }
  const watch = (): void => {
    if (cancelWatch !== undefined) return
    const leftMs = heardAt + options.silenceMs - clock.now()
    cancelWatch = clock.timer(Math.max(1, leftMs), () => {
      cancelWatch = undefined
      if (unanswered === 0) return
      if (clock.now() - heardAt < options.silenceMs) return watch()
      drop('no answer')
    })
  }
  const drop = (reason: string): void => {
    const dropped = current
    if (dropped === undefined) return
    dropReason = reason
    forget(dropped.client)
    dropped.end()
  }
  const transmit = (client: Client, args: readonly string[]): Promise<Reply> => {
    if (unanswered === 0) heardAt = clock.now()
    unanswered++
    watch()
    const answered = (): void => {
      unanswered--
      heardAt = clock.now()
      if (unanswered > 0) return
      cancelWatch?.()
      cancelWatch = undefined
    }
    return client.sendCommand(args).then(
      (reply) => {
        answered()
        return reply as Reply
      },
      (error: unknown) => {
        answered()
        throw translated(error)
      },
    )
  }
  const connected = async (): Promise<Client> => {
    try {
      return await ready()
    } catch (error) {
      throw translated(error)
    }
  }

  return {
    address: name,
    send: async (args) => transmit(await connected(), args),
    async sendBoth(first, second) {
      const client = await connected()
      // The second carries the answer; why the first failed is said again by it.
      transmit(client, first).catch(() => {})
      return transmit(client, second)
    },
    silentMs: () => (unanswered === 0 ? 0 : clock.now() - heardAt),
    drop,
    close() {
      closed = true
      drop('connection closed')
    },
  }
}

function clientOptions({ host, port }: StoreAddress, options: NodeOptions) {
  // Its own timer is only for a connection that was given up before it was made.
  const common = { host, port, connectTimeout: options.silenceMs * 2, reconnectStrategy: false } as const
  const { tls } = options
  return {
    RESP: 2 as const,
    socket:
      tls === undefined
        ? common
        : {
            ...common,
            tls: true as const,
            rejectUnauthorized: tls.insecure !== true,
            ...(tls.authority === undefined ? {} : { ca: tls.authority }),
          },
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password }),
    database: options.database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
    // One watch over the connection instead of a timer for each command: replies come in order, so silence is silence.
    commandOptions: { timeout: 0 },
  }
}

/** Ends a client without a farewell; what waits on it rejects. One that is still dialling is ended once it is through. */
function createEnding(client: Client): { end(reason?: unknown): void; readonly over: Promise<never> } {
  let dialled = false
  let ended = false
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const destroy = (): void => {
    try {
      client.destroy()
    } catch {
      // It was closed already.
    }
  }
  client.on('connect', () => {
    dialled = true
    if (ended) destroy()
  })
  return {
    end(reason = new Error('connection closed')) {
      ended = true
      if (dialled) destroy()
      reject(reason)
    },
    over: promise,
  }
}
