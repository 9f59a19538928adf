import { describe, expect, test } from 'vitest'
import { countEvents, createEventBus, createRateMeter } from './index.ts'

describe('the rate meter', () => {
  test('gives the rise per second over its window, and forgets what is older', () => {
    const meter = createRateMeter(5_000)
    expect(meter.read(0, 0)).toBe(0)
    expect(meter.read(1_000, 100)).toBe(100)
    expect(meter.read(5_000, 500)).toBe(100)
    for (let now = 6_000; now <= 20_000; now += 1_000) meter.read(now, 500)
    expect(meter.read(20_500, 500)).toBe(0)
  })
})

describe('the event bus', () => {
  test('tells every listener of its own event until it stops listening', () => {
    const bus = createEventBus<{ a: number; b: string }>()
    const heard: unknown[] = []
    const stop = bus.on('a', (event) => heard.push(event))
    bus.on('b', (event) => heard.push(event))
    bus.emit('a', 1)
    stop()
    bus.emit('a', 2)
    bus.emit('b', 'three')
    expect(heard).toEqual([1, 'three'])
  })

  test('counts the events that are named', () => {
    const bus = createEventBus<{ a: number; b: string; c: null }>()
    const counts = countEvents(bus, ['a', 'b'])
    bus.emit('a', 1)
    bus.emit('a', 2)
    bus.emit('c', null)
    expect(counts).toEqual({ a: 2, b: 0 })
  })
})
