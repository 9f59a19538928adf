import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import type { Settlement } from '../frontier/index.ts'
import { createSettler } from './settler.ts'

const settlement = (n: number): Settlement => ({ n }) as unknown as Settlement

describe('the settler', () => {
  const setup = (answer: (batch: readonly Settlement[]) => ('settled' | 'stale')[]) => {
    const clock = createVirtualClock()
    const batches: number[] = []
    const settle = async (batch: readonly Settlement[]) => {
      batches.push(batch.length)
      return { results: answer(batch) }
    }
    return { clock, batches, settler: createSettler({ settle }, undefined, { clock }) }
  }
  /** Every commit takes so long. */
  const setupSlow = (commitMs: number) => {
    const clock = createVirtualClock()
    const batches: number[] = []
    const settle = async (batch: readonly Settlement[]) => {
      batches.push(batch.length)
      await clock.sleepUntil(clock.now() + commitMs)
      return { results: batch.map(() => 'settled' as const) }
    }
    return { clock, batches, settler: createSettler({ settle }, undefined, { clock }) }
  }

  test('commits what comes together in one step, and tells each its own result', async () => {
    const { clock, batches, settler } = setup((batch) => batch.map((_, index) => (index === 1 ? 'stale' : 'settled')))
    const results = [1, 2, 3].map((n) => settler.settle(settlement(n), 0))
    expect(batches).toEqual([])
    await clock.advance(40)
    expect(await Promise.all(results)).toEqual(['settled', 'stale', 'settled'])
    expect(batches).toEqual([3])
  })

  test('waits half as long as its host must wait anyway, up to a bound, and never longer than one that is in a hurry', async () => {
    const { clock, batches, settler } = setup((batch) => batch.map(() => 'settled'))
    void settler.settle(settlement(1), 60)
    await clock.advance(29)
    expect(batches).toEqual([])
    await clock.advance(1)
    expect(batches).toEqual([1])
    void settler.settle(settlement(2), 5_000)
    await clock.advance(5)
    void settler.settle(settlement(3), 20)
    await clock.advance(10)
    expect(batches).toEqual([1, 2])
    void settler.settle(settlement(4), 60_000)
    await clock.advance(50)
    expect(batches).toEqual([1, 2, 1])
  })

  test('does not wait for company when a batch is full', async () => {
    const { batches, settler } = setup((batch) => batch.map(() => 'settled'))
    await Promise.all(Array.from({ length: 256 }, (_, n) => settler.settle(settlement(n), 0)))
    expect(batches).toEqual([256])
  })

  test('commits one batch after another over a slow store, each of a bounded size', async () => {
    const clock = createVirtualClock()
    const batches: number[] = []
    const answers: (() => void)[] = []
    const settle = (batch: readonly Settlement[]) => {
      batches.push(batch.length)
      const results = batch.map(() => 'settled' as const)
      return new Promise<{ results: 'settled'[] }>((resolve) => answers.push(() => resolve({ results })))
    }
    const settler = createSettler({ settle }, undefined, { clock })
    const first = settler.settle(settlement(0), 0)
    await clock.advance(40)
    const later = Array.from({ length: 1_100 }, (_, n) => settler.settle(settlement(n), 0))
    await clock.advance(60_000)
    expect(batches).toEqual([1])
    for (let answered = 0; answered < 4; answered++) {
      answers[answered]?.()
      await clock.advance(1)
    }
    expect(await first).toBe('settled')
    expect(new Set(await Promise.all(later))).toEqual(new Set(['settled']))
    expect(batches).toEqual([1, 512, 512, 76])
  })

  test('gathers more of unpaced hosts while commits are slow', async () => {
    const { clock, batches, settler } = setupSlow(30)
    void settler.settle(settlement(1), 0)
    await clock.advance(40 + 30)
    void settler.settle(settlement(2), 0)
    await clock.advance(4 * 30 - 1)
    expect(batches).toEqual([1])
    await clock.advance(1)
    expect(batches).toEqual([1, 1])
  })

  test('a failing store is heard of by everyone who waits for it', async () => {
    const { clock, settler } = setup(() => {
      throw new Error('disk full')
    })
    const results = Promise.allSettled([settler.settle(settlement(1), 0), settler.settle(settlement(2), 0)])
    await clock.advance(40)
    expect((await results).map((result) => result.status)).toEqual(['rejected', 'rejected'])
  })

  test('flush commits at once what is gathered', async () => {
    const { batches, settler } = setup((batch) => batch.map(() => 'settled'))
    const result = settler.settle(settlement(1), 0)
    await settler.flush()
    expect(await result).toBe('settled')
    expect(batches).toEqual([1])
  })

  test('what somebody waits for waits less for company, but commits leave time for work', async () => {
    const { clock, batches, settler } = setupSlow(10)
    void settler.settle(settlement(1), 0)
    settler.hurry()
    await clock.advance(4)
    expect(batches).toEqual([])
    await clock.advance(1)
    expect(batches).toEqual([1])
    await clock.advance(10)
    // A commit takes 10 ms now: twice that is waited.
    settler.hurry()
    void settler.settle(settlement(2), 0)
    await clock.advance(19)
    expect(batches).toEqual([1])
    await clock.advance(1)
    expect(batches).toEqual([1, 1])
    await clock.advance(10)
    // Nobody waits any more.
    void settler.settle(settlement(3), 0)
    await clock.advance(39)
    expect(batches).toEqual([1, 1])
    await clock.advance(1)
    expect(batches).toEqual([1, 1, 1])
  })
})
