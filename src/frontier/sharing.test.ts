import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TIERS, type Tier } from '../model/index.ts'
import { createSharing } from './sharing.ts'

const QUOTAS = { high: 0.4, medium: 0.4, low: 0.2 }

test('over any stretch in which all have work, each has its part to within two tasks', () => {
  const quotas = fc.record({
    high: fc.integer({ min: 1, max: 98 }),
    medium: fc.integer({ min: 1, max: 98 }),
    low: fc.integer({ min: 1, max: 98 }),
  })
  fc.assert(
    fc.property(quotas, fc.nat(300), fc.integer({ min: 1, max: 300 }), (parts, start, length) => {
      const sharing = createSharing(parts)
      const order = Array.from({ length: start + length }, () => {
        const tier = sharing.choose(TIERS)
        sharing.charge(tier, 1)
        return tier
      }).slice(start)
      const all = parts.high + parts.medium + parts.low
      for (const tier of TIERS) {
        const given = order.filter((each) => each === tier).length
        expect(Math.abs(given - (length * parts[tier]) / all)).toBeLessThan(2)
      }
    }),
  )
})

test('only those with work are chosen, and nothing is owed to the others', () => {
  fc.assert(
    fc.property(fc.array(fc.subarray([...TIERS], { minLength: 1 }), { maxLength: 60 }), (turns) => {
      const sharing = createSharing(QUOTAS)
      for (const ready of turns) {
        const tier = sharing.choose(ready)
        expect(ready).toContain(tier)
        sharing.charge(tier, 1)
      }
      // Whatever went before, from here on they share as if it had not been.
      const next: Tier[] = []
      for (let turn = 0; turn < 100; turn++) {
        const tier = sharing.choose(TIERS)
        sharing.charge(tier, 1)
        next.push(tier)
      }
      for (const tier of TIERS)
        expect(Math.abs(next.filter((each) => each === tier).length - 100 * QUOTAS[tier])).toBeLessThanOrEqual(3)
    }),
  )
})

test('a tier without a quota has its turn when nobody else has work', () => {
  const sharing = createSharing({ high: 0.5, medium: 0.5, low: 0 })
  for (let turn = 0; turn < 50; turn++) {
    const tier = sharing.choose(TIERS)
    sharing.charge(tier, 1)
    if (turn > 2) expect(tier).not.toBe('low')
  }
  expect(sharing.choose(['low'])).toBe('low')
})
