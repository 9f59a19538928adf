/**
 * The first good answer out of several that may be asked: one after another, the next as soon as one failed or has kept
 * silent for a while, so that one that is dead costs no more than that while. Those who answer later are not heard.
 */
import type { Clock } from '../../base/index.ts'

/** Rejects with the last failure when all failed. `candidates` has at least one. */
export function firstAnswer<C, T>(
  candidates: readonly C[],
  staggerMs: number,
  clock: Clock,
  ask: (candidate: C) => Promise<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let asked = 0
  let failed = 0
  let over = false
  let cancel = (): void => {}
  const end = (): void => {
    over = true
    cancel()
  }
  const askNext = (): void => {
    cancel()
    const candidate = candidates[asked]
    if (over || candidate === undefined) return
    asked++
    ask(candidate).then(
      (answer) => {
        end()
        resolve(answer)
      },
      (error: unknown) => {
        failed++
        if (failed === candidates.length) {
          end()
          reject(error)
        } else askNext()
      },
    )
    if (asked < candidates.length) cancel = clock.timer(staggerMs, askNext)
  }
  askNext()
  return promise
}
