/** Looks now and then whether another thread would help: when those there are have no time left and the machine has. */
import type { Clock } from '../../base/index.ts'
import type { Hands } from './hands.ts'

/** How often it is looked, and how busy all must be. */
const GROWTH_MS = 500
const BUSY_SHARE = 0.85
/** And how much of a processor idle: with less the threads and the servers of the machine only take it from each other. */
const IDLE_PROCESSORS = 0.8
/**
 * So many times in a row: a thread takes two or three seconds of a processor before it is of any use, which only a crawl
 * that goes on for longer gets back. Where there are processors in plenty, each look counts for several.
 */
const LOOKS = 40
const PLENTY = 2
const LOOKS_FOR_PLENTY = 10

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
  /** Another is to be started. */
  onRoom(): void
}): Growth {
  const { clock, hands, mostThreads } = options
  let isStopped = false
  /** Looks in a row that found room. */
  let roomy = 0
  let cancel = (): void => {}

  const begin = (): void => {
    if (isStopped || hands.size >= mostThreads) return
    cancel = clock.timer(GROWTH_MS, () => {
      // Each is asked, so that the next time is counted from now.
      const shares = hands.busyShares()
      const idle = options.idleProcessors()
      const hasRoom = idle >= IDLE_PROCESSORS && shares.every((share) => share >= BUSY_SHARE)
      roomy = hasRoom ? roomy + (idle >= PLENTY ? LOOKS_FOR_PLENTY : 1) : 0
      if (roomy >= LOOKS) {
        roomy = 0
        options.onRoom()
      }
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
