/**
 * When it is worth asking the frontier for leases. Each asking is a transaction of the store; a slot that comes free is
 * no reason for one unless some host may have been waiting for it.
 */
import type { LeaseAnswer } from '../frontier/index.ts'
import type { Slots } from './slots.ts'

/** The slots that an asking could fill. */
type Room = Pick<Slots, 'free' | 'freeForUnproven'>

export interface Asking {
  /** Something was settled or added: other hosts may be due now. */
  changed(): void
  /** The frontier is being asked: what changes from now on, its answer may not know of. */
  asked(): void
  /** What the frontier answered when there was so much room. */
  answered(room: Room, answer: Pick<LeaseAnswer, 'leases' | 'nextAt'>): void
  isWorthIt(now: number, room: Room): boolean
  /** When it becomes so by itself; null for never. */
  readonly at: number | null
}

export function createAsking(): Asking {
  let isNews = true
  let at: number | null = null
  /** There were as many leases as room for them, so there may be more hosts: of any kind, or of the unproven kind. */
  let wasFull = false
  let wasFullForUnproven = false
  return {
    changed() {
      isNews = true
    },
    asked() {
      isNews = false
    },
    answered(room, { leases, nextAt }) {
      at = nextAt
      wasFull = leases.length >= room.free
      const unproven = leases.filter(({ health }) => health.streak <= 0).length
      wasFullForUnproven = unproven >= room.freeForUnproven
    },
    isWorthIt: (now, { free, freeForUnproven }) =>
      free > 0 && (isNews || wasFull || (wasFullForUnproven && freeForUnproven > 0) || (at !== null && at <= now)),
    get at() {
      return at
    },
  }
}
