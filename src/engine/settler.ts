/**
 * Gathers settlements for a moment and commits them together: one write of the output and one transaction of the
 * frontier for many tasks. Each caller learns whether its own was accepted, once it is durable.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Output, Settlement } from '../frontier/index.ts'

/** How long a settlement waits for company: the longer its host must wait anyway, within these bounds. */
const GATHER_LEAST_MS = 10
const GATHER_MOST_MS = 50
/** A batch of this many is committed at once. */
const BATCH = 64

export interface Settler {
  /**
   * Resolves when the settlement is durable. Rejects when the store or the output fails, and then for good. The host
   * cannot be asked again before it is settled, nor within `delayMs`: half of that may be spent on waiting for company.
   */
  settle(settlement: Settlement, delayMs: number): Promise<'settled' | 'stale'>
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
  let commitAt = Infinity
  let committing: Promise<void> = Promise.resolve()

  const commit = async (): Promise<void> => {
    cancelTimer?.()
    cancelTimer = undefined
    commitAt = Infinity
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
    settle(settlement, delayMs) {
      return new Promise((resolve, reject) => {
        gathered.push({ settlement, resolve, reject })
        if (gathered.length >= BATCH) {
          void flush()
          return
        }
        const waitMs = Math.min(GATHER_MOST_MS, Math.max(GATHER_LEAST_MS, delayMs / 2))
        const at = deps.clock.now() + waitMs
        if (at >= commitAt) return
        cancelTimer?.()
        commitAt = at
        cancelTimer = deps.clock.timer(waitMs, () => void flush())
      })
    },
    flush,
  }
}
