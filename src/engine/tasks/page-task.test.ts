import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import type { FetchError, FetchOutcome, FetchRequest } from '../../fetch/index.ts'
import { UNKNOWN_HEALTH, type HostHealth, type Task } from '../../model/index.ts'
import type { TaskContext, TaskResult } from './context.ts'
import { runPageTask } from './page-task.ts'
import { runSitemapTask } from './sitemap-task.ts'

const clock = createVirtualClock()
const now = clock.now()
const failure: FetchError = {
  kind: 'error',
  code: 'connect',
  detail: 'there is no route to the host',
  retryable: true,
  offline: true,
  sent: false,
  startedAt: now,
  answeredAt: now,
}

interface Setting {
  readonly connection?: 'up' | 'unknown' | 'down'
  readonly attempts?: number
  readonly health?: HostHealth
  readonly address?: string | null
  readonly robotsVersion?: string
}

/** Runs a task whose request comes to this outcome; answers what was asked of the registry and of the fetcher, too. */
async function run(kind: 'page' | 'sitemap', outcome: FetchOutcome, setting: Setting = {}) {
  const { connection = 'up', attempts = 0, health = UNKNOWN_HEALTH, address = null, robotsVersion = null } = setting
  const requests: FetchRequest[] = []
  const versions: unknown[] = []
  const context = {
    settings: { attempts: 3, retryDelayMs: 1_000, backoffMultiplier: 2, patienceMs: 1_000 },
    clock,
    rng: createRng(1),
    fetcher: {
      fetch: async (request: FetchRequest) => {
        requests.push(request)
        return outcome
      },
    },
    registry: {
      verdict: async (_: string, version: unknown) => {
        versions.push(version)
        return { allowed: true, detail: '' }
      },
    },
    connection: () => connection,
    lease: { delayMs: 0, health, address, robotsVersion },
  } as unknown as TaskContext
  const task = { kind, url: 'https://a.test/x', depth: 0, redirects: 0, attempts } as Task
  const result: TaskResult = await (kind === 'page' ? runPageTask(task, context) : runSitemapTask(task, context))
  return { result, requests, versions }
}

describe.each(['page', 'sitemap'] as const)('a %s', (kind) => {
  test('is checked against the rules of its lease, and asked at the address of its lease', async () => {
    const { requests, versions } = await run(kind, { kind: 'aborted' }, { address: '192.0.2.1', robotsVersion: 'abc' })
    expect(requests).toMatchObject([{ url: 'https://a.test/x', address: '192.0.2.1' }])
    expect(versions).toEqual(['abc'])
    expect((await run(kind, { kind: 'aborted' })).requests[0]).not.toHaveProperty('address')
  })

  test('of a host that has moved goes back, with the new address', async () => {
    const { result } = await run(kind, { kind: 'elsewhere', address: '192.0.2.7' }, { address: '192.0.2.1' })
    expect(result).toEqual({ outcome: { kind: 'returned' }, host: { address: '192.0.2.7' } })
  })

  test('that could not be asked for opens the circuit of its host', async () => {
    const { result } = await run(kind, { ...failure, offline: false, sent: true })
    expect(result).toMatchObject({
      outcome: { kind: 'retry', counts: true },
      answeredAt: now,
      host: { blockedReason: 'there is no route to the host', health: { streak: -1, strikes: 0 } },
    })
    expect(result.host?.blockedUntil).toBeGreaterThanOrEqual(now + 1_000)
  })

  test.each(['unknown', 'down'] as const)('says nothing of its host while the network is %s', async (connection) => {
    for (const attempts of [0, 2]) {
      const { result } = await run(kind, failure, { connection, attempts })
      expect(result.host).toBeUndefined()
      expect(result.outcome.kind).not.toBe('failed')
    }
  })

  test.each([429, 503])('whose answer of %d broke off pauses its host all the same', async (status) => {
    const { result } = await run(kind, { ...failure, code: 'protocol', offline: false, sent: true, status })
    expect(result).toMatchObject({ outcome: { kind: 'retry', counts: false }, host: { health: { strikes: 1 } } })
    expect(result.host?.blockedUntil).toBeGreaterThanOrEqual(now + 60_000)
  })

  test('whose answer of 200 broke off has a host that answers', async () => {
    const { result } = await run(kind, { ...failure, code: 'protocol', offline: false, sent: true, status: 200 })
    expect(result).toMatchObject({ outcome: { kind: 'retry', counts: true }, host: { health: { streak: 1 } } })
    expect(result.host?.blockedUntil).toBeUndefined()
  })

  test('of a host that is given up is skipped without being asked', async () => {
    const health = { ...UNKNOWN_HEALTH, streak: -5, streakSince: now - 1_000 }
    const { result, requests } = await run(kind, { kind: 'aborted' }, { health })
    expect(result.outcome).toEqual({ kind: 'skipped', reason: 'host-unavailable' })
    expect(requests).toEqual([])
  })
})
