/**
 * Looks after a crawl on a store: one process leads, the others wait to take over. Whoever leads spreads the partitions
 * over the live workers, takes back what the dead have left, watches the limits of the crawl as a whole and sees when it
 * is over. It fetches nothing and holds nothing that its successor could not find on the store.
 */
import type { Clock } from '../../base/index.ts'
import type { Settings } from '../../config/index.ts'
import type { FleetFrontier, FrontierStats, Member } from '../../frontier/index.ts'
import { assignPartitions, type Assignment } from './assignment.ts'
import type { EndReason } from '../engine.ts'

/** Between two rounds; whoever leads is followed by another when it was silent for `LEAD_MS`. */
const ROUND_MS = 1_000
const LEAD_MS = 5_000
const ALIVE_MS = 10_000
/** After `stop`, what was being said to the store may end within this time: a store that is away holds nobody up. */
const STOP_MS = 2_000

export interface CoordinatorStatus {
  /** Whether this process leads. */
  readonly leads: boolean
  readonly members: readonly Member[]
  /** Of the crawl; undefined while another leads. */
  readonly stats: FrontierStats | undefined
}

export interface CoordinatorOptions {
  readonly fleet: FleetFrontier
  readonly id: string
  readonly machine: string
  readonly pid: number
  readonly settings: Pick<Settings, 'maxBytes' | 'maxTimeMs' | 'maxPages' | 'recrawl'>
  /** Stays when the crawl is over. */
  readonly keep: boolean
  onStatus(status: CoordinatorStatus): void
}

export interface Coordinator {
  /** Until the crawl is over, was ended for all, or `stop`. */
  run(): Promise<EndReason>
  stop(): void
}

export function createCoordinator(options: CoordinatorOptions, { clock }: { readonly clock: Clock }): Coordinator {
  const { fleet, id, settings } = options
  const { crawl } = fleet
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => void clock.sleepUntil(clock.now() + STOP_MS).then(resolve))
  })
  const startedAt = clock.now()
  let assigned: Assignment | undefined
  let tendAt = -Infinity
  let leads = false

  const spread = async (members: readonly Member[]): Promise<void> => {
    const workers = members.filter(({ role }) => role === 'worker').map((member) => member.id)
    assigned ??= await assignmentOf(workers)
    const next = assignPartitions(fleet.partitions, workers, assigned)
    if (JSON.stringify(next) === JSON.stringify(assigned)) return
    await crawl.assign(next)
    assigned = next
  }
  /** What the one before has assigned. */
  const assignmentOf = async (workers: readonly string[]): Promise<Assignment> =>
    Object.fromEntries(
      await Promise.all(workers.map(async (worker) => [worker, (await crawl.assignment(worker)) ?? []] as const)),
    )

  /** A limit that is passed, or undefined. The time counts from the first process that is still there. */
  const limitPassed = (stats: FrontierStats, members: readonly Member[]): 'bytes' | 'time' | undefined => {
    const { maxBytes = Infinity, maxTimeMs = Infinity } = settings
    if (stats.bytes >= maxBytes) return 'bytes'
    const since = Math.min(startedAt, ...members.map((member) => member.startedAt))
    return clock.now() - since >= maxTimeMs ? 'time' : undefined
  }

  const lead = async (): Promise<EndReason | undefined> => {
    const members = await crawl.members()
    await spread(members)
    if (clock.now() >= tendAt) {
      const { nextAt } = await fleet.tend(Array.from({ length: fleet.partitions }, (_, partition) => partition))
      tendAt = Math.max(nextAt ?? -Infinity, clock.now() + ROUND_MS)
    }
    const stats = await fleet.stats()
    options.onStatus({ leads: true, members, stats })
    const limit = limitPassed(stats, members)
    if (limit !== undefined) {
      await crawl.halt(limit)
      return limit
    }
    return options.keep ? undefined : endOf(stats, settings)
  }

  const beat = (ttlMs: number): Promise<void> => {
    const [host, pid] = [options.machine, options.pid]
    return crawl.beat({ id, role: 'coordinator', host, pid, slots: 0, inFlight: 0, startedAt, done: 0 }, ttlMs)
  }
  /** At once, so that neither another one nor whoever asks for the members has to wait. */
  const leave = async (): Promise<void> => {
    if (leads) await crawl.resign(id)
    await beat(0)
  }

  const round = async (): Promise<EndReason | undefined> => {
    await beat(ALIVE_MS)
    if ((await crawl.halted()) !== undefined) return 'halted'
    leads = await crawl.lead(id, LEAD_MS)
    if (leads) return lead()
    assigned = undefined
    options.onStatus({ leads, members: await crawl.members(), stats: undefined })
    return undefined
  }

  const coordinate = async (): Promise<EndReason> => {
    while (!stopping.signal.aborted) {
      const end = await round()
      if (end !== undefined || stopping.signal.aborted) {
        await leave()
        return end ?? 'stopped'
      }
      await clock.sleepUntil(clock.now() + ROUND_MS, stopping.signal).catch(() => {})
    }
    await leave()
    return 'stopped'
  }

  return {
    run: () => Promise.race([coordinate(), stopped.then((): EndReason => 'stopped')]),
    stop: () => stopping.abort(),
  }
}

/** A crawl that nothing was ever put into has not begun. */
function endOf(stats: FrontierStats, { maxPages, recrawl }: CoordinatorOptions['settings']): EndReason | undefined {
  const { discovered, queued, leased, sitemapsQueued, done, refreshing } = stats
  if (recrawl || discovered === 0 || leased > 0) return undefined
  if (queued + sitemapsQueued === 0) return 'finished'
  return maxPages !== undefined && done + refreshing >= maxPages ? 'limit' : undefined
}
