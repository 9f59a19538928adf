import { describe, expect, test } from 'vitest'
import { createFingerprintCache, createLru, createRng, createSystemClock, createVirtualClock } from './index.ts'

describe('the virtual clock', () => {
  test('fires timers in order of their time, then of their making', async () => {
    const clock = createVirtualClock(0)
    const fired: string[] = []
    clock.timer(20, () => fired.push('b'))
    clock.timer(10, () => fired.push('a'))
    clock.timer(20, () => fired.push('c'))
    const cancel = clock.timer(15, () => fired.push('never'))
    cancel()
    expect(clock.nextTimer()).toBe(10)
    await clock.advance(20)
    expect(fired).toEqual(['a', 'b', 'c'])
    expect(clock.now()).toBe(20)
  })

  test('a sleeper wakes at its time and not before, or at once when it is aborted', async () => {
    const clock = createVirtualClock(0)
    let awake = false
    void clock.sleepUntil(100).then(() => (awake = true))
    await clock.advance(99)
    expect(awake).toBe(false)
    await clock.advance(1)
    expect(awake).toBe(true)
    const abort = new AbortController()
    const sleep = clock.sleepUntil(1_000, abort.signal)
    abort.abort(new Error('enough'))
    await expect(sleep).rejects.toThrow('enough')
    await expect(clock.sleepUntil(1_000, abort.signal)).rejects.toThrow('enough')
    expect(clock.nextTimer()).toBeUndefined()
  })
})

test('the system clock never runs backwards and stays with the wall clock', () => {
  const clock = createSystemClock()
  let last = clock.now()
  for (let n = 0; n < 1_000; n++) {
    const now = clock.now()
    expect(now).toBeGreaterThanOrEqual(last)
    last = now
  }
  expect(Math.abs(clock.wall() - clock.now())).toBeLessThan(1_000)
})

test('an LRU map drops what was used longest ago', () => {
  const dropped: string[] = []
  const lru = createLru<string, number>(2, (key) => dropped.push(key))
  lru.set('a', 1)
  lru.set('b', 2)
  lru.get('a')
  lru.set('c', 3)
  expect(dropped).toEqual(['b'])
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([1, undefined, 3, 2])
  lru.dropOldest()
  lru.dropOldest()
  lru.dropOldest()
  expect(dropped).toEqual(['b', 'a', 'c'])
})

test('the same seed gives the same numbers, spread over the range', () => {
  const [a, b] = [createRng(7), createRng(7)]
  const numbers = Array.from({ length: 1_000 }, () => a.next())
  expect(numbers).toEqual(Array.from({ length: 1_000 }, () => b.next()))
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
  for (let n = 0; n < 100; n++) expect([0, 1, 2]).toContain(a.int(3))
})

test('a fingerprint cache that grows keeps what it has', () => {
  const cache = createFingerprintCache(2 ** 17)
  const print = (n: number) => ({ hi: n, lo: Math.imul(n, 0x9e3779b1) >>> 0 })
  for (let n = 1; n <= 60_000; n++) cache.put(print(n), n)
  const ids = Array.from({ length: 60_000 }, (_, index) => cache.find(print(index + 1)))
  expect(ids.filter((id, index) => id !== 0 && id !== index + 1)).toEqual([])
  expect(ids.filter((id) => id !== 0).length).toBeGreaterThan(55_000)
})

test('a fingerprint cache finds what was put in lately, and invents nothing', () => {
  const cache = createFingerprintCache(64)
  for (let n = 1; n <= 1_000; n++) cache.put({ hi: n, lo: n * 7 }, n)
  let found = 0
  for (let n = 1; n <= 1_000; n++) {
    const id = cache.find({ hi: n, lo: n * 7 })
    if (id === 0) continue
    found += 1
    expect(id).toBe(n)
  }
  expect(found).toBe(64)
  expect(cache.find({ hi: 1_000, lo: 1 })).toBe(0)
})
