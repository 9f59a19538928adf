/**
 * How tiers share the work: each has a clock that moves by what it was given, divided by its quota, and the one whose
 * clock is behind goes next (stride scheduling). Over any stretch in which all have work, each gets its part, give or take
 * one turn. A tier that had nothing to do for a while does not get it later: its clock is set to the time of the others.
 */
import { TIERS, type Tier } from '../model/index.ts'

/** A tier without a quota has its turn when nobody else has work. */
const SMALLEST_QUOTA = 1e-9

export interface Sharing {
  /** The tier whose turn it is among those that have work: at least one. A list must not be changed afterwards. */
  choose(ready: readonly Tier[]): Tier
  /** The tier was given so many tasks. */
  charge(tier: Tier, tasks: number): void
}

export function createSharing(quotas: Readonly<Record<Tier, number>>): Sharing {
  const clocks: Record<Tier, number> = { high: 0, medium: 0, low: 0 }
  let idle = new Set<Tier>(TIERS)
  let time = 0
  let readyBefore: readonly Tier[] = []
  return {
    choose(ready) {
      // As a rule it is the same list again: then nobody was idle who is not.
      if (ready !== readyBefore) {
        for (const tier of ready) if (idle.has(tier)) clocks[tier] = Math.max(clocks[tier], time)
        idle = new Set(TIERS.filter((tier) => !ready.includes(tier)))
        readyBefore = ready
      }
      let next = ready[0] as Tier
      for (const tier of ready) if (clocks[tier] < clocks[next]) next = tier
      time = Math.max(time, clocks[next])
      return next
    },
    charge(tier, tasks) {
      clocks[tier] += tasks / Math.max(SMALLEST_QUOTA, quotas[tier])
    },
  }
}
