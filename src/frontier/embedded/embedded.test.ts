import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { allowAll, describeFrontier } from '../../../test/conformance/frontier.ts'
import { createVirtualClock } from '../../base/index.ts'
import type { NormalizedUrl, Task } from '../../model/index.ts'
import { createFrontier, openInspector, type Frontier, type Lease } from '../index.ts'

const root = mkdtempSync(join(tmpdir(), 'tiptoe-frontier-'))
let serial = 0
const folder = (): string => join(root, String(serial++))
afterAll(() => rmSync(root, { recursive: true }))

describeFrontier('embedded', (options, clock) => createFrontier({ store: folder(), clock, ...options }))

describe('an embedded crawl that is opened again', () => {
  const seed = { url: 'https://a.test/' as NormalizedUrl, kind: 'page', depth: 0, via: 'seed' } as const
  const one = async (frontier: Frontier): Promise<Lease | undefined> =>
    (await frontier.lease({ worker: 'w', want: 1 })).leases[0]
  /** What a kill leaves behind: the committed file, and no word of good-bye. */
  const kill = (store: string): string => {
    const copy = folder()
    mkdirSync(copy)
    const db = new DatabaseSync(join(store, 'crawl.db'))
    db.exec(`VACUUM INTO '${join(copy, 'crawl.db')}'`)
    db.close()
    return copy
  }
  const settleRobots = async (frontier: Frontier, now: number): Promise<void> => {
    const lease = (await one(frontier)) as Lease
    const task = lease.tasks[0] as Task
    const settlement = { lease, task, outcome: { kind: 'done' } as const, answeredAt: now, robots: allowAll(task, now) }
    await frontier.settle([settlement])
  }

  test('knows its URLs, its counters, its robots records and when each host answered', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    const host = await first.host('a.test' as never)
    await first.close()
    const second = createFrontier({ store, clock })
    expect(await second.stats()).toMatchObject({ discovered: 1, queued: 1, requests: { robots: 1 } })
    expect(await second.host('a.test' as never)).toEqual(host)
    expect(await one(second)).toBeUndefined()
    await clock.advance(1_000)
    expect((await one(second))?.tasks).toMatchObject([{ kind: 'page', url: seed.url }])
  })

  test('after a kill has what was leased in its queue, and lets every host wait its delay once', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await clock.advance(1_000)
    expect(await one(first)).toBeDefined()
    await clock.advance(5_000)
    const second = createFrontier({ store: kill(store), clock })
    expect(await second.stats()).toMatchObject({ queued: 1, leased: 0 })
    expect(await one(second)).toBeUndefined()
    await clock.advance(999)
    expect(await one(second)).toBeUndefined()
    await clock.advance(1)
    expect(await one(second)).toBeDefined()
  })

  test('waits that delay also when it was closed in order in between', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await clock.advance(1_000)
    expect(await one(first)).toBeDefined()
    await clock.advance(5_000)
    const killed = kill(store)
    await createFrontier({ store: killed, clock }).close()
    await clock.advance(100)
    const third = createFrontier({ store: killed, clock })
    await third.add([{ ...seed, url: 'https://a.test/more' as NormalizedUrl, depth: 1 }])
    expect(await one(third)).toBeUndefined()
    await clock.advance(899)
    expect(await one(third)).toBeUndefined()
    await clock.advance(1)
    expect(await one(third)).toBeDefined()
  })

  test('obeys a shorter delay, and a clock that was put right', async () => {
    const clock = createVirtualClock()
    const ahead = createVirtualClock(clock.now() + 86_400_000)
    const store = folder()
    const first = createFrontier({ store, clock: ahead, policyOf: () => ({ delayMs: 3_600_000, concurrency: 1 }) })
    await first.add([seed])
    await settleRobots(first, ahead.now())
    await first.close()
    const second = createFrontier({ store, clock })
    await one(second)
    await clock.advance(1_000)
    expect((await one(second))?.tasks).toMatchObject([{ url: seed.url }])
  })

  test('obeys a longer delay that the configuration asks for since', async () => {
    const clock = createVirtualClock()
    const store = folder()
    const first = createFrontier({ store, clock })
    await first.add([seed])
    await settleRobots(first, clock.now())
    await first.close()
    const slow = createFrontier({ store, clock, policyOf: () => ({ delayMs: 10_000, concurrency: 1 }) })
    await clock.advance(9_999)
    expect(await one(slow)).toBeUndefined()
    await clock.advance(1)
    expect(await one(slow)).toBeDefined()
  })

  test('can be looked at while it is worked on, and worked on by one process only', async () => {
    const store = folder()
    const clock = createVirtualClock()
    const frontier = createFrontier({ store, clock })
    await frontier.add([seed])
    const inspector = openInspector(store)
    expect(inspector.find('page', seed.url as never)).toMatchObject({ url: seed.url, host: 'a.test', state: 'queued' })
    expect(inspector.counters().discovered).toBe(1)
    expect([...inspector.pages()]).toHaveLength(1)
    expect([...inspector.hosts()]).toMatchObject([{ key: 'a.test', lanes: [{ origin: 'https://a.test', queued: 1 }] }])
    inspector.close()
    expect(() => createFrontier({ store, clock })).toThrow('another process is working')
    await frontier.close()
  })

  test('is refused with a reason when its layout or its file is not ours', async () => {
    const store = folder()
    await createFrontier({ store }).close()
    const db = new DatabaseSync(join(store, 'crawl.db'))
    db.exec("UPDATE meta SET value = 99 WHERE key = 'layout'")
    db.close()
    expect(() => createFrontier({ store })).toThrow('layout 99')
    const damaged = folder()
    mkdirSync(damaged)
    writeFileSync(join(damaged, 'crawl.db'), 'not a database, but long enough to be read as one'.repeat(100))
    expect(() => createFrontier({ store: damaged })).toThrow(/cannot be kept/)
  })
})
