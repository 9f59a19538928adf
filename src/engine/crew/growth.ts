/**
 * Looks now and then whether another thread would help: when those there are have no time left and the machine has. The
 * first to come is one that only takes a part of the work off the thread of the frontier, where there is such a part: it
 * is ready in a moment. One that does all of it takes long to get going.
 */
import type { Clock } from '../../base/index.ts'
import type { Hands } from './hands.ts'

/** How often it is looked, and how busy all must be. */
const GROWTH_MS = 100
const BUSY_SHARE = 0.85
/** And how much of a processor idle: with less the threads and the servers of the machine only take it from each other. */
const IDLE_PROCESSORS = 0.8
/**
 * So many times in a row: a thread takes two or three seconds of a processor before it is of any use, which only a crawl
 * that goes on for longer gets back. Where there are processors in plenty, each look counts for several.
 */
const LOOKS = 200
const PLENTY = 2
const LOOKS_FOR_PLENTY = 10
/** The same for one that only relieves another, where hosts have a delay. */
const LOOKS_TO_RELIEVE = 2
const IDLE_TO_RELIEVE = 0.5
export interface Growth {
  /** Until there are as many as there may be. */
  begin(): void
  /** For good: the crawl is over, or no thread could be had. */
  stop(): void
}

export function createGrowth(options: {
  readonly clock: Clock
  readonly hands: Pick<Hands, 'size' | 'busyShares'>
  readonly mostThreads: number
  /** How many of the machine's processors had nothing to do since this was asked last. */
  idleProcessors(): number
  /** Starts a thread that takes a part of the work off the first; false when there is nothing to take. */
  relieve?(): boolean
  /**
   * Hosts are asked without a delay, unless they say otherwise. Such a crawl is bound by the machine as soon as it has
   * found a few pages: it is relieved from the beginning, so that nothing is compiled in two threads.
   */
  readonly isUnpaced?: boolean
  /** Another is to be started. */
  onRoom(): void
}): Growth {
  const { clock, hands, mostThreads } = options
  let isStopped = false
  /** Looks in a row that found room, for one that relieves and then for any other. */
  let roomToRelieve = 0
  let room = 0
  let mayRelieve = options.relieve !== undefined
  /** 1 when there is one that relieves. */
  let relieving = 0
  let cancel = (): void => {}

  const relieve = (): void => {
    mayRelieve = false
    relieving = options.relieve?.() === true ? 1 : 0
  }
  const look = (): void => {
    // Each is asked, so that the next time is counted from now.
    const shares = hands.busyShares()
    const idle = options.idleProcessors()
    const isBusy = shares.every((share) => share >= BUSY_SHARE)
    if (mayRelieve) {
      roomToRelieve = isBusy && idle >= IDLE_TO_RELIEVE ? roomToRelieve + 1 : 0
      if (roomToRelieve >= LOOKS_TO_RELIEVE) relieve()
      return
    }
    room = isBusy && idle >= IDLE_PROCESSORS ? room + (idle >= PLENTY ? LOOKS_FOR_PLENTY : 1) : 0
    if (room < LOOKS) return
    room = 0
    options.onRoom()
  }
  const begin = (): void => {
    if (isStopped || hands.size + relieving >= mostThreads) return
    if (mayRelieve && options.isUnpaced === true) relieve()
    cancel = clock.timer(GROWTH_MS, () => {
      look()
      begin()
    })
  }
  return {
    begin,
    stop() {
      isStopped = true
      cancel()
    },
  }
}
