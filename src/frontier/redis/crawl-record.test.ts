import { afterEach, expect, test } from 'vitest'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createCrawlRecord, type Member } from './crawl-record.ts'
import { crawlKey } from './keys.ts'
import { command, openTestStore, type TestStore } from './test-support/open-test-store.ts'

const opened: TestStore[] = []
afterEach(async () => {
  for (const { link } of opened.splice(0)) await link.close()
})
async function open() {
  const store = await openTestStore(await sharedRedis(), { partitions: 1 })
  opened.push(store)
  return { ...store, crawl: createCrawlRecord(store.store) }
}
const member = (id: string, more: Partial<Member> = {}): Member => ({
  id,
  role: 'worker',
  host: 'here',
  pid: 1,
  slots: 10,
  inFlight: 3,
  startedAt: 5,
  done: 7,
  ...more,
})

test('the first configuration stays until it is replaced', async () => {
  const { crawl } = await open()
  expect(await crawl.config()).toBeUndefined()
  expect(await crawl.config('a: 1')).toBe('a: 1')
  expect(await crawl.config('a: 2')).toBe('a: 1')
  expect(await crawl.config()).toBe('a: 1')
  await crawl.replaceConfig('a: 3')
  expect(await crawl.config('a: 4')).toBe('a: 3')
})

test('seeds are kept once each, in the order in which they came', async () => {
  const { crawl } = await open()
  expect(await crawl.seeds()).toEqual([])
  const many = Array.from({ length: 2_500 }, (_, n) => `https://s${n}.test/`)
  await crawl.addSeeds(many)
  await crawl.addSeeds(['https://s7.test/', 'https://other.test/'])
  expect(await crawl.seeds()).toEqual([...many, 'https://other.test/'])
})

test('members are those who said so lately', async () => {
  const { clock, crawl } = await open()
  await crawl.beat(member('b'), 1_000)
  await crawl.beat(member('a', { role: 'coordinator', detail: 'x' }), 3_000)
  expect(await crawl.members()).toEqual([member('a', { role: 'coordinator', detail: 'x' }), member('b')])
  await clock.advance(1_000)
  expect((await crawl.members()).map(({ id }) => id)).toEqual(['a'])
  await crawl.beat(member('b', { done: 8 }), 1_000)
  expect((await crawl.members()).map(({ id, done }) => [id, done])).toEqual([
    ['a', 7],
    ['b', 8],
  ])
})

test('one leads until its time is over or it resigns', async () => {
  const { clock, crawl } = await open()
  expect(await crawl.lead('one', 1_000)).toBe(true)
  expect(await crawl.lead('two', 1_000)).toBe(false)
  await clock.advance(900)
  expect(await crawl.lead('one', 1_000)).toBe(true)
  await clock.advance(999)
  expect(await crawl.lead('two', 1_000)).toBe(false)
  await clock.advance(1)
  expect(await crawl.lead('two', 1_000)).toBe(true)
  await crawl.resign('one')
  expect(await crawl.lead('one', 1_000)).toBe(false)
  await crawl.resign('two')
  expect(await crawl.lead('one', 1_000)).toBe(true)
})

test('on another server nobody begins to lead while one that was forgotten might', async () => {
  const store = await open()
  const { clock, crawl } = store
  expect(await crawl.lead('one', 1_000)).toBe(true)
  await command(store, 'HSET', crawlKey(store.store.crawl, 'leader'), 'server', 'another', 'until', 0)
  expect(await crawl.lead('two', 1_000)).toBe(false)
  await clock.advance(1_000)
  expect(await crawl.lead('two', 1_000)).toBe(true)
})

test('assignments are replaced as a whole', async () => {
  const { crawl } = await open()
  await crawl.assign({ a: [0, 1], b: [] })
  expect([await crawl.assignment('a'), await crawl.assignment('b'), await crawl.assignment('c')]).toEqual([
    [0, 1],
    [],
    undefined,
  ])
  await crawl.assign({})
  expect(await crawl.assignment('a')).toBeUndefined()
})

test('a crawl is halted once, for the first reason, until it is let go on', async () => {
  const { crawl } = await open()
  expect(await crawl.halted()).toBeUndefined()
  await crawl.halt('max-bytes')
  await crawl.halt('max-time')
  expect(await crawl.halted()).toBe('max-bytes')
  await crawl.resume()
  expect(await crawl.halted()).toBeUndefined()
})

test('permits keep to the rate over any time, whoever takes them, and are not saved up', async () => {
  const { clock, crawl } = await open()
  await crawl.takePermits(1, 40, 100)
  await clock.advance(60_000)
  expect(await crawl.takePermits(1_000, 40, 100)).toBe(10)
  expect(await crawl.takePermits(1_000, 40, 100)).toBe(0)
  let taken = 0
  for (let step = 0; step < 100; step++) {
    await clock.advance(37)
    taken += await crawl.takePermits(step % 7, 40, 100)
  }
  expect(taken).toBeLessThanOrEqual(3.7 * 40)
  expect(taken).toBeGreaterThan(3.7 * 40 - 45)
})

test('in no second more requests start than the rate says, however late each starts', async () => {
  const { clock, crawl } = await open()
  const starts: number[] = []
  const lateness = [0, 1, 0.5, 0.99, 0.01]
  for (let step = 0; step < 400; step++) {
    await clock.advance((step * 7) % 90)
    const goodMs = step % 5 === 0 ? 700 : 100
    const permits = await crawl.takePermits(1 + (step % 4), 10, goodMs)
    for (let n = 0; n < permits; n++) starts.push(clock.now() + goodMs * (lateness[(step + n) % 5] ?? 0))
  }
  starts.sort((a, b) => a - b)
  const gaps = starts.slice(10).map((at, index) => at - (starts[index] ?? 0))
  expect(gaps.length).toBeGreaterThan(50)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
})

test('the sum of bytes is that of all who add to it, until it is corrected', async () => {
  const { crawl } = await open()
  expect(await crawl.countBytes(0)).toBe(0)
  expect(await crawl.countBytes(70_000_000_000_000)).toBe(70_000_000_000_000)
  expect(await crawl.countBytes(5)).toBe(70_000_000_000_005)
  expect(await crawl.countBytes(1, 10)).toBe(11)
  expect(await crawl.countBytes(0)).toBe(11)
})

test('a rate below one in a second gives single permits', async () => {
  const { clock, crawl } = await open()
  expect(await crawl.takePermits(5, 0.5, 0)).toBe(1)
  await clock.advance(1_999)
  expect(await crawl.takePermits(5, 0.5, 0)).toBe(0)
  await clock.advance(1)
  expect(await crawl.takePermits(5, 0.5, 0)).toBe(1)
})
