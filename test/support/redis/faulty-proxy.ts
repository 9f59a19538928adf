/**
 * A way to a server that can be made bad: slow, frozen, cut at the worst moment, doubled. It knows nothing of what is
 * said on it, except that a replica asks for `PSYNC`: so what replicas hear can be held up while clients are served.
 *
 * Doubled means that everything a client sends is sent to the server twice, on two connections, and that the answers of
 * the second go nowhere: as if a request that was thought lost arrived after all. The first answer waits for the second:
 * servers are told the time here, and what arrived after a later request would seem to be a clock that was set back. A
 * client connection that is cut can be made again at once.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createRng } from '../../../src/base/index.ts'

export interface ProxyFaults {
  /** How long a piece of data waits on its way, there and back; 0 not at all. */
  readonly delayMs: number
  /** The chance in [0, 1] of each piece to be one that waits. */
  readonly delayChance: number
  /** The chance in [0, 1] of each piece to be the last of its connection: a request not delivered, or a reply lost. */
  readonly cutChance: number
  readonly double: boolean
  /** How fast replicas hear of changes; 0 not at all. */
  readonly replicaBytesPerSecond: number
}

export interface FaultyProxy {
  readonly port: number
  /** The store URL of the server behind it, if that is a single one without password. */
  readonly url: string
  set(faults: Partial<ProxyFaults>): void
  /** The next so many replies are not delivered: the server did what was asked, and the connection is cut. */
  cutReplies(count: number): void
  /** Cuts every connection that there is. */
  cutAll(): void
  /** Nothing passes, and nothing is refused. */
  freeze(): void
  thaw(): void
  /** How many connections were cut so far, for whatever reason. */
  readonly cuts: number
  close(): Promise<void>
}

const REPLICA_TICK_MS = 50
/** An answer of the second connection is not waited for any longer. */
const SECOND_ANSWER_MS = 500

export async function createFaultyProxy(targetPort: number, seed = 1): Promise<FaultyProxy> {
  const rng = createRng(seed)
  const pairs = new Set<() => void>()
  let faults: ProxyFaults = {
    delayMs: 0,
    delayChance: 1,
    cutChance: 0,
    double: false,
    replicaBytesPerSecond: Infinity,
  }
  let repliesToCut = 0
  let cuts = 0
  let frozen: { readonly over: Promise<void>; thaw(): void } | undefined

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    const shadow = faults.double ? connect(targetPort, '127.0.0.1') : undefined
    const sockets = [client, upstream, ...(shadow === undefined ? [] : [shadow])]
    let replica = false
    const cut = (): void => {
      if (!pairs.delete(cut)) return
      cuts++
      for (const socket of sockets) socket.destroy()
    }
    pairs.add(cut)
    /** Of what was sent last on the second connection. */
    let secondAnswer = Promise.withResolvers<void>()
    secondAnswer.resolve()
    shadow?.on('data', () => secondAnswer.resolve())
    for (const socket of sockets) socket.setNoDelay().on('error', cut).on('close', cut)
    void carry(client, (data) => {
      replica ||= data.includes('PSYNC')
      if (rng.next() < faults.cutChance) return cut()
      if (shadow !== undefined) secondAnswer = Promise.withResolvers()
      upstream.write(data)
      shadow?.write(data)
    })
    void carry(upstream, async (data) => {
      if (replica) return carrySlowly(client, data, () => pairs.has(cut))
      if (repliesToCut > 0) {
        repliesToCut--
        return cut()
      }
      if (rng.next() < faults.cutChance) return cut()
      await atMost(SECOND_ANSWER_MS, secondAnswer.promise)
      client.write(data)
    })
  })

  /** One piece after the other; while one waits, its sender is not read from. */
  const carry = async (from: Socket, deliver: (data: Buffer) => void | Promise<void>): Promise<void> => {
    try {
      for await (const data of from) {
        if (faults.delayMs > 0 && rng.next() < faults.delayChance) await pause(faults.delayMs)
        await frozen?.over
        await deliver(data as Buffer)
      }
    } catch {
      // The connection ended, and its other half with it.
    }
  }
  const carrySlowly = async (to: Socket, data: Buffer, open: () => boolean): Promise<void> => {
    let sent = 0
    while (sent < data.length && open()) {
      const part = Math.min(data.length - sent, faults.replicaBytesPerSecond * (REPLICA_TICK_MS / 1_000))
      if (part >= 1) to.write(data.subarray(sent, sent + Math.floor(part)))
      sent += part >= 1 ? Math.floor(part) : 0
      if (sent < data.length) await pause(REPLICA_TICK_MS)
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const thaw = (): void => {
    frozen?.thaw()
    frozen = undefined
  }
  const cutAll = (): void => {
    for (const cut of pairs) cut()
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    set(changed) {
      faults = { ...faults, ...changed }
    },
    cutReplies(count) {
      repliesToCut = count
    },
    cutAll,
    freeze() {
      const { promise, resolve } = Promise.withResolvers<void>()
      frozen ??= { over: promise, thaw: resolve }
    },
    thaw,
    get cuts() {
      return cuts
    },
    async close() {
      thaw()
      cutAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function atMost(ms: number, over: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([over, late.promise])
  clearTimeout(timer)
}
