/** A real cluster on loopback: primaries with replicas, made with redis-cli, and what can befall it. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findRedisServer } from './find-server.ts'
import { freePorts } from './free-port.ts'
import { startRedis, type RedisServer } from './server.ts'
import { until } from './until.ts'

export interface ClusterOptions {
  /** At least 3: fewer cannot agree on a failover. */
  readonly masters?: number
  /** In all; shared out among the primaries. */
  readonly replicas?: number
  readonly nodeTimeoutMs?: number
  readonly args?: readonly string[]
  /**
   * Ports that nodes tell others to reach them by, such as those of proxies. Called once for each node before it starts;
   * nodes among themselves go straight, by their bus.
   */
  readonly announce?: (port: number) => Promise<number>
}

export interface RedisCluster {
  readonly url: string
  readonly nodes: readonly RedisServer[]
  /** The node that has a slot now, as `asked` or some node sees it. */
  primaryOf(slot: number): Promise<RedisServer>
  /** A replica of that node. */
  replicaOf(primary: RedisServer): Promise<RedisServer>
  /** In order, with nothing lost: a replica of this primary takes over. Resolves when it has, with the replica. */
  failover(primary: RedisServer): Promise<RedisServer>
  /** Moves a slot with all its keys to another primary, as operators do it. */
  moveSlot(slot: number, to: RedisServer): Promise<void>
  /** Until every node that runs says that all is well, and all agree. */
  settled(): Promise<void>
  close(): Promise<void>
}

const NODE_TIMEOUT_MS = 2_000
const SETTLE_MS = 60_000

export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { cli } = findRedisServer()
  const masters = options.masters ?? 3
  const replicas = options.replicas ?? 3
  const count = masters + replicas
  // The bus has a port of its own; its default, 10,000 above, may not exist.
  const ports = await freePorts(count * 2)
  const nodes = await Promise.all(
    ports.slice(0, count).map(async (port, index) => {
      const announced = await options.announce?.(port)
      const bus = String(ports[count + index])
      const args = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-replica-validity-factor', '0']
      args.push('--cluster-node-timeout', String(options.nodeTimeoutMs ?? NODE_TIMEOUT_MS))
      if (announced !== undefined) {
        args.push('--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', String(announced))
        args.push('--cluster-announce-bus-port', bus)
      }
      return startRedis({ port, args: [...args, ...(options.args ?? [])] })
    }),
  )
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()))
  }
  const alive = async (): Promise<RedisServer[]> => {
    const answers = await Promise.all(nodes.map((node) => node.cli('ping').catch(() => '')))
    return nodes.filter((_, index) => answers[index] === 'PONG')
  }
  const settled = (): Promise<void> =>
    until(
      async () => {
        const running = await alive()
        const states = await Promise.all(running.map((node) => node.cli('cluster', 'info')))
        const views = await Promise.all(running.map((node) => viewOf(node)))
        const followers = await Promise.all(running.map((node) => node.cli('info', 'replication')))
        return (
          states.every((state) => state.includes('cluster_state:ok')) &&
          followers.every((state) => !state.includes('master_link_status:down')) &&
          new Set(views).size === 1
        )
      },
      SETTLE_MS,
      'the cluster is settled',
    )
  const lines = async (): Promise<NodeLine[]> =>
    nodeLines(await ((await alive())[0] as RedisServer).cli('cluster', 'nodes'))
  const idOf = (node: RedisServer): Promise<string> => node.cli('cluster', 'myid')
  const byId = async (id: string): Promise<RedisServer> => {
    const running = await alive()
    const ids = await Promise.all(running.map(idOf))
    const found = running[ids.indexOf(id)]
    if (found === undefined) throw new Error(`no node ${id} runs`)
    return found
  }
  const primaryOf = async (slot: number): Promise<RedisServer> => {
    const owner = (await lines()).find(({ slots }) => slots.some(([first, last]) => slot >= first && slot <= last))
    if (owner === undefined) throw new Error(`no node has slot ${slot}`)
    return byId(owner.id)
  }
  const replicaOf = async (primary: RedisServer): Promise<RedisServer> => {
    const id = await idOf(primary)
    const replica = (await lines()).find(({ follows }) => follows === id)
    if (replica === undefined) throw new Error('it has no replica')
    return byId(replica.id)
  }

  try {
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    const each = String(Math.floor(replicas / masters))
    await promisify(execFile)(cli, ['--cluster', 'create', ...addresses, '--cluster-replicas', each, '--cluster-yes'], {
      timeout: SETTLE_MS,
    })
    await until(
      async () => (await lines()).every(({ slots, follows }) => slots.length > 0 || follows !== '-'),
      SETTLE_MS,
      'replicas follow',
    )
    await settled()
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: `redis-cluster://${nodes
      .slice(0, masters)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',')}`,
    nodes,
    primaryOf,
    replicaOf,
    async failover(primary) {
      const replica = await replicaOf(primary)
      await until(
        async () => {
          await replica.cli('cluster', 'failover')
          return (await replica.cli('role')).startsWith('master')
        },
        SETTLE_MS,
        'the replica took over',
      )
      return replica
    },
    async moveSlot(slot, to) {
      const from = await primaryOf(slot)
      const [fromId, toId] = await Promise.all([idOf(from), idOf(to)])
      if (fromId === toId) return
      await to.cli('cluster', 'setslot', String(slot), 'importing', fromId)
      await from.cli('cluster', 'setslot', String(slot), 'migrating', toId)
      for (;;) {
        const keys = (await from.cli('cluster', 'getkeysinslot', String(slot), '100')).split('\n').filter(Boolean)
        if (keys.length === 0) break
        await from.cli('migrate', '127.0.0.1', String(to.port), '', '0', '5000', 'keys', ...keys)
      }
      await to.cli('cluster', 'setslot', String(slot), 'node', toId)
      await from.cli('cluster', 'setslot', String(slot), 'node', toId)
    },
    settled,
    close,
  }
}

interface NodeLine {
  readonly id: string
  readonly follows: string
  readonly slots: readonly (readonly [first: number, last: number])[]
}

/** Reads CLUSTER NODES. */
function nodeLines(text: string): NodeLine[] {
  return text.split('\n').map((line) => {
    const [id = '', , flags = '', follows = '', , , , , ...slots] = line.split(' ')
    const own = flags.includes('fail') ? [] : slots.filter((slot) => !slot.startsWith('['))
    return {
      id,
      follows: flags.includes('fail') ? '' : follows,
      slots: own.map((range) => {
        const [first = '', last = first] = range.split('-')
        return [Number(first), Number(last)] as const
      }),
    }
  })
}

/** Who has which slots and who follows whom, in an order that does not depend on who is asked. */
const viewOf = async (node: RedisServer): Promise<string> =>
  nodeLines(await node.cli('cluster', 'nodes'))
    .filter(({ slots, follows }) => slots.length > 0 || follows !== '')
    .map(({ id, follows, slots }) => `${id} ${follows} ${slots.join(' ')}`)
    .toSorted()
    .join('\n')
