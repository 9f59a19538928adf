/**
 * Open connections by origin, bounded in number. A caller gets a free one, or a new one is dialled, or it waits for
 * one of its origin's to come free. The origin unused longest gives way when there are too many; one that is in use
 * never does, so there may be more only while that many requests are under way.
 */
import type { SecureContext } from 'node:tls'
import { createLru, type Clock } from '../base/index.ts'
import type { AddressGuard } from './address-guard.ts'
import { parseAddress } from './address.ts'
import type { Connection } from './connection.ts'
import { dial, type Dialled } from './dial.ts'
import { dnsFailure, noAddressFailure } from './failure.ts'
import type { HostOverrides } from './host-overrides.ts'
import { createHttp1Connection, KEEP_ALIVE_MS } from './http1.ts'
import { createHttp2Connection } from './http2.ts'
import type { NameCache } from './name-cache.ts'
import type { Failure, FetchRefused } from './outcome.ts'
import type { Target } from './target.ts'

export interface PoolSettings {
  readonly maxOrigins: number
  readonly connectionsPerOrigin: number
  readonly http2: boolean
  readonly secureContext: SecureContext
  readonly rejectUnauthorized: boolean
}

export interface PoolParts {
  readonly clock: Clock
  readonly names: NameCache
  readonly overrides: HostOverrides
  readonly guard: AddressGuard
}

type Unreachable = { readonly kind: 'failure'; readonly failure: Failure } | FetchRefused

export type Acquired =
  | { readonly kind: 'connection'; readonly connection: Connection; readonly fresh: boolean }
  | Unreachable

export interface Pools {
  /**
   * Calls `done` once, perhaps before it returns, unless cancelled. `onDial` is called when the first packet is about
   * to leave for the host.
   */
  acquire(target: Target, needFresh: boolean, onDial: () => void, done: (result: Acquired) => void): () => void
  /** The host answered that it speaks HTTP/1.1 only, whatever it agreed to in the handshake. */
  avoidHttp2(origin: string): void
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

export function createPools(settings: PoolSettings, parts: PoolParts): Pools {
  const { clock, names, overrides, guard } = parts
  /** In order of last use, the oldest first. */
  const pools = new Map<string, Pool>()
  const http1Only = createLru<string, true>(MAX_HTTP1_ONLY)
  let closed = false

  const isIdle = (pool: Pool): boolean => {
    if (pool.dialling > 0 || pool.waiting.size > 0) return false
    for (const connection of pool.connections) if (connection.load > 0) return false
    return true
  }

  const isExpired = (pool: Pool, now: number): boolean => now - pool.usedAt > KEEP_ALIVE_MS && isIdle(pool)

  const drop = (origin: string, pool: Pool): void => {
    pools.delete(origin)
    for (const connection of pool.connections) connection.destroy()
  }

  const touch = (origin: string): Pool => {
    const now = clock.now()
    let pool = pools.get(origin)
    if (pool === undefined) {
      pool = { connections: new Set(), waiting: new Set(), dialling: 0, usedAt: now }
      evict(now)
    } else {
      pools.delete(origin)
      // Unused for so long, a connection may be dead without a sign of it.
      if (isExpired(pool, now)) for (const connection of pool.connections) connection.retire()
      pool.usedAt = now
    }
    pools.set(origin, pool)
    return pool
  }

  /** Makes room for one more. Busy origins are stepped over; there are no more of them than requests under way. */
  const evict = (now: number): void => {
    for (const [origin, pool] of pools) {
      if (pools.size < settings.maxOrigins && !isExpired(pool, now)) return
      if (isIdle(pool)) drop(origin, pool)
    }
  }

  /** After a connection or an attempt at one has gone: whoever waits has room now; nobody waiting, nothing is kept. */
  const settle = (origin: string, pool: Pool): void => {
    if (!closed) serveWaiting(pool)
    if (pool.connections.size === 0 && isIdle(pool) && pools.get(origin) === pool) pools.delete(origin)
  }

  const adopt = (target: Target, pool: Pool, dialled: Dialled): Connection => {
    const create = dialled.protocol === 'h2' ? createHttp2Connection : createHttp1Connection
    const connection: Connection = create(target.origin, dialled.socket, dialled.address, {
      onFree: () => {
        pool.usedAt = clock.now()
        serveWaiting(pool)
      },
      onClosed: () => {
        pool.connections.delete(connection)
        settle(target.origin, pool)
      },
    })
    pool.connections.add(connection)
    return connection
  }

  const freeIn = (pool: Pool): Connection | undefined => {
    for (const connection of pool.connections) if (connection.free) return connection
    return undefined
  }

  const hasRoom = (pool: Pool): boolean => pool.connections.size + pool.dialling < settings.connectionsPerOrigin

  const serveWaiting = (pool: Pool): void => {
    for (const waiter of pool.waiting) {
      const connection = freeIn(pool)
      if (connection === undefined && !hasRoom(pool)) return
      pool.waiting.delete(waiter)
      if (connection !== undefined) waiter.done({ kind: 'connection', connection, fresh: false })
      else waiter.cancel = open(waiter.target, pool, waiter.onDial, waiter.done)
    }
  }

  const addressesOf = async (target: Target): Promise<readonly string[] | Unreachable> => {
    const { hostname, port } = target
    let addresses = overrides.find(hostname, port)
    if (addresses === undefined && parseAddress(hostname) !== undefined) addresses = [hostname]
    if (addresses === undefined) {
      const answer = await names.resolve(hostname)
      if (answer.kind === 'failed') return { kind: 'failure', failure: dnsFailure(hostname, answer.error) }
      addresses = answer.addresses
    }
    const permitted = addresses.filter((address) => guard.permits(address))
    if (permitted.length > 0) return permitted
    const [first] = addresses
    if (first === undefined) return { kind: 'failure', failure: noAddressFailure(hostname) }
    const named = first === hostname ? first : `${hostname} has the address ${first}, which`
    return { kind: 'refused', detail: `${named} is not public and was not allowed`, address: first }
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
        if (result.kind === 'failure') return giveUp(result)
        finish()
        done({ kind: 'connection', connection: adopt(target, pool, result), fresh: true })
        // HTTP/2 has room for the others at once.
        serveWaiting(pool)
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
      const pool = touch(target.origin)
      const connection = needFresh ? undefined : freeIn(pool)
      if (connection !== undefined) {
        done({ kind: 'connection', connection, fresh: false })
        return () => {}
      }
      if (needFresh || hasRoom(pool)) return open(target, pool, onDial, done)
      const waiter: Waiter = { target, onDial, done, cancel: () => pool.waiting.delete(waiter) }
      pool.waiting.add(waiter)
      return () => waiter.cancel()
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
      for (const [origin, pool] of pools) drop(origin, pool)
    },
  }
}
