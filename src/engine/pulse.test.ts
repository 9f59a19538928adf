import { describe, expect, test } from 'vitest'
import { createVirtualClock, type Clock } from '../base/index.ts'
import { startPulse } from './pulse.ts'

describe('the pulse', () => {
  const setup = () => {
    const virtual = createVirtualClock()
    let leapMs = 0
    const clock: Clock = { ...virtual, now: () => virtual.now() + leapMs }
    const leap = (ms: number): void => {
      leapMs += ms
    }
    return { clock, virtual, leap, pulse: startPulse(clock) }
  }

  test('sees nothing while time goes on as it should', async () => {
    const { virtual, pulse } = setup()
    await virtual.advance(3_600_000)
    expect(pulse.leaptAt()).toBe(-Infinity)
    pulse.stop()
    expect(virtual.nextTimer()).toBeUndefined()
  })

  test('sees a leap at once, by whoever asks first, and remembers when it was', async () => {
    const { clock, virtual, leap, pulse } = setup()
    await virtual.advance(10_500)
    leap(60_000)
    const at = clock.now()
    expect(pulse.leaptAt()).toBe(at)
    await virtual.advance(5_000)
    expect(pulse.leaptAt()).toBe(at)
  })

  test('takes a busy second for what it is', async () => {
    const { virtual, leap, pulse } = setup()
    await virtual.advance(500)
    leap(2_900)
    expect(pulse.leaptAt()).toBe(-Infinity)
  })
})
