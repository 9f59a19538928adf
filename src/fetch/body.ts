/**
 * Gathers one body: counts what comes over the wire, undoes the content codings and cuts at the caps. A body that is
 * longer than a cap is cut and marked; a coded body that is corrupt or stops short is an error and not half a page.
 * What a coded body costs is bounded by the caps, however little of it came over the wire.
 */
import { FORMATS, type Coding, type Decoder } from './coding.ts'
import { codeOf, encodingFailure, tooLargeFailure } from './failure.ts'
import type { Failure } from './outcome.ts'

export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly maxWireBytes: number
}

export type BodyResult =
  | { readonly kind: 'body'; readonly bytes: Uint8Array; readonly truncated: boolean }
  | { readonly kind: 'failure'; readonly failure: Failure }

export interface Body {
  push(chunk: Uint8Array): void
  /** Nothing more will come, and all that was to come has. */
  end(): void
  destroy(): void
  readonly wireBytes: number
}

/** A coded body up to this size is kept until it is complete and decoded in one step, which costs far less. */
const AT_ONCE_WIRE_BYTES = 128 * 1024
const AT_ONCE_DECODED_BYTES = 4 * 1024 * 1024

/** Calls `done` once, perhaps within `push`; after that nothing more is wanted. */
export function createBody(codings: readonly Coding[], limits: BodyLimits, done: (result: BodyResult) => void): Body {
  return codings.length === 0 ? new PlainBody(limits, done) : new CodedBody(codings, limits, done)
}

/** The parts of a body up to a cap. */
class Chunks {
  readonly #max: number
  #parts: Uint8Array[] = []
  bytes = 0
  /** There was more. */
  overflowed = false

  constructor(max: number) {
    this.#max = max
  }

  add(chunk: Uint8Array): void {
    const room = this.#max - this.bytes
    if (chunk.length > room) this.overflowed = true
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk
    if (part.length > 0) this.#parts.push(part)
    this.bytes += part.length
  }

  take(): Uint8Array {
    const parts = this.#parts
    this.#parts = []
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, this.bytes)
  }
}

class PlainBody implements Body {
  readonly #chunks: Chunks
  readonly #done: (result: BodyResult) => void
  wireBytes = 0

  constructor(limits: BodyLimits, done: (result: BodyResult) => void) {
    this.#chunks = new Chunks(Math.min(limits.maxBodyBytes, limits.maxWireBytes))
    this.#done = done
  }

  push(chunk: Uint8Array): void {
    this.wireBytes += chunk.length
    this.#chunks.add(chunk)
    if (this.#chunks.overflowed) this.#done({ kind: 'body', bytes: this.#chunks.take(), truncated: true })
  }

  end(): void {
    this.#done({ kind: 'body', bytes: this.#chunks.take(), truncated: false })
  }

  destroy(): void {
    this.#chunks.take()
  }
}

class CodedBody implements Body {
  readonly #codings: readonly Coding[]
  readonly #limits: BodyLimits
  readonly #done: (result: BodyResult) => void
  readonly #wire: Chunks
  #stream: DecoderChain | undefined
  wireBytes = 0

  constructor(codings: readonly Coding[], limits: BodyLimits, done: (result: BodyResult) => void) {
    this.#codings = codings
    this.#limits = limits
    this.#done = done
    this.#wire = new Chunks(limits.maxWireBytes)
  }

  push(chunk: Uint8Array): void {
    const room = this.#limits.maxWireBytes - this.wireBytes
    this.wireBytes += chunk.length
    if (room < 0) return
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk
    if (this.#stream !== undefined) {
      this.#stream.write(part)
    } else {
      this.#wire.add(part)
      if (this.wireBytes > AT_ONCE_WIRE_BYTES || chunk.length > room) this.#startStream(this.#wire.take())
    }
    if (chunk.length > room) this.#stream?.cut()
  }

  end(): void {
    if (this.#stream !== undefined) return this.#stream.end()
    if (this.wireBytes === 0) return this.#done({ kind: 'body', bytes: new Uint8Array(0), truncated: false })
    const wire = this.#wire.take()
    const maxStage = Math.min(maxStageBytes(this.#limits), AT_ONCE_DECODED_BYTES)
    const maxLast = Math.min(this.#limits.maxBodyBytes, AT_ONCE_DECODED_BYTES)
    let bytes = wire
    try {
      for (const [index, coding] of this.#codings.entries()) {
        const isLast = index === this.#codings.length - 1
        bytes = FORMATS[coding].atOnce(bytes, isLast ? maxLast : maxStage)
      }
    } catch (error) {
      if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return this.#done(broken(this.#codings, error))
      return this.#startStream(wire).end()
    }
    this.#done({ kind: 'body', bytes, truncated: false })
  }

  destroy(): void {
    this.#wire.take()
    this.#stream?.destroy()
  }

  #startStream(first: Uint8Array): DecoderChain {
    this.#stream = new DecoderChain(this.#codings, this.#limits, this.#done)
    this.#stream.write(first)
    return this.#stream
  }
}

/** What a coding below another may come to. */
const maxStageBytes = (limits: BodyLimits): number => Math.max(limits.maxBodyBytes, limits.maxWireBytes)

const broken = (codings: readonly Coding[], error: unknown): BodyResult => {
  const reason = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const detail = `the ${codings.join(', ')} body is broken: ${reason}${code === '' ? '' : ` (${code})`}`
  return { kind: 'failure', failure: encodingFailure(detail, true) }
}

/** Decoders in a row. Every stage has a cap on what it puts out, so a bomb in the middle is as bounded as at the end. */
class DecoderChain {
  readonly #codings: readonly Coding[]
  readonly #stages: Decoder[] = []
  readonly #limits: BodyLimits
  readonly #done: (result: BodyResult) => void
  readonly #out: Chunks
  readonly #stageBytes: number[] = []
  #over = false
  #isCut = false

  constructor(codings: readonly Coding[], limits: BodyLimits, done: (result: BodyResult) => void) {
    this.#codings = codings
    this.#limits = limits
    this.#done = done
    this.#out = new Chunks(limits.maxBodyBytes)
  }

  write(chunk: Uint8Array): void {
    this.#feed(0, chunk)
  }

  end(): void {
    this.#endFrom(0)
  }

  /** No more will come, though there was more: what can be decoded is wanted. */
  cut(): void {
    this.#isCut = true
    this.#flushFrom(0)
  }

  destroy(): void {
    this.#over = true
    for (const stage of this.#stages) stage.destroy()
  }

  #feed(index: number, chunk: Uint8Array): void {
    if (this.#over || chunk.length === 0) return
    const coding = this.#codings[index]
    if (coding === undefined) return this.#collect(chunk)
    const stage = (this.#stages[index] ??= this.#createStage(index, coding, chunk))
    stage.write(chunk)
  }

  #createStage(index: number, coding: Coding, first: Uint8Array): Decoder {
    const stage = FORMATS[coding].streaming(first)
    const maxBytes = maxStageBytes(this.#limits)
    this.#stageBytes[index] = 0
    stage.on('data', (chunk: Uint8Array) => {
      const total = (this.#stageBytes[index] ?? 0) + chunk.length
      this.#stageBytes[index] = total
      if (index < this.#codings.length - 1 && total > maxBytes) return this.#finishCut()
      this.#feed(index + 1, chunk)
    })
    stage.on('end', () => this.#endFrom(index + 1))
    stage.on('error', (error) => {
      if (this.#over) return
      if (this.#isCut) return this.#finishCut()
      this.#finish(broken(this.#codings, error))
    })
    return stage
  }

  #collect(chunk: Uint8Array): void {
    this.#out.add(chunk)
    if (this.#out.overflowed) this.#finish({ kind: 'body', bytes: this.#out.take(), truncated: true })
  }

  #endFrom(index: number): void {
    if (this.#over || this.#isCut) return
    const stage = this.#stages[index]
    if (stage !== undefined) stage.end()
    else if (index === this.#codings.length) this.#finish({ kind: 'body', bytes: this.#out.take(), truncated: false })
    // A stage that never got a byte: the one before it held nothing.
    else this.#endFrom(index + 1)
  }

  #flushFrom(index: number): void {
    if (this.#over) return
    const stage = this.#stages[index]
    if (stage === undefined) return this.#finishCut()
    stage.flush(() => this.#flushFrom(index + 1))
  }

  #finishCut(): void {
    if (this.#out.bytes > 0) return this.#finish({ kind: 'body', bytes: this.#out.take(), truncated: true })
    const failure = tooLargeFailure('the body is larger than allowed, and nothing of it could be decoded')
    this.#finish({ kind: 'failure', failure })
  }

  #finish(result: BodyResult): void {
    if (this.#over) return
    this.destroy()
    this.#done(result)
  }
}
