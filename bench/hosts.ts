/**
 * What does a host cost when there are very many? Hosts are added, asked for their robots.txt and for one page each, on
 * the embedded store, by a clock that is moved by hand; memory, disk and time for a host are read as their number grows.
 * The baseline is the first mark of the same run: a cost that does not grow stays at 1 x.
 *
 *   npx node bench/hosts.ts [hosts]
 */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../src/base/index.ts'
import { createFrontier, type Lease, type Settlement } from '../src/frontier/index.ts'
import type { FoundUrl, NormalizedUrl, Task } from '../src/model/index.ts'
import { boundHeap, launch } from './support/launched.ts'
import { figure, megabytes, printTable } from './support/table.ts'

launch()

const [hosts = 1_000_000] = process.argv.slice(2).map(Number)
const marks = [10_000, 30_000, 100_000, 300_000].filter((mark) => mark < hosts)
const BATCH = 500

const folder = mkdtempSync(join(tmpdir(), 'bench-hosts-'))
let now = 1_700_000_000_000
const clock = { now: () => now, wall: () => now } as Clock
const open = (): ReturnType<typeof createFrontier> => createFrontier({ store: folder, clock })
let frontier = open()

const found = (number: number): FoundUrl => ({
  url: `https://h${number}.example/` as NormalizedUrl,
  kind: 'page',
  depth: 0,
  via: 'seed',
})

function settlementOf(lease: Lease): Settlement {
  const task = lease.tasks[0] as Task
  const health = { ...lease.health, streak: lease.health.streak + 1, latencyMs: 20 }
  const base = { lease, task, answeredAt: now, host: { health } }
  if (task.kind !== 'robots') return { ...base, outcome: { kind: 'done' } }
  const robots = {
    origin: task.origin,
    state: 'rules',
    refusal: null,
    status: 200,
    detail: 'HTTP 200',
    fetchedAt: now,
    version: '1a2b3c4d',
    staleSince: null,
    expiresAt: now + 86_400_000,
    body: 'User-agent: *\nDisallow: /private/\n',
    crawlDelayMs: 0,
  } as const
  return { ...base, outcome: { kind: 'done' }, robots }
}

async function askAll(): Promise<void> {
  for (;;) {
    const { leases } = await frontier.lease({ worker: 'bench', want: BATCH })
    if (leases.length === 0) return
    await frontier.settle(leases.map(settlementOf))
  }
}

function diskBytes(): number {
  return readdirSync(folder).reduce((sum, name) => sum + lstatSync(join(folder, name)).blocks * 512, 0)
}

try {
  const rows: (readonly [hosts: number, microseconds: number, rss: number, disk: number])[] = []
  let known = 0
  for (const mark of [...marks, hosts]) {
    const started = performance.now()
    const from = known
    while (known < mark) {
      const until = Math.min(known + BATCH, mark)
      await frontier.add(Array.from({ length: until - known }, (_, index) => found(known + index)))
      known = until
      boundHeap()
      await askAll()
      now += 1_000
      await askAll()
    }
    const microseconds = (1_000 * (performance.now() - started)) / (mark - from)
    rows.push([mark, microseconds, process.memoryUsage().rss, diskBytes() / mark])
  }
  const base = rows[0]?.[1] ?? 1
  printTable(
    ['hosts seen', 'µs a host', 'of the first', 'RSS', 'bytes on disk a host'],
    rows.map(([mark, microseconds, rss, disk]) => [
      figure(mark),
      figure(microseconds),
      `${figure(microseconds / base)} ×`,
      megabytes(rss),
      figure(disk),
    ]),
  )
  await frontier.close()
  const started = performance.now()
  frontier = open()
  const { hosts: counts } = await frontier.stats()
  process.stdout.write(`opened again with ${figure(counts.known)} hosts in ${figure(performance.now() - started)} ms\n`)
  await frontier.close()
} finally {
  rmSync(folder, { recursive: true })
}
