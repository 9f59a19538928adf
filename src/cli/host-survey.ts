/** The hosts of a crawl that do not simply take their turn: those left alone for now, and those in trouble. */
import type { HostView } from '../frontier/index.ts'
import { timestamp } from './report-lines.ts'

export interface HostSurvey {
  /** To be left alone for now, the one that may be asked first first. */
  readonly leftAlone: Named<{ readonly until: string; readonly reason: string }>
  /** That refused or failed their last requests, whether left alone or not; the longest row first. */
  readonly inTrouble: Named<{ readonly times: number; readonly since: string }>
}

interface Named<Detail> {
  readonly count: number
  /** The first few. */
  readonly hosts: readonly ({ readonly host: string } & Detail)[]
}

export async function surveyHosts(
  hosts: Iterable<HostView> | AsyncIterable<HostView>,
  now: number,
  named: number,
): Promise<HostSurvey> {
  const leftAlone = createFirstFew((a, b) => a.blockedUntil - b.blockedUntil, named)
  const inTrouble = createFirstFew((a, b) => a.health.streak - b.health.streak, named)
  for await (const host of hosts) {
    if (host.blockedUntil > now) leftAlone.add(host)
    if (host.health.streak < 0) inTrouble.add(host)
  }
  return {
    leftAlone: {
      count: leftAlone.count,
      hosts: leftAlone.list.map(({ key, blockedUntil, blockedReason }) => ({
        host: key,
        until: timestamp(blockedUntil),
        reason: blockedReason ?? 'blocked',
      })),
    },
    inTrouble: {
      count: inTrouble.count,
      hosts: inTrouble.list.map(({ key, health }) => ({
        host: key,
        times: -health.streak,
        since: timestamp(health.streakSince),
      })),
    },
  }
}

/** Counts all that it is given and keeps the first of them by an order. */
function createFirstFew(order: (a: HostView, b: HostView) => number, most: number) {
  const list: HostView[] = []
  let count = 0
  return {
    list,
    get count() {
      return count
    },
    add(host: HostView) {
      count += 1
      const last = list.at(-1)
      if (list.length === most && last !== undefined && order(host, last) >= 0) return
      list.push(host)
      list.sort(order)
      if (list.length > most) list.pop()
    },
  }
}
