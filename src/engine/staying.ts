/**
 * Whether a frontier that has nothing left is over. A crawl that others add to may not have begun, or somebody may want to
 * stay for more: then it is asked again after a while.
 */
import type { Clock } from '../base/index.ts'

/** Who stays for more asks so often whether there is any. */
const STAY_MS = 2_000

export interface Staying {
  /** When a frontier that has given this answer is to be asked again; undefined when it is over. */
  askAgainAt(state: 'finished' | 'limit'): Promise<number | undefined>
}

/** `stays`: whether to wait for more; absent when the first answer counts. */
export function createStaying(
  stays: (() => Promise<boolean>) | undefined,
  { clock }: { readonly clock: Clock },
): Staying {
  let hasBegun = stays === undefined
  return {
    async askAgainAt(state) {
      if (state !== 'finished' || hasBegun || stays === undefined) return undefined
      // Only what is answered from now on says that it is over, and not that it had not begun.
      hasBegun = !(await stays())
      return clock.now() + (hasBegun ? 0 : STAY_MS)
    },
  }
}
