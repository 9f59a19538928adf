import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowAll, conserved, page } from '../../../test/conformance/harness.ts'
import { sharedRedis } from '../../../test/support/redis/shared.ts'
import { createRng, createSystemClock, createVirtualClock, type VirtualClock } from '../../base/index.ts'
import { contentSample } from '../../content/index.ts'
import type { ContentSample, Task } from '../../model/index.ts'
import type { Frontier, FrontierOptions, Lease, Output, Settlement } from '../contract.ts'
import { connectRedis, type RedisConnection } from './connection.ts'
import { createRedisFrontier, type RedisFrontierOptions } from './frontier.ts'
import type { Script } from './link.ts'
import { createLostWrites } from './test-support/lost-writes.ts'
import { PLAIN_FRONTIER } from '../../../test/support/plain-frontier.ts'

let link: RedisConnection
beforeAll(async () => {
  link = connectRedis(await sharedRedis(), { clock: createSystemClock(), rng: createRng(1) })
})
afterAll(() => link.close())

const OPTIONS: FrontierOptions = {
  ...PLAIN_FRONTIER,
  policyOf: () => ({ delayMs: 0, concurrency: 1 }),
}
/** Longer than a partition keeps quiet after its server changed. */
const QUIET_MS = 120_000

interface Crawl {
  readonly clock: VirtualClock
  readonly crawl: string
  /** Another process on the crawl. `before` is awaited before each script that it sends. */
  open(more?: Partial<RedisFrontierOptions>, before?: (script: Script) => Promise<void>): Frontier
}
function createCrawl(): Crawl {
  const clock = createVirtualClock()
  const crawl = `settling-${randomUUID()}`
  return {
    clock,
    crawl,
    open: (more = {}, before = async () => undefined) =>
      createRedisFrontier(
        { ...OPTIONS, crawl, worker: 'w', partitions: 4, stream: false, isTimeTold: true, ...more },
        {
          clock,
          link: {
            ...link,
            close: async () => undefined,
            async run(script, keys, args) {
              await before(script)
              return link.run(script, keys, args)
            },
          },
        },
      ),
  }
}

const HOSTS = ['a', 'b', 'c', 'd', 'e']
/** So many that they are never all in one partition. */
const MANY_HOSTS = [...HOSTS, 'f', 'g', 'h', 'i', 'j']
const lease = async (frontier: Frontier, want = 10): Promise<readonly Lease[]> =>
  (await frontier.lease({ worker: 'w', want })).leases
const ended = (held: Lease, more: Partial<Settlement> = {}): Settlement[] =>
  held.tasks.map((task) => ({ lease: held, task, outcome: { kind: 'done' }, ...more }))
const passRobots = async (frontier: Frontier, clock: VirtualClock): Promise<void> => {
  for (const held of await lease(frontier))
    await frontier.settle(ended(held, { robots: allowAll(held.tasks[0] as Task, clock.now()) }))
}
/** An output in memory: the position counts records. */
const createOutput = (): Required<Output> & { readonly urls: string[]; readonly syncs: number } => {
  const urls: string[] = []
  const ends: number[] = []
  let syncs = 0
  return {
    urls,
    get syncs() {
      return syncs
    },
    append(accepted) {
      ends.push(urls.length)
      urls.push(...accepted.map(({ task }) => task.url))
      return { 'pages.jsonl': urls.length }
    },
    sync() {
      syncs += 1
    },
    takeBack: (appends) => void urls.splice(ends.splice(-appends)[0] ?? urls.length),
  }
}
/** Fetches everything that is left; answers what was asked for. */
const drain = async (frontier: Frontier, { clock }: Crawl): Promise<string[]> => {
  const urls: string[] = []
  for (let turn = 0; turn < 100; turn++) {
    const { leases, state, nextAt } = await frontier.lease({ worker: 'w', want: 10 })
    if (state !== 'open') return urls
    for (const held of leases) {
      urls.push(...held.tasks.filter(({ kind }) => kind === 'page').map(({ url }) => url))
      await frontier.settle(ended(held, { robots: allowAll(held.tasks[0] as Task, clock.now()) }))
    }
    if (leases.length === 0) await clock.advance(Math.max(1, (nextAt ?? 0) - clock.now()))
  }
  throw new Error('it does not end')
}

describe('settling on several partitions', () => {
  test('commits each with the position of the output by then, and the end is the furthest of them', async () => {
    const { clock, open } = createCrawl()
    const frontier = open()
    await frontier.add(MANY_HOSTS.map((host) => page(`https://${host}.test/`)))
    await passRobots(frontier, clock)
    const positions: number[] = []
    const output = createOutput()
    const settlements = (await lease(frontier)).flatMap((held) => ended(held))
    const { results } = await frontier.settle(settlements, {
      ...output,
      append(accepted) {
        const position = output.append(accepted)
        positions.push(position['pages.jsonl'] ?? 0)
        return position
      },
    })
    expect(output.syncs).toBe(1)
    expect(results).toEqual(MANY_HOSTS.map(() => 'settled'))
    expect(positions.length).toBeGreaterThan(1)
    expect(output.urls.toSorted()).toEqual(MANY_HOSTS.map((host) => `https://${host}.test/`))
    expect((await frontier.stats()).output).toEqual({ 'pages.jsonl': MANY_HOSTS.length })
    expect((await open({ worker: 'other' }).stats()).output).toEqual({})
    expect((await open().stats()).output).toEqual({ 'pages.jsonl': MANY_HOSTS.length })
  })

  test('nothing is committed when the output fails', async () => {
    const { clock, open } = createCrawl()
    const frontier = open()
    await frontier.add(MANY_HOSTS.map((host) => page(`https://${host}.test/`)))
    await passRobots(frontier, clock)
    const output = createOutput()
    const settlements = (await lease(frontier)).flatMap((held) => ended(held))
    const failing: Output = {
      append(accepted) {
        if (output.urls.length > 0) throw new Error('disk full')
        return output.append(accepted)
      },
    }
    await expect(frontier.settle(settlements, failing)).rejects.toThrow('disk full')
    const stats = await frontier.stats()
    expect([stats.done, stats.output]).toEqual([0, {}])
    expect(conserved(stats)).toBe(true)
    output.takeBack(1)
    const { results } = await frontier.settle(settlements, output)
    expect(results).toEqual(MANY_HOSTS.map(() => 'settled'))
    expect(output.urls.toSorted()).toEqual(MANY_HOSTS.map((host) => `https://${host}.test/`))
  })

  test('an answer that names more than one step takes is taken in whole', async () => {
    const { clock, open } = createCrawl()
    const frontier = open()
    await frontier.add([page('https://a.test/')])
    await passRobots(frontier, clock)
    const found = Array.from({ length: 9_000 }, (_, n) => page(`https://${MANY_HOSTS[n % 5]}.test/${n}`, 1))
    const [held] = await lease(frontier)
    expect((await frontier.settle(ended(held as Lease, { found }))).results).toEqual(['settled'])
    expect(await frontier.stats()).toMatchObject({ discovered: 9_001, done: 1, queued: 9_000 })
  })
})

describe('records for the stream', () => {
  test('are written once for each accepted settlement, however often it is sent', async () => {
    const { clock, open, crawl } = createCrawl()
    const frontier = open({ stream: true })
    await frontier.add(HOSTS.map((host) => page(`https://${host}.test/`)))
    await passRobots(frontier, clock)
    const settlements = (await lease(frontier)).flatMap((held) =>
      ended(held).map((settlement) => ({
        ...settlement,
        record: { kind: 'page', record: { url: settlement.task.url }, markdown: '# Page' },
      })),
    )
    const output = createOutput()
    await frontier.settle(settlements, output)
    await frontier.settle(settlements, output)
    const text = `
      local records = {}
      for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
        for _, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do records[#records + 1] = entry[2] end
      end
      return records`
    const script = {
      name: 'test',
      text,
      sha: createHash('sha1').update(text).digest('hex'),
    }
    const records = (await link.run(script, [], [`tiptoe:{${crawl}:*}:records`])) as string[][]
    expect(records.toSorted((a, b) => ((a[3] ?? '') < (b[3] ?? '') ? -1 : 1))).toEqual(
      HOSTS.map((host) => {
        const url = `https://${host}.test/`
        return ['kind', 'page', 'url', url, 'record', JSON.stringify({ url }), 'markdown', '# Page']
      }),
    )
  })
})

describe('a server that takes over without the last writes', () => {
  for (const known of ['that it was leased', 'that it was found', 'nothing of it'] as const) {
    test(`is told again what was settled, when it knows ${known}`, async () => {
      const crawl = createCrawl()
      const { clock } = crawl
      const frontier = crawl.open()
      const lost = createLostWrites(link, crawl.crawl)
      await frontier.add(HOSTS.map((host) => page(`https://${host}.test/seed`)))
      await passRobots(frontier, clock)
      for (const held of await lease(frontier)) await frontier.settle(ended(held))
      if (known === 'nothing of it') await lost.remember()
      await frontier.add(HOSTS.map((host) => page(`https://${host}.test/`)))
      if (known === 'that it was found') await lost.remember()
      const leases = await lease(frontier)
      if (known === 'that it was leased') await lost.remember()
      const output = createOutput()
      const settlements = leases.flatMap((held) => {
        const found = [page(`https://${held.host}/next`, 1), page('https://z.test/next', 1)]
        return ended(held, { found, bytes: 7, answeredAt: clock.now() })
      })
      expect((await frontier.settle(settlements, output)).results).toEqual(HOSTS.map(() => 'settled'))
      await lost.lose()
      await lost.changeServer()
      // So that every partition has something due, and is asked.
      await frontier.add(HOSTS.map((host) => page(`https://${host}.test/more`, 1)))
      expect(await lease(frontier)).toEqual([])
      expect(await lease(frontier)).toEqual([])
      const stats = await frontier.stats()
      expect(conserved(stats)).toBe(true)
      expect(stats).toMatchObject({ done: 10, bytes: 35, output: { 'pages.jsonl': 5 } })
      await clock.advance(QUIET_MS)
      const rest = await drain(frontier, crawl)
      expect(rest.toSorted()).toEqual(
        [
          ...HOSTS.flatMap((host) => [`https://${host}.test/more`, `https://${host}.test/next`]),
          'https://z.test/next',
        ].toSorted(),
      )
      expect(conserved(await frontier.stats())).toBe(true)
      expect(output.urls).toHaveLength(5)
    })
  }

  for (const canTakeBack of [true, false]) {
    const what = canTakeBack ? 'the record is taken back, and the URL asked again' : 'the settlement is accepted'
    test(`between the record and its settlement: ${what}, and the URL ends once`, async () => {
      const crawl = createCrawl()
      const lost = createLostWrites(link, crawl.crawl)
      let loses = false
      const frontier = crawl.open({}, async ({ name }) => {
        if (name !== 'settle' || !loses) return
        loses = false
        await lost.lose()
      })
      await frontier.add([page('https://a.test/1'), page('https://a.test/2')])
      await passRobots(frontier, crawl.clock)
      await lost.remember()
      const [held] = await lease(frontier)
      loses = true
      const { takeBack, ...output } = createOutput()
      const { results } = await frontier.settle(
        ended(held as Lease).slice(0, 1),
        canTakeBack ? { ...output, takeBack } : output,
      )
      expect([results, output.urls]).toEqual(canTakeBack ? [['stale'], []] : [['settled'], ['https://a.test/1']])
      expect(await frontier.stats()).toMatchObject(
        canTakeBack ? { done: 0, queued: 2, leased: 0, output: {} } : { done: 1, queued: 1, leased: 0 },
      )
      const left = ['https://a.test/1', 'https://a.test/2']
      expect(await drain(frontier, crawl)).toEqual(canTakeBack ? left : left.slice(1))
    })
  }

  for (const canTakeBack of [true, false]) {
    test(`and had a URL ended by another: ${canTakeBack ? 'what was written is taken back' : 'this run cannot go on'}`, async () => {
      const crawl = createCrawl()
      const lost = createLostWrites(link, crawl.crawl)
      let interrupt = async (): Promise<void> => undefined
      const frontier = crawl.open({ partitions: 1 }, async ({ name }) => {
        if (name === 'settle') await interrupt()
      })
      const other = crawl.open({ worker: 'other', partitions: 1 })
      await frontier.add([page('https://a.test/1'), page('https://b.test/1')])
      await passRobots(frontier, crawl.clock)
      await lost.remember()
      const [first] = await lease(frontier, 1)
      const [second] = await lease(frontier, 1)
      interrupt = async () => {
        interrupt = async () => undefined
        await lost.lose()
        const [taken] = await lease(other, 1)
        expect(taken?.host).toBe(first?.host)
        await other.settle(ended(taken as Lease), createOutput())
      }
      const { takeBack, ...output } = createOutput()
      const settlements = [first, second, first].flatMap((held) => ended(held as Lease))
      const settling = frontier.settle(settlements, canTakeBack ? { ...output, takeBack } : output)
      if (canTakeBack) {
        // The other lease is lost, too: nobody knows of it.
        expect((await settling).results).toEqual(['stale', 'stale', 'stale'])
        expect(output.urls).toEqual([])
        expect(await drain(frontier, crawl)).toEqual(['https://b.test/1'])
      } else await expect(settling).rejects.toThrow('another worker ended a URL')
      expect((await crawl.open().stats()).output).toEqual({})
    })
  }

  test('and the others of the same step are settled', async () => {
    const crawl = createCrawl()
    let interrupt = async (): Promise<void> => undefined
    const frontier = crawl.open({ partitions: 1 }, async ({ name }) => {
      if (name === 'settle') await interrupt()
    })
    const other = crawl.open({ worker: 'other', partitions: 1 })
    await frontier.add([page('https://a.test/1'), page('https://b.test/1')])
    await passRobots(frontier, crawl.clock)
    const [first] = await lease(frontier, 1)
    await crawl.clock.advance(30_000)
    const [second] = await lease(frontier, 1)
    interrupt = async () => {
      interrupt = async () => undefined
      // Held up for so long that the first lease is over, and somebody else has done its work.
      await crawl.clock.advance(40_000)
      const [taken] = await lease(other, 1)
      await other.settle(ended(taken as Lease), createOutput())
    }
    const output = createOutput()
    const settlements = [first, second].flatMap((held) => ended(held as Lease))
    expect((await frontier.settle(settlements, output)).results).toEqual(['stale', 'settled'])
    expect(output.urls).toEqual(['https://b.test/1'])
    expect(await frontier.stats()).toMatchObject({ done: 2, queued: 0, leased: 0, output: { 'pages.jsonl': 1 } })
  })
})

describe('a lease that ran out while its record was written', () => {
  test('takes its task from whoever has it by then, and the host waits until the lease of that one is over', async () => {
    const delayMs = 1_000
    const { clock, open } = createCrawl()
    let interrupt = async (): Promise<void> => undefined
    const options = { policyOf: () => ({ delayMs, concurrency: 1 }) }
    const frozen = open(options, async ({ name }) => {
      if (name === 'settle') await interrupt()
    })
    const other = open({ ...options, worker: 'other' })
    await frozen.add([page('https://a.test/1'), page('https://a.test/2')])
    await passRobots(frozen, clock)
    await clock.advance(delayMs)
    const [held] = await lease(frozen)
    const answeredAt = clock.now()
    let taken: Lease | undefined
    interrupt = async () => {
      interrupt = async () => undefined
      await clock.advance(OPTIONS.leaseMs + delayMs)
      ;[taken] = await lease(other)
    }
    // What cannot be taken back is weighed before it is written.
    const { takeBack: _, ...output } = createOutput()
    const settled = await frozen.settle(ended(held as Lease, { answeredAt }), output)
    expect([settled.results, taken?.tasks[0]?.url]).toEqual([['settled'], 'https://a.test/1'])
    // Its holder has not heard of that, and may send something at the last moment.
    await clock.advance((taken as Lease).expiresAt + delayMs - 1 - clock.now())
    expect(await lease(frozen)).toEqual([])
    await clock.advance(1)
    expect((await lease(frozen)).map(({ tasks }) => tasks[0]?.url)).toEqual(['https://a.test/2'])
  })
})

describe('a task whose lease is held by the process that settles it', () => {
  const scripts: string[] = []
  const openCounted = ({ open }: Crawl, more: Partial<RedisFrontierOptions> = {}): Frontier =>
    open({ partitions: 1, ...more }, async ({ name }) => void scripts.push(name))
  const settleCalls = async (work: () => Promise<unknown>): Promise<string[]> => {
    scripts.length = 0
    await work()
    return scripts.filter((name) => name === 'weigh' || name === 'settle')
  }

  test('is settled without being weighed', async () => {
    const crawl = createCrawl()
    const frontier = openCounted(crawl)
    await frontier.add([page('https://a.test/1'), page('https://b.test/1')])
    await passRobots(frontier, crawl.clock)
    const held = await lease(frontier)
    const output = createOutput()
    expect(
      await settleCalls(() =>
        frontier.settle(
          held.flatMap((each) => ended(each)),
          output,
        ),
      ),
    ).toEqual(['settle'])
    expect(await frontier.stats()).toMatchObject({ done: 2, leased: 0, output: { 'pages.jsonl': 2 } })
  })

  test('is weighed after all once its lease turns out to be lost, and what is held is settled', async () => {
    const crawl = createCrawl()
    const frontier = openCounted(crawl)
    await frontier.add([page('https://a.test/1'), page('https://b.test/1')])
    await passRobots(frontier, crawl.clock)
    const [first] = await lease(frontier, 1)
    await crawl.clock.advance(OPTIONS.leaseMs / 2)
    const [second] = await lease(frontier, 1)
    await crawl.clock.advance(OPTIONS.leaseMs / 2)
    // Takes back what ran out.
    await lease(crawl.open({ worker: 'other', partitions: 1 }), 1)
    const output = createOutput()
    const settlements = [first, second].flatMap((held) => ended(held as Lease))
    const calls = await settleCalls(async () => {
      expect((await frontier.settle(settlements, output)).results).toEqual(['stale', 'settled'])
    })
    expect(calls).toEqual(['settle', 'weigh', 'settle'])
    expect(output.urls).toEqual(['https://b.test/1'])
  })

  test('is weighed where visits are planned, or where it is settled twice', async () => {
    const crawl = createCrawl()
    const frontier = openCounted(crawl)
    await frontier.add([page('https://a.test/1')])
    await passRobots(frontier, crawl.clock)
    const [held] = await lease(frontier)
    const twice = [...ended(held as Lease), ...ended(held as Lease)]
    const calls = await settleCalls(async () => {
      expect((await frontier.settle(twice, createOutput())).results).toEqual(['settled', 'stale'])
    })
    expect(calls).toEqual(['weigh', 'settle'])

    const again = createCrawl()
    const planning = openCounted(again, { recrawl: { ...OPTIONS.recrawl, mode: 'on' } })
    await planning.add([page('https://a.test/1')])
    await passRobots(planning, again.clock)
    const [planned] = await lease(planning)
    expect(await settleCalls(() => planning.settle(ended(planned as Lease), createOutput()))).toEqual([
      'weigh',
      'settle',
    ])
  })

  test('teaches what was learned of its host on top of what others have learned meanwhile', async () => {
    const crawl = createCrawl()
    const options = { partitions: 1, traps: true, policyOf: () => ({ delayMs: 0, concurrency: 2 }) }
    const frontier = openCounted(crawl, options)
    const other = crawl.open({ ...options, worker: 'other' })
    await frontier.add(['1', '2'].map((name) => page(`https://a.test/calendar/${name}`)))
    await passRobots(frontier, crawl.clock)
    const [first] = await lease(frontier, 1)
    const [second] = await lease(other, 1)
    const text = 'The same calendar page as every other day, without any event at all to speak of. '.repeat(8)
    const withSample = (held: Lease | undefined): Settlement[] =>
      ended(held as Lease).map((each) => ({ ...each, sample: contentSample(text, each.task.url, '') }))
    await other.settle(withSample(second), createOutput())
    expect(await settleCalls(() => frontier.settle(withSample(first), createOutput()))).toEqual([
      'settle',
      'weigh',
      'settle',
    ])
  })
})

describe('what was learned of how pages change', () => {
  test('by one process is where the next begins', async () => {
    const { clock, crawl } = createCrawl()
    const told: string[] = []
    const open = (): Frontier =>
      createRedisFrontier(
        {
          ...OPTIONS,
          crawl,
          worker: 'w',
          partitions: 1,
          stream: false,
          isTimeTold: true,
          recrawl: { ...OPTIONS.recrawl, mode: 'on' },
        },
        {
          clock,
          link: {
            ...link,
            close: async () => undefined,
            async run(script, keys, args) {
              const reply = await link.run(script, keys, args)
              if (script.name === 'weigh') told.push(String(reply))
              return reply
            },
          },
        },
      )
    const first = open()
    await first.add([page('https://a.test/')])
    for (let visits = 0; visits < 3;) {
      const frontier = visits < 2 ? first : open()
      const { leases, nextAt } = await frontier.lease({ worker: 'w', want: 1 })
      const [held] = leases
      if (held === undefined) await clock.advance(Math.max(1, (nextAt ?? 0) - clock.now()))
      else if (held.tasks[0]?.kind === 'robots')
        await frontier.settle(ended(held, { robots: allowAll(held.tasks[0], clock.now()) }))
      else {
        const change = visits === 0 ? 'new' : 'unchanged'
        await frontier.settle(ended(held, { visit: { change, hash: 'h', etag: null, lastModified: null } }))
        visits += 1
      }
    }
    const ratesTold = told.map((reply) => (JSON.parse(reply) as Told).recrawl['medium']?.[2]?.split(' ').length)
    expect([ratesTold[0], ratesTold.at(-1)]).toEqual([1, 68])
  })
})

interface Told {
  readonly recrawl: Readonly<Record<string, readonly string[]>>
}

describe('what was learned of traps', () => {
  test('by one process is known to the others', async () => {
    const { clock, open } = createCrawl()
    const [teacher, other] = [open({ traps: true }), open({ traps: true })]
    const text = 'The same calendar page as every other day, without any event at all to speak of. '.repeat(8)
    const same = (url: Task['url']): ContentSample => contentSample(text, url, '')
    await teacher.add(Array.from({ length: 4 }, (_, n) => page(`https://a.test/calendar/2027/${n + 1}`)))
    await passRobots(teacher, clock)
    for (let turn = 0; turn < 10; turn++) {
      for (const held of await lease(teacher))
        await teacher.settle(ended(held).map((each) => ({ ...each, sample: same(each.task.url) })))
    }
    await teacher.add([page('https://a.test/calendar/2027/9'), page('https://a.test/about')])
    const leases = await lease(other)
    expect(leases.flatMap(({ tasks }) => tasks.map(({ url }) => url))).toEqual(['https://a.test/about'])
    expect(await other.stats()).toMatchObject({ aside: 1, queued: 1, leased: 1 })
  })
})
