import { afterEach, describe, expect, test } from 'vitest'
import { page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import type { FoundUrl, NormalizedUrl, Origin } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import { writeRow } from './row.ts'
import { command, openTestStore, total, type TestStore, type TestStoreOptions } from './test-support/open-test-store.ts'

const opened: TestStore[] = []
afterEach(async () => {
  for (const { link } of opened.splice(0)) await link.close()
})
async function open(options: TestStoreOptions = {}): Promise<TestStore> {
  const store = await openTestStore(await sharedRedis(), options)
  opened.push(store)
  return store
}
async function beside(other: TestStore): Promise<TestStore> {
  const store = await other.another()
  opened.push(store)
  return store
}

const pages = (count: number, from = 0): FoundUrl[] =>
  Array.from({ length: count }, (_, n) => page(`https://h${(from + n) % 7}.test/${from + n}`, 1))

/** Where a URL would stand with so many referrers, and the rows that stand there. */
async function rowsAt(store: TestStore, found: FoundUrl, referrers: number) {
  const [chosen] = store.intake.choose([{ ...found, modifiedAt: 1 }]).chosen
  if (chosen === undefined) throw new Error('nothing is chosen')
  const { rank } = store.intake.fromRow(writeRow(chosen.row), { referrers }).row
  const { keys } = store.store.partitionOf(hostKey(found.url))
  const list = keys.queue(new URL(found.url).origin as Origin, chosen.row.slot, rank)
  const origin = new URL(found.url).origin
  return ((await command(store, 'LRANGE', list, 0, -1)) as string[]).map((stored) => {
    const [name, depth, , , path] = stored.split('\n')
    return { name, depth: Number(depth), url: `${origin}${path}` }
  })
}

describe('taking URLs in', () => {
  test('makes each known once, whoever finds it again', async () => {
    const one = await open()
    const other = await beside(one)
    expect(await one.intake.add(pages(100))).toEqual({ added: 100, known: 0 })
    expect(await one.intake.add(pages(100))).toEqual({ added: 0, known: 100 })
    expect(await other.intake.add(pages(120))).toEqual({ added: 20, known: 100 })
    for (const name of ['discovered', 'known', 'queued_medium']) expect(await total(one, name)).toBe(120)
  })

  test('knows all of many thousands exactly, while buckets are split', async () => {
    const one = await open({ partitions: 1 })
    const other = await beside(one)
    for (let from = 0; from < 6_000; from += 500) {
      expect(await one.intake.add(pages(500, from))).toEqual({ added: 500, known: 0 })
      expect(await other.intake.add(pages(from + 500).slice(-700))).toMatchObject({ added: 0 })
    }
    expect(await total(one, 'level')).toBe(6)
    one.intake.forget()
    expect(await one.intake.add(pages(6_000))).toEqual({ added: 0, known: 6_000 })
    expect(await total(one, 'known')).toBe(6_000)
  })

  test('a page and a sitemap of one address are two', async () => {
    const one = await open()
    const found = page('https://a.test/x')
    expect(await one.intake.add([found, { ...found, kind: 'sitemap' }])).toEqual({ added: 2, known: 0 })
    expect(await total(one, 'discovered')).toBe(1)
    expect(await total(one, 'sitemaps_open')).toBe(1)
  })

  test('a page that more pages name gets a better place, and counts there alone', async () => {
    const one = await open()
    const found = page('https://a.test/x', 1)
    for (let time = 0; time < 4; time++) await one.intake.add([found])
    expect(await rowsAt(one, found, 1)).toMatchObject([{ url: found.url }])
    expect(await rowsAt(one, found, 4)).toMatchObject([{ url: found.url, depth: 1 }])
    expect(await total(one, 'queued_medium')).toBe(1)
    const { keys } = one.store.partitionOf(hostKey(found.url))
    const name = one.store.fingerprints.urlName('page', found.url)
    expect(await command(one, 'HGET', keys.fixed[9] as string, name)).toMatch(/^auto\|\d+;1$/)
  })

  test('a shorter path moves a page forward, be it found by another process', async () => {
    const one = await open()
    await one.intake.add([page('https://a.test/x', 5)])
    const other = await beside(one)
    await other.intake.add([page('https://a.test/x', 2)])
    expect(await rowsAt(other, page('https://a.test/x', 2), 1)).toMatchObject([{ depth: 2 }])
    // A longer one does nothing.
    const third = await beside(one)
    await third.intake.add([page('https://a.test/x', 3)])
    expect(await rowsAt(other, page('https://a.test/x', 3), 1)).toEqual([])
  })

  test('a part of a lane has only so many lists, and what has no list of its own goes to the next', async () => {
    const one = await open({ partitions: 1 })
    for (let depth = 1; depth <= 64; depth++) await one.intake.add([page(`https://a.test/${depth}`, depth)])
    expect(await one.intake.add([page('https://a.test/deep', 90), page('https://b.test/', 90)])).toMatchObject({
      added: 2,
    })
    expect(await rowsAt(one, page('https://a.test/deep', 90), 1)).toEqual([])
    expect((await rowsAt(one, page('https://a.test/64', 64), 1)).map(({ url }) => url)).toEqual([
      'https://a.test/64',
      'https://a.test/deep',
    ])
  })

  test('only what is worth telling is told', async () => {
    const one = await open()
    const links = pages(10)
    expect(one.intake.choose(links).chosen).toHaveLength(10)
    expect(one.intake.choose(links).chosen).toHaveLength(0)
    expect(one.intake.choose([page(links[3]?.url as NormalizedUrl, 0)]).chosen).toMatchObject([{ times: 0 }])
    one.intake.forget()
    expect(one.intake.choose(links).chosen).toHaveLength(10)
  })
})
