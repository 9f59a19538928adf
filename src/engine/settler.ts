/**
 * Gathers settlements for a moment and commits them together: one write of the output and one transaction of the
 * frontier for many tasks. Each caller learns whether its own was accepted, once it is durable.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Output, Settlement } from '../frontier/index.ts'

/** How long the first settlement of a batch waits for company. */
const GATHER_MS = 10
/** A batch of this many is committed at once. */
const BATCH = 64

export interface Settler {
  /** Resolves when the settlement is durable. Rejects when the store or the output fails, and then for good. */
  settle(settlement: Settlement): Promise<'settled' | 'stale'>
  /** Commits what is gathered. */
  flush(): Promise<void>
}

interface Pending {
  readonly settlement: Settlement
  resolve(result: 'settled' | 'stale'): void
  reject(error: unknown): void
}

export function createSettler(
  frontier: Pick<Frontier, 'settle'>,
  output: Output | undefined,
  deps: { readonly clock: Clock },
): Settler {
  let gathered: Pending[] = []
  let cancelTimer: (() => void) | undefined
  let committing: Promise<void> = Promise.resolve()

  const commit = async (): Promise<void> => {
    cancelTimer?.()
    cancelTimer = undefined
    const batch = gathered
    gathered = []
    if (batch.length === 0) return
    try {
      const { results } = await frontier.settle(
        batch.map(({ settlement }) => settlement),
        output,
      )
      batch.forEach((pending, index) => pending.resolve(results[index] ?? 'stale'))
    } catch (error) {
      for (const pending of batch) pending.reject(error)
    }
  }
  const flush = (): Promise<void> => {
    committing = committing.then(commit)
    return committing
  }
  return {
    settle(settlement) {
      return new Promise((resolve, reject) => {
        gathered.push({ settlement, resolve, reject })
        if (gathered.length >= BATCH) void flush()
        else cancelTimer ??= deps.clock.timer(GATHER_MS, () => void flush())
      })
    },
    flush,
  }
}
