import { describe, expect, test } from 'vitest'
import { createVirtualClock, type Clock } from '../base/index.ts'
import type { Lease } from '../frontier/index.ts'
import { askedAt, createPermit } from './permit.ts'

const REQUEST_MS = 10_000

describe('a permit', () => {
  const setup = (options: { extendable?: boolean } = {}) => {
    const virtual = createVirtualClock()
    let sleptMs = 0
    const clock: Clock = { ...virtual, wall: () => virtual.wall() + sleptMs }
    // The store's clock is hours away from ours: only how long the lease lasts may matter.
    const lease = { grantedAt: 5_000, notBefore: 5_000, expiresAt: 65_000 } as Lease
    let extended = 0
    const extend = async (): Promise<boolean> => {
      extended += 1
      return options.extendable ?? true
    }
    let leaptAt = -Infinity
    const pulse = { leaptAt: () => leaptAt }
    const open = (since = askedAt(clock, pulse)) =>
      createPermit(lease, since, REQUEST_MS, { clock, frontier: { extend }, pulse })
    return {
      clock: virtual,
      open,
      since: () => askedAt(clock, pulse),
      leap: () => {
        leaptAt = clock.now()
      },
      sleep: (ms: number) => {
        sleptMs += ms
      },
      extensions: () => extended,
    }
  }

  test('lasts as long as the lease, from the moment before it was asked for', async () => {
    const { clock, open, since } = setup({ extendable: false })
    const before = since()
    await clock.advance(20_000)
    const permit = open(before)
    await clock.advance(30_000)
    expect([permit.holds(), await permit.ask()]).toEqual([true, true])
    await clock.advance(1)
    expect([permit.holds(), await permit.ask()]).toEqual([false, false])
  })

  test('extends a lease that is too short for one more request', async () => {
    const { clock, open, extensions } = setup()
    const permit = open()
    await clock.advance(50_001)
    expect(permit.holds()).toBe(false)
    expect(await permit.ask()).toBe(true)
    expect([extensions(), permit.holds()]).toEqual([1, true])
  })

  test('is void on a machine that slept, whatever its steady clock says', async () => {
    const { open, sleep, extensions } = setup()
    const permit = open()
    sleep(2_001)
    expect([permit.holds(), await permit.ask(), extensions()]).toEqual([false, false, 0])
  })

  test('is void after a leap of the clock', async () => {
    const { open, leap, extensions } = setup()
    const permit = open()
    leap()
    expect([permit.holds(), await permit.ask(), extensions()]).toEqual([false, false, 0])
  })
})
