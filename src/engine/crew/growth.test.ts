import { expect, test } from 'vitest'
import { createVirtualClock } from '../../base/index.ts'
import { createGrowth } from './growth.ts'

/** Threads that are so busy, on a machine with so many processors idle. */
function setUp({
  busy = [1],
  idle = (): number => 1,
  mostThreads = 3,
  relieve = undefined as undefined | (() => boolean),
  isUnpaced = false,
} = {}) {
  const clock = createVirtualClock()
  const shares = [...busy]
  const growth = createGrowth({
    clock,
    hands: {
      get size() {
        return shares.length
      },
      busyShares: () => shares,
    },
    mostThreads,
    idleProcessors: idle,
    isUnpaced,
    ...(relieve === undefined ? {} : { relieve }),
    onRoom: () => void shares.push(1),
  })
  growth.begin()
  return { clock, growth, threads: () => shares.length }
}

test('another thread is started as long as all are busy and a processor is idle, up to as many as there may be', async () => {
  const { clock, threads } = setUp()
  await clock.advance(19_999)
  expect(threads()).toBe(1)
  await clock.advance(1)
  expect(threads()).toBe(2)
  await clock.advance(60_000)
  expect(threads()).toBe(3)
})

test('where processors are idle in plenty, others are started sooner', async () => {
  const { clock, threads } = setUp({ idle: () => 6 })
  await clock.advance(1_999)
  expect(threads()).toBe(1)
  await clock.advance(1)
  expect(threads()).toBe(2)
})

const plenty = (looks: number): number[] => Array.from({ length: looks }, () => 3)

test('a moment in which a processor is idle is not enough', async () => {
  const looks = [...plenty(19), 0.5, ...plenty(20)]
  const { clock, threads } = setUp({ idle: () => looks.shift() ?? 0 })
  await clock.advance(3_999)
  expect(threads()).toBe(1)
  await clock.advance(1)
  expect(threads()).toBe(2)
})

test.each([
  ['one of them has time', { busy: [1, 0.5] }],
  ['no processor is idle', { idle: () => 0.5 }],
])('none is started when %s', async (_, circumstances) => {
  const { clock, threads } = setUp(circumstances)
  const before = threads()
  await clock.advance(60_000)
  expect(threads()).toBe(before)
})

test('none is started after a stop, also if growth is begun again', async () => {
  const { clock, growth, threads } = setUp()
  growth.stop()
  growth.begin()
  await clock.advance(60_000)
  expect(threads()).toBe(1)
})

test('the first is relieved of a part of its work before long, by a thread that counts as one', async () => {
  let relieved = 0
  const { clock, threads } = setUp({ mostThreads: 2, relieve: () => ++relieved === 1 })
  await clock.advance(199)
  expect(relieved).toBe(0)
  await clock.advance(1)
  expect(relieved).toBe(1)
  await clock.advance(60_000)
  expect([relieved, threads()]).toEqual([1, 1])
})

test('a crawl without delays is relieved from the beginning, where there may be another thread', async () => {
  let relieved = 0
  const relieve = (): boolean => ++relieved === 1
  const { clock, threads } = setUp({ isUnpaced: true, mostThreads: 2, idle: () => 0, relieve })
  expect(relieved).toBe(1)
  await clock.advance(60_000)
  expect([relieved, threads()]).toEqual([1, 1])
  setUp({ isUnpaced: true, mostThreads: 1, relieve })
  expect(relieved).toBe(1)
})

test('where there is nothing to relieve it of, others are started as ever', async () => {
  const { clock, threads } = setUp({ mostThreads: 2, relieve: () => false })
  await clock.advance(60_000)
  expect(threads()).toBe(2)
})
