/**
 * Gathers settlements for a moment and commits them together: one write of the output and one transaction of the
 * frontier for many tasks. Each caller learns whether its own was accepted, once it is durable.
 *
 * Commits follow one another, since each says how far the output reaches; what comes meanwhile waits for the next.
 */
import type { Clock } from '../base/index.ts'
import type { Frontier, Output, Settlement } from '../frontier/index.ts'

/** How long a settlement waits for company: the longer its host must wait anyway, within these bounds. */
const GATHER_LEAST_MS = 10
const GATHER_MOST_MS = 50
/**
 * Of a host without a delay: it has others under way, and its answers come fast. Whoever runs out of work flushes. While
 * commits are slow, as on a disk that others use, more is gathered for each: they may take a fifth of the time.
 */
const GATHER_UNPACED_LEAST_MS = 40
const GATHER_UNPACED_MOST_MS = 250
const GATHER_FOR_COMMIT = 4
/** While somebody can do nothing before it is committed: then commits may take a third of the time. */
const GATHER_WANTED_LEAST_MS = 5
const GATHER_WANTED_FOR_COMMIT = 2
/** A batch of this many is committed at once. */
const BATCH = 256
/** After a slow commit many may be waiting; they are committed so many at a time. */
const MOST_IN_BATCH = 512

export interface Settler {
  /**
   * Resolves when the settlement is durable. Rejects when the store or the output fails, and then for good. The host
   * cannot be asked again before it is settled, nor within `delayMs`: half of that may be spent on waiting for company.
   */
  settle(settlement: Settlement, delayMs: number): Promise<'settled' | 'stale'>
  /** Commits what is gathered. */
  flush(): Promise<void>
  /** Somebody can do nothing before something is committed: what is gathered, and comes until then, waits less. */
  hurry(): void
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
  let isWanted = false
  let committing: Promise<void> = Promise.resolve()
  /** How long the last commit took. */
  let commitMs = 0
  /** The commit that follows the one under way, while it has not begun. */
  let next: Promise<void> | undefined

  const commitBatch = async (batch: readonly Pending[]): Promise<void> => {
    const begun = deps.clock.now()
    try {
      const { results } = await frontier.settle(
        batch.map(({ settlement }) => settlement),
        output,
      )
      batch.forEach((pending, index) => pending.resolve(results[index] ?? 'stale'))
    } catch (error) {
      for (const pending of batch) pending.reject(error)
    }
    commitMs = deps.clock.now() - begun
  }
  const commit = async (): Promise<void> => {
    next = undefined
    cancelTimer?.()
    cancelTimer = undefined
    commitAt = Infinity
    isWanted = false
    const waiting = gathered
    gathered = []
    for (let start = 0; start < waiting.length; start += MOST_IN_BATCH) {
      await commitBatch(waiting.slice(start, start + MOST_IN_BATCH))
    }
  }
  const flush = (): Promise<void> => {
    if (next === undefined) {
      next = committing.then(commit)
      committing = next
    }
    return next
  }
  const wantedMs = (): number =>
    within(GATHER_WANTED_LEAST_MS, GATHER_WANTED_FOR_COMMIT * commitMs, GATHER_UNPACED_MOST_MS)
  const gatherMs = (delayMs: number): number =>
    delayMs === 0
      ? within(GATHER_UNPACED_LEAST_MS, GATHER_FOR_COMMIT * commitMs, GATHER_UNPACED_MOST_MS)
      : within(GATHER_LEAST_MS, delayMs / 2, GATHER_MOST_MS)
  const commitIn = (waitMs: number): void => {
    const at = deps.clock.now() + waitMs
    if (at >= commitAt) return
    cancelTimer?.()
    commitAt = at
    cancelTimer = deps.clock.timer(waitMs, () => void flush())
  }
  return {
    settle(settlement, delayMs) {
      return new Promise((resolve, reject) => {
        gathered.push({ settlement, resolve, reject })
        if (gathered.length >= BATCH) {
          void flush()
          return
        }
        commitIn(isWanted ? Math.min(wantedMs(), gatherMs(delayMs)) : gatherMs(delayMs))
      })
    },
    flush,
    hurry() {
      isWanted = true
      if (gathered.length > 0) commitIn(wantedMs())
    },
  }
}

function within(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
