/** Writes bits in the order of deflate: from the lowest bit of each byte on. */

let at: usize = 0
/** Bits of a byte that is begun, and how many there are: fewer than eight between two calls. */
let waiting: u64 = 0
let waitingBits: u64 = 0

export function beginBits(place: usize): void {
  at = place
  waiting = 0
  waitingBits = 0
}

/**
 * At most 48 bits. Eight bytes are written each time, whole or not, and what is not is written again: a question whether
 * there is one would take longer, since its answer cannot be foreseen.
 */
export function putBits(value: u64, bits: u64): void {
  waiting |= value << waitingBits
  waitingBits += bits
  store<u64>(at, waiting)
  at += (waitingBits >> 3) as usize
  waiting >>= waitingBits & 56
  waitingBits &= 7
}

/** A code with its length above, as the layout has it. */
export function putCode(code: u32): void {
  putBits((code & 0xffff) as u64, (code >> 16) as u64)
}

/** How many there are since they were begun at this place; a byte that is begun stands in memory too. */
export function bitsSince(place: usize): usize {
  return ((at - place) << 3) + (waitingBits as usize)
}

/** Fills the byte that is begun, and returns the place behind it. */
export function endBits(): usize {
  if (waitingBits > 0) putBits(0, 8 - waitingBits)
  return at
}
