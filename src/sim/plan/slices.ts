/**
 * Counts over time in a bounded number of equal slices: when there is no room for a later moment, two slices become
 * one. How long the crawl will be need not be known.
 */
const MOST_SLICES = 4_096

export interface Slices {
  readonly widthMs: number
  readonly counts: readonly number[]
}

export interface SliceCounter {
  count(atMs: number): void
  /** The counts up to `endMs`, with times and counts multiplied. */
  take(endMs: number, stretch: number, factor: number): Slices
}

export function createSlices(): SliceCounter {
  let widthMs = 1
  let counts: number[] = []
  return {
    count(atMs) {
      while (atMs / widthMs >= MOST_SLICES) {
        counts = pairs(counts)
        widthMs *= 2
      }
      const index = Math.floor(atMs / widthMs)
      while (counts.length <= index) counts.push(0)
      counts[index] = (counts[index] as number) + 1
    },
    take(endMs, stretch, factor) {
      const length = Math.max(1, Math.ceil(endMs / widthMs))
      const whole = Array.from({ length }, (_, index) => (counts[index] ?? 0) * factor)
      return { widthMs: widthMs * stretch, counts: whole }
    },
  }
}

/** The same counts in `columns` slices; what falls on a border counts for the earlier slice. */
export function resliced({ widthMs, counts }: Slices, columns: number): Slices {
  const totalMs = widthMs * counts.length
  const wide = totalMs / columns
  const sums = Array<number>(columns).fill(0)
  counts.forEach((count, index) => {
    const column = Math.min(columns - 1, Math.floor(((index + 0.5) * widthMs) / wide))
    sums[column] = (sums[column] as number) + count
  })
  return { widthMs: wide, counts: sums }
}

function pairs(counts: readonly number[]): number[] {
  return Array.from({ length: Math.ceil(counts.length / 2) }, (_, index) => {
    return (counts[2 * index] ?? 0) + (counts[2 * index + 1] ?? 0)
  })
}
