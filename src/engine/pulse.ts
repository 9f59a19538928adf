/**
 * A beat by which a leap of the clock is noticed. The steady clock should not leap, but the process may have been
 * stopped, the machine may have been moved to another, or somebody may play with its time; and then it cannot be known
 * how long hosts were really left alone. So after a leap each host is left alone for its whole delay once more.
 */
import type { Clock } from '../base/index.ts'

/** Between two beats while something happens; each beat after which nothing did is twice as long, up to the longest. */
const BEAT_MS = 1_000
const LONGEST_BEAT_MS = 64_000
/** A beat that is later than this was a leap; a busy machine is not. */
const LEAP_MS = 3_000

export interface Pulse {
  /**
   * When the clock last leapt, as far as it can be told at this moment; -Infinity when it never did. Whoever asks is
   * about to do something.
   */
  leaptAt(): number
  stop(): void
}

export function startPulse(clock: Clock): Pulse {
  let lastBeat = clock.now()
  let leaptAt = -Infinity
  let beatMs = BEAT_MS
  let isIdle = false
  let cancel = (): void => {}

  const look = (): void => {
    const now = clock.now()
    if (now - lastBeat <= beatMs + LEAP_MS) return
    leaptAt = now
    lastBeat = now
  }
  const beatIn = (ms: number): void => {
    cancel()
    beatMs = ms
    lastBeat = clock.now()
    cancel = clock.timer(ms, () => {
      look()
      const nextMs = isIdle ? Math.min(2 * beatMs, LONGEST_BEAT_MS) : BEAT_MS
      isIdle = true
      beatIn(nextMs)
    })
  }
  beatIn(BEAT_MS)
  return {
    leaptAt() {
      look()
      isIdle = false
      if (beatMs > BEAT_MS) beatIn(BEAT_MS)
      return leaptAt
    },
    stop: () => cancel(),
  }
}
