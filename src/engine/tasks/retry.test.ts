import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../../base/index.ts'
import { UNKNOWN_HEALTH, type HostHealth, type Task } from '../../model/index.ts'
import type { TaskContext } from './context.ts'
import { blameConnection, refusedByHost, retryLater } from './retry.ts'

const clock = createVirtualClock()
const settings = { attempts: 3, retryDelayMs: 1_000, backoffMultiplier: 2 }
const context = { settings, clock, rng: createRng(1) } as unknown as TaskContext

describe('a failed attempt', () => {
  const wait = (attempts: number): number | undefined => {
    const outcome = retryLater({ attempts } as Task, context)?.outcome
    return outcome?.kind === 'retry' ? outcome.notBefore - clock.now() : undefined
  }

  test('is repeated after twice as long each time, never early, until the attempts are used up', () => {
    expect(wait(0)).toBeGreaterThanOrEqual(1_000)
    expect(wait(0)).toBeLessThanOrEqual(1_100)
    expect(wait(1)).toBeGreaterThanOrEqual(2_000)
    expect(wait(1)).toBeLessThanOrEqual(2_200)
    expect(wait(2)).toBeUndefined()
  })

  test('decides nothing while this machine may have no network', () => {
    const unknown = { clock, connection: () => 'unknown' as const }
    expect(blameConnection('no route', unknown).outcome).toMatchObject({ kind: 'retry', counts: false })
    const down = { clock, connection: () => 'down' as const }
    expect(blameConnection('no route', down)).toEqual({ outcome: { kind: 'returned' }, offline: 'no route' })
  })
})

describe('a refused URL', () => {
  const now = clock.now()
  const well: HostHealth = { ...UNKNOWN_HEALTH, streak: 3, streakSince: now - 5_000 }
  const refuse = (
    status: number,
    retryAfter: string | null,
    { attempts = 0, health = UNKNOWN_HEALTH, delayMs = 1_000, most = 3 } = {},
  ) =>
    refusedByHost({ kind: 'page', attempts } as Task, { status, startedAt: now, answeredAt: now, retryAfter }, {
      ...context,
      settings: { ...settings, attempts: most },
      lease: { health, delayMs },
    } as unknown as TaskContext)

  test('waits with its host, and then lets five others go first', () => {
    expect(refuse(503, '60')).toMatchObject({
      outcome: { kind: 'retry', notBefore: now + 65_100 },
      host: { blockedUntil: now + 60_000, blockedReason: 'HTTP 503, Retry-After 1m 00s' },
    })
    expect(refuse(503, '0').outcome).toMatchObject({ notBefore: now + 5_100 })
  })

  test('waits no longer after a 429 than its host asked for, but for a moment', () => {
    expect(refuse(429, '2').outcome).toMatchObject({ notBefore: now + 4_000 })
    expect(refuse(429, '0').outcome).toMatchObject({ notBefore: now + 100 })
    expect(refuse(429, '60').outcome).toMatchObject({ notBefore: now + 65_100 })
  })

  test.each([0, 5, 1_000])('is not failed for a host that refuses, after %d attempts', (attempts) => {
    for (const status of [429, 503]) {
      expect(refuse(status, null, { attempts }).outcome).toMatchObject({ kind: 'retry', counts: false })
    }
  })

  test('is ill when it is answered 503 three times while others are answered well', () => {
    expect(refuse(503, null, { health: well, attempts: 1 }).outcome).toMatchObject({ kind: 'retry', counts: true })
    expect(refuse(503, null, { health: well, attempts: 2 })).toMatchObject({
      outcome: { kind: 'failed', code: 'http' },
      host: { health: { streak: -1 } },
    })
    expect(refuse(503, null, { health: well, attempts: 2, most: 5 }).outcome.kind).toBe('retry')
    expect(refuse(503, null, { health: well, attempts: 1, most: 1 }).outcome.kind).toBe('retry')
  })

  test('is never ill for a 429', () => {
    expect(refuse(429, null, { health: well, attempts: 50 }).outcome).toMatchObject({ kind: 'retry', counts: false })
  })
})
