/**
 * One master of the store in time: a core that runs one script after another. Of its partitions only some are simulated;
 * the others are taken to do the same at other moments. So each call of a simulated partition casts shadows: calls of
 * the same length, at random times within the next moments. Shadows follow from what was asked in earnest, so workers
 * that wait for a busy master slow the shadows down too, as they would in truth.
 */
import type { Rng } from '../base/index.ts'

/** Shadows fall within this time; about one cycle of a worker. */
const SPREAD_MS = 256
/** Shadows are kept as work in slices of time. */
const SLICE_MS = 0.25
const SLICES = SPREAD_MS / SLICE_MS
/** Beyond so many, one shadow stands for several calls. */
const MOST_SHADOWS = 96

export interface Master {
  /** A call arrives, and will take at least so long: how long it waits for its turn. */
  enter(at: number, ms: number): number
  /** It takes so much longer than was known when it arrived. */
  prolong(ms: number): void
  /** Calls that come to each of its partitions from workers elsewhere, some time within the next moments. */
  scatter(at: number, count: number, ms: number): void
  /** How long the work that is waiting will take. */
  backlog(at: number): number
  /** Work that has come in so far, of all its partitions. */
  readonly workMs: number
  readonly partitions: number
}

export interface MasterOptions {
  readonly partitions: number
  /** Of these, so many are simulated. At least one. */
  readonly simulated: number
}

export function createMaster({ partitions, simulated }: MasterOptions, startAt: number, rng: Rng): Master {
  const slices = new Float64Array(SLICES)
  const times = partitions / simulated
  let unfinished = 0
  let work = 0
  /** The slice up to which time has gone. */
  let reached = Math.floor(startAt / SLICE_MS)
  let time = startAt

  const advance = (at: number): void => {
    const target = Math.floor(at / SLICE_MS)
    // Shadows lie at most a round of slices ahead: whatever is beyond is empty.
    for (let rounds = 0; reached < target && rounds < SLICES; rounds++) {
      reached += 1
      const edge = reached * SLICE_MS
      unfinished = Math.max(0, unfinished - (edge - time))
      time = edge
      const place = reached % SLICES
      unfinished += slices[place] ?? 0
      slices[place] = 0
    }
    reached = Math.max(reached, target)
    unfinished = Math.max(0, unfinished - Math.max(0, at - time))
    time = Math.max(time, at)
  }
  const cast = (count: number, ms: number): void => {
    const shadows = Math.min(Math.round(count), MOST_SHADOWS)
    if (shadows <= 0) return
    const each = (ms * count) / shadows
    for (let shadow = 0; shadow < shadows; shadow++) {
      const place = (reached + 1 + rng.int(SLICES - 1)) % SLICES
      slices[place] = (slices[place] ?? 0) + each
    }
  }

  return {
    partitions,
    enter(at, ms) {
      advance(at)
      const wait = unfinished
      unfinished += ms
      work += ms * times
      cast(times - 1, ms)
      return wait
    },
    prolong(ms) {
      unfinished += ms
      work += ms * times
      // The shadows of one call are not worth a search: what they take longer falls elsewhere.
      cast(times - 1, ms)
    },
    scatter(at, count, ms) {
      advance(at)
      work += ms * count * times
      cast(count * times, ms)
    },
    backlog(at) {
      advance(at)
      return unfinished
    },
    get workMs() {
      return work
    },
  }
}
