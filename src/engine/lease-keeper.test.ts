import { describe, expect, test } from 'vitest'
import { createVirtualClock, type Clock } from '../base/index.ts'
import type { Lease } from '../frontier/index.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { askedAt } from './permit.ts'

const LEASE_MS = 30_000
/** A lease ends for us a second before it ends for the store. */
const USED_MS = LEASE_MS - 1_000

type Extension = boolean | 'no answer' | Error

describe('a kept lease', () => {
  const setup = (answer: (nth: number) => Extension = () => true) => {
    const virtual = createVirtualClock()
    let sleptMs = 0
    const clock: Clock = { ...virtual, wall: () => virtual.wall() + sleptMs }
    let leaptAt = -Infinity
    const pulse = { leaptAt: () => leaptAt }
    const extensions: number[] = []
    const failures: unknown[] = []
    const started = clock.now()
    const extend = async (): Promise<boolean> => {
      extensions.push(clock.now() - started)
      const result = answer(extensions.length)
      if (result instanceof Error) throw result
      return result === 'no answer' ? new Promise(() => {}) : result
    }
    const keeper = createLeaseKeeper({ clock, frontier: { extend }, pulse, onFailure: (error) => failures.push(error) })
    const hold = (since = askedAt(clock, pulse), lastsMs = LEASE_MS) =>
      // The store's clock is hours away from ours: only how long the lease lasts may matter.
      keeper.hold({ grantedAt: 5_000, notBefore: 5_000, expiresAt: 5_000 + lastsMs } as Lease, since)
    return {
      clock: virtual,
      keeper,
      hold,
      since: () => askedAt(clock, pulse),
      leap: () => {
        leaptAt = clock.now()
      },
      sleep: (ms: number) => {
        sleptMs += ms
      },
      extensions,
      failures,
    }
  }

  test('is extended when half of it is over, again and again', async () => {
    const { clock, hold, extensions } = setup()
    const permit = hold()
    await clock.advance(44_999)
    expect(extensions).toEqual([15_000, 30_000])
    await clock.advance(300_000)
    expect(permit.signal.aborted).toBe(false)
    expect(permit.holds()).toBe(true)
  })

  test('lasts from the moment before it was asked for, and ends before it does for the store', async () => {
    const { clock, hold, since } = setup(() => 'no answer')
    const before = since()
    await clock.advance(20_000)
    const permit = hold(before)
    await clock.advance(8_999)
    expect([permit.holds(), permit.signal.aborted]).toEqual([true, false])
    await clock.advance(1)
    expect([permit.holds(), permit.signal.aborted]).toEqual([false, true])
  })

  for (const [lastsMs, usedMs] of [
    [2_000, 1_500],
    [4_000, 3_000],
    [5_000, 4_000],
  ] as const)
    test(`of ${lastsMs} ms is used for ${usedMs}: all but a quarter of it, or a second`, async () => {
      const { clock, hold } = setup(() => 'no answer')
      const permit = hold(undefined, lastsMs)
      await clock.advance(usedMs - 1)
      expect([permit.holds(), permit.signal.aborted]).toEqual([true, false])
      await clock.advance(1)
      expect([permit.holds(), permit.signal.aborted]).toEqual([false, true])
    })

  test('is lost at once when it is not extended', async () => {
    const { clock, hold } = setup(() => false)
    const permit = hold()
    await clock.advance(14_999)
    expect(permit.signal.aborted).toBe(false)
    await clock.advance(1)
    expect([permit.holds(), permit.signal.aborted]).toEqual([false, true])
  })

  test('that nobody answers for is lost in time, and the answer that comes later brings nothing back', async () => {
    let answer = (_extended: boolean): void => {}
    const virtual = createVirtualClock()
    const pulse = { leaptAt: () => -Infinity }
    const extend = () => new Promise<boolean>((resolve) => (answer = resolve))
    const keeper = createLeaseKeeper({ clock: virtual, frontier: { extend }, pulse, onFailure: () => {} })
    const lease = { grantedAt: 0, notBefore: 0, expiresAt: LEASE_MS } as Lease
    const permit = keeper.hold(lease, askedAt(virtual, pulse))
    await virtual.advance(USED_MS)
    expect(permit.signal.aborted).toBe(true)
    answer(true)
    await virtual.advance(1)
    expect([permit.holds(), await permit.ask()]).toEqual([false, false])
  })

  test('counts from before its extension was asked for, however long the answer took', async () => {
    const virtual = createVirtualClock()
    const pulse = { leaptAt: () => -Infinity }
    const answers: ((extended: boolean) => void)[] = []
    const extend = () => new Promise<boolean>((resolve) => answers.push(resolve))
    const keeper = createLeaseKeeper({ clock: virtual, frontier: { extend }, pulse, onFailure: () => {} })
    const permit = keeper.hold({ grantedAt: 0, notBefore: 0, expiresAt: LEASE_MS } as Lease, askedAt(virtual, pulse))
    const [askedMs, tookMs] = [15_000, 10_000]
    await virtual.advance(askedMs + tookMs)
    answers[0]?.(true)
    await virtual.advance(USED_MS - tookMs - 1)
    expect(permit.signal.aborted).toBe(false)
    await virtual.advance(1)
    expect([permit.signal.aborted, answers.length]).toEqual([true, 2])
  })

  test('asks for no more after it was released', async () => {
    const { clock, keeper, hold, extensions } = setup()
    keeper.release(hold())
    await clock.advance(120_000)
    expect(extensions).toEqual([])
  })

  test('is extended together with others that are due at about the same time', async () => {
    const { clock, hold, extensions } = setup()
    hold()
    await clock.advance(100)
    hold()
    await clock.advance(1_000)
    hold()
    await clock.advance(13_900)
    expect(extensions).toEqual([15_000, 15_000])
  })

  test('that is short because it was granted before lasts as long as others once it is extended', async () => {
    const { clock, hold, extensions } = setup()
    hold()
    const permit = hold(undefined, 2_000)
    await clock.advance(1_000)
    expect(extensions).toEqual([1_000])
    await clock.advance(14_000)
    expect([permit.holds(), extensions]).toEqual([true, [1_000, 15_000]])
  })

  test('lets one more request begin only after an extension, where less than half of it is left', async () => {
    const { clock, hold, since, extensions } = setup()
    const before = since()
    await clock.advance(16_000)
    const permit = hold(before)
    expect([await permit.ask(), extensions]).toEqual([true, [16_000]])
    const { hold: holdRefused, since: sinceThen, clock: then } = setup(() => false)
    const earlier = sinceThen()
    await then.advance(16_000)
    expect(await holdRefused(earlier).ask()).toBe(false)
  })

  test('lets a request that waits for an extension go when none comes in time', async () => {
    const { clock, hold, since } = setup(() => 'no answer')
    const before = since()
    await clock.advance(16_000)
    const asked = hold(before).ask()
    await clock.advance(USED_MS - 16_000)
    expect(await asked).toBe(false)
  })

  test('lets nothing more begin after three times its length, while what runs goes on', async () => {
    const { clock, hold } = setup()
    const permit = hold()
    await clock.advance(3 * LEASE_MS - 1)
    expect(await permit.ask()).toBe(true)
    await clock.advance(1)
    expect([await permit.ask(), permit.signal.aborted]).toEqual([false, false])
  })

  test('lets nothing begin on a machine that slept, whatever its steady clock says', async () => {
    const { hold, sleep, extensions } = setup()
    const permit = hold()
    sleep(2_001)
    expect([permit.holds(), await permit.ask(), extensions]).toEqual([false, false, []])
  })

  test('lets nothing begin after a leap of the clock', async () => {
    const { hold, leap, extensions } = setup()
    const permit = hold()
    leap()
    expect([permit.holds(), await permit.ask(), extensions]).toEqual([false, false, []])
  })

  test('is lost when the store fails, and that is told', async () => {
    const broken = new Error('disk full')
    const { clock, hold, failures } = setup(() => broken)
    const permit = hold()
    await clock.advance(15_000)
    expect([permit.signal.aborted, failures]).toEqual([true, [broken]])
  })

  test('is aborted with all others, and so is any that comes later', () => {
    const { keeper, hold } = setup()
    const permit = hold()
    keeper.abort()
    expect([permit.signal.aborted, hold().signal.aborted]).toEqual([true, true])
  })
})
