/**
 * What the servers say of themselves: which they are, how they keep data, who follows whom, what time they have. For
 * `doctor`, and for how long a failover may take. A server may forbid some of the questions: then the answer is unknown
 * (undefined), never a guess.
 */
import type { Clock } from '../../base/index.ts'
import type { Reply } from './link.ts'
import { ReplyError, type RedisNode } from './node.ts'

export interface ServerReport {
  readonly cluster: boolean
  /** Of a cluster: what its nodes agree on, `ok` or `fail`; undefined for a single server. */
  readonly clusterState: string | undefined
  /** How many of the 16,384 slots have a node; undefined for a single server. */
  readonly slotsCovered: number | undefined
  readonly nodes: readonly ServerNode[]
}

export interface ServerNode {
  readonly address: string
  /** Why nothing is known of it; undefined when it answered. */
  readonly unreachable: string | undefined
  readonly primary: boolean
  readonly runId: string | undefined
  /** `redis`, `valkey` or what it calls itself. */
  readonly server: string
  readonly version: string | undefined
  /** The version of Redis whose commands it has. */
  readonly redisVersion: string | undefined
  readonly usedMemoryBytes: number | undefined
  /** 0: no limit but the machine's. */
  readonly maxMemoryBytes: number | undefined
  readonly machineMemoryBytes: number | undefined
  readonly evictionPolicy: string | undefined
  readonly appendOnly: boolean | undefined
  readonly appendSync: string | undefined
  /** The rules by which snapshots are made; empty when there are none. */
  readonly snapshots: string | undefined
  readonly nodeTimeoutMs: number | undefined
  readonly replicas: number | undefined
  readonly minReplicasToWrite: number | undefined
  /** How far its clock is ahead of this machine's, give or take half a round trip. */
  readonly clockAheadMs: number | undefined
}

interface Asked {
  readonly cluster: boolean
  readonly covered: number
  readonly nodes: readonly { readonly node: RedisNode; readonly primary: boolean }[]
  readonly clock: Clock
}

export async function readServer({ cluster, covered, nodes, clock }: Asked): Promise<ServerReport> {
  const reports = await Promise.all(nodes.map(({ node, primary }) => readNode(node, primary, cluster, clock)))
  const state = cluster ? await clusterState(nodes.map(({ node }) => node)) : undefined
  return { cluster, clusterState: state, slotsCovered: cluster ? covered : undefined, nodes: reports }
}

async function clusterState(nodes: readonly RedisNode[]): Promise<string | undefined> {
  for (const node of nodes) {
    const info = await node.send(['CLUSTER', 'INFO']).then(readInfo, () => undefined)
    if (info?.['cluster_state'] !== undefined) return info['cluster_state']
  }
  return undefined
}

async function readNode(node: RedisNode, primary: boolean, cluster: boolean, clock: Clock): Promise<ServerNode> {
  const unlessForbidden = (args: readonly string[]): Promise<Reply> =>
    node.send(args).catch((error: unknown) => {
      if (error instanceof ReplyError) return null
      throw error
    })
  const setting = async (name: string): Promise<string | undefined> => {
    const reply = await unlessForbidden(['CONFIG', 'GET', name])
    const value = Array.isArray(reply) ? (reply as readonly Reply[])[1] : undefined
    return typeof value === 'string' ? value : undefined
  }
  try {
    const info = readInfo(await unlessForbidden(['INFO']))
    const askedAt = clock.now()
    const time = await unlessForbidden(['TIME'])
    const midpoint = clock.wall() - (clock.now() - askedAt) / 2
    const [appendSync, snapshots, nodeTimeout, minReplicas] = await Promise.all([
      setting('appendfsync'),
      setting('save'),
      cluster ? setting('cluster-node-timeout') : undefined,
      setting('min-replicas-to-write'),
    ])
    return {
      address: node.address,
      unreachable: undefined,
      primary: info['role'] === undefined ? primary : info['role'] === 'master',
      runId: info['run_id'],
      server: info['server_name'] ?? 'redis',
      version: info['valkey_version'] ?? info['redis_version'],
      redisVersion: info['redis_version'],
      usedMemoryBytes: numberOf(info['used_memory']),
      maxMemoryBytes: numberOf(info['maxmemory']),
      machineMemoryBytes: numberOf(info['total_system_memory']),
      evictionPolicy: info['maxmemory_policy'],
      appendOnly: info['aof_enabled'] === undefined ? undefined : info['aof_enabled'] === '1',
      appendSync,
      snapshots,
      nodeTimeoutMs: numberOf(nodeTimeout),
      replicas: numberOf(info['connected_slaves']),
      minReplicasToWrite: numberOf(minReplicas),
      clockAheadMs: timeOf(time) === undefined ? undefined : (timeOf(time) as number) - midpoint,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { ...UNKNOWN, address: node.address, primary, unreachable: reason }
  }
}

const UNKNOWN: ServerNode = {
  address: '',
  unreachable: '',
  primary: false,
  runId: undefined,
  server: 'redis',
  version: undefined,
  redisVersion: undefined,
  usedMemoryBytes: undefined,
  maxMemoryBytes: undefined,
  machineMemoryBytes: undefined,
  evictionPolicy: undefined,
  appendOnly: undefined,
  appendSync: undefined,
  snapshots: undefined,
  nodeTimeoutMs: undefined,
  replicas: undefined,
  minReplicasToWrite: undefined,
  clockAheadMs: undefined,
}

function readInfo(reply: Reply): Readonly<Record<string, string | undefined>> {
  if (typeof reply !== 'string') return {}
  const lines = reply.split('\r\n').filter((line) => line.includes(':') && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

function timeOf(reply: Reply): number | undefined {
  if (!Array.isArray(reply)) return undefined
  const [seconds, micros] = (reply as readonly Reply[]).map(Number)
  return seconds === undefined || micros === undefined ? undefined : seconds * 1_000 + micros / 1_000
}
