/**
 * The link to the servers (link.ts), over the package `@redis/client`. One connection for each node, shared by all that
 * is under way; requests go to the node that has their slot, follow redirections, wait out what passes, and are sent
 * again when a reply was lost. Nothing waits unseen: each request is in its own loop here, which `close` ends.
 */
import type { Clock, Rng } from '../../base/index.ts'
import { TiptoeError } from '../../model/index.ts'
import { connectionFailure, replyFailure, type Failure, type Setback } from './failure.ts'
import { hashSlot } from './hash-slot.ts'
import type { RedisLink, Reply, Script } from './link.ts'
import { firstAnswer } from './first-answer.ts'
import { createNode, ReplyError, type NodeOptions, type RedisNode, type TlsOptions } from './node.ts'
import { readServer, type ServerReport } from './server-report.ts'
import { addressText, parseStoreUrl, redactStoreUrl, type StoreAddress } from './store-url.ts'
import { createSlotTable, readAddress, readSlots, type SlotRange } from './topology.ts'
import { createTroubleWatch, type Attempted } from './trouble.ts'

export interface RedisOptions {
  readonly clock: Clock
  readonly rng: Rng
  /** Used when the URL has none. */
  readonly password?: string
  readonly tls?: TlsOptions
  /** How long a request is tried before it is given up; for ever unless said. */
  readonly patienceMs?: number
  /** The same until the first answer of all: a mistyped address should be told, not waited for. */
  readonly firstPatienceMs?: number
  /** A connection on which commands wait this long without any answer is torn down. */
  readonly silenceMs?: number
}

export interface RedisConnection extends RedisLink {
  /** What every node that is known says of itself. */
  serverReport(): Promise<ServerReport>
  /**
   * How long a primary that was cut off may go on to serve writes while another takes over: a cluster's node timeout.
   * Redis' default where it may not be asked, and for a server with replicas, whose keeper is not known; 0 for one alone.
   */
  nodeTimeoutMs(): Promise<number>
}

const FIRST_PATIENCE_MS = 30_000
const SILENCE_MS = 5_000
const SHORTEST_WAIT_MS = 20
const LONGEST_WAIT_MS = 1_000
/** Redirections that are followed without a pause; more in a row mean that the nodes do not agree yet. */
const MOST_REDIRECTIONS = 4
/** Callers have a few hundred requests under way; this many mean that something forgot to wait. */
const MOST_UNDER_WAY = 65_536
const MOST_NODES = 1_024
/** After this long without an answer another node is asked as well. */
const STAGGER_MS = 300
const DEFAULT_NODE_TIMEOUT_MS = 15_000

/** Where a request goes; `asking` for a slot that is on its way there. */
interface Target {
  readonly address: StoreAddress
  readonly asking: boolean
}

interface Redirected {
  readonly kind: 'redirected'
  readonly target: Target
}

/** One request, through all its attempts. */
interface Tried {
  readonly request: Attempted
  readonly startedAt: number
  failures: number
}

export function connectRedis(storeUrl: string, options: RedisOptions): RedisConnection {
  const { clock, rng } = options
  const store = parseStoreUrl(storeUrl, options.password)
  const shown = redactStoreUrl(storeUrl)
  const nodeOptions: NodeOptions = {
    username: store.username,
    password: store.password,
    database: store.database,
    tls: store.tls ? (options.tls ?? {}) : undefined,
    silenceMs: options.silenceMs ?? SILENCE_MS,
  }
  const seeds = store.nodes
  const nodes = new Map<string, { readonly node: RedisNode; readonly address: StoreAddress }>()
  const table = createSlotTable()
  const closing = new AbortController()
  const trouble = createTroubleWatch(clock, () => longestSilence(nodes.values()))
  /** Undefined until some node said whether it belongs to a cluster. */
  let cluster: boolean | undefined
  let everAnswered = false
  let discovering: Promise<void> | undefined
  let underWay = 0

  const nodeAt = (address: StoreAddress): RedisNode => {
    if (closing.signal.aborted) throw closed()
    const name = addressText(address)
    let entry = nodes.get(name)
    if (entry === undefined) {
      if (nodes.size >= MOST_NODES) forgetNodes()
      entry = { node: createNode(address, nodeOptions, clock), address }
      nodes.set(name, entry)
    }
    return entry.node
  }
  /** Nodes that are no longer part of the cluster. */
  const forgetNodes = (): void => {
    const kept = new Set([...table.nodes().map(({ address }) => address), ...seeds].map(addressText))
    for (const [name, { node }] of nodes) {
      if (kept.has(name)) continue
      node.close()
      nodes.delete(name)
    }
  }
  const closed = (): TiptoeError => new TiptoeError('store', `the link to ${shown} was closed`)

  /** Asks nodes in an order of chance, for some may be wrong, who has which slot. Throws what the last of them said. */
  const discover = async (): Promise<void> => {
    const known = new Map(
      [...seeds, ...table.nodes().map(({ address }) => address)].map((address) => [addressText(address), address]),
    )
    const { ranges } = await firstAnswer(shuffled([...known.values()], rng), STAGGER_MS, clock, askSlots)
    if (ranges === undefined) {
      cluster ??= false
      return
    }
    cluster = true
    // A node that was reset knows of no slots; what another said is better.
    if (ranges.length > 0) table.fill(ranges)
    forgetNodes()
  }
  const askSlots = async (address: StoreAddress): Promise<{ ranges?: SlotRange[] }> => {
    try {
      return { ranges: readSlots(await nodeAt(address).send(['CLUSTER', 'SLOTS']), address) }
    } catch (error) {
      if (error instanceof ReplyError && !store.cluster && isNoCluster(error.message)) return {}
      throw error
    }
  }
  const discoverOnce = (): Promise<void> => {
    discovering ??= discover().finally(() => {
      discovering = undefined
    })
    return discovering
  }

  const route = async (slot: number, tried: Tried): Promise<Target> => {
    if (cluster === undefined) await explore(tried)
    const owner = cluster === true ? table.primaryOf(slot) : undefined
    return { address: owner ?? (seeds[rng.int(seeds.length)] as StoreAddress), asking: false }
  }

  /** Sends a request once. */
  const attempt = async (
    script: Script,
    request: readonly string[],
    { address, asking }: Target,
  ): Promise<{ readonly reply: Reply } | Setback | Redirected> => {
    const node = nodeAt(address)
    const send = (args: readonly string[]): Promise<Reply> =>
      asking ? node.sendBoth(['ASKING'], args) : node.send(args)
    try {
      try {
        return { reply: await send(['EVALSHA', script.sha, ...request]) }
      } catch (error) {
        if (!(error instanceof ReplyError) || !error.message.startsWith('NOSCRIPT')) throw error
        return { reply: await send(['EVAL', script.text, ...request]) }
      }
    } catch (error) {
      const failure = failureOf(error, node.address, script)
      if ('address' in failure) {
        const next = readAddress(failure.address, address)
        if (next === undefined) return { kind: 'wait', detail: 'a node sent on to nowhere', elsewhere: true }
        return { kind: 'redirected', target: { address: next, asking: failure.kind === 'ask' } }
      }
      // The way to a server that was demoted leads elsewhere once its name is looked up anew.
      const demoted = failure.kind === 'wait' && failure.elsewhere && error instanceof ReplyError
      if (demoted && cluster !== true) node.drop(failure.detail)
      return failure
    }
  }

  /** Waits before a request is tried again; throws when it was tried for long enough. */
  const waitToRetry = async (tried: Tried, detail: string): Promise<void> => {
    trouble.failed(tried.request, detail)
    const patienceMs = everAnswered
      ? (options.patienceMs ?? Infinity)
      : Math.min(options.firstPatienceMs ?? FIRST_PATIENCE_MS, options.patienceMs ?? Infinity)
    const waitMs = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** Math.min(tried.failures, 10))
    const until = clock.now() + waitMs * (0.5 + rng.next() / 2)
    if (until - tried.startedAt > patienceMs)
      throw new TiptoeError('store', `${shown} cannot be used: ${detail}`, { hint: 'tiptoe doctor --store URL' })
    tried.failures++
    await clock.sleepUntil(until, closing.signal)
  }
  /** Keeps the account of one request, from its first attempt to its answer. */
  const account = async <T>(request: (tried: Tried) => Promise<T>): Promise<T> => {
    if (closing.signal.aborted) throw closed()
    if (underWay >= MOST_UNDER_WAY) throw new Error(`more than ${MOST_UNDER_WAY} requests under way at once`)
    underWay++
    const tried: Tried = { request: trouble.begin(), startedAt: clock.now(), failures: 0 }
    let answered = false
    try {
      const reply = await request(tried)
      answered = true
      everAnswered = true
      return reply
    } finally {
      underWay--
      trouble.end(tried.request, answered)
    }
  }

  const run = async (script: Script, request: readonly string[], slot: number, tried: Tried): Promise<Reply> => {
    let target: Target | undefined
    let redirections = 0
    for (;;) {
      const result = await attempt(script, request, target ?? (await route(slot, tried)))
      if (closing.signal.aborted) throw closed()
      if ('reply' in result) return result.reply
      target = undefined
      switch (result.kind) {
        case 'fatal':
          throw result.error
        case 'redirected':
          cluster = true
          if (!result.target.asking) {
            table.move(slot, result.target.address)
            discoverOnce().catch(() => {})
          }
          target = result.target
          if (++redirections % MOST_REDIRECTIONS === 0)
            await waitToRetry(tried, 'the nodes of the cluster do not agree')
          break
        case 'wait':
          await waitToRetry(tried, result.detail)
          if (result.elsewhere && cluster === true) await discoverOnce().catch(() => {})
      }
    }
  }
  /** Finds out, for as long as it is patient, what there is. */
  const explore = async (tried: Tried): Promise<void> => {
    for (;;) {
      try {
        return await discoverOnce()
      } catch (error) {
        if (closing.signal.aborted) throw closed()
        const failure = failureOf(error, shown)
        if (failure.kind === 'fatal') throw failure.error
        await waitToRetry(tried, failure.kind === 'wait' ? failure.detail : 'the nodes of the cluster do not agree')
      }
    }
  }

  return {
    run(script, keys, args) {
      const request = [String(keys.length), ...keys, ...args.map(String)]
      return account((tried) => run(script, request, hashSlot(keys[0] ?? ''), tried))
    },
    onTrouble: trouble.onTrouble,
    serverReport,
    async nodeTimeoutMs() {
      const report = await serverReport()
      const told = report.nodes.flatMap(({ nodeTimeoutMs }) => (nodeTimeoutMs === undefined ? [] : [nodeTimeoutMs]))
      if (report.cluster) return told.length === 0 ? DEFAULT_NODE_TIMEOUT_MS : Math.max(...told)
      return report.nodes.some(({ replicas }) => replicas !== 0) ? DEFAULT_NODE_TIMEOUT_MS : 0
    },
    close() {
      if (!closing.signal.aborted) closing.abort(closed())
      trouble.close()
      for (const { node } of nodes.values()) node.close()
      nodes.clear()
      return Promise.resolve()
    },
  }

  function serverReport(): Promise<ServerReport> {
    return account(async (tried) => {
      await explore(tried)
      return readServer({ cluster: cluster === true, covered: table.covered, nodes: everyNode(), clock })
    })
  }
  function everyNode(): { node: RedisNode; primary: boolean }[] {
    if (cluster !== true) return [{ node: nodeAt(seeds[0] as StoreAddress), primary: true }]
    return table.nodes().map(({ address, primary }) => ({ node: nodeAt(address), primary }))
  }
}

function failureOf(error: unknown, node: string, script?: Script): Failure {
  if (error instanceof TiptoeError) return { kind: 'fatal', error }
  return error instanceof ReplyError ? replyFailure(error.message, node, script) : connectionFailure(error, node)
}

/** A server alone, or one whose user may not ask: a redirection would tell otherwise. */
const isNoCluster = (text: string): boolean =>
  /cluster support disabled|unknown command|unknown subcommand|^NOPERM/i.test(text)

function longestSilence(
  nodes: Iterable<{ readonly node: RedisNode }>,
): { readonly node: string; readonly silentMs: number } | undefined {
  let longest: { node: string; silentMs: number } | undefined
  for (const { node } of nodes) {
    const silentMs = node.silentMs()
    if (silentMs > (longest?.silentMs ?? 0)) longest = { node: node.address, silentMs }
  }
  return longest
}

function shuffled<T>(items: readonly T[], rng: Rng): T[] {
  const order = [...items]
  for (let index = order.length - 1; index > 0; index--) {
    const other = rng.int(index + 1)
    ;[order[index], order[other]] = [order[other] as T, order[index] as T]
  }
  return order
}
