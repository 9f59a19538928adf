/** Writes bits in the order of deflate: from the lowest bit of each byte on. Whoever makes it says that there is room. */
import { DISTANCE_CODE_SHIFT, LENGTH_MASK, LENGTH_SHIFT, type Tokens } from './repetitions.ts'

/** How each part of a token is written. */
export interface TokenCode {
  readonly symbolCodes: Uint16Array
  readonly symbolBits: Uint8Array
  /** By the length of a repetition, its extra bits included: sixteen bits at most. */
  readonly lengthValues: Uint16Array
  readonly lengthBits: Uint8Array
  /** Eleven bits at most, since thirteen extra bits may follow. */
  readonly distanceCodes: Uint16Array
  readonly distanceBits: Uint8Array
}

export interface BitWriter {
  /** The next byte that is not yet begun. */
  readonly at: number
  /** At most 16 bits. */
  write(value: number, bits: number): void
  /** Writes the code of each symbol, of at most 15 bits. */
  writeCodes(symbols: Uint8Array, codes: Uint16Array, bits: Uint8Array): void
  /** Needs room for four bytes more than it writes. */
  writeTokens(tokens: Tokens, code: TokenCode): void
  /** Fills the byte that is begun with zeros. */
  align(): void
  /** Whole bytes; only where none is begun. */
  writeBytes(bytes: Uint8Array): void
}

export function createBitWriter(into: Uint8Array, start: number): BitWriter {
  let at = start
  /** Bits of a byte that is begun, and how many there are: fewer than eight. */
  let pending = 0
  let count = 0
  const write = (value: number, bits: number): void => {
    pending |= value << count
    count += bits
    while (count >= 8) {
      into[at++] = pending & 0xff
      pending >>>= 8
      count -= 8
    }
  }
  return {
    get at() {
      return at
    },
    write,
    writeCodes(symbols, codes, bits) {
      // As `write` does it, but with variables of its own: this is where all the time goes.
      let [place, waiting, waitingBits] = [at, pending, count]
      for (let index = 0; index < symbols.length; index++) {
        const symbol = symbols[index]!
        waiting |= codes[symbol]! << waitingBits
        waitingBits += bits[symbol]!
        if (waitingBits >= 16) {
          into[place++] = waiting & 0xff
          into[place++] = (waiting >>> 8) & 0xff
          waiting >>>= 16
          waitingBits -= 16
        }
      }
      at = place
      pending = waiting
      count = waitingBits
      write(0, 0)
    },
    writeTokens({ tokens, count: tokenCount }, code) {
      const { symbolCodes, symbolBits, lengthValues, lengthBits, distanceCodes, distanceBits } = code
      const view = new DataView(into.buffer, into.byteOffset, into.byteLength)
      // Four bytes are written each time, whole or not, and what is not is written again: a question whether there is one
      // would take longer, since its answer cannot be foreseen. Fewer than 8 bits wait, and at most 24 are added.
      let [place, waiting, waitingBits] = [at, pending, count]
      for (let index = 0; index < tokenCount; index++) {
        const token = tokens[index]!
        if (token < 256) {
          waiting |= symbolCodes[token]! << waitingBits
          waitingBits += symbolBits[token]!
        } else {
          const length = (token >>> LENGTH_SHIFT) & LENGTH_MASK
          waiting |= lengthValues[length]! << waitingBits
          waitingBits += lengthBits[length]!
          view.setInt32(place, waiting, true)
          place += waitingBits >>> 3
          waiting >>>= waitingBits & 24
          waitingBits &= 7
          const distanceCode = token >>> DISTANCE_CODE_SHIFT
          waiting |= distanceCodes[distanceCode]! << waitingBits
          waitingBits += distanceBits[distanceCode]!
          // A code stands for 2^n distances from a multiple of 2^n on, so the lowest n bits say which of them it is.
          const extraBits = distanceCode < 4 ? 0 : (distanceCode >>> 1) - 1
          waiting |= (token & ((1 << extraBits) - 1)) << waitingBits
          waitingBits += extraBits
        }
        view.setInt32(place, waiting, true)
        place += waitingBits >>> 3
        waiting >>>= waitingBits & 24
        waitingBits &= 7
      }
      at = place
      pending = waiting
      count = waitingBits
    },
    align() {
      if (count > 0) write(0, 8 - count)
    },
    writeBytes(bytes) {
      into.set(bytes, at)
      at += bytes.length
    },
  }
}
