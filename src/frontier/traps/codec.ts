/** Numbers as a short text, and back. A text that is too short or not ours reads as zeros, and says so. */

export interface Writer {
  byte(value: number): void
  short(value: number): void
  word(value: number): void
  text(): string
}

export interface Reader {
  byte(): number
  short(): number
  word(): number
  /** Bytes that were not read yet. */
  readonly left: number
  /** Whether everything that was asked for was there. */
  readonly isWhole: boolean
}

/** More than anybody writes here; an attempt is a bug, and throws. */
const MAX_BYTES = 2 ** 22
let shared = Buffer.alloc(2 ** 14)

/** One at a time: they share their memory. */
export function createWriter(): Writer {
  let at = 0
  const makeRoom = (length: number): void => {
    if (at + length <= shared.length) return
    if (shared.length >= MAX_BYTES) throw new RangeError('too much to write down of the traps of one host')
    shared = Buffer.concat([shared], 2 * shared.length)
  }
  return {
    byte(value) {
      makeRoom(1)
      at = shared.writeUInt8(value & 0xff, at)
    },
    short(value) {
      makeRoom(2)
      at = shared.writeUInt16LE(value & 0xffff, at)
    },
    word(value) {
      makeRoom(4)
      at = shared.writeUInt32LE(value >>> 0, at)
    },
    text: () => shared.toString('base64', 0, at),
  }
}

export function createReader(text: string): Reader {
  const bytes = Buffer.from(text, 'base64')
  let at = 0
  const has = (length: number): boolean => {
    at += length
    return at <= bytes.length
  }
  return {
    byte: () => (has(1) ? bytes.readUInt8(at - 1) : 0),
    short: () => (has(2) ? bytes.readUInt16LE(at - 2) : 0),
    word: () => (has(4) ? bytes.readUInt32LE(at - 4) : 0),
    get left() {
      return Math.max(0, bytes.length - at)
    },
    get isWhole() {
      return at <= bytes.length
    },
  }
}
