/**
 * Open connections by origin, bounded in number. A caller gets a free one, or a new one is dialled, or it waits for
 * one of its origin's to come free. The origin unused longest gives way when there are too many; one that is in use
 * never does, so there may be more only while that many requests are under way. No step looks at other origins than
 * its own and those that give way, so a thousand that hang cost the others nothing. One timer for all finds connections
 * that nobody has used for long.
 */
import type { SecureContext } from 'node:tls'
import { createLru, type Clock } from '../base/index.ts'
import type { AddressGuard } from './address-guard.ts'
import { canonicalAddress, parseAddress } from './address.ts'
import { KEEP_ALIVE_MS, type Connection } from './connection.ts'
import { dial, type Dialled } from './dial.ts'
import { dnsFailure, noAddressFailure } from './failure.ts'
import type { HostOverrides } from './host-overrides.ts'
import { createHttp1Connection } from './http1.ts'
import { createHttp2Connection } from './http2.ts'
import type { NameCache } from './name-cache.ts'
import type { Failure, FetchElsewhere, FetchRefused } from './outcome.ts'
import { reservedPort } from './reserved-ports.ts'
import type { Target } from './target.ts'

export interface PoolSettings {
  /** A secure one counts for several. */
  readonly maxOrigins: number
  readonly connectionsPerOrigin: number
  readonly http2: boolean
  secureContext(): SecureContext
  readonly rejectUnauthorized: boolean
}

export interface PoolParts {
  readonly clock: Clock
  readonly names: NameCache
  readonly overrides: HostOverrides
  readonly guard: AddressGuard
}

type Unreachable = { readonly kind: 'failure'; readonly failure: Failure } | FetchRefused | FetchElsewhere

export type Acquired =
  | {
      readonly kind: 'connection'
      readonly connection: Connection
      readonly fresh: boolean
      /** How long it had not been used. */
      readonly unusedMs: number
    }
  | Unreachable

export interface Pools {
  /**
   * Calls `done` once, perhaps before it returns, unless cancelled. `onDial` is called when the first packet is about
   * to leave for the host.
   */
  acquire(target: Target, needFresh: boolean, onDial: () => void, done: (result: Acquired) => void): () => void
  /** The host speaks HTTP/1.1 only, or only that well, whatever it agreed to in the handshake. */
  avoidHttp2(origin: string): void
  /** A connection that had not been used for so long failed: the next ones are not kept for that long. */
  keepShorter(origin: string, unusedMs: number): void
  /** The first address that would be dialled; undefined if there is none. */
  addressOf(target: Target): Promise<string | undefined>
  /** Origins with a connection open or being opened. */
  readonly size: number
  close(): void
}

interface Waiter {
  readonly target: Target
  readonly onDial: () => void
  readonly done: (result: Acquired) => void
  cancel: () => void
}

interface Pool {
  readonly connections: Set<Connection>
  /** As many as callers that wait: whoever calls bounds it. */
  readonly waiting: Set<Waiter>
  dialling: number
  /** When a request was last begun or ended. */
  usedAt: number
}

/** Hosts that take back their HTTP/2 are few; one forgotten costs a failed request. */
const MAX_HTTP1_ONLY = 1000
/** Hosts known to close connections early; one forgotten costs a failed request too. */
const MAX_EARLY_CLOSERS = 10_000
/** Of the time after which a host was seen to close an unused connection, the part in which it is used again. */
const KEPT_SHARE = 0.75
/** What ends sooner than this ended for another reason than not being used. */
const SHORTEST_KEPT_MS = 100
/** How often unused connections are looked for: so much longer than stated one may stay open. */
const SWEEP_MS = 5_000
/** Fewer origins are kept than this only if the user says so. */
const FEWEST_ORIGINS = 16
/** A kept connection with TLS takes so many times the memory of a plain one, and counts for as many. */
const SECURE_WEIGHT = 6

const weightOf = (origin: string): number => (origin.startsWith('https:') ? SECURE_WEIGHT : 1)

export function createPools(settings: PoolSettings, parts: PoolParts): Pools {
  const { clock, names, overrides, guard } = parts
  const pools = new Map<string, Pool>()
  /** Those with no request under way, in order of last use, the oldest first. */
  const idle = new Map<string, Pool>()
  const http1Only = createLru<string, true>(MAX_HTTP1_ONLY)
  const keptMs = createLru<string, number>(MAX_EARLY_CLOSERS)
  /** Of all in `pools`. */
  let weight = 0
  let maxWeight = settings.maxOrigins
  let closed = false
  let cancelSweep: (() => void) | undefined

  const isIdle = (pool: Pool): boolean => {
    if (pool.dialling > 0 || pool.waiting.size > 0) return false
    for (const connection of pool.connections) if (connection.load > 0) return false
    return true
  }

  const forget = (origin: string): void => {
    if (pools.delete(origin)) weight -= weightOf(origin)
    idle.delete(origin)
  }

  const drop = (origin: string, pool: Pool): void => {
    forget(origin)
    for (const connection of pool.connections) connection.destroy()
  }

  /** Makes room for so much more: those unused longest give way, and all that nobody will use again. */
  const evict = (now: number, more: number): void => {
    for (const [origin, pool] of idle) {
      if (weight + more <= maxWeight && now - pool.usedAt <= KEEP_ALIVE_MS) return
      drop(origin, pool)
    }
  }

  const touch = (origin: string, now: number): Pool => {
    let pool = pools.get(origin)
    if (pool === undefined) {
      evict(now, weightOf(origin))
      pool = { connections: new Set(), waiting: new Set(), dialling: 0, usedAt: now }
      pools.set(origin, pool)
      weight += weightOf(origin)
      cancelSweep ??= clock.timer(SWEEP_MS, sweep)
      return pool
    }
    idle.delete(origin)
    pool.usedAt = now
    return pool
  }

  /** Unused for so long, a connection may be dead without a sign of it, or about to be closed. */
  const isStale = (origin: string, connection: Connection, now: number): boolean => {
    const unusedMs = now - connection.usedAt
    if (connection.load > 0 || unusedMs <= SHORTEST_KEPT_MS * KEPT_SHARE) return false
    return unusedMs > Math.min(connection.keptMs, keptMs.get(origin) ?? Infinity)
  }

  const sweep = (): void => {
    const now = clock.now()
    for (const [origin, pool] of pools) {
      for (const connection of pool.connections) if (isStale(origin, connection, now)) connection.retire()
    }
    cancelSweep = pools.size > 0 ? clock.timer(SWEEP_MS, sweep) : undefined
  }

  /** To be called after whatever may have been the last of an origin. An origin without connections is forgotten. */
  const rest = (origin: string, pool: Pool): void => {
    if (!isIdle(pool) || pools.get(origin) !== pool) return
    if (pool.connections.size === 0) return forget(origin)
    if (idle.has(origin)) return
    idle.set(origin, pool)
    evict(pool.usedAt, 0)
  }

  /** After a connection or an attempt at one has gone: whoever waits has room now. */
  const settle = (origin: string, pool: Pool): void => {
    if (!closed) serveWaiting(pool)
    rest(origin, pool)
  }

  /** The host closed a connection that had not been used for so long: the next are given up in good time before. */
  const keepShorter = (origin: string, unusedMs: number): void => {
    if (unusedMs >= SHORTEST_KEPT_MS)
      keptMs.set(origin, Math.min(unusedMs * KEPT_SHARE, keptMs.get(origin) ?? Infinity))
  }

  /** This machine has no more files to open: keeping connections must not be why. */
  const keepFewer = (): void => {
    maxWeight = Math.min(maxWeight, Math.max(Math.floor(weight / 2), FEWEST_ORIGINS))
    evict(clock.now(), 0)
  }

  const adopt = (target: Target, pool: Pool, dialled: Dialled): Connection => {
    const create = dialled.protocol === 'h2' ? createHttp2Connection : createHttp1Connection
    const connection: Connection = create(target.origin, dialled, {
      onFree: () => {
        pool.usedAt = connection.usedAt = clock.now()
        settle(target.origin, pool)
      },
      onClosed: (byHost) => {
        pool.connections.delete(connection)
        if (byHost) keepShorter(target.origin, clock.now() - connection.usedAt)
        settle(target.origin, pool)
      },
    })
    connection.usedAt = clock.now()
    pool.connections.add(connection)
    return connection
  }

  const suits = (connection: Connection, target: Target): boolean =>
    target.address === undefined || canonicalAddress(connection.address) === target.address

  const freeIn = (pool: Pool, target: Target): Connection | undefined => {
    const now = clock.now()
    for (const connection of pool.connections) {
      if (!connection.free || !suits(connection, target)) continue
      if (!isStale(target.origin, connection, now)) return connection
      connection.retire()
    }
    return undefined
  }

  const hasRoom = (pool: Pool): boolean => pool.connections.size + pool.dialling < settings.connectionsPerOrigin

  /** A connection to another address than the one that somebody waits for must not keep its place for ever. */
  const retireUnsuitable = (pool: Pool, target: Target): void => {
    for (const connection of pool.connections) if (!suits(connection, target)) connection.retire()
  }

  const serveWaiting = (pool: Pool): void => {
    for (const waiter of pool.waiting) {
      const connection = freeIn(pool, waiter.target)
      if (connection === undefined && !hasRoom(pool)) return retireUnsuitable(pool, waiter.target)
      pool.waiting.delete(waiter)
      if (connection !== undefined) waiter.done({ kind: 'connection', connection, fresh: false, unusedMs: 0 })
      else waiter.cancel = open(waiter.target, pool, waiter.onDial, waiter.done)
    }
  }

  const addressesOf = async (target: Target): Promise<readonly string[] | Unreachable> => {
    const { hostname, port } = target
    let addresses = overrides.find(hostname, port)
    const reserved = addresses === undefined ? reservedPort(port) : undefined
    if (reserved !== undefined) return { kind: 'refused', detail: reserved, address: null }
    if (addresses === undefined && parseAddress(hostname) !== undefined) addresses = [hostname]
    if (addresses === undefined) {
      const answer = await names.resolve(hostname)
      if (answer.kind === 'failed') return { kind: 'failure', failure: dnsFailure(hostname, answer.error) }
      addresses = answer.addresses
    }
    const permitted = addresses.filter((address) => guard.permits(address))
    const [best] = permitted
    if (best !== undefined) {
      if (target.address === undefined) return permitted
      const wanted = permitted.find((address) => canonicalAddress(address) === target.address)
      return wanted === undefined ? { kind: 'elsewhere', address: canonicalAddress(best) } : [wanted]
    }
    const [first] = addresses
    if (first === undefined) return { kind: 'failure', failure: noAddressFailure(hostname) }
    const named = first === hostname ? first : `${hostname} has the address ${first}, which`
    return { kind: 'refused', detail: `${named} ${guard.refusal(first)}`, address: first }
  }

  const open = (target: Target, pool: Pool, onDial: () => void, done: (result: Acquired) => void): (() => void) => {
    let over = false
    let cancelDial = (): void => {}
    pool.dialling++
    const finish = (): void => {
      over = true
      pool.dialling--
    }
    const giveUp = (reason: Unreachable): void => {
      finish()
      done(reason)
      settle(target.origin, pool)
    }
    const proceed = (found: readonly string[] | Unreachable): void => {
      if (over) return
      if ('kind' in found) return giveUp(found)
      onDial()
      const offerHttp2 = settings.http2 && http1Only.get(target.origin) === undefined
      cancelDial = dial(target, found, offerHttp2, settings, clock, (result) => {
        if (result.kind === 'failure') {
          giveUp(result)
          if (result.outOfFiles) keepFewer()
          return
        }
        finish()
        done({ kind: 'connection', connection: adopt(target, pool, result), fresh: true, unusedMs: 0 })
        // HTTP/2 has room for the others at once.
        settle(target.origin, pool)
      })
    }
    void addressesOf(target).then(proceed)
    return () => {
      if (over) return
      finish()
      cancelDial()
      settle(target.origin, pool)
    }
  }

  return {
    acquire(target, needFresh, onDial, done) {
      const now = clock.now()
      const pool = touch(target.origin, now)
      const connection = needFresh ? undefined : freeIn(pool, target)
      if (connection !== undefined) {
        const unusedMs = connection.load === 0 ? now - connection.usedAt : 0
        connection.usedAt = now
        done({ kind: 'connection', connection, fresh: false, unusedMs })
        rest(target.origin, pool)
        return () => {}
      }
      if (needFresh || hasRoom(pool)) return open(target, pool, onDial, done)
      const waiter: Waiter = {
        target,
        onDial,
        done,
        cancel: () => {
          if (pool.waiting.delete(waiter)) rest(target.origin, pool)
        },
      }
      pool.waiting.add(waiter)
      retireUnsuitable(pool, target)
      return () => waiter.cancel()
    },
    keepShorter,
    async addressOf(target) {
      const found = await addressesOf(target)
      return 'kind' in found || found[0] === undefined ? undefined : canonicalAddress(found[0])
    },
    avoidHttp2(origin) {
      http1Only.set(origin, true)
      for (const connection of pools.get(origin)?.connections ?? []) connection.retire()
    },
    get size() {
      return pools.size
    },
    close() {
      if (closed) return
      closed = true
      cancelSweep?.()
      for (const [origin, pool] of pools) drop(origin, pool)
    },
  }
}
