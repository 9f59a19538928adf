/** Quantiles of times, in a few hundred counters: buckets grow by a twentieth, so a quantile is right to 5 %. */

const LEAST_MS = 0.01
const GROWTH = 1.05
/** Up to a year and more. */
const BUCKETS = 600

export interface Quantiles {
  note(ms: number): void
  /** The upper edge of the bucket in which the share `q` of all is reached; 0 when nothing was noted. */
  at(q: number): number
  readonly count: number
}

export function createQuantiles(): Quantiles {
  const counts = new Float64Array(BUCKETS)
  let count = 0
  return {
    note(ms) {
      const bucket = ms <= LEAST_MS ? 0 : Math.ceil(Math.log(ms / LEAST_MS) / Math.log(GROWTH))
      const place = Math.min(bucket, BUCKETS - 1)
      counts[place] = (counts[place] ?? 0) + 1
      count += 1
    },
    at(q) {
      let below = 0
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        below += counts[bucket] ?? 0
        if (below > 0 && below >= q * count) return LEAST_MS * GROWTH ** bucket
      }
      return 0
    },
    get count() {
      return count
    },
  }
}
