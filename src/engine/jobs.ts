/** Work that is under way and that nobody waits for by itself: it is kept hold of until it ends, and a failure is told. */

export interface Jobs {
  readonly size: number
  /** Those under way. None of them rejects. */
  readonly pending: Iterable<Promise<void>>
  track(job: Promise<unknown>): void
}

export function createJobs(told: { onFailure(error: unknown): void; onEnd?(): void }): Jobs {
  const pending = new Set<Promise<void>>()
  const failed = (error: unknown): void => told.onFailure(error)
  return {
    get size() {
      return pending.size
    },
    pending,
    track(job) {
      const tracked: Promise<void> = job.then(ended, failed).finally(() => {
        pending.delete(tracked)
        told.onEnd?.()
      })
      pending.add(tracked)
    },
  }
}

function ended(): void {}
