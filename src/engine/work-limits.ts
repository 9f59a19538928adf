/** The limits of time and bytes for the work on a crawl, which is stopped when one of them is reached. */
import type { Clock } from '../base/index.ts'
import type { Frontier } from '../frontier/index.ts'
import type { EndReason } from './ending.ts'

export interface WorkLimits {
  /** The time counts from now. */
  begin(): void
  /** What was fetched before, by earlier runs, counts too. */
  countBefore(frontier: Pick<Frontier, 'stats'>): Promise<void>
  count(bytes: number): void
  end(): void
}

export function createWorkLimits(
  limits: { readonly maxTimeMs?: number; readonly maxBytes?: number },
  deps: { readonly clock: Clock; stop(reason: EndReason): void },
): WorkLimits {
  const { maxTimeMs, maxBytes } = limits
  let bytes = 0
  let cancelTimer = (): void => {}

  const count = (more: number): void => {
    bytes += more
    if (maxBytes !== undefined && bytes >= maxBytes) deps.stop('bytes')
  }
  return {
    begin() {
      if (maxTimeMs !== undefined) cancelTimer = deps.clock.timer(maxTimeMs, () => deps.stop('time'))
    },
    async countBefore(frontier) {
      if (maxBytes !== undefined) count((await frontier.stats()).bytes)
    },
    count,
    end: () => cancelTimer(),
  }
}
