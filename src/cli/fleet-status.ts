/** How a crawl on a store stands: its sums, its hosts one by one, who works on it and how its partitions are. */
import type { FleetHost } from '../frontier/index.ts'
import { sumOf } from './count-words.ts'
import { openFleetView, type FleetView } from './fleet-view.ts'
import { surveyHosts } from './host-survey.ts'
import { waitOf } from './host-words.ts'
import type { Invocation } from './invocation.ts'
import { timestamp } from './report-lines.ts'
import { HOSTS_NAMED, NEXT_HOSTS, stateOf, tiersOf, type FleetStatus, type Status } from './status-words.ts'

export async function fleetStatus(place: string, invocation: Invocation, now: number): Promise<Status> {
  const view = await openFleetView(place, invocation)
  try {
    return await statusOf(view, now)
  } finally {
    await view.inspector.close()
  }
}

async function statusOf(view: FleetView, now: number): Promise<Status> {
  const { inspector, settings, record } = view
  const [counters, partitions, members, halted] = await Promise.all([
    inspector.counters(),
    inspector.partitions(),
    record.members(),
    record.halted(),
  ])
  const visits = partitions.flatMap(({ nextVisit }) => nextVisit ?? [])
  const nextVisit = visits.length === 0 ? undefined : Math.min(...visits)
  const quiet = partitions.flatMap(({ quietUntil }) => quietUntil ?? [])
  const walk = createWalk(view, now)
  const survey = await surveyHosts(walk.hosts(), now, HOSTS_NAMED)
  const barred = inspector.store.record['barred'] ?? partitions.find((each) => each.barred !== null)?.barred ?? null
  // A partition numbers the servers that it has seen by the time at which it saw them.
  const changedAt = Math.max(0, ...partitions.map(({ restarts }) => restarts))
  const fleet: FleetStatus = {
    crawl: view.crawl,
    barred,
    halted: halted ?? null,
    leased: counters.leased,
    members: members.map(({ id, role, host, pid, slots, inFlight, done }) => ({
      id,
      role,
      host,
      pid,
      slots,
      inFlight,
      done,
    })),
    partitions: {
      count: partitions.length,
      quiet: quiet.length,
      quietUntil: quiet.length === 0 ? null : timestamp(Math.max(...quiet)),
      serverChangedAt: changedAt === 0 ? null : timestamp(changedAt),
      undelivered: partitions.reduce((sum, { undelivered }) => sum + undelivered, 0),
    },
  }
  return {
    folder: view.name,
    seeds: view.seeds.length,
    working: members.some(({ role }) => role === 'worker'),
    closedInOrder: true,
    state: stateOf(counters, settings, nextVisit),
    urls: {
      discovered: counters.discovered,
      queued: counters.open,
      waitingForRetry: counters.waiting,
      heldForDepth: counters.held,
      setAside: counters.aside,
      refreshing: counters.refreshing,
      done: counters.done,
      failed: counters.failed,
      skipped: counters.skipped,
    },
    tiers: tiersOf(counters.tiers, settings),
    recrawl: {
      enabled: settings.recrawl,
      revisits: counters.revisits,
      nextVisit: nextVisit === undefined ? null : timestamp(nextVisit),
    },
    bloomFalsePositives: 0,
    hosts: walk.tally,
    robots: walk.robots,
    requests: counters.requests,
    sitemapsQueued: counters.sitemapsOpen,
    bytes: counters.bytes,
    tokens: counters.tokens,
    ...(settings.maxPages === undefined ? {} : { maxPages: settings.maxPages }),
    ...survey,
    politeness: {
      requests: sumOf(counters.requests),
      violations: counters.impolite,
      closest: counters.closest,
    },
    next: walk.next(),
    fleet,
  }
}

/** One walk over all hosts, in which everything that is told of them is gathered. */
function createWalk(view: FleetView, now: number) {
  const tally = { known: 0, due: 0, pausing: 0, blocked: 0, idle: 0 }
  const robots: Record<string, number> = {}
  const first: FleetHost[] = []
  const keep = (host: FleetHost): void => {
    first.push(host)
    first.sort((a, b) => (a.due ?? 0) - (b.due ?? 0))
    if (first.length > NEXT_HOSTS) first.pop()
  }
  return {
    tally,
    robots,
    async *hosts(): AsyncGenerator<FleetHost> {
      for await (const host of view.inspector.hosts()) {
        tally.known += 1
        // One that is leased is due again when that is over.
        if (host.due === null) tally[host.leases > 0 ? 'pausing' : 'idle'] += 1
        else if (host.due <= now) tally.due += 1
        else if (host.blockedUntil > now) tally.blocked += 1
        else tally.pausing += 1
        if (host.due !== null) keep(host)
        for (const { robots: summary } of host.lanes) {
          const name = summary?.refusal ?? summary?.state ?? 'unread'
          robots[name] = (robots[name] ?? 0) + 1
        }
        yield host
      }
    },
    next: () =>
      first.flatMap((host) => {
        const wait = waitOf(host, view, now)
        return wait === undefined ? [] : [{ host: host.key, at: timestamp(wait.at), reason: wait.reason }]
      }),
  }
}
