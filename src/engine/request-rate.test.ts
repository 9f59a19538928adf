import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { createRequestRate } from './request-rate.ts'

describe('the rate of requests', () => {
  const setup = (grants: readonly number[]) => {
    const clock = createVirtualClock()
    const asked: number[] = []
    const rate = createRequestRate(
      async (wanted) => {
        asked.push(wanted)
        return Math.min(wanted, grants[asked.length - 1] ?? 0)
      },
      { clock },
    )
    return { clock, asked, rate }
  }

  test('gives as many as there are, and asks again only after a moment', async () => {
    const { clock, asked, rate } = setup([3, 0, 5])
    expect(await rate.take(10)).toBe(3)
    expect(await rate.take(10)).toBe(0)
    expect(asked).toEqual([10])
    await clock.advance(100)
    expect(await rate.take(10)).toBe(0)
    await clock.advance(100)
    expect([await rate.take(2), asked]).toEqual([2, [10, 10, 2]])
  })

  test('uses first what was given back, for as long as that is good', async () => {
    const { clock, asked, rate } = setup([5, 2])
    await rate.take(5)
    rate.giveBack(4)
    expect([await rate.take(4), asked]).toEqual([4, [5]])
    rate.giveBack(4)
    await clock.advance(1_000)
    expect([await rate.take(4), asked]).toEqual([2, [5, 4]])
  })

  test('lets those who wait go on one by one as permits come, and no more than there are', async () => {
    const { clock, rate } = setup([1, 0, 1])
    const { signal } = new AbortController()
    let begun = 0
    for (let n = 0; n < 3; n++) void rate.wait(signal).then(() => (begun += 1))
    await clock.advance(50)
    expect(begun).toBe(1)
    await clock.advance(5_000)
    expect(begun).toBe(2)
  })

  test('lets go of who waits when it is aborted', async () => {
    const { rate } = setup([])
    const controller = new AbortController()
    const waited = rate.wait(controller.signal)
    controller.abort()
    expect(await waited).toBe(false)
  })
})
