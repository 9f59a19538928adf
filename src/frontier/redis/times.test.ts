import { describe, expect, test } from 'vitest'
import { createVirtualClock, type Clock } from '../../base/index.ts'
import { createTimes } from './times.ts'

/** A clock of ours whose wall clock can be moved, as when the machine slept. */
const setup = () => {
  const clock = createVirtualClock()
  let sleptMs = 0
  const ours: Clock = { ...clock, wall: () => clock.now() + sleptMs }
  const times = createTimes(ours)
  /** A reply of a server whose clock is ahead of ours, which took so long each way. */
  const reply = async (aheadMs: number, wayMs = 5): Promise<void> => {
    const asked = clock.now()
    await clock.advance(wayMs)
    const server = Math.floor(clock.now() + aheadMs)
    await clock.advance(wayMs)
    times.saw(asked, server, clock.now())
  }
  return { clock, times, reply, sleep: (ms: number) => (sleptMs += ms) }
}

describe('times of a server', () => {
  test('are never translated to a later time than they are, and come back as they went', async () => {
    const { clock, times, reply } = setup()
    await reply(70_000, 40)
    const expires = clock.now() + 70_000 + 30_000
    expect(times.toWorker(expires)).toBeLessThanOrEqual(clock.now() + 30_000)
    expect(times.toWorker(expires)).toBeGreaterThan(clock.now() + 29_900)
    expect(times.toServer(times.toWorker(expires))).toBe(expires)
    expect([times.toServer(0), times.toServer(null)]).toEqual([0, null])
  })

  test('stay the same through slow and fast replies', async () => {
    const { times, reply } = setup()
    await reply(1_000)
    const before = times.toWorker(5_000_000)
    for (const wayMs of [1, 800, 3, 5_000]) await reply(1_000, wayMs)
    expect(times.toWorker(5_000_000)).toBe(before)
    expect(times.takeStep()).toBe(false)
  })

  test('that jump are noticed once, forth or back', async () => {
    for (const jumpMs of [10_000, -10_000]) {
      const { times, reply } = setup()
      await reply(0)
      await reply(jumpMs)
      expect(times.takeStep()).toBe(true)
      await reply(jumpMs)
      expect(times.takeStep()).toBe(false)
    }
  })

  test('that seem to jump because this machine slept are followed, without blaming the server', async () => {
    const { clock, times, reply, sleep } = setup()
    await reply(0)
    sleep(60_000)
    await reply(60_000)
    expect(times.takeStep()).toBe(false)
    const now = clock.now()
    expect(times.toWorker(now + 60_000)).toBeLessThanOrEqual(now)
  })
})
