/**
 * URLs that were added in the last minute, kept in this process: a server that takes over may have lost them, and is told
 * again. Those it knows are known. (What settlements found is in the outbox, or told again with them.)
 */
import type { Clock } from '../../base/index.ts'
import type { FoundUrl } from '../../model/index.ts'

/** Longer than writes can be lost by. */
const KEPT_MS = 60_000
/** Beyond, the oldest are forgotten. */
const MOST_KEPT = 100_000

export interface RecentAdds {
  keep(found: readonly FoundUrl[]): void
  all(): readonly FoundUrl[]
}

export function createRecentAdds(clock: Clock): RecentAdds {
  let kept: { readonly at: number; readonly found: readonly FoundUrl[] }[] = []
  let count = 0
  const forget = (): void => {
    const since = clock.now() - KEPT_MS
    let old = 0
    for (const { at, found } of kept) {
      if (at > since && count <= MOST_KEPT) break
      old += 1
      count -= found.length
    }
    if (old > 0) kept = kept.slice(old)
  }
  return {
    keep(found) {
      kept.push({ at: clock.now(), found })
      count += found.length
      forget()
    },
    all() {
      forget()
      return kept.flatMap(({ found }) => found)
    },
  }
}
