import { describe, expect, test } from 'vitest'
import type { Lease } from '../frontier/index.ts'
import { createAsking } from './asking.ts'

const leases = (...streaks: number[]): Lease[] => streaks.map((streak) => ({ health: { streak } }) as Lease)
const room = (free: number, freeForUnproven = free) => ({ free, freeForUnproven })

describe('asking for leases', () => {
  test('is worth it at first, and never without a free slot', () => {
    const asking = createAsking()
    expect(asking.isWorthIt(0, room(1))).toBe(true)
    expect(asking.isWorthIt(0, room(0))).toBe(false)
  })

  test('is not worth it for a free slot alone, when all that was due was had', () => {
    const asking = createAsking()
    asking.asked()
    asking.answered(room(3), { leases: leases(1, 1), nextAt: 500 })
    expect(asking.isWorthIt(499, room(2))).toBe(false)
    expect(asking.at).toBe(500)
    expect(asking.isWorthIt(500, room(2))).toBe(true)
  })

  test('is worth it after a change, once', () => {
    const asking = createAsking()
    asking.asked()
    asking.answered(room(3), { leases: [], nextAt: null })
    asking.changed()
    expect(asking.isWorthIt(0, room(1))).toBe(true)
    asking.asked()
    asking.answered(room(3), { leases: [], nextAt: null })
    expect(asking.isWorthIt(0, room(1))).toBe(false)
  })

  test('is worth it after a change that came while it was asked', () => {
    const asking = createAsking()
    asking.asked()
    asking.changed()
    asking.answered(room(3), { leases: [], nextAt: null })
    expect(asking.isWorthIt(0, room(1))).toBe(true)
  })

  test('is worth it when a slot comes free that a host may have been waiting for', () => {
    const asking = createAsking()
    asking.asked()
    asking.answered(room(2), { leases: leases(1, 1), nextAt: null })
    expect(asking.isWorthIt(0, room(1))).toBe(true)
    asking.asked()
    asking.answered(room(5, 1), { leases: leases(1, 0), nextAt: null })
    expect(asking.isWorthIt(0, room(3, 0))).toBe(false)
    expect(asking.isWorthIt(0, room(4, 1))).toBe(true)
    asking.asked()
    asking.answered(room(5, 0), { leases: leases(1), nextAt: null })
    expect(asking.isWorthIt(0, room(4, 1))).toBe(true)
  })
})
