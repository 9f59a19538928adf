/**
 * What does each verb of the home on Redis cost its server? The figures of `src/sim/fleet-costs.ts`, on which the model of
 * a fleet rests, come from here.
 *
 * Hosts a second apart are leased and settled in calls of 1, 10 and 40 pages, once with links and once without, on one
 * partition; then on four, where links go from one to another. The time of a script is what the server's slow log has for
 * it; of all calls alike that of a quick one, since others use the processor too. What the server does besides (reading,
 * writing, looking for the script) is its CPU time beyond that, for each of many calls of the smallest one. Bytes are those of keys, arguments and
 * replies. A straight line through the sizes gives what a call takes, and each item in it.
 *
 *   npx node bench/redis/verbs.ts [hosts] [rounds]
 */
import { createClient } from '@redis/client'
import { createSystemClock } from '../../src/base/index.ts'
import type { Lease } from '../../src/frontier/index.ts'
import type { FleetFrontier } from '../../src/frontier/redis/frontier.ts'
import type { RedisLink } from '../../src/frontier/redis/link.ts'
import type { FoundUrl, NormalizedUrl } from '../../src/model/index.ts'
import { startRedis } from '../../test/support/redis/server.ts'
import { textOf } from '../frontier/url-text.ts'
import { figure, printTable } from '../support/table.ts'
import { openOnServer, settledAsDone } from './frontier.ts'

const [hosts = 20_000, rounds = 150] = process.argv.slice(2).map(Number)
const SIZES = [1, 10, 40]
const LINKS_WITHIN = 10
const LINKS_ABROAD = 2
const DELAY_MS = 1_000
const PORTION = 1_000
const PARTITIONS = 4
/** Every script takes longer, and no command in one of them does: those would be logged too, which takes time itself. */
const LOGGED_US = 15
const BEATS = 3_000

interface Called {
  count: number
  bytes: number
}
/** What was measured of one verb in one phase. */
interface Sample {
  readonly items: number
  readonly us: number
  readonly bytes: number
}

const clock = createSystemClock()
const server = await startRedis({
  args: ['--slowlog-log-slower-than', String(LOGGED_US), '--slowlog-max-len', '100000'],
})

const client = createClient({ url: server.url })
await client.connect()

/** Counts what goes through a link, by verb. */
const called = new Map<string, Called>()
const names = new Map<string, string>()
const counted = (link: RedisLink): RedisLink => ({
  ...link,
  async run(script, keys, args) {
    names.set(script.sha, script.name)
    const reply = await link.run(script, keys, args)
    const sum = called.get(script.name) ?? { count: 0, bytes: 0 }
    called.set(script.name, sum)
    sum.count += 1
    sum.bytes += JSON.stringify([keys, args, reply]).length
    return reply
  },
})

const serverCpuUs = async (): Promise<number> => {
  const text = await server.cli('INFO', 'cpu')
  const seconds = (field: string): number => Number(new RegExp(`^${field}:(\\S+)`, 'm').exec(text)?.[1])
  return 1e6 * (seconds('used_cpu_user') + seconds('used_cpu_sys'))
}
/** The times of all scripts since the log was emptied, by verb. */
const scriptTimes = async (): Promise<Map<string, number[]>> => {
  const entries = (await client.sendCommand(['SLOWLOG', 'GET', '-1'])) as unknown as [
    number,
    number,
    number,
    string[],
  ][]
  const times = new Map<string, number[]>()
  for (const [, , us, [command, sha = '']] of entries) {
    const name = command?.toLowerCase() === 'evalsha' ? names.get(sha) : undefined
    if (name !== undefined) times.set(name, [...(times.get(name) ?? []), us])
  }
  return times
}
/** The first of ten, in order: those beyond the middle were interrupted on a busy machine. */
const quick = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? 0

/** Samples by verb, from all phases. */
const samples = new Map<string, Sample[]>()
/** For each call, besides its script. */
let besidesUs = 0

/** Runs one phase. `itemsOf`: how many items of a verb there were in it, all calls together. */
async function phase(work: () => Promise<void>, itemsOf: (verb: string) => number, kind = ''): Promise<void> {
  called.clear()
  await server.cli('SLOWLOG', 'RESET')
  await work()
  const times = await scriptTimes()
  for (const [verb, { count, bytes }] of called) {
    const all = times.get(verb) ?? []
    const us = quick(all)
    const name = verb + kind
    const sample = { items: itemsOf(verb) / count, us, bytes: bytes / count }
    samples.set(name, [...(samples.get(name) ?? []), sample])
  }
}

/** The straight line through the samples of a verb, by least squares. */
function lineOf(verb: string, value: (sample: Sample) => number): { readonly call: number; readonly item: number } {
  const all = samples.get(verb) ?? []
  const mean = (of: (sample: Sample) => number): number => all.reduce((sum, each) => sum + of(each), 0) / all.length
  const [items, values] = [mean((each) => each.items), mean(value)]
  const spread = mean((each) => (each.items - items) ** 2)
  const item = spread === 0 ? 0 : mean((each) => (each.items - items) * (value(each) - values)) / spread
  return { call: values - item * items, item }
}

const page = (host: number, number: number, via: 'seed' | 'link'): FoundUrl => ({
  url: textOf(host, number) as NormalizedUrl,
  kind: 'page',
  depth: via === 'seed' ? 0 : 1,
  via,
})

async function crawl(name: string, partitions: number): Promise<void> {
  const numbers = new Map(Array.from({ length: hosts }, (_, host) => [new URL(textOf(host, 0)).host, host]))
  let named = 0
  /** Those of a page are known to the server: they were named by the page before. */
  const linksOf = (lease: Lease): FoundUrl[] => {
    const host = numbers.get(lease.host) ?? 0
    named += 1
    return [
      ...Array.from({ length: LINKS_WITHIN }, (_, index) => page(host, 1 + index, 'link')),
      ...Array.from({ length: LINKS_ABROAD }, (_, index) => page((host + 7 * index + named) % hosts, 1, 'link')),
    ]
  }
  let workers = 0
  /** With a worker of its own, who has met none of the links before: what it knows it would not send. */
  const as = async (work: (frontier: FleetFrontier, worker: string) => Promise<void>): Promise<void> => {
    workers += 1
    const worker = `worker ${workers}`
    const given = { worker, partitions, delayMs: DELAY_MS, crawl: name }
    const { frontier, close } = openOnServer(server.url, given, clock, counted)
    await work(frontier, worker)
    await close()
  }
  const crawlPages =
    (size: number, times: number, hasLinks: boolean) =>
    async (frontier: FleetFrontier, worker: string): Promise<void> => {
      for (let round = 0; round < times; round++) {
        const { leases } = await frontier.lease({ worker, want: size, request: String(round) })
        const settled = leases.flatMap((lease) =>
          lease.tasks.map((task) => ({
            ...settledAsDone(lease, task, clock),
            ...(hasLinks && task.kind === 'page' ? { found: linksOf(lease) } : {}),
          })),
        )
        await frontier.settle(settled)
      }
    }

  await as(async (frontier) => {
    for (let first = 0; first < hosts; first += PORTION)
      await frontier.add(Array.from({ length: PORTION }, (_, index) => page(first + index, 0, 'seed')))
  })
  // The robots.txt of each host, and then a page with links, so that there is more to ask for.
  await as(crawlPages(PORTION / 4, (4 * hosts) / PORTION, false))
  await as(crawlPages(PORTION / 4, (4 * hosts) / PORTION, true))
  for (const size of SIZES) {
    const pages = size * rounds
    if (partitions > 1) {
      const abroad = pages * LINKS_ABROAD * (1 - 1 / partitions)
      await phase(
        () => as(crawlPages(size, rounds, true)),
        () => abroad,
        ' between partitions',
      )
      continue
    }
    await phase(
      () => as(crawlPages(size, rounds, false)),
      () => pages,
    )
    await phase(
      () => as(crawlPages(size, rounds, true)),
      () => pages,
      ' with links',
    )
  }
  if (partitions > 1) return
  await as(async (frontier, worker) => {
    const { leases } = await frontier.lease({ worker, want: rounds, request: 'held' })
    const extendAll = async (): Promise<void> => {
      for (const lease of leases) await frontier.extend(lease)
    }
    await phase(extendAll, () => leases.length)
  })
}

async function beats(): Promise<void> {
  const { frontier, close } = openOnServer(server.url, { worker: 'bench', partitions: 1, delayMs: 0 }, clock, counted)
  const beat = {
    id: 'bench',
    role: 'worker',
    host: 'here',
    pid: 1,
    slots: 10,
    inFlight: 3,
    startedAt: 1,
    done: 1,
  } as const
  const work = async (): Promise<void> => {
    const before = await serverCpuUs()
    for (let round = 0; round < BEATS; round++) await frontier.crawl.beat(beat, 10_000)
    besidesUs = ((await serverCpuUs()) - before) / BEATS
  }
  await phase(work, () => BEATS)
  besidesUs -= samples.get('crawl-members')?.[0]?.us ?? 0
  await close()
}

try {
  await beats()
  await crawl('one', 1)
  await crawl('four', PARTITIONS)
  process.stdout.write(`${figure(besidesUs)} µs for each call besides its script, which are in the table\n\n`)
  const row = (name: string, verb: string): (string | number)[] => {
    const time = lineOf(verb, ({ us }) => us)
    const bytes = lineOf(verb, (sample) => sample.bytes)
    return [name, figure(besidesUs + time.call), figure(time.item), figure(bytes.call), figure(bytes.item)]
  }
  /** What a link adds to a settlement, the middle one of the sizes. */
  const foundOf = (value: (sample: Sample) => number): number => {
    const plain = samples.get('settle') ?? []
    const linked = samples.get('settle with links') ?? []
    const each = linked.map((sample, index) => {
      const links = sample.items * (LINKS_WITHIN + LINKS_ABROAD)
      return (value(sample) - value(plain[index] ?? sample)) / links
    })
    return each.toSorted((x, y) => x - y)[Math.floor(each.length / 2)] ?? 0
  }
  printTable(
    ['verb', 'µs a call', 'µs an item', 'bytes a call', 'bytes an item'],
    [
      ...['look', 'lease', 'settle'].map((verb) => row(verb, verb)),
      ['found', 0, figure(foundOf(({ us }) => us)), 0, figure(foundOf(({ bytes }) => bytes))],
      ...['deliver', 'ack'].map((verb) => row(verb, `${verb} between partitions`)),
      row('extend', 'extend'),
      row('beat', 'crawl-members'),
    ],
  )
  printTable(
    ['phase', 'items', 'µs of the script', 'bytes'],
    [...samples].flatMap(([verb, all]) =>
      all.map(({ items, us, bytes }) => [verb, figure(items), figure(us), figure(bytes)]),
    ),
  )
} finally {
  client.destroy()
  await server.close()
}
