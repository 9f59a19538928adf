import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import type { FoundUrl } from '../../model/index.ts'
import type { Script } from './link.ts'
import { loadScript } from './scripts.ts'
import type { Partition } from './store.ts'
import { command, openTestStore, total, type TestStore, type TestStoreOptions } from './test-support/open-test-store.ts'

const opened: TestStore[] = []
afterEach(async () => {
  for (const { link } of opened.splice(0)) await link.close()
})
async function open(options: TestStoreOptions = {}): Promise<TestStore & { readonly source: Partition }> {
  const store = await openTestStore(await sharedRedis(), options)
  opened.push(store)
  const source = store.store.partitions[0]
  if (source === undefined) throw new Error('there is no partition')
  return { ...store, source }
}

/** A verb that adds nothing, and sends what it is given. */
const SEND = ((): Script => {
  const text = loadScript('add').text.replace(
    'take_in(ASKED.items)',
    "take_in({}, { depth = 1, kind = 'p', elsewhere = ASKED.elsewhere })",
  )
  return { name: 'send', text, sha: createHash('sha1').update(text).digest('hex') }
})()

const links = (count: number, from = 0): FoundUrl[] =>
  Array.from({ length: count }, (_, n) => page(`https://h${from + n}.test/`, 1))

async function send(
  { intake, source }: Awaited<ReturnType<typeof open>>,
  found: readonly FoundUrl[],
): Promise<unknown> {
  const keys = source.keyList()
  const batch = intake.batch(source, keys)
  const elsewhere = batch.elsewhere(intake.choose(found).chosen)
  const reply = await source.call(SEND, keys.names, { elsewhere, call: intake.callName(), ...batch.tables() })
  return (reply as { readonly sent?: unknown }).sent
}
const elsewhere = ({ store, source }: Awaited<ReturnType<typeof open>>, found: readonly FoundUrl[]): number =>
  found.filter(({ url }) => store.partitionOf(new URL(url).hostname as never) !== source).length

describe('messages between partitions', () => {
  test('are taken once, however often they come', async () => {
    const crawl = await open()
    const found = links(40)
    const sent = await send(crawl, found)
    await crawl.outbox.deliver(crawl.source, sent)
    await crawl.outbox.deliver(crawl.source, sent)
    expect(await total(crawl, 'discovered')).toBe(elsewhere(crawl, found))
  })

  test('come in any order', async () => {
    const crawl = await open()
    const sent = [await send(crawl, links(40)), await send(crawl, links(40, 40)), await send(crawl, links(40, 80))]
    for (const index of [2, 0, 2, 1, 0]) await crawl.outbox.deliver(crawl.source, sent[index])
    expect(await total(crawl, 'discovered')).toBe(elsewhere(crawl, links(120)))
    expect(await command(crawl, 'HLEN', crawl.source.keys.fixed[8] as string)).toBe(0)
  })

  test('whose sender is gone are delivered by anybody, but not while it may still do so itself', async () => {
    const crawl = await open()
    const found = links(40)
    await send(crawl, found)
    const other = await crawl.another()
    opened.push(other)
    await other.outbox.flush(other.store.partitions[0] as Partition)
    expect(await total(crawl, 'discovered')).toBe(0)
    await crawl.clock.advance(5_000)
    await other.outbox.flush(other.store.partitions[0] as Partition)
    expect(await total(crawl, 'discovered')).toBe(elsewhere(crawl, found))
  })

  test('are told again to a partition that lost them', async () => {
    const crawl = await open({ partitions: 2 })
    const found = links(30)
    await crawl.outbox.deliver(crawl.source, await send(crawl, found))
    const [, target] = crawl.store.partitions
    if (target === undefined) throw new Error('there is one partition only')
    const [meta, hosts] = target.keys.fixed as [string, string]
    const taken = Number(await command(crawl, 'HGET', meta, 'discovered'))
    expect(taken).toBe(elsewhere(crawl, found))
    // A server that was behind has none of it.
    await command(crawl, 'HDEL', meta, 'discovered', 'known', 'hosts', 'open', 'ordered', 'keys')
    await command(crawl, 'DEL', hosts)
    await command(crawl, 'DEL', target.keys.fixed[16] as string)
    await command(crawl, 'DEL', target.keys.open(0, 0))
    const queues = (await command(crawl, 'KEYS', `${meta.slice(0, -'meta'.length)}q:*`)) as string[]
    for (const queue of queues) await command(crawl, 'DEL', queue)
    await crawl.outbox.tellAgain(target)
    expect(await command(crawl, 'HGET', meta, 'discovered')).toBe(String(taken))
  })

  test('are not mistaken for those of an earlier server, whose numbers were forgotten', async () => {
    const crawl = await open({ partitions: 2 })
    await crawl.outbox.deliver(crawl.source, await send(crawl, links(10)))
    const meta = crawl.source.keys.fixed[0] as string
    await command(crawl, 'HDEL', meta, 'sent:0:1')
    await command(crawl, 'HSET', meta, 'server', 'another')
    await crawl.outbox.deliver(crawl.source, await send(crawl, links(10, 10)))
    expect(await total(crawl, 'discovered')).toBe(elsewhere(crawl, links(20)))
  })

  test('that were delivered are kept for a while, and no longer', async () => {
    const crawl = await open()
    const outbox = crawl.source.keys.fixed[15] as string
    await crawl.outbox.deliver(crawl.source, await send(crawl, links(40)))
    const kept = Number(await command(crawl, 'XLEN', outbox))
    expect(kept).toBeGreaterThan(0)
    await crawl.clock.advance(30_001)
    const undelivered = await send(crawl, links(40, 40))
    await crawl.clock.advance(30_001)
    await crawl.outbox.deliver(crawl.source, await send(crawl, links(40, 80)))
    expect(await command(crawl, 'XLEN', outbox)).toBe(2 * kept)
    await crawl.outbox.deliver(crawl.source, undelivered)
    expect(await command(crawl, 'XLEN', outbox)).toBe(kept)
  })

  test('that were lost with a server do not keep later ones from being delivered', async () => {
    const crawl = await open({ partitions: 2 })
    await crawl.outbox.deliver(crawl.source, await send(crawl, links(10)))
    const [, target] = crawl.store.partitions
    if (target === undefined) throw new Error('there is one partition only')
    // The other partition has forgotten that it took the first, and the outbox that it was sent.
    await command(crawl, 'DEL', target.keys.fixed[16] as string)
    await command(crawl, 'HDEL', target.keys.fixed[0] as string, 'keys')
    await command(crawl, 'XTRIM', crawl.source.keys.fixed[15] as string, 'MAXLEN', 0)
    await send(crawl, links(10, 10))
    await crawl.outbox.flush(crawl.source, 0)
    expect(await total(crawl, 'discovered')).toBe(elsewhere(crawl, links(20)))
    // One small number: all up to it were taken, and none beyond.
    expect(await command(crawl, 'HSTRLEN', target.keys.fixed[16] as string, '0:0')).toBe(2)
  })
})
