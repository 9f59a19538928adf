import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { freePorts } from '../../../test/support/redis/free-port.ts'
import { startRedis, type RedisServer } from '../../../test/support/redis/server.ts'
import { sharedCluster } from '../../../test/support/redis/shared.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../test/support/redis/test-certificate.ts'
import { createSystemClock } from '../../base/index.ts'
import type { ServerNode, ServerReport } from '../../frontier/index.ts'
import { judgeStore } from '../store-check.ts'
import { runCommand } from '../test-support/run-command.ts'
import { checkFiles, checkFolder, checkMemory, checkNode, checkTime, type Check } from './doctor.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-doctor-test-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('tiptoe doctor', () => {
  test('finds that the machine which runs the tests can crawl', async () => {
    const ran = await runCommand(['doctor', '--json'])
    const checks = ran.json() as unknown as Check[]
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['node', 'sqlite', 'folder', 'disk', 'files', 'memory', 'clock', 'protocols', 'dns']),
    )
    expect(checks.filter(({ state }) => state === 'problem')).toEqual([])
    expect(ran.code).toBe(0)
    expect((await runCommand(['doctor'])).stdout).toMatch(/^ok +node +\d+\.\d+\.\d+$/m)
  })

  test('leaves nothing behind in a folder that it tries, and tells one that cannot be written to', async () => {
    const clock = createSystemClock()
    expect((await checkFolder(root, clock))[0]).toMatchObject({ state: 'ok' })
    expect(readdirSync(root)).toEqual([])
    const missing = join(root, 'missing')
    expect(await checkFolder(missing, clock)).toMatchObject([
      { state: 'problem', hint: expect.stringContaining('--out') },
    ])
    expect(existsSync(missing)).toBe(false)
  })

  test.each([
    [checkNode('22.18.9'), 'problem'],
    [checkNode('22.19.0'), 'ok'],
    [checkNode('24.0.0'), 'ok'],
    [checkFiles(64, 20), 'problem'],
    [checkFiles(256, 20), 'warning'],
    [checkFiles(1024, 20), 'ok'],
    [checkFiles(1024, 1000), 'problem'],
    [checkFiles(Infinity, 1000), 'ok'],
    [checkFiles(undefined, 20), 'ok'],
    [checkMemory(100e6), 'warning'],
    [checkMemory(4e9), 'ok'],
    [checkTime(0), 'problem'],
    [checkTime(Date.UTC(2026, 10, 15)), 'ok'],
  ])('judges %o', (check, state) => {
    expect(check.state).toBe(state)
    expect(check.hint === undefined).toBe(state === 'ok')
  })
})

describe('tiptoe doctor --store', () => {
  const servers: RedisServer[] = []
  afterAll(() => Promise.all(servers.map((server) => server.close())))
  const server = async (options: Parameters<typeof startRedis>[0]): Promise<RedisServer> => {
    const started = await startRedis(options)
    servers.push(started)
    return started
  }
  const examine = async (
    words: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number; checks: Check[]; text: string }> => {
    const ran = await runCommand(['doctor', '--json', '--store', ...words], env)
    return { code: ran.code, checks: ran.json() as unknown as Check[], text: ran.stdout + ran.stderr }
  }
  const stateOf = (checks: readonly Check[], word: string): string | undefined =>
    checks.find(({ name, detail }) => name === word || detail.includes(word))?.state

  test('says that a server without persistence can be used, and what a restart of it would cost', async () => {
    const { url } = await server({})
    const { code, checks } = await examine([url])
    expect(code).toBe(0)
    expect(checks).toContainEqual({
      name: 'promise',
      state: 'warning',
      detail: 'a restart without AOF loses the crawl: it will be noticed and reported, not continued',
      hint: 'set appendonly yes, appendfsync everysec',
    })
    expect(stateOf(checks, 'store')).toBe('ok')
    expect(stateOf(checks, 'no failover')).toBe('warning')
  })

  test('finds a server with a log, over TLS and with a password, as it should be', async () => {
    const own = await server({
      args: ['--appendonly', 'yes'],
      password: 'very-secret',
      tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY },
    })
    const authority = join(root, 'authority.pem')
    writeFileSync(authority, TEST_CERTIFICATE)
    const words = [`rediss://127.0.0.1:${own.port}`, '--store-ca', authority]
    const { code, checks, text } = await examine(words, { TIPTOE_STORE_PASSWORD: 'very-secret' })
    expect(code).toBe(0)
    expect(stateOf(checks, 'a restart loses nothing')).toBe('ok')
    expect(text).not.toContain('very-secret')

    const wrong = await examine(words, { TIPTOE_STORE_PASSWORD: 'very-wrong' })
    expect(wrong.code).toBe(3)
    expect(wrong.checks).toContainEqual(expect.objectContaining({ name: 'store', state: 'problem' }))
    expect(wrong.text).not.toContain('very-wrong')
    expect((await examine(words.slice(0, 1))).code).toBe(3)
  })

  test('counts the servers of a cluster', async () => {
    const { code, checks } = await examine([await sharedCluster()])
    expect(code).toBe(0)
    expect(checks).toContainEqual({ name: 'topology', state: 'ok', detail: 'a cluster of 3 primaries and 3 replicas' })
    expect(stateOf(checks, 'a replica takes over')).toBe('ok')
    expect(stateOf(checks, 'all rest for 2s and the lease time')).toBe('ok')
  })

  test('refuses a server that throws keys away, one that follows another, and one that is not there', async () => {
    const forgetful = await server({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] })
    const evicting = await examine([forgetful.url])
    expect(evicting.code).toBe(3)
    expect(stateOf(evicting.checks, 'eviction')).toBe('problem')

    const follower = await server({ args: ['--replicaof', '127.0.0.1', String(forgetful.port)] })
    const following = await examine([follower.url])
    expect(following.code).toBe(3)
    expect(stateOf(following.checks, 'topology')).toBe('problem')

    const [port] = await freePorts(1)
    const absent = await examine([`redis://127.0.0.1:${port}`])
    expect(absent.code).toBe(3)
    expect(absent.checks).toContainEqual(expect.objectContaining({ name: 'store', state: 'problem' }))
  })

  const node: ServerNode = {
    address: 'a:1',
    unreachable: undefined,
    primary: true,
    runId: 'id',
    server: 'redis',
    version: '7.2.4',
    redisVersion: '7.2.4',
    usedMemoryBytes: 1e6,
    maxMemoryBytes: 1e9,
    machineMemoryBytes: 8e9,
    evictionPolicy: 'noeviction',
    appendOnly: true,
    appendSync: 'everysec',
    snapshots: '',
    nodeTimeoutMs: 15_000,
    replicas: 1,
    minReplicasToWrite: 0,
    clockAheadMs: 1,
  }
  const cluster: ServerReport = { cluster: true, clusterState: 'ok', slotsCovered: 16_384, nodes: [node] }
  const single: ServerReport = { cluster: false, clusterState: undefined, slotsCovered: undefined, nodes: [node] }

  test('has nothing to say against a cluster that is as it should be', () => {
    const checks = judgeStore('redis://a:1', cluster)
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(checks.some(({ hint }) => hint !== undefined)).toBe(false)
  })

  test.each<[what: string, report: ServerReport, name: string, state: Check['state']]>([
    ['an old version', { ...single, nodes: [{ ...node, redisVersion: '6.2.14' }] }, 'store', 'problem'],
    ['an unknown version', { ...single, nodes: [{ ...node, redisVersion: undefined }] }, 'store', 'warning'],
    ['a cluster that is down', { ...cluster, clusterState: 'fail' }, 'topology', 'problem'],
    ['slots without a server', { ...cluster, slotsCovered: 16_000 }, 'topology', 'problem'],
    ['a server out of reach', { ...cluster, nodes: [node, { ...node, unreachable: 'gone' }] }, 'topology', 'warning'],
    [
      'eviction of some keys',
      { ...single, nodes: [{ ...node, evictionPolicy: 'volatile-lru' }] },
      'eviction',
      'warning',
    ],
    ['snapshots alone', { ...single, nodes: [{ ...node, appendOnly: false, snapshots: '60 1' }] }, 'saving', 'warning'],
    ['a log that is not forced', { ...single, nodes: [{ ...node, appendSync: 'no' }] }, 'saving', 'warning'],
    ['what may not be asked', { ...single, nodes: [{ ...node, appendOnly: undefined }] }, 'saving', 'warning'],
    ['a server that is nearly full', { ...single, nodes: [{ ...node, usedMemoryBytes: 9e8 }] }, 'room', 'warning'],
    ['clocks apart', { ...single, nodes: [{ ...node, clockAheadMs: -5_000 }] }, 'clocks', 'warning'],
  ])('tells of %s', (_, report, name, state) => {
    const found = judgeStore('redis://a:1', report).find((check) => check.name === name)
    expect(found).toMatchObject({ state, hint: expect.any(String) })
  })
})
