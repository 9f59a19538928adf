/**
 * Reads the answers of one HTTP/1 connection from its bytes, in pieces of any size, one answer at a time. Pieces are
 * lent: what has to outlive the call is copied here. Heads and what comes before them are bounded here, what is around
 * chunks by `ChunkedBody`; what the body may cost is left to whoever takes it.
 */
import { readHead, type AnswerHead } from './answer-head.ts'
import { ChunkedBody } from './chunked.ts'
import { MAX_HEADER_BYTES, MAX_HEADER_FIELDS } from './headers.ts'

/** Hears of one answer, in this order; nothing after `onEnd` or `onRefused` until the next is expected. */
export interface AnswerListener {
  onFirstByte(): void
  /** A complete head with a status from 100 to 199, but for 101. */
  onInterim(status: number): void
  onHead(head: AnswerHead): void
  /** Part of the body, lent for the call. */
  onData(part: Buffer): void
  /** `isReusable`: the next answer may come on the same connection. */
  onEnd(isReusable: boolean): void
  onRefused(words: string): void
}

/** All interim answers and empty lines before the final answer, together. */
const MAX_BYTES_BEFORE = 32 * MAX_HEADER_BYTES

const NOTHING = Buffer.alloc(0)
const BEGINNING = Buffer.from('HTTP/')
const INTERIM = /^HTTP\/\d\.\d (1\d\d)(?!\d)/
const CR = 13
const LF = 10

type State = 'idle' | 'head' | 'body'

export class AnswerReader {
  readonly #listener: AnswerListener
  #state: State = 'idle'
  /** The beginning of a head whose rest is still to come: so many bytes of a buffer that may be larger. */
  #held: Buffer = NOTHING
  #heldBytes = 0
  /** Up to here there is no end of a head in what is held, and so many lines, which are fields but for the first. */
  #scanned = 0
  #lines = 0
  #received = 0

  /** Body bytes that are missing; Infinity up to the close of the connection. */
  #missing = 0
  #chunked: ChunkedBody | undefined
  #isLast = false

  constructor(listener: AnswerListener) {
    this.#listener = listener
  }

  /** A request is about to be written: what comes next is its answer. */
  expect(): void {
    this.#state = 'head'
    this.#received = 0
  }

  /** The answer is of no more interest: nothing is heard of it any more. */
  stop(): void {
    this.#state = 'idle'
    this.#release()
  }

  /** False if nothing was expected. */
  push(bytes: Buffer): boolean {
    if (this.#state === 'idle') return false
    if (this.#state === 'body') this.#readBody(bytes, 0)
    else this.#readHeads(bytes)
    return true
  }

  /** The host sends no more. False if that ends no answer: then one is missing, or a part of it. */
  close(): boolean {
    if (this.#state !== 'body' || this.#missing !== Infinity || this.#chunked !== undefined) return false
    this.#end(false)
    return true
  }

  #readHeads(piece: Buffer): void {
    if (this.#received === 0) this.#listener.onFirstByte()
    this.#received += piece.length
    if (this.#received > MAX_BYTES_BEFORE) return this.#refuse('too much comes before the answer')
    const bytes = this.#heldBytes === 0 ? piece : this.#hold(piece)
    let start = 0
    while (this.#state === 'head') {
      if (this.#scanned === start) start = this.#scanned = afterLeadingLines(bytes, start)
      if (isTlsRecord(bytes, start)) return this.#refuse('the host speaks TLS where plain HTTP was asked for')
      if (!couldBeHttp(bytes, start)) return this.#refuse('the answer is not HTTP')
      const end = this.#endOfHead(bytes)
      if (this.#lines > MAX_HEADER_FIELDS) return this.#refuse('there are too many header fields')
      if ((end ?? bytes.length) - start > MAX_HEADER_BYTES) return this.#refuse('the header fields are too large')
      if (end === undefined) return this.#keep(bytes, start)
      const raw = bytes.toString('latin1', start, end)
      this.#scanned = end
      this.#lines = 0
      const [, interim] = INTERIM.exec(raw) ?? []
      if (interim === undefined) return this.#beginBody(raw, bytes, end)
      if (interim === '101') return this.#refuse('the host switched to another protocol, unasked')
      this.#listener.onInterim(Number(interim))
      start = end
    }
  }

  /** Where the empty line ends, from what was scanned on; lines may end in LF alone. */
  #endOfHead(bytes: Buffer): number | undefined {
    const { length } = bytes
    for (let at = this.#scanned; at < length; at++) {
      if (bytes[at] !== LF) continue
      const next = bytes[at + 1] === CR ? at + 2 : at + 1
      if (bytes[next] === LF) return next + 1
      if (next >= length) {
        // What follows the line is still to come.
        this.#scanned = at
        return undefined
      }
      this.#lines++
    }
    this.#scanned = length
    return undefined
  }

  /** The piece after what is held, in a buffer that grows by doubling. */
  #hold(piece: Buffer): Buffer {
    const bytes = this.#heldBytes + piece.length
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(2 * bytes)
      this.#held.copy(larger, 0, 0, this.#heldBytes)
      this.#held = larger
    }
    piece.copy(this.#held, this.#heldBytes)
    this.#heldBytes = bytes
    return this.#held.subarray(0, bytes)
  }

  /** Keeps what begins at `start`, the beginning of a head, for the next piece. */
  #keep(bytes: Buffer, start: number): void {
    this.#scanned -= start
    if (this.#heldBytes > 0 && start === 0) return
    const rest = Buffer.from(bytes.subarray(start))
    this.#held = rest
    this.#heldBytes = rest.length
  }

  #release(): void {
    this.#held = NOTHING
    this.#heldBytes = 0
    this.#scanned = 0
    this.#lines = 0
    this.#chunked = undefined
  }

  #beginBody(raw: string, bytes: Buffer, at: number): void {
    this.#release()
    const head = readHead(raw)
    if (head.kind === 'refused') return this.#refuse(head.words)
    this.#state = 'body'
    this.#isLast = head.isLast
    this.#missing = typeof head.body === 'number' ? head.body : Infinity
    if (head.body === 'chunked') this.#chunked = new ChunkedBody()
    this.#listener.onHead(head)
    this.#readBody(bytes, at)
  }

  #readBody(bytes: Buffer, at: number): void {
    if (this.#state !== 'body') return
    if (this.#chunked !== undefined) return this.#readChunks(this.#chunked, bytes, at)
    const available = bytes.length - at
    const isWhole = available >= this.#missing
    const size = isWhole ? this.#missing : available
    if (size > 0) {
      this.#missing -= size
      this.#listener.onData(size === bytes.length ? bytes : bytes.subarray(at, at + size))
    }
    if (isWhole && this.#state === 'body') this.#end(available === size)
  }

  #readChunks(chunked: ChunkedBody, bytes: Buffer, at: number): void {
    const end = chunked.read(bytes, at, this.#onChunk)
    if (this.#state !== 'body') return
    if (typeof end === 'string') return this.#refuse(end)
    if (chunked.isOver) this.#end(end === bytes.length && !chunked.isOdd)
  }

  readonly #onChunk = (part: Buffer): boolean => {
    this.#listener.onData(part)
    return this.#state === 'body'
  }

  /** `isClean`: nothing came after the answer, and its end is beyond doubt. */
  #end(isClean: boolean): void {
    this.stop()
    this.#listener.onEnd(isClean && !this.#isLast)
  }

  #refuse(words: string): void {
    this.stop()
    this.#listener.onRefused(words)
  }
}

/** Some hosts end the answer before with one line too many (RFC 9112 §2.2 says so of requests). */
function afterLeadingLines(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === CR || bytes[at] === LF) at++
  return at
}

function couldBeHttp(bytes: Buffer, start: number): boolean {
  const length = Math.min(bytes.length - start, BEGINNING.length)
  for (let at = 0; at < length; at++) if (bytes[start + at] !== BEGINNING[at]) return false
  return true
}

/** An alert or a handshake record, of any version (RFC 8446 §5.1). */
const isTlsRecord = (bytes: Buffer, start: number): boolean =>
  (bytes[start] === 0x15 || bytes[start] === 0x16) && bytes[start + 1] === 3
