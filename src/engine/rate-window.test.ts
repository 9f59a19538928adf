import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../base/index.ts'
import { createRateWindow } from './rate-window.ts'

test('gives a quarter of a second at once, and the rest as time passes', async () => {
  const clock = createVirtualClock()
  const window = createRateWindow(40, { clock })
  expect(window.take({ wanted: 100, goodMs: 100 })).toBe(1)
  await clock.advance(60_000)
  expect(window.take({ wanted: 100, goodMs: 100 })).toBe(10)
  expect(window.take({ wanted: 100, goodMs: 100 })).toBe(0)
  await clock.advance(100)
  expect(window.take({ wanted: 100, goodMs: 100 })).toBe(4)
})

test('a place is held until a second after its permit has run out', async () => {
  const clock = createVirtualClock()
  await clock.advance(20 - (clock.now() % 20))
  const window = createRateWindow(1, { clock })
  expect(window.take({ wanted: 5, goodMs: 500 })).toBe(1)
  await clock.advance(1_499)
  expect(window.take({ wanted: 5, goodMs: 100 })).toBe(0)
  await clock.advance(1)
  expect(window.take({ wanted: 5, goodMs: 100 })).toBe(1)
})

test('no more start in any second than the rate says, however late each starts', async () => {
  const askings = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.nat(30), fc.nat(400)),
      wanted: fc.nat(12),
      goodMs: fc.constantFrom(0, 100, 130, 700),
      lateness: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { maxLength: 200 },
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), askings, async (perSecond, asked) => {
      const clock = createVirtualClock()
      const window = createRateWindow(perSecond, { clock })
      const starts: number[] = []
      for (const { afterMs, wanted, goodMs, lateness } of asked) {
        await clock.advance(afterMs)
        const permits = window.take({ wanted, goodMs })
        expect(permits).toBeLessThanOrEqual(wanted)
        for (let n = 0; n < permits; n++) starts.push(clock.now() + goodMs * lateness)
      }
      starts.sort((a, b) => a - b)
      for (const [index, at] of starts.entries()) {
        const next = starts[index + perSecond]
        if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(1_000)
      }
    }),
  )
})
