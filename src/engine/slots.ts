/**
 * The slots of the worker loop: how many leases are worked on at once, and which of them count.
 *
 * A slot is given only to a host that is due, so nothing waits in it but for the host's answer. A host that keeps us
 * waiting costs a socket and no work, and must not keep others from their turn: when the slots are taken, a request that
 * has waited for long is parked, which frees its slot while it goes on. And some slots are kept for hosts that answered
 * their last request well, so that a thousand strangers who never answer cannot delay them by a moment.
 *
 * It keeps true that no more than `total` leases are worked on at once but for parked ones, whose number is bounded too.
 */

/** A request that is older than this is parked when its slot is wanted; sooner when there are many of them. */
const PATIENCE_MS = 1_000
/** But never before. */
const LEAST_PATIENCE_MS = 100
/** Each parked request holds a socket. */
const MOST_PARKED = 1_000
/** A parked request that is being answered may hold a body too. */
const MOST_PARKED_BODIES_PER_SLOT = 4
/** One slot of so many is kept for hosts that have answered well. */
const PROVEN_SHARE = 4

export interface Slot {
  /** A request goes out. */
  sent(at: number): void
  /** Its answer has begun. */
  answered(): void
  /** It is over. */
  ended(): void
  isParked(): boolean
  /** The work on the lease is over. */
  leave(): void
}

export interface Slots {
  readonly total: number
  /** Slots that can be given away now, to hosts that have answered well and to others. */
  readonly free: number
  readonly freeForUnproven: number
  /** Leases being worked on, parked ones among them. */
  readonly inUse: number
  /** Those of them that have no request under way. */
  readonly idle: number
  /** When a request can next be parked; null while nobody needs its slot. */
  readonly nextParking: number | null
  enter(proven: boolean): Slot
  /** Parks what has waited for too long, if its slot is needed. */
  park(now: number): void
  /** From now on there are so many; what is taken stays taken. */
  resize(total: number): void
}

interface Seat {
  readonly proven: boolean
  isUnderWay: boolean
  sentAt: number
  answered: boolean
  parked: boolean
}

export function createSlots(given: number): Slots {
  let total = given
  const unprovenTotal = (): number => total - Math.floor(total / PROVEN_SHARE)
  /** Requests that hold a slot, the oldest first. */
  const waiting = new Set<Seat>()
  let inUse = 0
  let underWay = 0
  let unproven = 0
  let parked = 0
  let parkedBodies = 0

  const free = (): number => Math.max(0, total - (inUse - parked))
  const freeForUnproven = (): number => Math.max(0, Math.min(free(), unprovenTotal() - unproven))
  const isShort = (): boolean => freeForUnproven() === 0
  const patienceMs = (): number =>
    parked <= total ? PATIENCE_MS : Math.max(LEAST_PATIENCE_MS, (PATIENCE_MS * total) / parked)
  const mayPark = (seat: Seat): boolean =>
    parked < MOST_PARKED && (!seat.answered || parkedBodies < MOST_PARKED_BODIES_PER_SLOT * total)

  /** The oldest request whose slot would help: with slots left for hosts that answer, only those of the others do. */
  const candidates = function* (): Generator<Seat> {
    for (const seat of waiting) if (mayPark(seat) && (free() === 0 || !seat.proven)) yield seat
  }

  const parkSeat = (seat: Seat): void => {
    waiting.delete(seat)
    seat.parked = true
    parked += 1
    if (seat.answered) parkedBodies += 1
    if (!seat.proven) unproven -= 1
  }

  return {
    get total() {
      return total
    },
    get free() {
      return free()
    },
    get freeForUnproven() {
      return freeForUnproven()
    },
    get inUse() {
      return inUse
    },
    get idle() {
      return inUse - underWay
    },
    get nextParking() {
      if (!isShort()) return null
      const oldest = candidates().next().value
      return oldest === undefined ? null : oldest.sentAt + patienceMs()
    },
    enter(proven) {
      const seat: Seat = { proven, isUnderWay: false, sentAt: 0, answered: false, parked: false }
      inUse += 1
      if (!proven) unproven += 1
      const setUnderWay = (isUnderWay: boolean): void => {
        underWay += Number(isUnderWay) - Number(seat.isUnderWay)
        seat.isUnderWay = isUnderWay
      }
      return {
        sent(at) {
          setUnderWay(true)
          seat.sentAt = at
          seat.answered = false
          waiting.add(seat)
        },
        answered() {
          if (seat.parked && !seat.answered) parkedBodies += 1
          seat.answered = true
        },
        ended() {
          setUnderWay(false)
          waiting.delete(seat)
        },
        isParked: () => seat.parked,
        leave() {
          setUnderWay(false)
          waiting.delete(seat)
          inUse -= 1
          if (!seat.parked) {
            if (!proven) unproven -= 1
            return
          }
          parked -= 1
          if (seat.answered) parkedBodies -= 1
        },
      }
    },
    resize(wanted) {
      total = wanted
    },
    park(now) {
      for (const seat of candidates()) {
        if (!isShort() || seat.sentAt + patienceMs() > now) return
        parkSeat(seat)
      }
    },
  }
}
