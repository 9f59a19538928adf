/**
 * What was settled in the last half minute, kept in this process: a server that takes over for another may not know it
 * (Redis may lose what it acknowledged last), and is told again while it keeps quiet. What it does know it drops.
 */
import type { Clock } from '../../base/index.ts'
import type { OutputPosition, Settlement } from '../contract.ts'
import type { Partition } from './store.ts'
import type { Plan } from './visits.ts'
import type { HeldTask } from './weighing.ts'

/** Longer than a server that was cut off goes on taking what is lost then. */
const KEPT_MS = 30_000
/** Of all partitions together, and links in them; beyond, the oldest are forgotten. */
const MOST_KEPT = 8_192
const MOST_LINKS = 200_000

export interface Settled {
  readonly settlement: Settlement
  readonly held: HeldTask
  readonly plan: Plan | undefined
}

export interface Replay {
  keep(partition: Partition, settled: readonly Settled[], position: OutputPosition | undefined): void
  /** What was settled there lately, oldest first, and the end of the output by then. */
  of(partition: Partition): { readonly settled: readonly Settled[]; readonly position: OutputPosition | undefined }
}

interface Kept extends Settled {
  readonly at: number
  readonly partition: number
}

/** `isStreamed`: records go to the servers too, and must be kept for that. */
export function createReplay(clock: Clock, isStreamed: boolean): Replay {
  // A set iterates in order of insertion.
  const kept = new Set<Kept>()
  const positions = new Map<number, OutputPosition>()
  let links = 0

  const forgetOld = (now: number): void => {
    for (const each of kept) {
      if (each.at > now - KEPT_MS && kept.size <= MOST_KEPT && links <= MOST_LINKS) return
      kept.delete(each)
      links -= each.settlement.found?.length ?? 0
    }
  }

  return {
    keep({ index }, settled, position) {
      const at = clock.now()
      if (position !== undefined) positions.set(index, position)
      for (const { settlement, held, plan } of settled) {
        kept.add({ settlement: lean(settlement, isStreamed), held, plan, at, partition: index })
        links += settlement.found?.length ?? 0
      }
      forgetOld(at)
    },
    of({ index }) {
      forgetOld(clock.now())
      return { settled: [...kept].filter(({ partition }) => partition === index), position: positions.get(index) }
    },
  }
}

/** Without what is large and of no use any more. */
function lean({ record, sample: _sample, ...settlement }: Settlement, isStreamed: boolean): Settlement {
  return isStreamed && record !== undefined ? { ...settlement, record } : settlement
}
