/**
 * The bytes of a body as they come, copied into blocks and put together at the end. A body whose length is known is
 * gathered where it will stay; what a host says of that is believed for one block at most, so a lie costs little.
 */
import type { BodyMemory } from './body-memory.ts'

const FIRST_BLOCK_BYTES = 16 * 1024
const MAX_BLOCK_BYTES = 1024 * 1024

const NOTHING = Buffer.alloc(0)

export interface Gathered {
  readonly bytes: Buffer
  /** The memory that they are in, to be given back once they are not needed. */
  readonly block: Buffer
}

export class Chunks {
  readonly #memory: BodyMemory
  readonly #expectedBytes: number
  /** Blocks that are full, and the one that is being filled. */
  #full: Buffer[] = []
  #block: Buffer = NOTHING
  #used = 0
  bytes = 0

  /** `expectedBytes`: how many there will probably be; 0 if nobody knows. */
  constructor(memory: BodyMemory, expectedBytes = 0) {
    this.#memory = memory
    this.#expectedBytes = expectedBytes
  }

  add(part: Uint8Array): void {
    let at = 0
    while (at < part.length) {
      if (this.#used === this.#block.length) this.#openBlock(part.length - at)
      const size = Math.min(part.length - at, this.#block.length - this.#used)
      this.#block.set(size === part.length ? part : part.subarray(at, at + size), this.#used)
      this.#used += size
      this.bytes += size
      at += size
    }
  }

  /** Adds what there is room for below `maxBytes`; false if there was more. */
  addUpTo(maxBytes: number, part: Uint8Array): boolean {
    const room = Math.max(maxBytes - this.bytes, 0)
    this.add(part.length > room ? part.subarray(0, room) : part)
    return part.length <= room
  }

  /** All bytes, after which there are none. */
  take(): Gathered {
    const block = this.#full.length === 0 ? this.#block : this.#join()
    const bytes = block.subarray(0, this.bytes)
    this.#block = NOTHING
    this.#used = 0
    this.bytes = 0
    return { bytes, block }
  }

  /** Gives all memory back, with what is in it. */
  clear(): void {
    this.#memory.give(this.take().block)
  }

  #join(): Buffer {
    const whole = this.#memory.take(this.bytes)
    let at = 0
    for (const block of [...this.#full, this.#block]) {
      block.copy(whole, at, 0, Math.min(block.length, this.bytes - at))
      at += block.length
      this.#memory.give(block)
    }
    this.#full = []
    return whole
  }

  /** Blocks grow with what has come, so that there are few of them and little is asked for in vain. */
  #openBlock(needed: number): void {
    if (this.#used > 0) this.#full.push(this.#block)
    const missing = this.#expectedBytes - this.bytes
    const usual = missing > 0 ? missing : Math.max(this.bytes, FIRST_BLOCK_BYTES)
    this.#block = this.#memory.take(Math.max(Math.min(usual, MAX_BLOCK_BYTES), needed))
    this.#used = 0
  }
}
