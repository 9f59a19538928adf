import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { crawlKey } from './keys.ts'
import { createLimits, type Limits } from './limits.ts'
import { command, openTestStore, total, type TestStore } from './test-support/open-test-store.ts'

const opened: TestStore[] = []
afterEach(async () => {
  for (const { link } of opened.splice(0)) await link.close()
})
async function open(maxPages: number, partitions = 4) {
  const store = await openTestStore(await sharedRedis(), { maxPages, partitions })
  opened.push(store)
  const limits = createLimits(store)
  const meta = (index: number): string => store.store.partitions[index]?.keys.fixed[0] ?? ''
  return {
    store,
    limits,
    take: (index: number, wanted: number, of: Limits = limits): Promise<number> =>
      of.take(store.store.partitions[index] as never, wanted),
    /** Pages of a partition are done. */
    done: (index: number, count: number): Promise<unknown> => command(store, 'HINCRBY', meta(index), 'done', count),
    /** Another server answers for a partition, or for the pool. */
    changeServer: (index: number): Promise<unknown> => command(store, 'HSET', meta(index), 'server', 'another'),
    changePool: (): Promise<unknown> =>
      command(store, 'HSET', crawlKey(store.store.crawl, 'limits'), 'server', 'another'),
  }
}

test('all partitions together have as much room as the limit allows, whoever asks', async () => {
  const { store, take } = await open(100)
  const rooms = [await take(0, 1), await take(1, 10), await take(2, 40)]
  expect(rooms[0]).toBeGreaterThanOrEqual(1)
  expect(rooms[1]).toBeGreaterThanOrEqual(10)
  expect(rooms[2]).toBeGreaterThanOrEqual(40)
  await take(3, 1_000)
  expect((await total(store, 'granted')) - (await total(store, 'returned'))).toBeLessThanOrEqual(100)
})

test('what one partition does not use goes to another that needs it', async () => {
  const { take, done } = await open(10)
  expect(await take(0, 10)).toBe(10)
  await done(0, 4)
  expect(await take(1, 10)).toBe(6)
  expect(await take(0, 10)).toBe(6)
  await done(0, 6)
  expect(await take(1, 10)).toBe(0)
})

test('after a change of its server a partition has no room until the pool was heard', async () => {
  const { take, done, changeServer } = await open(10)
  await take(0, 5)
  await done(0, 2)
  await changeServer(0)
  // The limits are looked at by asking for nothing more.
  expect(await take(0, 0)).toBeGreaterThanOrEqual(3)
})

test('a pool that was deleted hears of what was granted before it grants any more', async () => {
  const { store, take, done } = await open(10)
  await take(0, 10)
  await done(0, 8)
  await command(store, 'DEL', crawlKey(store.store.crawl, 'limits'))
  expect(await take(1, 10)).toBe(2)
})

test('a pool that has forgotten grants hears of them before it grants any more', async () => {
  const { store, take, changePool } = await open(10)
  expect(await take(0, 10)).toBe(10)
  await command(store, 'DEL', crawlKey(store.store.crawl, 'limits'))
  await changePool()
  await take(1, 10)
  expect((await total(store, 'granted')) - (await total(store, 'returned'))).toBeLessThanOrEqual(10)
})

test('a limit that is lower than the one before holds at once', async () => {
  const { store, take, done } = await open(20)
  expect(await take(0, 10)).toBeGreaterThanOrEqual(10)
  await take(1, 10)
  await done(0, 4)
  const lower = await openTestStore(
    await sharedRedis(),
    { maxPages: 6, partitions: 4, crawl: store.store.crawl },
    store.clock,
  )
  opened.push(lower)
  const limits = createLimits(lower)
  const [first, second] = lower.store.partitions
  expect(await limits.take(first as never, 100)).toBe(2)
  expect(await limits.take(second as never, 100)).toBe(2)
  expect(await limits.take(first as never, 0)).toBe(0)
})

test('through any order of asking, using and changes of servers no more than the limit is used', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(4), fc.nat(2), fc.nat(12)), { maxLength: 40 }),
      fc.nat(40),
      async (steps, maxPages) => {
        const crawl = await open(maxPages, 3)
        const { store, take, done } = crawl
        for (const [step, index, count] of steps) {
          if (step < 3) await done(index, Math.min(await take(index, count), count))
          else if (step === 3) await crawl.changeServer(index)
          else await crawl.changePool()
          expect(await total(store, 'done')).toBeLessThanOrEqual(maxPages)
        }
        for (const index of [0, 1, 2]) await done(index, await take(index, maxPages))
        expect(await total(store, 'done')).toBe(maxPages)
        await store.link.close()
      },
    ),
    { numRuns: 20 },
  )
})
