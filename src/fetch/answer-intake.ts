/**
 * Stands between a socket and undici's parser, which takes its bytes by `socket.read()` alone. The head of an answer is
 * handed on in one piece, within its limits and put right, interim answers are kept back (undici breaks off at a `100 Continue`
 * that it did not ask for), and bytes that are no body stay few. It is also the valve by which a slow decoder holds a
 * fast host up. What the fields mean is left to others.
 */
import type { Socket } from 'node:net'
import { repairHead } from './answer-head.ts'
import { RefusedAnswer } from './failure.ts'
import { MAX_HEADER_BYTES, MAX_HEADER_FIELDS } from './headers.ts'

export interface IntakeEvents {
  /** The first byte after a request was sent. */
  onFirstByte(): void
  /** A complete head with a status from 100 to 199, but for 101. */
  onInterim(status: number): void
}

/**
 * Bytes of an answer that are neither head nor body: chunk sizes and extensions, trailers. As much is granted to every
 * answer as a head may have, and so much more for each byte of its body, which suffices for chunks of one byte.
 */
const FRAMING_BYTES = MAX_HEADER_BYTES
const FRAMING_PER_BODY_BYTE = 8

/** All interim answers and empty lines before the final answer, together. */
const MAX_BYTES_BEFORE = 32 * MAX_HEADER_BYTES

const NOTHING = Buffer.alloc(0)
const BEGINNING = Buffer.from('HTTP/')
const INTERIM = /^HTTP\/\d\.\d (1\d\d)(?!\d)/
const LONGEST_STATUS = 'HTTP/1.1 100 '.length
const CR = 13
const LF = 10

export class AnswerIntake {
  readonly #socket: Socket
  readonly #take: () => Buffer | null
  #state: 'idle' | 'head' | 'body' | 'refused' = 'idle'
  #isPaused = false
  #events: IntakeEvents | undefined
  #held: Buffer = NOTHING
  /** Up to here there is no end of a head in what is held, and so many lines, which are fields but for the first. */
  #scanned = 0
  #lines = 0
  #head: Buffer = NOTHING
  #received = 0
  #bodyBytes = 0
  /** The host was unclear about where this answer ends: its connection is not to be used again. */
  isAmbiguous = false

  constructor(socket: Socket) {
    this.#socket = socket
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null
    this.#take = () => read()
    // With a size it is Node itself that asks, and only to have the socket filled.
    socket.read = (size?: number) => (size === undefined ? this.#read() : read(size))
  }

  /** A request is about to be written: what comes next is its answer. */
  expect(events: IntakeEvents): void {
    this.#events = events
    this.#state = 'head'
    this.#received = 0
    this.#bodyBytes = 0
    this.#head = NOTHING
    this.#hold(NOTHING)
  }

  /** The answer is over: nothing should come, and undici closes the connection if something does. */
  rest(): void {
    this.#events = undefined
    this.#isPaused = false
    // An idle connection keeps no buffers.
    this.#head = NOTHING
    this.#hold(NOTHING)
    if (this.#state !== 'refused') this.#state = 'idle'
  }

  countBody(bytes: number): void {
    this.#bodyBytes += bytes
  }

  /** The head of the final answer as it came, up to and with the empty line: Latin-1, each line ended by CRLF. */
  headText(): string {
    return this.#head.toString('latin1').replaceAll(/\r?\n/g, '\r\n')
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.emit('readable')
  }

  #read(): Buffer | null {
    for (;;) {
      if (this.#isPaused || this.#state === 'refused') return null
      const chunk = this.#take()
      if (chunk === null || this.#state === 'idle') return chunk
      if (this.#state === 'head') {
        const ready = this.#gather(chunk)
        if (ready !== undefined) return ready
        continue
      }
      // All that was received before has been through the parser.
      const framing = this.#received - this.#bodyBytes
      if (framing > FRAMING_BYTES + FRAMING_PER_BODY_BYTE * this.#bodyBytes) {
        this.#refuse('the answer is little body and much around it')
        return null
      }
      this.#received += chunk.length
      return chunk
    }
  }

  /** What may be parsed now; undefined if there is nothing yet, or there will be nothing. */
  #gather(chunk: Buffer): Buffer | undefined {
    if (this.#received === 0) this.#events?.onFirstByte()
    this.#received += chunk.length
    if (this.#received > MAX_BYTES_BEFORE) return this.#refuse('too much comes before the answer')
    let held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    while (!this.#socket.destroyed) {
      if (this.#scanned === 0) held = withoutLeadingLines(held)
      if (isTlsRecord(held)) return this.#refuse('the host speaks TLS where plain HTTP was asked for')
      if (!couldBeHttp(held)) return this.#refuse('the answer is not HTTP')
      const end = this.#endOfHead(held)
      if (this.#lines > MAX_HEADER_FIELDS) return this.#refuse('there are too many header fields')
      if ((end ?? held.length) > MAX_HEADER_BYTES) return this.#refuse('the header fields are too large')
      if (end === undefined) {
        this.#held = held
        return undefined
      }
      const [, interim] = INTERIM.exec(held.toString('latin1', 0, LONGEST_STATUS)) ?? []
      if (interim === undefined) return this.#handOn(held.subarray(0, end), held.subarray(end))
      if (interim === '101') return this.#refuse('the host switched to another protocol, unasked')
      held = held.subarray(end)
      this.#hold(NOTHING)
      this.#events?.onInterim(Number(interim))
      if (held.length === 0) return undefined
    }
    return undefined
  }

  #handOn(head: Buffer, rest: Buffer): Buffer | undefined {
    const repaired = repairHead(head)
    if (repaired.kind === 'refused') return this.#refuse(repaired.words)
    this.#state = 'body'
    this.#head = head
    this.isAmbiguous = repaired.isAmbiguous
    this.#received = rest.length
    this.#hold(NOTHING)
    return Buffer.concat([repaired.bytes, rest])
  }

  #hold(bytes: Buffer): void {
    this.#held = bytes
    this.#scanned = 0
    this.#lines = 0
  }

  /** Where the empty line ends; lines may end in LF alone, as the parser may allow. */
  #endOfHead(held: Buffer): number | undefined {
    for (;;) {
      const at = held.indexOf(LF, this.#scanned)
      if (at === -1) {
        this.#scanned = held.length
        return undefined
      }
      const next = held[at + 1] === CR ? at + 2 : at + 1
      if (held[next] === LF) return next + 1
      if (next >= held.length) {
        // What follows the line is still to come.
        this.#scanned = at
        return undefined
      }
      this.#lines++
      this.#scanned = at + 1
    }
  }

  #refuse(words: string): undefined {
    this.#state = 'refused'
    this.#held = NOTHING
    this.#socket.destroy(new RefusedAnswer(words))
    return undefined
  }
}

/** Some hosts end the answer before with one line too many (RFC 9112 §2.2 says so of requests). */
function withoutLeadingLines(bytes: Buffer): Buffer {
  let start = 0
  while (bytes[start] === CR || bytes[start] === LF) start++
  return start === 0 ? bytes : bytes.subarray(start)
}

const couldBeHttp = (bytes: Buffer): boolean => {
  const length = Math.min(bytes.length, BEGINNING.length)
  return bytes.compare(BEGINNING, 0, length, 0, length) === 0
}

/** An alert or a handshake record, of any version (RFC 8446 §5.1). */
const isTlsRecord = (bytes: Buffer): boolean => (bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3
