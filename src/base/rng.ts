/** Randomness, passed in: the same seed gives the same run. */
export interface Rng {
  /** A number in [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  int(below: number): number
}

/** mulberry32: small, fast and even enough for jitter and simulation; never for secrets. */
export function createRng(seed: number): Rng {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { next, int: (below) => Math.floor(next() * below) }
}
