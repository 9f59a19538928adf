import { afterEach, describe, expect, test } from 'vitest'
import { page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import type { FoundUrl, NormalizedUrl, Origin } from '../../model/index.ts'
import { hostKey } from '../../url/index.ts'
import { listOf } from './replies.ts'
import { writeRow } from './row.ts'
import { loadScript } from './scripts.ts'
import type { Partition } from './store.ts'
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

function onlyPartition({ store }: TestStore): Partition {
  const [partition] = store.partitions
  if (partition === undefined) throw new Error('there is no partition')
  return partition
}

/** Tells the only partition of URLs, and answers what it sent on, which nobody delivers. */
async function tell(store: TestStore, found: readonly FoundUrl[], call = store.intake.callName()): Promise<unknown[]> {
  const partition = onlyPartition(store)
  const keys = partition.keyList()
  const batch = store.intake.batch(partition, keys)
  const items = batch.items(store.intake.choose(found).chosen)
  const reply = await partition.call(loadScript('add'), keys.names, { ...batch.tables(), call, items })
  return [...listOf((reply as { readonly sent?: unknown }).sent)]
}

/** The rank of a URL with so many referrers. */
function rankAt(store: TestStore, found: FoundUrl, referrers: number): number {
  const [chosen] = store.intake.choose([{ ...found, modifiedAt: 1 }]).chosen
  if (chosen === undefined) throw new Error('nothing is chosen')
  return store.intake.fromRow(writeRow(chosen.row), { referrers }).row.rank
}

/** The rows of its host that stand where this URL would with so many referrers. */
async function rowsAt(store: TestStore, found: FoundUrl, referrers: number) {
  const { keys } = store.store.partitionOf(hostKey(found.url))
  const { origin } = new URL(found.url)
  const list = keys.queue(origin as Origin, 'auto', rankAt(store, found, referrers))
  return ((await command(store, 'LRANGE', list, 0, -1)) as string[]).map((stored) => {
    const [name, depth, , , path] = stored.split('\n')
    return { name, depth: Number(depth), url: `${origin}${path}` }
  })
}

/** Where a URL counts that has stood in several places. */
async function placeOf(store: TestStore, { url, kind }: FoundUrl): Promise<string | undefined> {
  const { keys } = store.store.partitionOf(hostKey(url))
  const entry = await command(store, 'HGET', keys.fixed[9] as string, store.store.fingerprints.urlName(kind, url))
  return String(entry).split(';')[0]
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
    expect(await placeOf(one, found)).toBe(`auto|${rankAt(one, found, 4)}`)
  })

  test('sent again and again, it makes no page seem to have more referrers, and answers what it did', async () => {
    const one = await open({ sends: 5 })
    const found = page('https://a.test/x', 1)
    expect(await one.intake.add([found])).toEqual({ added: 1, known: 0 })
    expect(await rowsAt(one, found, 4)).toEqual([])
    for (let time = 0; time < 3; time++) await one.intake.add([found])
    expect(await rowsAt(one, found, 4)).toMatchObject([{ url: found.url }])
    expect(await rowsAt(one, found, 16)).toEqual([])
  })

  test('a call that arrives once more after a later one changes nothing', async () => {
    const one = await open({ partitions: 1 })
    const late = one.intake.callName()
    await one.intake.add(pages(1))
    await tell(one, pages(2), late)
    expect(await total(one, 'discovered')).toBe(1)
    await tell(await beside(one), pages(2))
    expect(await total(one, 'discovered')).toBe(2)
  })

  test('any number of them at once are all taken in', async () => {
    const one = await open({ partitions: 2, sends: 2 })
    const answers = await Promise.all(pages(40).map((found) => one.intake.add([found])))
    expect(answers).toEqual(pages(40).map(() => ({ added: 1, known: 0 })))
    expect(await total(one, 'discovered')).toBe(40)
  })

  test('a page gets the place that all news of it make, in whichever order they come and are told', async () => {
    const found = page('https://a.test/x', 5)
    const nearer = page('https://a.test/x', 2)
    const referrers = Array.from({ length: 4 }, () => found)
    for (const news of [
      [referrers, [nearer]],
      [[nearer], referrers],
    ]) {
      for (const inOrder of [true, false]) {
        const one = await open({ partitions: 1 })
        const partition = onlyPartition(one)
        await one.intake.add([found])
        const sent: unknown[] = []
        // Each is found out by a process that dies before it has told of it.
        for (const finds of news) {
          const other = await beside(one)
          for (const find of finds) sent.push(...(await tell(other, [find])))
        }
        expect(sent).toHaveLength(2)
        for (const entry of inOrder ? sent : sent.toReversed()) await one.outbox.deliver(partition, [entry])
        expect(await rowsAt(one, nearer, 4)).toMatchObject([{ url: found.url, depth: 2 }])
        expect(await placeOf(one, found)).toBe(`auto|${rankAt(one, nearer, 4)}`)
        expect(await total(one, 'queued_medium')).toBe(1)
      }
    }
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
