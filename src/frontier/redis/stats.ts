/** The counters of the crawl: the sums of its partitions, added up. */
import { SKIP_REASONS, type HostKey, type SkipReason } from '../../model/index.ts'
import type { FrontierStats, OutputPosition } from '../contract.ts'
import { listOf, mapOf } from './replies.ts'
import { loadScript } from './scripts.ts'
import type { Store } from './store.ts'

const STATS = loadScript('stats')
/** Hosts named as the next to be asked. */
const NEXT_HOSTS = 5

interface Reply {
  readonly sums: unknown
  readonly closest_host?: HostKey
  readonly waiting: number
  readonly next: unknown
  readonly output?: string
}

export async function readStats(store: Store): Promise<FrontierStats> {
  const replies = await Promise.all(
    store.partitions.map(async (partition) => ({
      partition,
      reply: (await partition.call(STATS, partition.keys.fixed, { count: NEXT_HOSTS, worker: store.worker })) as Reply,
    })),
  )
  const sums = replies.map(({ reply }) => mapOf<number>(reply.sums))
  const sum = (name: string): number => sums.reduce((all, each) => all + (each[name] ?? 0), 0)
  const next = replies
    .flatMap(({ partition, reply }) =>
      listOf<readonly [HostKey, number, string]>(reply.next).map(([host, at, reason]) => ({
        host,
        at: partition.times.toWorker(at),
        reason,
      })),
    )
    .toSorted((a, b) => a.at - b.at || (a.host < b.host ? -1 : 1))
    .slice(0, NEXT_HOSTS)
  const skipped: Partial<Record<SkipReason, number>> = {}
  for (const reason of Object.keys(SKIP_REASONS) as SkipReason[]) {
    const count = sum(`skipped:${reason}`)
    if (count > 0) skipped[reason] = count
  }
  const tier = (name: string) => ({ queued: sum(`queued_${name}`), requests: sum(`tier_requests:${name}`) })
  return {
    discovered: sum('discovered'),
    queued: sum('open') - sum('leased'),
    leased: sum('leased'),
    done: sum('done'),
    failed: sum('failed'),
    skipped,
    held: sum('held'),
    refreshing: sum('refreshing'),
    aside: sum('aside'),
    tiers: { high: tier('high'), medium: tier('medium'), low: tier('low') },
    revisits: {
      changed: sum('revisits:changed'),
      unchanged: sum('revisits:unchanged'),
      gone: sum('revisits:gone'),
      missed: sum('revisits:missed'),
    },
    bloomFalsePositives: 0,
    requests: { page: sum('requests:page'), sitemap: sum('requests:sitemap'), robots: sum('requests:robots') },
    sitemapsQueued: sum('sitemaps_open'),
    bytes: sum('bytes'),
    tokens: sum('tokens'),
    impolite: sum('impolite'),
    closest: closestOf(replies.map(({ reply }) => reply)),
    hosts: {
      known: sum('hosts'),
      active: sum('active'),
      waiting: replies.reduce((all, { reply }) => all + reply.waiting, 0),
      next,
    },
    output: furthest(replies.flatMap(({ reply }) => (reply.output === undefined ? [] : reply.output))),
  }
}

function closestOf(replies: readonly Reply[]): FrontierStats['closest'] {
  let closest: FrontierStats['closest'] = null
  for (const { sums, closest_host: host } of replies) {
    const spareMs = mapOf<number>(sums)['closest_ms']
    if (host === undefined || spareMs === undefined) continue
    if (closest === null || spareMs < closest.spareMs) closest = { host, spareMs }
  }
  return closest
}

/** Partitions commit one after another, so the furthest of each file is what was committed last. */
function furthest(positions: readonly string[]): OutputPosition {
  const all: Record<string, number> = {}
  for (const text of positions) {
    for (const [file, end] of Object.entries(JSON.parse(text) as OutputPosition)) {
      all[file] = Math.max(all[file] ?? 0, end)
    }
  }
  return all
}
