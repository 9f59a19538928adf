/** How fast a growing number grows: its rise over the last seconds, from readings at any times. */
export interface RateMeter {
  /** Takes a reading and returns the rise per second over the window. */
  read(now: number, value: number): number
}

/** `windowMs` is how far back it looks; readings are kept at most once in a tenth of it. */
export function createRateMeter(windowMs: number): RateMeter {
  const readings: { now: number; value: number }[] = []
  return {
    read(now, value) {
      const last = readings.at(-1)
      if (last === undefined || now - last.now >= windowMs / 10) readings.push({ now, value })
      while (readings.length > 1 && now - (readings[1]?.now ?? now) >= windowMs) readings.shift()
      const first = readings[0]
      if (first === undefined || now <= first.now) return 0
      return ((value - first.value) * 1_000) / (now - first.now)
    },
  }
}
