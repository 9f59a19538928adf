import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { startCluster, type RedisCluster } from '../../../test/support/redis/cluster.ts'
import { createFaultyProxy } from '../../../test/support/redis/faulty-proxy.ts'
import { freePorts } from '../../../test/support/redis/free-port.ts'
import { startRedis, type RedisServer, type RedisServerOptions } from '../../../test/support/redis/server.ts'
import { sharedCluster, sharedRedis } from '../../../test/support/redis/shared.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../test/support/redis/test-certificate.ts'
import { until } from '../../../test/support/redis/until.ts'
import { createRng, createSystemClock } from '../../base/index.ts'
import { connectRedis, type RedisConnection, type RedisOptions } from './connection.ts'
import { hashSlot } from './hash-slot.ts'
import type { LinkTrouble, Script } from './link.ts'

const script = (text: string): Script => ({
  name: 'test',
  text,
  sha: createHash('sha1').update(text).digest('hex'),
})
/** A request that does no harm when it is sent twice, as all of ours: a member of a set. */
const ADD = script('redis.call("SADD", KEYS[1], ARGV[1]) return ARGV[1]')
const COUNT = script('return redis.call("SCARD", KEYS[1])')
const ECHO = script('return ARGV')

const openEnds: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of openEnds.splice(0).toReversed()) await close()
})
function link(url: string, options: Partial<RedisOptions> = {}): RedisConnection {
  const connection = connectRedis(url, { clock: createSystemClock(), rng: createRng(1), ...options })
  openEnds.push(() => connection.close())
  return connection
}
async function server(options: RedisServerOptions = {}): Promise<RedisServer> {
  const started = await startRedis(options)
  openEnds.push(() => started.close())
  return started
}
async function proxy(target: RedisServer): Promise<Awaited<ReturnType<typeof createFaultyProxy>>> {
  const made = await createFaultyProxy(target.port)
  openEnds.push(() => made.close())
  return made
}
function troubles(connection: RedisConnection): LinkTrouble[] {
  const told: LinkTrouble[] = []
  connection.onTrouble((trouble) => told.push(trouble))
  return told
}
const kinds = (told: readonly LinkTrouble[]): string[] => told.map(({ kind }) => kind)
const freshKey = (): string => `tiptoe:{${randomUUID()}}:test`

describe('a link to one server', () => {
  test('runs a script that the server does not know, and decodes text, numbers, lists and nothing', async () => {
    const connection = link(await sharedRedis())
    const text = `return { 7, ARGV[1], false, { KEYS[1], '' } } -- ${randomUUID()}`
    for (let time = 0; time < 2; time++)
      expect(await connection.run(script(text), ['k'], ['ü€ 漢'])).toEqual([7, 'ü€ 漢', null, ['k', '']])
  })

  test('goes on when the server has forgotten its scripts', async () => {
    const own = await server()
    const connection = link(own.url)
    expect(await connection.run(ECHO, ['k'], ['a'])).toEqual(['a'])
    await own.cli('script', 'flush')
    expect(await connection.run(ECHO, ['k'], ['b'])).toEqual(['b'])
  })

  test('keeps the order and the number of ten thousand scripts under way', async () => {
    const connection = link(await sharedRedis())
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 10_000 }, (_, index) => connection.run(ADD, [key], [index])))
    expect(answers).toEqual(Array.from({ length: 10_000 }, (_, index) => String(index)))
    expect(await connection.run(COUNT, [key], [])).toBe(10_000)
  })

  test('turns what a script refuses into an error of the store, in its own words', async () => {
    const connection = link(await sharedRedis())
    const refuse = script("return redis.error_reply('TIPTOE the crawl is of a newer version')")
    await expect(connection.run(refuse, ['k'], [])).rejects.toMatchObject({
      code: 'store',
      message: 'the crawl is of a newer version',
    })
    await expect(connection.run(script("error({ err = 'TIPTOE lost' })"), ['k'], [])).rejects.toThrow(/^lost$/)
    await expect(connection.run(script('return nonsense.x'), ['k'], [])).rejects.toMatchObject({ code: 'store' })
  })

  test('sends a script again when its reply was lost', async () => {
    const own = await server()
    const way = await proxy(own)
    const connection = link(way.url)
    const key = freshKey()
    await connection.run(ADD, [key], ['first'])
    way.cutReplies(1)
    expect(await connection.run(ADD, [key], ['second'])).toBe('second')
    expect(way.cuts).toBe(1)
    expect(await connection.run(COUNT, [key], [])).toBe(2)
  })

  test('loses nothing on a way that delays, cuts by chance and doubles', async () => {
    const own = await server()
    const way = await proxy(own)
    way.set({ delayMs: 1, cutChance: 0.05, double: true })
    const connection = link(way.url)
    const key = freshKey()
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 10 }, (_, index) => connection.run(ADD, [key], [`${round} ${index}`])))
    expect(way.cuts).toBeGreaterThan(0)
    expect(await connection.run(COUNT, [key], [])).toBe(200)
  })

  test('says once that the server is away and once that it is back, and finishes what waited', async () => {
    const own = await server()
    const connection = link(own.url)
    const told = troubles(connection)
    await connection.run(ECHO, ['k'], ['before'])
    await own.kill()
    const waiting = [connection.run(ECHO, ['k'], ['one']), connection.run(ECHO, ['k'], ['two'])]
    await until(() => told.length > 0, 10_000, 'trouble is told')
    expect(told).toEqual([{ kind: 'lost', detail: expect.stringContaining('cannot be reached') }])
    await own.restart()
    expect(await Promise.all(waiting)).toEqual([['one'], ['two']])
    expect(kinds(told)).toEqual(['lost', 'back'])
  })

  test('notices a server that accepts connections and answers nothing', async () => {
    const own = await server()
    const connection = link(own.url)
    const told = troubles(connection)
    await connection.run(ECHO, ['k'], ['before'])
    own.freeze()
    const waiting = connection.run(ECHO, ['k'], ['after'])
    await until(() => told.length > 0, 10_000, 'trouble is told')
    expect(told[0]).toEqual({ kind: 'lost', detail: expect.stringContaining('does not answer') })
    own.thaw()
    expect(await waiting).toEqual(['after'])
    expect(kinds(told)).toEqual(['lost', 'back'])
  })

  test('gets out of a connection that a frozen way keeps half open', async () => {
    const own = await server()
    const way = await proxy(own)
    const connection = link(way.url, { silenceMs: 500 })
    await connection.run(ECHO, ['k'], ['before'])
    way.freeze()
    const waiting = connection.run(ECHO, ['k'], ['after'])
    await until(() => way.cuts > 1, 10_000, 'the connection was given up and made anew')
    way.thaw()
    expect(await waiting).toEqual(['after'])
  })

  test('waits while the server is out of memory, and says so', async () => {
    const own = await server()
    const connection = link(own.url)
    const told = troubles(connection)
    await connection.run(ECHO, ['k'], ['before'])
    await own.cli('config', 'set', 'maxmemory', '1')
    const waiting = connection.run(ADD, ['k'], ['a'])
    await until(() => told.length > 0, 10_000, 'trouble is told')
    expect(told).toEqual([{ kind: 'lost', detail: 'out of memory' }])
    await own.cli('config', 'set', 'maxmemory', '0')
    expect(await waiting).toBe('a')
    expect(kinds(told)).toEqual(['lost', 'back'])
  })

  test('gives up in its own words when it is less patient than the trouble lasts', async () => {
    const own = await server({ args: ['--maxmemory', '1'] })
    const connection = link(own.url, { patienceMs: 100 })
    await expect(connection.run(ADD, ['k'], ['a'])).rejects.toMatchObject({
      code: 'store',
      message: `${own.url} cannot be used: out of memory`,
    })
    const [port] = await freePorts(1)
    await expect(link(`redis://127.0.0.1:${port}`, { firstPatienceMs: 100 }).run(ECHO, ['k'], [])).rejects.toThrow(
      /cannot be used: .*ECONNREFUSED/,
    )
  })

  test('refuses at once what waiting does not mend, and never repeats the password', async () => {
    const own = await server({ password: 'right one' })
    const place = `127.0.0.1:${own.port}`
    const wrong = 'redis://:very-secret@'
    for (const url of [`${wrong}${place}`, `redis://${place}`, `redis://nobody:very-secret@${place}`]) {
      const error: unknown = await link(url)
        .run(ECHO, ['k'], [])
        .then(undefined, (reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'store', hint: expect.stringContaining('TIPTOE_STORE_PASSWORD') })
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('very-secret')
    }
    expect(await link(own.url).run(ECHO, ['k'], ['in'])).toEqual(['in'])
    expect(await link(`redis://${place}`, { password: 'right one' }).run(ECHO, ['k'], ['in'])).toEqual(['in'])
    await expect(link(`${own.url}/99`).run(ECHO, ['k'], [])).rejects.toThrow(/no such database/)
    await own.cli('acl', 'setuser', 'reader', 'on', '>pass', '~*', '+get')
    await expect(link(`redis://reader:pass@${place}`).run(ECHO, ['k'], [])).rejects.toThrow(/may not do/)
  })

  test('speaks TLS with a server whose authority it knows, and with no other', async () => {
    const own = await server({ tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } })
    const trusting = link(own.url, { tls: { authority: TEST_CERTIFICATE } })
    expect(await trusting.run(ECHO, ['k'], ['safe'])).toEqual(['safe'])
    await expect(link(own.url).run(ECHO, ['k'], [])).rejects.toThrow(/certificate of .* is not trusted/)
    expect(await link(own.url, { tls: { insecure: true } }).run(ECHO, ['k'], ['any'])).toEqual(['any'])
    const plain = await sharedRedis()
    const hasty = link(plain.replace('redis:', 'rediss:'), { silenceMs: 300, firstPatienceMs: 100 })
    await expect(hasty.run(ECHO, ['k'], [])).rejects.toThrow(/no answer to the TLS handshake/)
  })

  test('lets nothing wait once it is closed', async () => {
    const [port] = await freePorts(1)
    const silent = createServer().listen(port, '127.0.0.1')
    openEnds.push(() => new Promise((resolve) => silent.close(() => resolve())))
    const dead = link('redis://127.0.0.1:1')
    const mute = link(`redis://127.0.0.1:${port}`)
    const waiting = [dead.run(ECHO, ['k'], []), mute.run(ECHO, ['k'], [])]
    const ended = Promise.allSettled(waiting)
    await Promise.all([dead.close(), mute.close()])
    for (const result of await ended) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store' } })
    await expect(dead.run(ECHO, ['k'], [])).rejects.toThrow(/was closed/)
  })

  test('tells what the server is, and what it may not ask is unknown', async () => {
    const own = await server({ args: ['--appendonly', 'yes', '--maxmemory', '100mb'] })
    const connection = link(own.url)
    expect(await connection.serverReport()).toMatchObject({
      cluster: false,
      nodes: [
        {
          address: `127.0.0.1:${own.port}`,
          primary: true,
          runId: expect.stringMatching(/^[0-9a-f]{40}$/),
          redisVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
          maxMemoryBytes: 104_857_600,
          evictionPolicy: 'noeviction',
          appendOnly: true,
          appendSync: 'everysec',
          replicas: 0,
        },
      ],
    })
    expect(await connection.nodeTimeoutMs()).toBe(0)
    await own.cli('acl', 'setuser', 'plain', 'on', '>pass', '~*', '+@all', '-config', '-info')
    const plain = link(own.url.replace('redis://', 'redis://plain:pass@'))
    expect((await plain.serverReport()).nodes[0]).toMatchObject({ appendSync: undefined, evictionPolicy: undefined })
    expect(await plain.nodeTimeoutMs()).toBe(15_000)
  })
})

describe('a link to a cluster', () => {
  let own: RedisCluster | undefined
  afterAll(() => own?.close())
  const cluster = async (): Promise<RedisCluster> => (own ??= await startCluster())

  test('sends each script to the node that has its keys, by either form of the URL', async () => {
    const url = await sharedCluster()
    const one = `redis://${url.slice('redis-cluster://'.length).split(',', 1)[0]}`
    for (const form of [url, one]) {
      const connection = link(form)
      const keys = Array.from({ length: 50 }, freshKey)
      await Promise.all(keys.map((key) => connection.run(ADD, [key], ['a'])))
      expect(await Promise.all(keys.map((key) => connection.run(COUNT, [key], [])))).toEqual(keys.map(() => 1))
      const report = await connection.serverReport()
      expect(report).toMatchObject({ cluster: true, clusterState: 'ok', slotsCovered: 16_384 })
      // Replicas that heard nothing yet are not named by the cluster; their primaries know them.
      expect(report.nodes.filter(({ primary }) => primary).map(({ replicas }) => replicas)).toEqual([1, 1, 1])
      expect(await connection.nodeTimeoutMs()).toBe(2_000)
    }
  })

  test('follows a slot that moves in mid-traffic, and loses nothing', async () => {
    const nodes = await cluster()
    const connection = link(nodes.url)
    const key = freshKey()
    const slot = hashSlot(key)
    const from = await nodes.primaryOf(slot)
    const to = await nodes.primaryOf((slot + 8_192) % 16_384)
    expect(to.port).not.toBe(from.port)
    let sent = 0
    const moved = new AbortController()
    const traffic = (async () => {
      while (!moved.signal.aborted)
        await Promise.all(Array.from({ length: 5 }, () => connection.run(ADD, [key], [sent++])))
    })()
    await nodes.moveSlot(slot, to)
    const atMove = sent
    await until(() => sent > atMove + 50, 10_000, 'traffic goes on at the new node')
    moved.abort()
    await traffic
    expect(await connection.run(COUNT, [key], [])).toBe(sent)
    expect((await nodes.primaryOf(slot)).port).toBe(to.port)
  })

  test('goes to the replica that takes over in order, and runs scripts that it never saw', async () => {
    const nodes = await cluster()
    const connection = link(nodes.url)
    const key = freshKey()
    await connection.run(ADD, [key], ['before'])
    const primary = await nodes.primaryOf(hashSlot(key))
    const heir = await nodes.failover(primary)
    await heir.cli('script', 'flush')
    await connection.run(ADD, [key], ['after'])
    expect(await connection.run(COUNT, [key], [])).toBe(2)
    expect((await nodes.primaryOf(hashSlot(key))).port).toBe(heir.port)
    await nodes.settled()
  })

  test('waits for the replica of a primary that was killed, and for one that froze', { timeout: 90_000 }, async () => {
    const nodes = await cluster()
    const connection = link(nodes.url, { silenceMs: 2_000 })
    const told = troubles(connection)
    const key = freshKey()
    await connection.run(ADD, [key], ['before'])
    const primary = await nodes.primaryOf(hashSlot(key))
    await primary.kill()
    await connection.run(ADD, [key], ['killed'])
    expect(kinds(told)).toEqual(['lost', 'back'])
    await primary.restart()
    await nodes.settled()

    const heir = await nodes.primaryOf(hashSlot(key))
    expect(heir.port).not.toBe(primary.port)
    heir.freeze()
    await connection.run(ADD, [key], ['frozen'])
    expect(kinds(told)).toEqual(['lost', 'back', 'lost', 'back'])
    heir.thaw()
    await nodes.settled()
  })

  test('goes through the proxies that its nodes announce, and through cuts of them', async () => {
    const proxies: Awaited<ReturnType<typeof createFaultyProxy>>[] = []
    const nodes = await startCluster({
      replicas: 0,
      announce: async (port) => {
        const way = await createFaultyProxy(port, port)
        proxies.push(way)
        return way.port
      },
    })
    openEnds.push(() => nodes.close())
    for (const way of proxies) openEnds.push(() => way.close())
    const connection = link(nodes.url)
    const keys = Array.from({ length: 20 }, freshKey)
    await Promise.all(keys.map((key) => connection.run(ADD, [key], ['first'])))
    for (const way of proxies) way.set({ cutChance: 0.05, double: true })
    let rounds = 0
    // Chance decides what is cut: it goes on until each of them has been.
    for (; rounds < 10 || (rounds < 300 && proxies.some(({ cuts }) => cuts === 0)); rounds++) {
      await Promise.all(keys.map((key) => connection.run(ADD, [key], [rounds])))
    }
    for (const way of proxies) way.set({ cutChance: 0, double: false })
    expect(await Promise.all(keys.map((key) => connection.run(COUNT, [key], [])))).toEqual(keys.map(() => rounds + 1))
    expect(proxies.every(({ cuts }) => cuts > 0)).toBe(true)
  })
})

test('a replica that is held up behind a proxy knows nothing of what its primary answered', async () => {
  const primary = await server()
  const way = await proxy(primary)
  const replica = await server({ args: ['--replicaof', '127.0.0.1', String(way.port)] })
  const connection = link(primary.url)
  await connection.run(ADD, ['k'], ['heard'])
  await until(async () => (await replica.cli('scard', 'k')) === '1', 10_000, 'the replica follows')
  way.set({ replicaBytesPerSecond: 0 })
  await connection.run(ADD, ['k'], ['not heard'])
  expect(await connection.nodeTimeoutMs()).toBe(15_000)
  await primary.kill()
  await replica.cli('replicaof', 'no', 'one')
  expect(await link(replica.url).run(COUNT, ['k'], [])).toBe(1)
})
