/**
 * Those who work on a crawl, each with what it was given: threads, and the thread of the frontier itself. They share the
 * slots of the crawl, and hear what is said to all of them.
 */
import type { Lease } from '../../frontier/index.ts'
import type { PolitenessAudit } from '../../politeness/index.ts'
import { createLinkReader, type LinkReader } from './link-book.ts'
import { NOBODY, type CrewWorker } from './own-worker.ts'
import { createToldRequests, type ToldRequests } from './told-requests.ts'

/** A lease that somebody has, and which of its tasks are not settled yet. */
export interface Held {
  readonly lease: Lease
  readonly open: Set<number>
}

export interface Hand {
  /** Which one it is, from 0; whoever replaces it has its number. */
  readonly thread: number
  readonly leases: Map<number, Held>
  readonly links: LinkReader
  readonly requests: ToldRequests
  /** Leases that only it may have, until it asks. */
  readonly kept: Lease[]
  /** It was told that there were no more leases; it has not been told to look again. */
  isHungry: boolean
  /** It has begun to work. */
  isReady: boolean
  member: CrewWorker
}

export interface Hands {
  readonly size: number
  /** Requests and pages under way. */
  readonly inFlight: number
  /** False when it has ended or was lost, also when another has its number now. */
  has(hand: Hand): boolean
  add(hand: Hand): void
  remove(hand: Hand): void
  tellAll(name: string, said?: unknown, except?: Hand): void
  /** Those that had nothing to do hear that there may be something. */
  feed(): void
  /** Gives each its share of the slots. */
  spread(): void
  /** The part of its time that each was busy since this was asked last. */
  busyShares(): number[]
}

export function newHand(thread: number, audit: PolitenessAudit): Hand {
  return {
    thread,
    leases: new Map(),
    links: createLinkReader(),
    requests: createToldRequests(audit),
    kept: [],
    isHungry: false,
    isReady: false,
    member: NOBODY,
  }
}

/** From now on it has the lease. */
export function giveLease(hand: Hand, lease: Lease): void {
  hand.leases.set(lease.fence, { lease, open: new Set(lease.tasks.keys()) })
}

/** `slots`: of all together. */
export function createHands(slots: number): Hands {
  const byThread = new Map<number, Hand>()
  const has = (hand: Hand): boolean => byThread.get(hand.thread) === hand
  return {
    get size() {
      return byThread.size
    },
    get inFlight() {
      let count = 0
      for (const { member } of byThread.values()) count += member.inFlight
      return count
    },
    has,
    add: (hand) => void byThread.set(hand.thread, hand),
    remove(hand) {
      if (has(hand)) byThread.delete(hand.thread)
    },
    tellAll(name, said, except) {
      for (const hand of byThread.values()) if (hand !== except) hand.member.line.tell(name, said)
    },
    feed() {
      for (const hand of byThread.values()) {
        if (!hand.isHungry) continue
        hand.isHungry = false
        hand.member.line.tell('look')
      }
    },
    spread() {
      let place = 0
      for (const hand of byThread.values()) hand.member.line.tell('resize', shareOf(slots, place++, byThread.size))
    },
    busyShares: () => [...byThread.values()].map(({ member }) => member.busyShare()),
  }
}

/** What one of so many gets. */
export function shareOf(slots: number, place: number, among: number): number {
  return Math.floor(slots / among) + (place < slots % among ? 1 : 0)
}
