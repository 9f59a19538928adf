/**
 * What moves when a crawl moves from one home to another, in words that no home owns: hosts with all that is known of
 * them, URLs with all that is known of them, and the sums that cannot be had by counting those. A home offers to read
 * itself out in portions and to be written in portions; who moves a crawl carries them across, and goes on where it
 * stopped.
 *
 * Names of hosts and URLs stand for themselves here, never ids. Times are clock ms of the side that has them.
 */
import type { NormalizedUrl, Origin, RobotsRecord } from '../model/index.ts'
import type { Counters, Errand, HostRow, UrlRow, VisitRow } from './storage.ts'

/** A host. Its due time is not carried: it follows from the rest by the rules of its new home. */
export interface CarriedHost extends Omit<HostRow, 'id' | 'due' | 'order'> {
  readonly lanes: readonly CarriedLane[]
  readonly errands: readonly Omit<Errand, 'id'>[]
  /** What was learned of its traps. */
  readonly traps: string | null
}

export interface CarriedLane {
  readonly origin: Origin
  readonly robots: RobotsRecord | null
  readonly robotsNotBefore: number
  readonly robotsAttempts: number
  readonly robotsMoved: boolean
}

/** A URL and where it stands. What was leased is queued: nobody works on a crawl that moves. */
export interface CarriedUrl extends Omit<UrlRow, 'id' | 'lane' | 'referrer'> {
  readonly referrer: NormalizedUrl | null
  /** How many pages name it, as far as that is counted. */
  readonly referrers: number
  /** What its visits brought; null for what was never fetched. */
  readonly visit: Omit<VisitRow, 'id'> | null
  /** What it names, where the depth of that depends on it. */
  readonly children: readonly { readonly kind: UrlRow['kind']; readonly url: NormalizedUrl; readonly step: 0 | 1 }[]
}

/** Sums that are not a count of what is carried. */
export type CarriedTotals = Pick<
  Counters,
  'revisits' | 'recrawl' | 'importance' | 'requests' | 'bytes' | 'tokens' | 'impolite' | 'closest'
> & { readonly requested: Readonly<Record<'high' | 'medium' | 'low', number>> }

/** Counts by which both sides are compared when all is carried. */
export interface CarriedCounts {
  readonly discovered: number
  readonly open: number
  readonly done: number
  readonly failed: number
  readonly skipped: Readonly<Record<string, number>>
  readonly held: number
  readonly aside: number
  readonly refreshing: number
  readonly sitemapsOpen: number
  readonly hosts: number
}

/** What of two sides differs, in words; empty when they agree. */
export function differenceOf(from: CarriedCounts, to: CarriedCounts): string[] {
  const numbers = (counts: CarriedCounts): Record<string, number> => {
    const { skipped, ...rest } = counts
    const reasons = Object.entries(skipped).map(([reason, count]) => [`skipped: ${reason}`, count] as const)
    return { ...rest, ...Object.fromEntries(reasons) }
  }
  const [there, here] = [numbers(from), numbers(to)]
  const names = [...new Set([...Object.keys(there), ...Object.keys(here)])]
  return names
    .filter((name) => (there[name] ?? 0) !== (here[name] ?? 0))
    .map((name) => `${name}: ${there[name] ?? 0} there, ${here[name] ?? 0} here`)
}

export function countsOf(counters: Counters): CarriedCounts {
  const { discovered, open, done, failed, skipped, held, aside, refreshing, sitemapsOpen, hosts } = counters
  return { discovered, open, done, failed, skipped, held, aside, refreshing, sitemapsOpen, hosts }
}

export function totalsOf(counters: Counters): CarriedTotals {
  const { revisits, recrawl, importance, requests, bytes, tokens, impolite, closest, tiers } = counters
  const requested = { high: tiers.high.requests, medium: tiers.medium.requests, low: tiers.low.requests }
  return { revisits, recrawl, importance, requests, bytes, tokens, impolite, closest, requested }
}
