/**
 * How important a host is, from the links between hosts, as they arrive: OPIC (Abiteboul, Preda and Cobéna, 2003) on the
 * graph of hosts. Each host begins with one unit of cash. A page that is fetched passes on its part of its host's cash
 * to the hosts that it links to; what was passed on stays with the giver as credit. Credit and cash together, beside the
 * average of all hosts, are its importance. No graph is kept, and nothing is computed twice.
 *
 * A part of what is passed on, and all of it from pages without links to other hosts, goes into a pot that new hosts
 * share in, so cash does not gather where links lead nowhere.
 */
import { depthPart, changePart, type ScoreOptions } from './score.ts'
import type { Counters, HostRow } from './storage.ts'
import type { Tier } from '../model/index.ts'

/** The part of what a page passes on that goes along its links. */
const DAMPING = 0.85

type Sums = Pick<Counters, 'importance' | 'hosts'>

/** A host is new: it has its unit, and its share of the pot. */
export function endow(host: HostRow, sums: Sums): void {
  const share = sums.importance.pot / Math.max(1, sums.hosts)
  sums.importance.pot -= share
  sums.importance.total += 1
  host.cash = 1 + share
}

/** A page of a host was fetched, one of so many that the host has left, and links to these other hosts. */
export function passOn(from: HostRow, pagesLeft: number, to: readonly HostRow[], sums: Sums): void {
  const amount = from.cash / (1 + Math.max(0, pagesLeft))
  from.cash -= amount
  from.credit += amount
  sums.importance.total += amount
  const linked = to.length === 0 ? 0 : DAMPING * amount
  for (const host of to) host.cash += linked / to.length
  sums.importance.pot += amount - linked
}

/** From 0 to 1: one half for a host that is as important as hosts are on average. */
export function hostImportance(host: Pick<HostRow, 'cash' | 'credit'>, sums: Sums): number {
  const average = (sums.importance.total - sums.importance.pot) / Math.max(1, sums.hosts)
  if (average <= 0) return 0.5
  const relative = (host.cash + host.credit) / average
  return relative / (1 + relative)
}

/** What a host is worth, from 0 to 1: the parts of a score that its pages have in common, with age left out. */
export function hostScore(host: HostRow, sums: Sums, { weights }: ScoreOptions): number {
  const all = weights.importance + weights.change + weights.depth
  if (all === 0) return 0.5
  const change = changePart(host.changePages === 0 ? undefined : host.changeRate)
  const points =
    weights.importance * hostImportance(host, sums) + weights.change * change + weights.depth * depthPart(host.depth)
  return points / all
}

export function tierByScore(score: number, { tiers }: ScoreOptions): Tier {
  if (score >= tiers.high) return 'high'
  return score < tiers.low ? 'low' : 'medium'
}
