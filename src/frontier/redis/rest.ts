/**
 * Whether a crawl is at rest, and what it waits for then: the rules of rules.ts over the sums of all partitions. Partitions
 * are looked at one by one, and something may move from one to another behind the back of whoever looks. So a crawl is at
 * rest only when two looks at all of them, one after the other, see the same versions: then nothing moved in between.
 */
import type { LeaseAnswer } from '../contract.ts'
import type { Look, LookSums } from './look.ts'
import type { Reclaiming } from './reclaiming.ts'
import type { Store } from './store.ts'

export interface Rest {
  /**
   * Nothing is leased, and no message is under way; nor does a partition keep quiet because its server changed, which may
   * not have been told yet what it has lost.
   */
  isIdle(looks: readonly Look[]): boolean
  /** No shorter path to what is too deep can turn up any more, and nothing that frees what is aside. */
  isOnlyParkedLeft(looks: readonly Look[]): boolean
  /** With nothing leased and nothing to lease. */
  state(looks: readonly Look[]): LeaseAnswer['state']
  /** Whether nothing happened between these looks at the same partitions. */
  isSame(before: readonly Look[], after: readonly Look[]): boolean
}

export function createRest(store: Store, { visitsUntil }: Pick<Reclaiming, 'visitsUntil'>): Rest {
  const { maxPages, recrawl } = store.settings
  const { mode } = recrawl
  const sum = (looks: readonly Look[], name: keyof LookSums): number =>
    looks.reduce((all, { sums }) => all + sums[name], 0)
  const isExhausted = (looks: readonly Look[]): boolean =>
    maxPages !== undefined && sum(looks, 'done') + sum(looks, 'refreshing') >= maxPages
  const isVisitLeft = (looks: readonly Look[]): boolean =>
    mode !== 'off' &&
    looks.some((look) => look.visit !== undefined && (mode === 'on' || look.visit <= visitsUntil(look)))

  return {
    isIdle: (looks) => looks.every((look) => look.leases === 0 && look.undelivered === 0 && look.quiet <= look.now),
    isOnlyParkedLeft(looks) {
      const parked = sum(looks, 'held') + sum(looks, 'aside')
      return (
        parked > 0 &&
        sum(looks, 'open') === parked &&
        sum(looks, 'sitemaps_open') === 0 &&
        !isExhausted(looks) &&
        (mode === 'on' || !isVisitLeft(looks))
      )
    },
    state(looks) {
      if (isVisitLeft(looks)) return 'open'
      if (sum(looks, 'open') === 0 && sum(looks, 'sitemaps_open') === 0) return 'finished'
      return isExhausted(looks) && sum(looks, 'refreshing') === 0 ? 'limit' : 'open'
    },
    isSame(before, after) {
      const versions = new Map(before.map(({ partition, sums }) => [partition, sums.version]))
      return after.every(({ partition, sums }) => versions.get(partition) === sums.version)
    },
  }
}
