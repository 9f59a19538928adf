/**
 * What `doctor` says of a store on servers: whether a crawl can be kept there, and which promises hold on it. Judged
 * from what the servers say of themselves; what they may not be asked is told as unknown.
 */
import { createRng, formatBytes, formatDuration, type Clock } from '../base/index.ts'
import { connectRedis, readAuthority, redactStoreUrl, type ServerNode, type ServerReport } from '../frontier/index.ts'
import { TiptoeError } from '../model/index.ts'
import type { Check } from './commands/doctor.ts'

const OLDEST_VERSION = [7, 0] as const
const SLOTS = 16_384
const CLOCKS_APART_MS = 2_000
/** Of the memory that a server may take, beyond which it is told. */
const MEMORY_FULL = 0.8

const PATIENCE_MS = 5_000

export interface StoreLogin {
  readonly store: string
  /** For an address that has none. */
  readonly password: string | undefined
  /** A file with the certificates that the store's own is checked against. */
  readonly caFile: string | undefined
}

/** Reaches the servers and judges them; that they cannot be reached is a problem, not an error. */
export async function examineStore({ store, password, caFile }: StoreLogin, clock: Clock): Promise<Check[]> {
  try {
    const connection = connectRedis(store, {
      clock,
      rng: createRng(process.pid),
      patienceMs: PATIENCE_MS,
      ...(password === undefined ? {} : { password }),
      ...(caFile === undefined ? {} : { tls: { authority: readAuthority(caFile) } }),
    })
    try {
      return judgeStore(redactStoreUrl(store), await connection.serverReport())
    } finally {
      await connection.close()
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    // The advice to ask the doctor is not for the doctor.
    const advice = error instanceof TiptoeError && error.hint?.includes('doctor') !== true ? error.hint : undefined
    return [{ name: 'store', state: 'problem', detail, hint: advice ?? 'is it running, and open to this machine?' }]
  }
}

/** `name` is the store as it may be shown. */
export function judgeStore(name: string, report: ServerReport): Check[] {
  const reached = report.nodes.filter(({ unreachable }) => unreachable === undefined)
  return [
    checkVersions(name, reached),
    checkTopology(report),
    checkEviction(reached),
    checkKeeping(reached),
    checkMemory(reached),
    checkClocks(reached),
    ...promises(report, reached),
  ]
}

function checkVersions(name: string, nodes: readonly ServerNode[]): Check {
  const versions = [...new Set(nodes.map(({ server, version }) => `${server} ${version ?? 'of unknown version'}`))]
  const detail = `${name}: ${versions.join(', ')}`
  const wanted = `Redis ${OLDEST_VERSION.join('.')} or newer, or Valkey`
  if (nodes.some(({ redisVersion }) => redisVersion !== undefined && isTooOld(redisVersion)))
    return { name: 'store', state: 'problem', detail: `${detail} is too old`, hint: `use ${wanted}` }
  if (nodes.length === 0 || nodes.some(({ redisVersion }) => redisVersion === undefined))
    return { name: 'store', state: 'warning', detail, hint: `it does not say what it is; a crawl needs ${wanted}` }
  return { name: 'store', state: 'ok', detail }
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1])
}

function checkTopology({ cluster, clusterState, slotsCovered = 0, nodes }: ServerReport): Check {
  const primaries = nodes.filter(({ primary }) => primary)
  const away = nodes.filter(({ unreachable }) => unreachable !== undefined)
  const replicas = replicasOf(primaries)
  const few = replicas === 1 ? '1 replica' : `${replicas} replicas`
  const detail = cluster ? `a cluster of ${primaries.length} primaries and ${few}` : `one server with ${few}`
  if (primaries.length === 0)
    return {
      name: 'topology',
      state: 'problem',
      detail: 'only a replica is named, which takes no writes',
      hint: 'name its primary',
    }
  if (cluster && (clusterState === 'fail' || slotsCovered < SLOTS)) {
    const state = `${detail}, which is down: ${slotsCovered} of ${SLOTS} slots have a server`
    return { name: 'topology', state: 'problem', detail: state, hint: 'look at redis-cli --cluster check' }
  }
  if (away.length > 0) {
    const names = away.map(({ address, unreachable }) => `${address} (${unreachable})`).join(', ')
    const hint = 'every worker must reach every server by the address that the cluster names'
    return { name: 'topology', state: 'warning', detail: `${detail}; out of reach from here: ${names}`, hint }
  }
  return { name: 'topology', state: 'ok', detail }
}

const replicasOf = (primaries: readonly ServerNode[]): number =>
  primaries.reduce((sum, { replicas }) => sum + (replicas ?? 0), 0)

/** A server that makes room by itself takes parts of a crawl away. */
function checkEviction(nodes: readonly ServerNode[]): Check {
  const policies = [...new Set(nodes.map(({ evictionPolicy }) => evictionPolicy ?? 'unknown'))]
  const detail = policies.join(', ')
  const hint = 'set maxmemory-policy noeviction'
  if (policies.some((policy) => policy.startsWith('allkeys')))
    return {
      name: 'eviction',
      state: 'problem',
      detail: `${detail}: the server would throw parts of a crawl away`,
      hint,
    }
  if (policies.some((policy) => policy !== 'noeviction')) return { name: 'eviction', state: 'warning', detail, hint }
  return { name: 'eviction', state: 'ok', detail }
}

type Keeping = 'log' | 'snapshots' | 'nothing' | 'unknown'

function keepingOf({ appendOnly, appendSync, snapshots }: ServerNode): Keeping {
  if (appendOnly === undefined) return 'unknown'
  if (appendOnly) return appendSync === 'no' ? 'snapshots' : 'log'
  if (snapshots === undefined) return 'unknown'
  return snapshots === '' ? 'nothing' : 'snapshots'
}

/** The server that keeps least decides. */
function leastKept(nodes: readonly ServerNode[]): Keeping {
  const kept = new Set(nodes.filter(({ primary }) => primary).map(keepingOf))
  return (['nothing', 'unknown', 'snapshots', 'log'] as const).find((keeping) => kept.has(keeping)) ?? 'unknown'
}

const HOW_IT_KEEPS: Readonly<Record<Keeping, string>> = {
  log: 'every write is logged (AOF), and safe within a second',
  snapshots: 'snapshots now and then, or a log that nobody forces to disk',
  nothing: 'nothing is written to disk',
  unknown: 'unknown: this user may not ask (INFO, CONFIG GET)',
}

function checkKeeping(nodes: readonly ServerNode[]): Check {
  const keeping = leastKept(nodes)
  const detail = HOW_IT_KEEPS[keeping]
  if (keeping === 'log') return { name: 'saving', state: 'ok', detail }
  return { name: 'saving', state: 'warning', detail, hint: 'set appendonly yes, appendfsync everysec' }
}

function checkMemory(nodes: readonly ServerNode[]): Check {
  const [fullest] = nodes
    .flatMap(({ usedMemoryBytes, maxMemoryBytes, machineMemoryBytes }) => {
      const limit = maxMemoryBytes === 0 ? machineMemoryBytes : maxMemoryBytes
      if (usedMemoryBytes === undefined || limit === undefined || limit === 0) return []
      return [{ used: usedMemoryBytes, limit, own: maxMemoryBytes === 0 }]
    })
    .toSorted((a, b) => b.used / b.limit - a.used / a.limit)
  if (fullest === undefined) return { name: 'room', state: 'warning', detail: 'unknown', hint: 'allow this user INFO' }
  const { used, limit, own } = fullest
  const detail = `${formatBytes(used)} used of ${formatBytes(limit)}${own ? ", all of the machine's: no limit is set" : ''}`
  if (used <= limit * MEMORY_FULL) return { name: 'room', state: 'ok', detail }
  const hint = 'give it more: a server that is full takes no writes, and work waits until it has room'
  return { name: 'room', state: 'warning', detail, hint }
}

function checkClocks(nodes: readonly ServerNode[]): Check {
  const ahead = nodes.flatMap(({ clockAheadMs }) => (clockAheadMs === undefined ? [] : [clockAheadMs]))
  if (ahead.length === 0)
    return { name: 'clocks', state: 'warning', detail: 'unknown', hint: 'allow this user TIME: a crawl goes by it' }
  const all = [0, ...ahead]
  const apartMs = Math.max(...all) - Math.min(...all)
  const detail = `at most ${formatDuration(Math.ceil(apartMs))} apart, with this machine's`
  if (apartMs <= CLOCKS_APART_MS) return { name: 'clocks', state: 'ok', detail }
  const hint = 'set all clocks by NTP: pace does not depend on it, but hosts rest longer after a failover'
  return { name: 'clocks', state: 'warning', detail, hint }
}

/** In words, what a crawl can count on here. */
function promises({ cluster, nodes }: ServerReport, reached: readonly ServerNode[]): Check[] {
  const primaries = nodes.filter(({ primary }) => primary)
  const timeouts = reached.flatMap(({ nodeTimeoutMs }) => (nodeTimeoutMs === undefined ? [] : [nodeTimeoutMs]))
  const rest = timeouts.length === 0 ? '' : `${formatDuration(Math.max(...timeouts))} and `
  const pace: Check = {
    name: 'promise',
    state: 'ok',
    detail: `no host is asked too early: after a restart or a failover all rest for ${rest}the lease time`,
  }
  const followed = primaries.length > 0 && primaries.every(({ replicas }) => (replicas ?? 0) > 0)
  const failover: Check = followed
    ? {
        name: 'promise',
        state: 'ok',
        detail: cluster
          ? 'a replica takes over from a server that is lost; what it had not heard yet is sent again'
          : 'where something promotes the replica and leads the address to it, work goes on there',
      }
    : {
        name: 'promise',
        state: 'warning',
        detail: 'no failover: while a server is away its part of the crawl waits',
        hint: cluster ? 'give every primary a replica' : 'a cluster whose primaries have replicas goes on',
      }
  return [pace, restartPromise(leastKept(reached)), failover]
}

function restartPromise(keeping: Keeping): Check {
  const hint = 'set appendonly yes, appendfsync everysec'
  switch (keeping) {
    case 'log':
      return {
        name: 'promise',
        state: 'ok',
        detail: 'a restart loses nothing: workers send again what they settled in its last seconds',
      }
    case 'snapshots':
      return {
        name: 'promise',
        state: 'warning',
        detail: 'a restart goes back to the last snapshot: what was fetched since is fetched again',
        hint,
      }
    case 'nothing':
      return {
        name: 'promise',
        state: 'warning',
        detail: 'a restart without AOF loses the crawl: it will be noticed and reported, not continued',
        hint,
      }
    case 'unknown':
      return { name: 'promise', state: 'warning', detail: 'what a restart loses is not known', hint }
  }
}
