/**
 * A body in chunks (RFC 9112 §7.1), undone as it comes, in pieces of any size. It keeps to the grammar, but for blanks
 * after a size; extensions and trailers are passed over, and there may be so many bytes around the body and no more,
 * however they come. How long the body may be is left to others.
 */
import { MAX_HEADER_BYTES } from './headers.ts'

/**
 * Bytes that are no body: sizes and extensions, trailers. As much is granted to every body as a head may have, and so
 * much more for each byte of it, which suffices for chunks of one byte.
 */
const FRAMING_BYTES = MAX_HEADER_BYTES
const FRAMING_PER_BODY_BYTE = 8

/** The size of a chunk has at most so many digits, but for zeros in front. */
const MAX_DIGITS = 16
const CR = 13
const LF = 10
const TAB = 9
const BLANK = 32
const SEMICOLON = 59
const COLON = 58

type State =
  | 'size-start'
  | 'size'
  | 'size-blanks'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer-start'
  | 'trailer-name'
  | 'trailer-value'
  | 'trailer-lf'
  | 'last-lf'
  | 'over'

export class ChunkedBody {
  #state: State = 'size-start'
  /** Of the present chunk: its size while that is read, then what is missing of it. */
  #left = 0
  #digits = 0
  #isOdd = false
  /** What may still come that is no body. */
  #grantedBytes = FRAMING_BYTES

  /** There was a control character that another reader might take for the end of a line. */
  get isOdd(): boolean {
    return this.#isOdd
  }

  /** Nothing more belongs to the body. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  /**
   * Reads `bytes` from `at` on, hands on what is body, and returns how far it got: to the end of the piece, or to the
   * end of the body. Words instead: why it cannot be one. `onData` may stop the reading by returning false.
   */
  read(bytes: Buffer, at: number, onData: (part: Buffer) => boolean): number | string {
    while (at < bytes.length && this.#state !== 'over') {
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, bytes.length)
        this.#left -= end - at
        this.#grantedBytes += FRAMING_PER_BODY_BYTE * (end - at)
        if (this.#left === 0) this.#state = 'data-cr'
        if (!onData(bytes.subarray(at, end))) return end
        at = end
        continue
      }
      if (--this.#grantedBytes < 0) return 'the answer is little body and much around it'
      const refusal = this.#step(bytes[at] ?? 0)
      if (refusal !== undefined) return refusal
      at++
    }
    return at
  }

  /** One byte that is not data. */
  #step(byte: number): string | undefined {
    switch (this.#state) {
      case 'size-start':
        this.#left = 0
        this.#digits = 0
        if (digitOf(byte) === undefined) return 'a chunk size is no number'
        this.#state = 'size'
        return this.#stepSize(byte)
      case 'size':
        return this.#stepSize(byte)
      case 'size-blanks':
        return this.#stepAfterSize(byte)
      case 'extension':
        if (byte === CR) this.#state = 'size-lf'
        else if (byte < BLANK && byte !== TAB) this.#isOdd = true
        return byte === LF ? 'an extension of a chunk size is no extension' : undefined
      case 'size-lf':
        if (byte !== LF) return 'a line of a chunk size has no end'
        this.#state = this.#left === 0 ? 'trailer-start' : 'data'
        return undefined
      case 'data-cr':
        this.#state = 'data-lf'
        return byte === CR ? undefined : WRONG_LENGTH
      case 'data-lf':
        this.#state = 'size-start'
        return byte === LF ? undefined : WRONG_LENGTH
      case 'trailer-start':
        if (byte === CR) this.#state = 'last-lf'
        else if (isNameByte(byte)) this.#state = 'trailer-name'
        else return WRONG_TRAILER
        return undefined
      case 'trailer-name':
        if (byte === COLON) this.#state = 'trailer-value'
        else if (!isNameByte(byte)) return WRONG_TRAILER
        return undefined
      case 'trailer-value':
        if (byte === CR) this.#state = 'trailer-lf'
        return byte === LF || byte === 0 ? WRONG_TRAILER : undefined
      case 'trailer-lf':
        this.#state = 'trailer-start'
        return byte === LF ? undefined : WRONG_TRAILER
      case 'last-lf':
        this.#state = 'over'
        return byte === LF ? undefined : WRONG_TRAILER
      case 'data':
      case 'over':
        return undefined
    }
  }

  #stepSize(byte: number): string | undefined {
    const digit = digitOf(byte)
    if (digit !== undefined) {
      if (this.#left > 0) this.#digits++
      if (this.#digits >= MAX_DIGITS) return 'a chunk size is so large that it overflows'
      this.#left = this.#left * 16 + digit
      return undefined
    }
    return this.#stepAfterSize(byte)
  }

  #stepAfterSize(byte: number): string | undefined {
    if (byte === CR) this.#state = 'size-lf'
    else if (byte === SEMICOLON) this.#state = 'extension'
    else if (byte === BLANK || byte === TAB) this.#state = 'size-blanks'
    else return 'a chunk size is no number'
    return undefined
  }
}

const WRONG_LENGTH = 'the chunk data does not have the length that its size says'
const WRONG_TRAILER = 'the fields after the last chunk do not follow the HTTP/1.1 protocol'

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}

/** What may stand in the name of a field (RFC 9110 §5.6.2). */
const NAME_BYTES: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(String.fromCharCode(byte)),
)
const isNameByte = (byte: number): boolean => NAME_BYTES[byte] === true
