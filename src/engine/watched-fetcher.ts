/**
 * The fetcher as the tasks of one lease see it. Whatever they send passes here: the lease must still hold at the moment
 * at which it is written and the rate of the crawl must permit it, the audit sees it, and the slot learns when the host
 * keeps us waiting.
 */
import type { Fetcher } from '../fetch/index.ts'
import type { Settlement } from '../frontier/index.ts'
import type { HostKey } from '../model/index.ts'
import type { PolitenessAudit } from '../politeness/index.ts'
import type { Clock } from '../base/index.ts'
import type { Permit } from './permit.ts'
import type { RequestRate } from './request-rate.ts'
import type { Slot } from './slots.ts'

/** What the audit said of a request. */
export type Finding = Pick<Settlement, 'spareMs' | 'impolite'>

export interface WatchedFetcher extends Fetcher {
  /** What the audit said of the last request, once. */
  takeFinding(): Finding
}

const NO_FINDING: Finding = {}

/** Nothing has left us, and the lease is over: whoever asked gives the task back. */
const NEVER_SENT = { kind: 'aborted' } as const

export function createWatchedFetcher(
  fetcher: Fetcher,
  host: HostKey,
  deps: {
    readonly clock: Clock
    readonly permit: Permit
    readonly audit: PolitenessAudit
    readonly slot: Slot
    /** It is the one request to the host under the one lease on it, so being leased is all that its pace takes. */
    readonly isAlone: boolean
    /** Absent where none is set. */
    readonly rate?: RequestRate | undefined
  },
): WatchedFetcher {
  const { clock, permit, audit, slot } = deps
  let finding: Finding = NO_FINDING
  /** A connection may have to be made first, and this process may be stopped meanwhile for longer than its lease lasts. */
  const mayStart = (): boolean => permit.holds()

  /**
   * When the host may be asked. With several under way, one may have been answered since the lease was granted, and with
   * several in one lease a longer Crawl-delay may have been learnt: both count.
   */
  const freeAt = (): number => (deps.isAlone ? -Infinity : audit.freeAt(host))

  return {
    ...fetcher,
    async fetch(request, signal) {
      /** Until when the rate of the crawl permits it to start. */
      let goodUntil: number | undefined = deps.rate === undefined ? Infinity : -Infinity
      // Others may start while one waits, for whatever it is: all is looked at once more, and then nothing is waited for.
      while (freeAt() > clock.now() || goodUntil < clock.now()) {
        if (freeAt() > clock.now()) await clock.sleepUntil(freeAt(), signal).catch(() => {})
        else goodUntil = await deps.rate?.next(signal)
        if (goodUntil === undefined || !permit.holds() || signal?.aborted === true) return NEVER_SENT
      }
      if (!permit.holds() || signal?.aborted === true) return NEVER_SENT
      let isAnswered = false
      const answered = (at: number): void => {
        if (isAnswered) return
        isAnswered = true
        audit.answered(host, at)
        slot.answered()
        request.onAnswer?.(at)
      }
      const violations = audit.violations
      const spareMs = audit.started(host)
      finding = spareMs === undefined ? NO_FINDING : { spareMs }
      if (audit.violations !== violations) finding = { ...finding, impolite: true }
      slot.sent(clock.now())
      const outcome = await fetcher.fetch({ ...request, mayStart, onAnswer: answered }, signal)
      slot.ended()
      // What never left us asks nothing of anybody; what was cut off may have arrived.
      if (outcome.kind === 'refused' || outcome.kind === 'elsewhere' || (outcome.kind === 'error' && !outcome.sent)) {
        finding = NO_FINDING
        audit.withdrawn(host)
        return outcome
      }
      if (outcome.kind === 'aborted') answered(clock.now())
      audit.ended(host)
      return outcome
    },
    takeFinding() {
      const taken = finding
      finding = NO_FINDING
      return taken
    },
  }
}
