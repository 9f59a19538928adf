/**
 * Gathers one body: counts what comes over the wire, undoes the content codings and cuts at the limits. A body that is
 * longer than a limit is cut and says which; a coded body that is corrupt or stops short is an error and not half a
 * page. What a coded body costs is bounded, however little of it came over the wire.
 */
import { LIMITS, type LimitName } from '../model/index.ts'
import type { BodyMemory } from './body-memory.ts'
import { Chunks } from './chunks.ts'
import { FORMATS, type Coding } from './coding.ts'
import { brokenBody, DecoderChain, type Flow } from './decoder-chain.ts'
import { codeOf } from './failure.ts'
import type { Failure } from './outcome.ts'
import { maxWindowLogOf } from './window.ts'

export interface BodyLimits {
  readonly maxBodyBytes: number
  readonly maxWireBytes: number
}

/** `wire-size`: more came than may come. `body-size`: it decodes to more than is kept. `ratio`: to far more than came. */
export type BodyLimit = Extract<LimitName, 'wire-size' | 'body-size' | 'ratio'>

export type BodyResult =
  | {
      readonly kind: 'body'
      readonly bytes: Uint8Array
      /** The memory of the bytes, if it may be used again. */
      readonly block: Buffer | undefined
      /** As it came; empty unless it was to be kept. */
      readonly wire: Uint8Array
      /** Those that cut it: none if it is whole. */
      readonly limits: readonly BodyLimit[]
    }
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
/** A decoder that is fed as the bytes come gets at least so many at a time. */
const STREAM_BYTES = 32 * 1024

/**
 * A body of this size is never too much for what came; beyond it the ratio decides. Of a body that is, so much is kept:
 * such a one is made to be large, and to read it would cost more than to decode it.
 */
const RATIO_FREE_BYTES = 1024 * 1024
/** Real pages are rarely compressed to less than a hundredth; gzip can reach a thousandth, others far less. */
const MAX_RATIO = LIMITS.ratio.value
/** What one coding is put upon is compressed already, and hardly gets smaller a second time. */
const MAX_STAGE_RATIO = 20

/** Calls `done` once, perhaps within `push`; after that nothing more is wanted. */
export function createBody(
  codings: readonly Coding[],
  limits: BodyLimits,
  keepWire: boolean,
  memory: BodyMemory,
  /** How many bytes the host says will come; undefined if it does not. */
  expectedBytes: number | undefined,
  flow: Flow,
  done: (result: BodyResult) => void,
): Body {
  if (codings.length === 0) {
    const expected = Math.min(expectedBytes ?? 0, limits.maxBodyBytes, limits.maxWireBytes)
    return new PlainBody(new Chunks(memory, expected), limits, keepWire, done)
  }
  const isSmall = expectedBytes !== undefined && expectedBytes <= AT_ONCE_WIRE_BYTES
  const chunks = new Chunks(memory, isSmall ? expectedBytes : 0)
  return new CodedBody(codings, chunks, memory, limits, keepWire, flow, done)
}

const NOTHING = new Uint8Array(0)

class PlainBody implements Body {
  readonly #chunks: Chunks
  readonly #maxBytes: number
  readonly #limit: BodyLimit
  readonly #keepWire: boolean
  readonly #done: (result: BodyResult) => void
  wireBytes = 0

  constructor(chunks: Chunks, limits: BodyLimits, keepWire: boolean, done: (result: BodyResult) => void) {
    this.#chunks = chunks
    this.#maxBytes = Math.min(limits.maxBodyBytes, limits.maxWireBytes)
    this.#limit = limits.maxBodyBytes <= limits.maxWireBytes ? 'body-size' : 'wire-size'
    this.#keepWire = keepWire
    this.#done = done
  }

  push(chunk: Uint8Array): void {
    this.wireBytes += chunk.length
    if (!this.#chunks.addUpTo(this.#maxBytes, chunk)) this.#finish([this.#limit])
  }

  end(): void {
    this.#finish([])
  }

  destroy(): void {
    this.#chunks.clear()
  }

  #finish(limits: readonly BodyLimit[]): void {
    const { bytes, block } = this.#chunks.take()
    this.#done({ kind: 'body', bytes, block, wire: this.#keepWire ? bytes : NOTHING, limits })
  }
}

class CodedBody implements Body {
  readonly #codings: readonly Coding[]
  readonly #memory: BodyMemory
  readonly #limits: BodyLimits
  readonly #flow: Flow
  readonly #done: (result: BodyResult) => void
  /** What waits to be decoded, and what was kept of all. */
  readonly #waiting: Chunks
  readonly #kept: Chunks | undefined
  #stream: DecoderChain | undefined
  #isCut = false
  wireBytes = 0

  constructor(
    codings: readonly Coding[],
    chunks: Chunks,
    memory: BodyMemory,
    limits: BodyLimits,
    keepWire: boolean,
    flow: Flow,
    done: (result: BodyResult) => void,
  ) {
    this.#waiting = chunks
    this.#memory = memory
    this.#codings = codings
    this.#limits = limits
    this.#kept = keepWire ? new Chunks(memory) : undefined
    this.#flow = flow
    this.#done = done
  }

  push(chunk: Uint8Array): void {
    if (this.#isCut) return
    const room = this.#limits.maxWireBytes - this.wireBytes
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk
    this.wireBytes += chunk.length
    this.#isCut = chunk.length > room
    this.#kept?.add(part)
    this.#waiting.add(part)
    const enough = this.#stream === undefined ? AT_ONCE_WIRE_BYTES : STREAM_BYTES
    if (this.#waiting.bytes <= enough && !this.#isCut) return
    const stream = this.#startStream()
    stream.write(this.#waiting.take())
    if (this.#isCut) stream.cut()
  }

  end(): void {
    if (this.#isCut) return
    if (this.wireBytes === 0) return this.#finish(NOTHING, undefined, [])
    const wire = this.#waiting.take()
    if (this.#stream === undefined) {
      try {
        const decoded = this.#decodeAtOnce(wire.bytes)
        this.#memory.give(wire.block)
        return this.#finish(decoded, undefined, [])
      } catch (error) {
        if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return this.#done(brokenBody(this.#codings, error))
      }
    }
    const stream = this.#startStream()
    stream.write(wire)
    stream.end()
  }

  destroy(): void {
    this.#waiting.clear()
    this.#kept?.clear()
    this.#stream?.destroy()
  }

  /** Throws what zlib throws. */
  #decodeAtOnce(wire: Uint8Array): Uint8Array {
    const maxStage = Math.min(this.#maxStageBytes(), AT_ONCE_DECODED_BYTES)
    const maxLast = Math.min(this.#maxBytes(this.wireBytes), AT_ONCE_DECODED_BYTES)
    const maxWindowLog = maxWindowLogOf(this.#codings)
    return this.#codings.reduce((bytes, coding, index) => {
      const isLast = index === this.#codings.length - 1
      return FORMATS[coding].atOnce(bytes, isLast ? maxLast : maxStage, maxWindowLog)
    }, wire)
  }

  #startStream(): DecoderChain {
    return (this.#stream ??= new DecoderChain(
      this.#codings,
      this.#memory,
      { maxBytes: (decoded) => this.#maxBytes(decoded), maxStageBytes: () => this.#maxStageBytes() },
      this.#flow,
      (result) => {
        if (result.kind === 'failure') return this.#done(result)
        const limits: BodyLimit[] = this.#isCut ? ['wire-size'] : []
        const { cutAt, decodedWireBytes, bytes, block } = result
        if (cutAt === undefined) return this.#finish(bytes, block, limits)
        const isLarge = cutAt === 'output' && this.#limits.maxBodyBytes <= this.#maxBytes(decodedWireBytes)
        if (isLarge) return this.#finish(bytes, block, [...limits, 'body-size'])
        this.#finish(Buffer.from(bytes.subarray(0, RATIO_FREE_BYTES)), undefined, [...limits, 'ratio'])
        this.#memory.give(block)
      },
    ))
  }

  /** What waits to be decoded does not count: a bomb is told from its first bytes, however many follow at once. */
  #maxBytes(decodedWireBytes: number): number {
    return Math.min(this.#limits.maxBodyBytes, Math.max(RATIO_FREE_BYTES, MAX_RATIO * decodedWireBytes))
  }

  #maxStageBytes(): number {
    return Math.max(RATIO_FREE_BYTES, MAX_STAGE_RATIO * this.wireBytes)
  }

  #finish(bytes: Uint8Array, block: Buffer | undefined, limits: readonly BodyLimit[]): void {
    this.#done({ kind: 'body', bytes, block, wire: this.#kept?.take().bytes ?? NOTHING, limits })
  }
}
