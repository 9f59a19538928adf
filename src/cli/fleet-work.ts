/**
 * A process takes its place among the workers of a crawl on a store: its folder and its name, the configuration that all
 * go by, and its seeds if it brings any. What it does then is the same as for a crawl of its own.
 */
import { hostname } from 'node:os'
import { createSystemClock } from '../base/index.ts'
import type { Settings } from '../config/index.ts'
import { claimWorkerFolder, writeWorkerCrawl } from '../engine/index.ts'
import type { NormalizedUrl } from '../model/index.ts'
import type { CrawlPlan } from './commands/crawl.ts'
import { agreeOn, loginOf, newMemberName, type FleetDeps, type FleetPlace } from './fleet-place.ts'
import type { Invocation } from './invocation.ts'

export interface FleetWork {
  /** As typed. */
  readonly settings: Settings
  /** To be added to the crawl. */
  readonly seeds: readonly NormalizedUrl[]
  readonly folder: string
  /** Whether the crawl is begun when it is not there; otherwise that is waited for. */
  readonly begins: boolean
  /** Stays when the crawl is over. */
  readonly keep: boolean
}

export async function workOnStore(
  place: FleetPlace,
  work: FleetWork,
  invocation: Invocation,
  deps: FleetDeps,
  run: (plan: CrawlPlan) => Promise<number>,
): Promise<number> {
  const { folder, seeds, keep, begins } = work
  const { workerId } = work.settings
  const seat = await claimWorkerFolder(
    folder,
    { ...place, ...(workerId === undefined ? {} : { worker: workerId }) },
    newMemberName,
  )
  try {
    const { worker } = seat
    const agreement = await agreeOn(place, invocation, {
      worker,
      begins,
      ...(seat.hasWorked ? { workedIn: folder } : {}),
      clock: createSystemClock(),
      deps,
    })
    const settings = { ...agreement.settings, store: place.store, crawlName: place.crawl, outDirectory: folder }
    const all = [...new Set([...agreement.seeds, ...seeds])] as NormalizedUrl[]
    writeWorkerCrawl(folder, { settings: { ...settings, seeds: [] }, seeds: all })
    const login = loginOf(place, worker, settings, invocation)
    const { connect } = deps
    const machine = hostname()
    const fleet = { login, machine, pid: process.pid, keep, ...(connect === undefined ? {} : { connect }) }
    return await run({ settings, seeds, folder, fleet })
  } finally {
    seat.release()
  }
}
