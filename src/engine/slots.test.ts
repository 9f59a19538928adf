import { describe, expect, test } from 'vitest'
import { createSlots, type Slot, type Slots } from './slots.ts'

/** Takes a slot and sends a request at `at`. */
function ask(slots: Slots, at: number, proven = false): Slot {
  const slot = slots.enter(proven)
  slot.sent(at)
  return slot
}

describe('slots', () => {
  test('are given back when the work is over', () => {
    const slots = createSlots(4)
    const slot = ask(slots, 0, true)
    expect([slots.free, slots.inUse]).toEqual([3, 1])
    slot.ended()
    slot.leave()
    expect([slots.free, slots.inUse]).toEqual([4, 0])
  })

  test('are kept in part for hosts that have answered well', () => {
    const slots = createSlots(20)
    for (let n = 0; n < 15; n++) ask(slots, 0)
    expect([slots.free, slots.freeForUnproven]).toEqual([5, 0])
    ask(slots, 0, true)
    expect([slots.free, slots.freeForUnproven]).toEqual([4, 0])
  })

  test('of which there are few are for everyone', () => {
    const slots = createSlots(3)
    expect(slots.freeForUnproven).toBe(3)
  })

  test('are freed by parking a request that waits for long, and only when they are wanted', () => {
    const slots = createSlots(2)
    ask(slots, 0)
    slots.park(60_000)
    expect([slots.free, slots.nextParking]).toEqual([1, null])
    ask(slots, 100, true)
    expect(slots.nextParking).toBe(1_000)
    slots.park(999)
    expect(slots.free).toBe(0)
    slots.park(1_000)
    expect([slots.free, slots.inUse]).toEqual([1, 2])
  })

  test('that strangers fill are freed by parking one of them, not a host that has answered well', () => {
    const slots = createSlots(8)
    const proven = ask(slots, 0, true)
    const strangers = Array.from({ length: 6 }, () => ask(slots, 1))
    expect([slots.free, slots.freeForUnproven]).toEqual([1, 0])
    slots.park(5_000)
    expect([proven.isParked(), strangers.filter((slot) => slot.isParked()).length]).toEqual([false, 1])
  })

  test('wait less for a silent host the more of them there are, but never less than a moment', () => {
    const slots = createSlots(1)
    let now = 0
    const waits: number[] = []
    for (let n = 0; n < 60; n++) {
      ask(slots, now)
      const at = slots.nextParking as number
      waits.push(Math.round(at - now))
      now = at
      slots.park(now)
    }
    expect(waits.slice(0, 2)).toEqual([1_000, 1_000])
    expect(waits).toEqual([...waits].sort((a, b) => b - a))
    expect(waits.at(-1)).toBe(100)
  })

  test('have a stated maximum of parked requests, and a smaller one of those that are being answered', () => {
    const slots = createSlots(1)
    let now = 0
    let bodies = 0
    while (slots.free > 0) {
      ask(slots, now).answered()
      bodies += 1
      now += 10_000
      slots.park(now)
    }
    expect(bodies).toBe(5)
    const silent = createSlots(1)
    let parked = 0
    while (silent.free > 0) {
      ask(silent, now)
      parked += 1
      now += 10_000
      silent.park(now)
    }
    expect(parked).toBe(1_001)
  })

  test('do not count a parked request a second time when it ends', () => {
    const slots = createSlots(1)
    const slow = ask(slots, 0)
    slots.park(1_000)
    const next = ask(slots, 1_000)
    slow.answered()
    slow.ended()
    slow.leave()
    expect(slots.free).toBe(0)
    next.leave()
    expect([slots.free, slots.freeForUnproven, slots.inUse]).toEqual([1, 1, 0])
  })

  test('count those with no request under way, before and after it, parked or not', () => {
    const slots = createSlots(2)
    const idle = slots.enter(true)
    const slow = ask(slots, 0)
    expect([slots.inUse, slots.idle]).toEqual([2, 1])
    slots.park(5_000)
    expect(slots.idle).toBe(1)
    slow.ended()
    expect(slots.idle).toBe(2)
    slow.leave()
    idle.sent(0)
    idle.leave()
    expect([slots.inUse, slots.idle]).toEqual([0, 0])
  })
})
