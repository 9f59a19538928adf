/** The parts of a body as they come, put together at the end. Many small parts cost little more than their bytes. */

/** So many parts are put together as soon as they are there, unless they are large ones. */
const LOOSE_PARTS = 256
const LARGE_BYTES = 1024 * 1024

export class Chunks {
  #parts: Uint8Array[] = []
  /** How many parts are not to be put together before the end, and the bytes of the others. */
  #settled = 0
  #looseBytes = 0
  bytes = 0

  add(part: Uint8Array): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.bytes += part.length
    this.#looseBytes += part.length
    if (this.#parts.length - this.#settled < LOOSE_PARTS) return
    if (this.#looseBytes < LARGE_BYTES) this.#parts.push(Buffer.concat(this.#parts.splice(this.#settled)))
    this.#settled = this.#parts.length
    this.#looseBytes = 0
  }

  /** Adds what there is room for below `maxBytes`; false if there was more. */
  addUpTo(maxBytes: number, part: Uint8Array): boolean {
    const room = Math.max(maxBytes - this.bytes, 0)
    this.add(part.length > room ? part.subarray(0, room) : part)
    return part.length <= room
  }

  /** All bytes, after which there are none. */
  take(): Uint8Array {
    const parts = this.#parts
    const { bytes } = this
    this.#parts = []
    this.#settled = 0
    this.#looseBytes = 0
    this.bytes = 0
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes)
  }
}
