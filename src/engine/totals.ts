/** The totals of a crawl: `stats.json`, and what the library answers. */
import type { Settings } from '../config/index.ts'
import type { FrontierStats } from '../frontier/index.ts'
import type { EndReason } from './engine.ts'

/** Of a resumed crawl, over all its runs but for `seconds`. */
export interface CrawlTotals {
  /** Why the run ended; absent before that. */
  readonly end?: EndReason
  readonly saved: number
  readonly failed: number
  readonly skipped: FrontierStats['skipped']
  readonly queued: number
  readonly discovered: number
  /** Decoded body bytes and tokens of the saved pages. */
  readonly bytes: number
  readonly tokens: number
  readonly seconds: number
  readonly requests: FrontierStats['requests']
  /** Tasks in the queues, and requests made, by tier. */
  readonly tiers: FrontierStats['tiers']
  /** Fetches of pages that had been fetched before, by what came of them. */
  readonly revisits: FrontierStats['revisits']
  /** Pages set aside as likely traps; part of `queued`. */
  readonly aside: number
  /** How often the filter in front of the exact set of URLs said `perhaps` of one that was new. */
  readonly bloomFalsePositives: number
  /** Hosts seen. */
  readonly hosts: number
  /** Requests that the audit found to be against a host's policy: 0, or there is a bug. */
  readonly impolite: number
  /** The closest call: how much later than its pace required the earliest request started; null with no such request. */
  readonly closest: FrontierStats['closest']
  readonly robotsIgnoredBecause?: string
}

export function totalsOf(stats: FrontierStats, elapsedMs: number, settings: Settings, end?: EndReason): CrawlTotals {
  const { discovered, queued, done, failed, skipped, bytes, tokens, requests, hosts, impolite, closest } = stats
  const { tiers, refreshing, revisits, aside, bloomFalsePositives } = stats
  return {
    ...(end === undefined ? {} : { end }),
    saved: done + refreshing,
    failed,
    skipped,
    queued,
    discovered,
    bytes,
    tokens,
    seconds: Math.round(elapsedMs) / 1_000,
    requests,
    tiers,
    revisits,
    aside,
    bloomFalsePositives,
    hosts: hosts.known,
    impolite,
    closest,
    ...(settings.ignoreRobotsBecause === undefined ? {} : { robotsIgnoredBecause: settings.ignoreRobotsBecause }),
  }
}
