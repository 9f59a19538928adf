/**
 * What does a URL cost on Redis, in memory and in time? URLs of many hosts are added to a frontier on a redis-server that is
 * started for it, then all of them are leased and settled as done. Memory is what the server says that it uses, beyond what
 * an empty crawl takes; while they are queued the text of the URLs is left out, as every home has to keep that. The
 * baseline is the same number of fingerprints by plain SADD, pipelined, on the same server before.
 *
 *   npx node bench/redis.ts [URLs] [URLs of a host] [partitions]
 */
import { createSystemClock } from '../src/base/index.ts'
import { createFingerprints } from '../src/frontier/redis/fingerprints.ts'
import type { FleetFrontier } from '../src/frontier/redis/frontier.ts'
import type { FoundUrl, NormalizedUrl } from '../src/model/index.ts'
import { startRedis } from '../test/support/redis/server.ts'
import { textOf } from './frontier/url-text.ts'
import { pipelinedSadd } from './redis/bare.ts'
import { openOnServer, settledAsDone } from './redis/frontier.ts'
import { figure, megabytes, printTable } from './support/table.ts'

const [urls = 1_000_000, perHost = 1_000, partitions = 16] = process.argv.slice(2).map(Number)
/** Links of one page, and how many of them are told at once. */
const LINKS = 50
const BATCH = 2_000
/** Adds, and rounds of leases and settlements, that are under way at once. */
const ADDING = 4
const WORKERS = 8
const LEASES = 64
const SETTLED_AT_ONCE = 256

const clock = createSystemClock()
const server = await startRedis()

const info = async (section: string, field: string): Promise<number> =>
  Number(new RegExp(`^${field}:(\\S+)`, 'm').exec(await server.cli('INFO', section))?.[1])
const usedBytes = (): Promise<number> => info('memory', 'used_memory')
const serverCpuSeconds = async (): Promise<number> =>
  (await info('cpu', 'used_cpu_user')) + (await info('cpu', 'used_cpu_sys'))

interface Measured {
  readonly seconds: number
  readonly serverCpu: number
  readonly ownCpu: number
  readonly bytes: number
}
async function measured(work: () => Promise<void>, base: number): Promise<Measured> {
  const [cpu, own, started] = [await serverCpuSeconds(), process.cpuUsage(), performance.now()]
  await work()
  const seconds = (performance.now() - started) / 1_000
  const { user, system } = process.cpuUsage(own)
  const serverCpu = (await serverCpuSeconds()) - cpu
  return { seconds, serverCpu, ownCpu: (user + system) / 1e6, bytes: (await usedBytes()) - base }
}

const url = (number: number): NormalizedUrl => textOf(Math.floor(number / perHost), number % perHost) as NormalizedUrl
/** The page of the same host that names it. */
const referrerOf = (number: number): NormalizedUrl =>
  textOf(Math.floor(number / perHost), Math.floor((number % perHost) / LINKS)) as NormalizedUrl
const found = (number: number): FoundUrl => ({
  url: url(number),
  kind: 'page',
  depth: 1 + (number % 5),
  via: 'link',
  referrer: referrerOf(number),
})

try {
  const prints = createFingerprints({ a: 1, b: 2 })
  const names = Array.from({ length: Math.min(urls, 100_000) }, (_, index) => prints.urlName('page', url(index)))
  // Beyond those that are prepared, the numbers are what they are on the servers: other digits, as many of them.
  const member = (index: number): string =>
    index < names.length ? (names[index] ?? '') : `${index}${names[index % names.length]?.slice(-10)}`
  const bare = await measured(() => pipelinedSadd(server.port, urls, member), await usedBytes())
  await server.cli('FLUSHALL')

  const closing: (() => Promise<void>)[] = []
  const open = (worker: string): FleetFrontier => {
    const opened = openOnServer(server.url, { worker, partitions, delayMs: 0 }, clock)
    closing.push(opened.close)
    return opened.frontier
  }
  const frontier = open('bench')
  await frontier.stats()
  const base = await usedBytes()

  let textBytes = 0
  let next = 0
  const addAll = async (): Promise<void> => {
    while (next < urls) {
      const from = next
      next = Math.min(urls, next + BATCH)
      const batch = Array.from({ length: next - from }, (_, index) => found(from + index))
      for (const each of batch) textBytes += each.url.length
      await frontier.add(batch)
    }
  }
  const queued = await measured(async () => {
    await Promise.all(Array.from({ length: ADDING }, addAll))
  }, base)
  process.stderr.write(`queued: ${figure((queued.bytes - textBytes) / urls)} bytes/URL beyond text\n`)
  const { discovered } = await frontier.stats()
  if (discovered !== urls) throw new Error(`${discovered} URLs are known, not ${urls}`)

  const work = async (worker: string): Promise<void> => {
    const own = open(worker)
    for (;;) {
      const { leases, state } = await own.lease({ worker, want: LEASES })
      if (state !== 'open') return
      const settlements = leases.flatMap((lease) => lease.tasks.map((task) => settledAsDone(lease, task, clock)))
      for (let start = 0; start < settlements.length; start += SETTLED_AT_ONCE)
        await own.settle(settlements.slice(start, start + SETTLED_AT_ONCE))
    }
  }
  const done = await measured(async () => {
    await Promise.all(Array.from({ length: WORKERS }, (_, index) => work(`w${index}`)))
  }, base)
  const stats = await frontier.stats()
  if (stats.done !== urls) throw new Error(`${stats.done} URLs are done, not ${urls}`)

  process.stdout.write(
    `${figure(urls)} URLs of ${figure(textBytes / urls)} characters on ${figure(Math.ceil(urls / perHost))} hosts, ${partitions} partitions\n\n`,
  )
  const row = (what: string, { seconds, serverCpu, ownCpu, bytes }: Measured, beyond: number): (string | number)[] => [
    what,
    figure(urls / seconds),
    `${figure((100 * bare.seconds) / seconds)} %`,
    figure((1e6 * serverCpu) / urls),
    figure((1e6 * ownCpu) / urls),
    megabytes(bytes),
    figure((bytes - beyond) / urls),
  ]
  printTable(
    ['what', 'URLs/s', 'of bare', 'server CPU µs/URL', 'own CPU µs/URL', 'memory', 'bytes/URL beyond text'],
    [row('bare SADD', bare, 0), row('queued', queued, textBytes), row('leased and done', done, 0)],
  )
  for (const close of closing) await close()
} finally {
  await server.close()
}
