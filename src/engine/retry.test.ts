import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../base/index.ts'
import type { Task } from '../model/index.ts'
import type { TaskContext } from './context.ts'
import { retryAfterMs, retryLater } from './retry.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ])('%j is a wait of %d ms', (value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected)
  })

  test.each([null, '', 'soon', '-5', '1.5', '1e9', '99999999999', 'Thu, 99 Foo', '2026-01-01'])(
    '%j says nothing',
    (value) => {
      expect(retryAfterMs(value, NOW)).toBeUndefined()
    },
  )

  test('no value makes it throw or wait a negative time', () => {
    fc.assert(fc.property(fc.string(), (value) => (retryAfterMs(value, NOW) ?? 0) >= 0))
  })
})

describe('a failed attempt', () => {
  const clock = createVirtualClock()
  const settings = { attempts: 3, retryDelayMs: 1_000, backoffMultiplier: 2 }
  const context = { settings, clock, rng: createRng(1) } as unknown as TaskContext
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
})
