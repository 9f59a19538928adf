/** Writes bits in the order of deflate: from the lowest bit of each byte on. Whoever begins says that there is room. */

export interface BitWriter {
  /** Goes on at this place of other memory. */
  begin(into: Uint8Array, at: number): void
  /** The next byte that is not yet begun. */
  readonly at: number
  /** At most 16 bits. */
  write(value: number, bits: number): void
  /** Writes the code of each symbol, of at most 15 bits. */
  writeCodes(symbols: Uint8Array, codes: Uint16Array, bits: Uint8Array): void
  /** Fills the byte that is begun with zeros. */
  align(): void
  /** Whole bytes; only where none is begun. */
  writeBytes(bytes: Uint8Array): void
}

export function createBitWriter(): BitWriter {
  let into: Uint8Array = new Uint8Array()
  let at = 0
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
    begin(memory, place) {
      into = memory
      at = place
      pending = 0
      count = 0
    },
    get at() {
      return at
    },
    write,
    writeCodes(symbols, codes, bits) {
      // As `write` does it, but with variables of its own: this is where all the time goes.
      const memory = into
      const { length } = symbols
      let [place, waiting, waitingBits] = [at, pending, count]
      for (let index = 0; index < length; index++) {
        const symbol = symbols[index]!
        waiting |= codes[symbol]! << waitingBits
        waitingBits += bits[symbol]!
        if (waitingBits >= 16) {
          memory[place++] = waiting & 0xff
          memory[place++] = (waiting >>> 8) & 0xff
          waiting >>>= 16
          waitingBits -= 16
        }
      }
      at = place
      pending = waiting
      count = waitingBits
      write(0, 0)
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
