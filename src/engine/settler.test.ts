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

  test('commits what comes together in one step, and tells each its own result', async () => {
    const { clock, batches, settler } = setup((batch) => batch.map((_, index) => (index === 1 ? 'stale' : 'settled')))
    const results = [1, 2, 3].map((n) => settler.settle(settlement(n)))
    expect(batches).toEqual([])
    await clock.advance(10)
    expect(await Promise.all(results)).toEqual(['settled', 'stale', 'settled'])
    expect(batches).toEqual([3])
  })

  test('does not wait for company when a batch is full', async () => {
    const { batches, settler } = setup((batch) => batch.map(() => 'settled'))
    await Promise.all(Array.from({ length: 64 }, (_, n) => settler.settle(settlement(n))))
    expect(batches).toEqual([64])
  })

  test('a failing store is heard of by everyone who waits for it', async () => {
    const { clock, settler } = setup(() => {
      throw new Error('disk full')
    })
    const results = Promise.allSettled([settler.settle(settlement(1)), settler.settle(settlement(2))])
    await clock.advance(10)
    expect((await results).map((result) => result.status)).toEqual(['rejected', 'rejected'])
  })

  test('flush commits at once what is gathered', async () => {
    const { batches, settler } = setup((batch) => batch.map(() => 'settled'))
    const result = settler.settle(settlement(1))
    await settler.flush()
    expect(await result).toBe('settled')
    expect(batches).toEqual([1])
  })
})
