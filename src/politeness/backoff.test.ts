import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng, type Rng } from '../base/index.ts'
import { UNKNOWN_HEALTH, type HostHealth } from '../model/index.ts'
import { answered, isGivenUp, refused, unreachable, type Refusal } from './backoff.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const NOW = 1_700_000_000_000
const even: Rng = { next: () => 0, int: () => 0 }
const late: Rng = { next: () => 0.999_999, int: () => 0 }

const refusal = (at: number, more: Partial<Refusal> = {}): Refusal => ({
  at,
  startedAt: at - 100,
  status: 429,
  retryAfter: null,
  ...more,
})
const failure = (at: number, startedAt = at - 100) => ({
  at,
  startedAt,
  detail: 'the connection was refused',
  retryDelayMs: 1_000,
  multiplier: 2,
})
/** Health after this many refusals, each asked for at the end of the pause before. */
const afterRefusals = (count: number): { health: HostHealth; at: number } => {
  let health = UNKNOWN_HEALTH
  let at = NOW
  for (let n = 0; n < count; n++) {
    const setback = refused(health, refusal(at, { startedAt: at }), even)
    health = setback.health
    if (n < count - 1) at = setback.blockedUntil
  }
  return { health, at }
}

describe('a good answer', () => {
  test('lengthens the row of good answers, which began with the first of them', () => {
    const first = answered(UNKNOWN_HEALTH, { at: NOW, latencyMs: 100 })
    expect(first).toMatchObject({ streak: 1, streakSince: NOW })
    expect(answered(first, { at: NOW + 5, latencyMs: 100 })).toMatchObject({ streak: 2, streakSince: NOW })
  })

  test('ends a row of refusals, and keeps their strikes', () => {
    const { health } = afterRefusals(3)
    expect(answered(health, { at: NOW + DAY, latencyMs: 1 })).toMatchObject({
      streak: 1,
      streakSince: NOW + DAY,
      strikes: 3,
    })
  })

  test('is counted up to a thousand', () => {
    expect(answered({ ...UNKNOWN_HEALTH, streak: 1_000, streakSince: 1 }, { at: NOW, latencyMs: 1 }).streak).toBe(1_000)
  })

  test('moves the latency a fifth of the way, and the first one all of it', () => {
    const first = answered(UNKNOWN_HEALTH, { at: NOW, latencyMs: 100 })
    expect(first.latencyMs).toBe(100)
    expect(answered(first, { at: NOW, latencyMs: 600 }).latencyMs).toBe(200)
    expect(answered(first, { at: NOW, latencyMs: 0 }).latencyMs).toBe(80)
  })
})

describe('a refusal', () => {
  test.each([0, 1, 2, 5])(
    'after %d others in a row pauses the host twice as long for each, up to a tenth more',
    (n) => {
      const { health, at } = afterRefusals(n)
      const start = at + DAY / 2
      const pauseMs = MINUTE * 2 ** n
      expect(refused(health, refusal(start), even)).toMatchObject({ pauseMs, blockedUntil: start + pauseMs })
      const longest = refused(health, refusal(start), late).pauseMs
      expect(longest).toBeGreaterThan(pauseMs * 1.09)
      expect(longest).toBeLessThan(pauseMs * 1.1)
    },
  )

  test.each([11, 50, 5_000])('after %d others pauses it for a day and not longer', (n) => {
    const health = { ...UNKNOWN_HEALTH, strikes: n, streak: -n, streakSince: 1, blockedAt: NOW }
    expect(refused(health, refusal(NOW + DAY), late).pauseMs).toBe(DAY)
  })

  test('with a Retry-After pauses it for exactly that', () => {
    const { health, at } = afterRefusals(4)
    const asked = refused(health, refusal(at + DAY / 2, { retryAfter: '7', status: 503 }), late)
    expect(asked).toMatchObject({ pauseMs: 7_000, blockedReason: 'HTTP 503, Retry-After 7s' })
    expect(asked.health.strikes).toBe(5)
  })

  test.each([['-1'], ['1.5'], ['soon'], ['']])('with a Retry-After of %j is one without', (retryAfter) => {
    const setback = refused(UNKNOWN_HEALTH, refusal(NOW, { retryAfter }), even)
    expect(setback).toMatchObject({ pauseMs: MINUTE, blockedReason: 'HTTP 429' })
  })

  test('ends a row of good answers', () => {
    const good = answered(UNKNOWN_HEALTH, { at: NOW - 1_000, latencyMs: 50 })
    const { health } = refused(good, refusal(NOW), even)
    expect(health).toEqual({ strikes: 1, streak: -1, streakSince: NOW, blockedAt: NOW, latencyMs: 50 })
  })

  test('of a request that was under way when the host was paused counts nothing, but may ask for longer', () => {
    const { health } = refused(UNKNOWN_HEALTH, refusal(NOW), even)
    const again = refused(health, refusal(NOW + 30, { startedAt: NOW - 1, retryAfter: '300' }), even)
    expect(again.health).toEqual(health)
    expect(again.blockedUntil).toBe(NOW + 30 + 300_000)
    expect(refused(health, refusal(NOW + 30, { startedAt: NOW - 1 }), even).pauseMs).toBe(MINUTE)
    expect(refused(health, refusal(NOW + 30, { startedAt: NOW }), even).health.strikes).toBe(2)
  })

  test('is the first again when the host has answered well for ten minutes since its pause', () => {
    const { health, at } = afterRefusals(3)
    const well = answered(health, { at: at + 4 * MINUTE, latencyMs: 1 })
    const soon = at + 14 * MINUTE - 1
    expect(refused(well, refusal(soon), even)).toMatchObject({ pauseMs: 8 * MINUTE, health: { strikes: 4 } })
    expect(refused(well, refusal(soon + 1), even)).toMatchObject({ pauseMs: MINUTE, health: { strikes: 1 } })
  })

  test('is the first again when nobody asked the host for longer than any pause', () => {
    const { health, at } = afterRefusals(3)
    expect(refused(health, refusal(at + DAY + 10 * MINUTE - 1), even).health.strikes).toBe(4)
    expect(refused(health, refusal(at + DAY + 10 * MINUTE), even).health.strikes).toBe(1)
  })

  test('that asks for no wait is believed four times in a row, and then paused for longer each time', () => {
    let health = UNKNOWN_HEALTH
    const pauses: number[] = []
    for (let n = 0; n < 8; n++) {
      const setback = refused(
        health,
        refusal(NOW + n * 10_000, { retryAfter: n % 2 === 0 ? '0' : 'Thu Jan  1 00:00:00 1970' }),
        even,
      )
      pauses.push(setback.pauseMs)
      health = setback.health
    }
    expect(pauses).toEqual([0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000])
  })
})

describe('a failed connection', () => {
  test('keeps us away from the host for a while, for longer each time in a row, five minutes at most', () => {
    let health = UNKNOWN_HEALTH
    const pauses: number[] = []
    for (let n = 0; n < 12; n++) {
      const at = NOW + n * 600_000
      const setback = unreachable(health, failure(at), even)
      expect(setback).toMatchObject({ blockedUntil: at + setback.pauseMs, blockedReason: 'the connection was refused' })
      pauses.push(setback.pauseMs / 1_000)
      health = setback.health
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    expect(health).toMatchObject({ strikes: 0, streak: -12, streakSince: NOW })
  })

  test('is a little late, never early', () => {
    const { pauseMs } = unreachable(UNKNOWN_HEALTH, failure(NOW), late)
    expect(pauseMs).toBeGreaterThan(1_090)
    expect(pauseMs).toBeLessThan(1_100)
  })

  test('that was under way with another counts once', () => {
    const { health } = unreachable(UNKNOWN_HEALTH, failure(NOW), even)
    const again = unreachable(health, failure(NOW + 10, NOW - 50), even)
    expect(again).toMatchObject({ health, pauseMs: 1_000 })
  })

  test('without a delay between retries is no pause, however long the row', () => {
    const health = { ...UNKNOWN_HEALTH, streak: -999 }
    expect(unreachable(health, { ...failure(NOW), retryDelayMs: 0, multiplier: 10 }, even).pauseMs).toBe(0)
  })
})

describe('giving up', () => {
  const row = (streak: number): HostHealth => ({ ...UNKNOWN_HEALTH, streak, streakSince: NOW })

  test('takes five refusals or failures in a row, and a row as long as patience', () => {
    expect(isGivenUp(row(-5), NOW + MINUTE, MINUTE)).toBe(true)
    expect(isGivenUp(row(-5), NOW + MINUTE - 1, MINUTE)).toBe(false)
    expect(isGivenUp(row(-4), NOW + DAY, MINUTE)).toBe(false)
    expect(isGivenUp(row(500), NOW + DAY, 0)).toBe(false)
  })

  test('never happens without a patience', () => {
    expect(isGivenUp(row(-1_000), NOW + 1_000 * DAY, undefined)).toBe(false)
  })
})

test('whatever a host does, pauses are bounded, rows have their sign, and each pause counts once', () => {
  const step = fc.record({
    kind: fc.constantFrom('answered', 'refused', 'unreachable'),
    afterMs: fc.integer({ min: 0, max: DAY }),
    tookMs: fc.integer({ min: 0, max: 60_000 }),
    retryAfter: fc.option(fc.oneof(fc.nat(200_000).map(String), fc.string()), { nil: null }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer(), (steps, seed) => {
      const rng = createRng(seed)
      let health = UNKNOWN_HEALTH
      let at = NOW
      for (const { kind, afterMs, tookMs, retryAfter } of steps) {
        at += afterMs
        const startedAt = at - tookMs
        const before = health
        if (kind === 'answered') {
          health = answered(health, { at, latencyMs: tookMs })
          expect(health.streak).toBe(Math.max(before.streak, 0) + 1)
          expect(health.latencyMs).toBeLessThanOrEqual(60_000)
          continue
        }
        const setback =
          kind === 'refused'
            ? refused(health, refusal(at, { startedAt, retryAfter }), rng)
            : unreachable(health, failure(at, startedAt), rng)
        health = setback.health
        expect(setback.pauseMs).toBeGreaterThanOrEqual(0)
        expect(setback.pauseMs).toBeLessThanOrEqual(kind === 'refused' ? DAY : 5 * MINUTE)
        if (startedAt < before.blockedAt) expect(health).toEqual({ ...before, strikes: health.strikes })
        else expect(health.streak).toBe(Math.min(before.streak, 0) - 1)
        expect(health.strikes).toBeLessThanOrEqual(before.strikes + 1)
        expect(health.streakSince).toBeLessThanOrEqual(at)
      }
    }),
  )
})
