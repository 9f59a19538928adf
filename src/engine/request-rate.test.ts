import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
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
      [1, 125],
    ])
    expect(begun).toEqual([0, 25, 25, 125])
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
    expect(asked.map(({ at }) => at)).toEqual([0, 200, 600, 1_400, 2_200, 3_000, 3_800])
  })

  test('a permit is good from before it was asked for, and one that comes too late is not used', async () => {
    const { clock, asked, begun, begin, rate, startAt } = setup([1, 1], { takesMs: 150 })
    void begin()
    await clock.advance(200)
    expect(begun).toEqual([])
    await clock.advance(2_000)
    expect(asked.map(({ goodMs }) => goodMs)).toEqual([100, 300])
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

  test('a quarter of a second and one are enough to wait', () => {
    const clock = createVirtualClock()
    const enough = [1, 10, 400].map((perSecond) => createRequestRate(async () => 0, { clock, perSecond }).enough)
    expect(enough).toEqual([2, 4, 101])
  })
})
