/**
 * Memory for bodies, used again once it is given back. A page's worth of fresh memory for each page would be the
 * collector's to find again, and that costs more than fetching. Whatever is not given back is the collector's as ever.
 */

/** Blocks are multiples of this, so that those of pages of about one size fit each other. */
const STEP_BYTES = 8 * 1024
/** Larger blocks are made to measure and not kept: pages of that size are few. */
const MAX_KEPT_BLOCK_BYTES = 256 * 1024
/** All that is kept unused. */
const MAX_FREE_BYTES = 8 * 1024 * 1024

export class BodyMemory {
  /** By their number of steps. */
  readonly #free: Buffer[][] = Array.from({ length: MAX_KEPT_BLOCK_BYTES / STEP_BYTES + 1 }, () => [])
  #freeBytes = 0

  /** At least so many bytes, with anything in them. */
  take(bytes: number): Buffer {
    if (bytes > MAX_KEPT_BLOCK_BYTES) return Buffer.allocUnsafeSlow(bytes)
    const steps = Math.ceil(bytes / STEP_BYTES)
    const block = this.#free[steps]?.pop()
    if (block === undefined) return Buffer.allocUnsafeSlow(steps * STEP_BYTES)
    this.#freeBytes -= block.length
    return block
  }

  /** A block as it was taken, once, after which nobody may look at it. */
  give(block: Buffer): void {
    if (block.length === 0 || block.length > MAX_KEPT_BLOCK_BYTES || this.#freeBytes + block.length > MAX_FREE_BYTES)
      return
    this.#freeBytes += block.length
    this.#free[block.length / STEP_BYTES]?.push(block)
  }
}
