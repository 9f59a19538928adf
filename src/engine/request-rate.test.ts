import { describe, expect, test } from 'vitest'
import { createRng, createVirtualClock } from '../base/index.ts'
import { createRateWindow } from './rate-window.ts'
import { createRequestRate, type PermitsWanted } from './request-rate.ts'

describe('the rate of requests', () => {
  const setup = (grants: readonly number[], { takesMs = 0, perSecond = 10 } = {}) => {
    const clock = createVirtualClock()
    const asked: (PermitsWanted & { readonly at: number })[] = []
    const startAt = clock.now()
    const rate = createRequestRate(
      async (wanted) => {
        const grant = Math.min(wanted.wanted, grants[asked.length] ?? 0)
        asked.push({ ...wanted, at: clock.now() - startAt })
        if (takesMs > 0) await clock.sleepUntil(clock.now() + takesMs)
        return grant
      },
      { clock, perSecond },
    )
    const begun: number[] = []
    const begin = (signal?: AbortSignal): Promise<void> =>
      rate.next(signal).then((until) => {
        if (until !== undefined) begun.push(clock.now() - startAt)
      })
    return { clock, asked, rate, begun, begin, startAt }
  }

  test('asks for all who wait in one call, and again after a moment for those who got none', async () => {
    const { clock, asked, begun, begin } = setup([1, 2, 1])
    for (let n = 0; n < 4; n++) void begin()
    await clock.advance(1_000)
    expect(asked.map(({ wanted, at }) => [wanted, at])).toEqual([
      [1, 0],
      [3, 25],
      [1, 50],
    ])
    expect(begun).toEqual([0, 25, 25, 50])
  })

  test('asks nobody while nobody waits', async () => {
    const { clock, asked, begin } = setup([1, 1])
    void begin()
    await clock.advance(10_000)
    expect(asked.length).toBe(1)
    void begin()
    await clock.advance(10_000)
    expect(asked.length).toBe(2)
  })

  test('asks less and less often while there are none to be had', async () => {
    const { clock, asked, begin } = setup([])
    void begin()
    await clock.advance(4_000)
    const waits = asked.map(({ at }, index) => Math.round(at - (asked[index - 1]?.at ?? 0)))
    expect(waits.slice(1)).toEqual([120, 144, 173, 208, 249, 299, 359, 430, 516, 620, 744])
    await clock.advance(8_000)
    expect(asked.at(-1)?.at).toBeCloseTo((asked.at(-2)?.at ?? 0) + 800)
  })

  test('a permit is good from before it was asked for, and one that comes too late is not used', async () => {
    const { clock, asked, begun, begin, rate, startAt } = setup([1, 1], { takesMs: 150 })
    void begin()
    await clock.advance(200)
    expect(begun).toEqual([])
    await clock.advance(2_000)
    expect(asked.map(({ goodMs }) => goodMs)).toEqual([20, 300])
    expect(begun.length).toBe(1)
    expect(begun[0]).toBeLessThanOrEqual((asked[1]?.at ?? 0) + 300)
    rate.stop()
    expect(startAt).toBeLessThan(clock.now())
  })

  test('lets go of who waits when it is aborted, and of all when it is stopped', async () => {
    const { rate } = setup([])
    const controller = new AbortController()
    const waited = [rate.next(controller.signal), rate.next()]
    controller.abort()
    expect(await waited[0]).toBeUndefined()
    rate.stop()
    expect([await waited[1], await rate.next()]).toEqual([undefined, undefined])
  })

  test('whoever waits hears that permits cannot be had any more', async () => {
    const clock = createVirtualClock()
    const rate = createRequestRate(() => Promise.reject(new Error('lost')), { clock, perSecond: 10 })
    await expect(rate.next()).rejects.toThrow('lost')
  })

  test('after one that took long, permits stay good for long a while, and then for as short as they may', async () => {
    let takesMs = 100
    const clock = createVirtualClock()
    const good: number[] = []
    const rate = createRequestRate(
      async ({ goodMs }) => {
        good.push(goodMs)
        await clock.sleepUntil(clock.now() + takesMs)
        takesMs = 1
        return 1
      },
      { clock, perSecond: 10 },
    )
    for (let n = 0; n < 12; n++) void rate.next()
    await clock.advance(5_000)
    rate.stop()
    expect(good.slice(0, 5)).toEqual([20, 200, 160, 128, expect.closeTo(102.4)])
    expect(good.at(-1)).toBe(20)
  })

  test('three that always have somebody waiting use nearly all of what they may, and never more', async () => {
    const clock = createVirtualClock()
    const rng = createRng(7)
    const perSecond = 10
    const window = createRateWindow(perSecond, { clock })
    const starts: number[] = []
    const rates = Array.from({ length: 3 }, () =>
      createRequestRate(
        async (asked) => {
          await clock.sleepUntil(clock.now() + 1 + 4 * rng.next())
          const permits = window.take(asked)
          await clock.sleepUntil(clock.now() + 1 + 4 * rng.next())
          return permits
        },
        { clock, perSecond },
      ),
    )
    const keepWaiting = async (rate: (typeof rates)[number]): Promise<void> => {
      while ((await rate.next()) !== undefined) starts.push(clock.now())
    }
    for (const rate of rates) for (let n = 0; n < rate.enough; n++) void keepWaiting(rate)
    await clock.advance(100_000)
    for (const rate of rates) rate.stop()
    for (const [index, at] of starts.entries()) {
      const next = starts[index + perSecond]
      if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(1_000)
    }
    expect(starts.length).toBeGreaterThanOrEqual(950)
  })

  test('a quarter of a second and one are enough to wait', () => {
    const clock = createVirtualClock()
    const enough = [1, 10, 400].map((perSecond) => createRequestRate(async () => 0, { clock, perSecond }).enough)
    expect(enough).toEqual([2, 4, 101])
  })
})
