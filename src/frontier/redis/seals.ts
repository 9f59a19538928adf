/**
 * Looks after the sets of final URLs, which are touched only when one of their URLs is found again: that none of them is
 * missing is made sure before a crawl is called finished, and while it is tended. A portion at a time, in turn, so that a
 * look stays short however many there are.
 */
import { loadScript } from './scripts.ts'
import type { Partition } from './store.ts'

const SEALS = loadScript('seals')
/** Sets in one portion: those of some 30,000 URLs. */
const SETS_AT_ONCE = 256

export interface Seals {
  /** Throws when one of the next portion is not there. */
  check(partition: Partition): Promise<void>
}

export function createSeals(): Seals {
  const turns = new Map<Partition, number>()
  return {
    async check(partition) {
      const { level, keys } = partition
      const sets = 2 ** level
      const first = (turns.get(partition) ?? 0) % sets
      const portion = Array.from({ length: Math.min(SETS_AT_ONCE, sets - first) }, (_, index) =>
        keys.known(level, first + index),
      )
      turns.set(partition, first + portion.length)
      const reply = await partition.call(SEALS, [...keys.fixed, ...portion], { level })
      partition.level = (reply as { readonly level: number }).level
    },
  }
}
