/**
 * Whether the servers are in reach, told once for each change. A request that keeps failing for a second, or a node that
 * leaves requests unanswered for as long, is trouble; it is over when an answer came and no request is in trouble any
 * more. So the loss of one node of a cluster is told although the others go on.
 */
import type { Clock } from '../../base/index.ts'
import type { LinkTrouble } from './link.ts'

const LOST_AFTER_MS = 1_000

/** A request while it is under way. */
export interface Attempted {
  /** The first failure since it last got on. */
  failingSince: number | undefined
  detail: string
}

export interface TroubleWatch {
  begin(): Attempted
  failed(request: Attempted, detail: string): void
  /** It got its answer, or was given up. */
  end(request: Attempted, answered: boolean): void
  onTrouble(listener: (trouble: LinkTrouble) => void): void
  close(): void
}

/** `silence` names a node that does not answer, and for how long. */
export function createTroubleWatch(
  clock: Clock,
  silence: () => { readonly node: string; readonly silentMs: number } | undefined,
): TroubleWatch {
  const underWay = new Set<Attempted>()
  const failing = new Set<Attempted>()
  const listeners: ((trouble: LinkTrouble) => void)[] = []
  let lostSince: number | undefined
  let cancel: (() => void) | undefined

  const tell = (trouble: LinkTrouble): void => {
    for (const listener of listeners) listener(trouble)
  }
  const look = (): void => {
    cancel = undefined
    if (underWay.size === 0 || lostSince !== undefined) return
    const due = clock.now() - LOST_AFTER_MS
    const stuck = [...failing].find(({ failingSince }) => failingSince !== undefined && failingSince <= due)
    const silent = silence()
    if (stuck !== undefined) lose(stuck.detail)
    else if (silent !== undefined && silent.silentMs >= LOST_AFTER_MS) lose(`${silent.node} does not answer`)
    else arm()
  }
  const lose = (detail: string): void => {
    lostSince = clock.now()
    tell({ kind: 'lost', detail })
  }
  const arm = (): void => {
    cancel ??= clock.timer(LOST_AFTER_MS / 4, look)
  }
  return {
    begin() {
      const request: Attempted = { failingSince: undefined, detail: '' }
      underWay.add(request)
      if (lostSince === undefined) arm()
      return request
    },
    failed(request, detail) {
      request.failingSince ??= clock.now()
      request.detail = detail
      failing.add(request)
    },
    end(request, answered) {
      underWay.delete(request)
      failing.delete(request)
      if (lostSince !== undefined && answered && failing.size === 0 && (silence()?.silentMs ?? 0) < LOST_AFTER_MS) {
        lostSince = undefined
        tell({ kind: 'back', detail: 'the store answers again' })
        if (underWay.size > 0) arm()
      }
      if (underWay.size === 0) {
        cancel?.()
        cancel = undefined
      }
    },
    onTrouble(listener) {
      listeners.push(listener)
    },
    close() {
      cancel?.()
      cancel = undefined
    },
  }
}
