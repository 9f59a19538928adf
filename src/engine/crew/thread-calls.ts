/** What a thread that works on a crawl may ask of the thread of the frontier, and tell it. */
import type { LeaseRef, LeaseRequest } from '../../frontier/index.ts'
import type { FoundUrl, HostKey, NormalizedUrl } from '../../model/index.ts'
import type { Judged } from '../tasks/repetition.ts'
import type { PermitsWanted } from '../request-rate.ts'
import type { CrewOptions } from './crew.ts'
import type { Hand, Hands } from './hands.ts'
import type { LeaseDesk } from './lease-desk.ts'
import { errorFrom, type Handlers, type PlainError } from './line.ts'
import type { SettlementNote } from './settlement-note.ts'
import type { Settlements } from './settlements.ts'

/** A host that has to be left alone by all. */
export interface Pause {
  readonly host: HostKey
  readonly until: number
  readonly reason: string
}

export interface ThreadCallsDeps {
  readonly hands: Hands
  readonly desk: LeaseDesk
  readonly settlements: Settlements
  /** The thread has nothing left to do. */
  onEnded(hand: Hand): void
  onFailed(hand: Hand, error: Error): void
}

export function threadCalls(
  hand: Hand,
  { frontier, settler, audit, repetitions, permits }: CrewOptions,
  { hands, desk, settlements, onEnded, onFailed }: ThreadCallsDeps,
): Handlers {
  return {
    lease: (request: LeaseRequest) => desk.lease(hand, request),
    settle: (said: { note: SettlementNote; delayMs: number }) => settlements.settleTold(hand, said),
    flush: () => settler.flush(),
    hurry: () => settler.hurry(),
    extend: (ref: LeaseRef) => frontier.extend(ref),
    host: (host: HostKey) => frontier.host(host),
    add: (found: readonly FoundUrl[]) => frontier.add(found),
    stats: () => frontier.stats(),
    judge: ({ url, judged }: { url: NormalizedUrl; judged: Judged }) => repetitions.judge(url, judged),
    permits: (asked: PermitsWanted) => permits?.(asked) ?? Promise.resolve(asked.wanted),
    ...hand.requests,
    paused(pause: Pause) {
      audit.paused(pause.host, pause.until)
      hands.tellAll('pause', pause, hand)
    },
    ended: () => onEnded(hand),
    failed: (error: PlainError) => onFailed(hand, errorFrom(error)),
  }
}
