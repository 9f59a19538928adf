/**
 * Decoders in a row, fed as the bytes come. Each has a limit on what it puts out, so a bomb in the middle is as bounded
 * as at the end, and each holds up the one before it, so that no more is under way than a few pieces. Memory is given
 * back as soon as it has been read: the collector would let tens of megabytes come together first.
 */
import type { BodyMemory } from './body-memory.ts'
import { Chunks, type Gathered } from './chunks.ts'
import { CHUNK_BYTES, FORMATS, type Coding, type Decoder } from './coding.ts'
import { codeOf, encodingFailure, tooLargeFailure } from './failure.ts'
import type { Failure } from './outcome.ts'
import { isTooLargeWindow, maxWindowLogOf } from './window.ts'

/** Holds up whatever pushes. What is pushed nevertheless is taken. */
export interface Flow {
  pause(): void
  resume(): void
}

export interface ChainLimits {
  /** What the last may put out when so many bytes of what came have been decoded. */
  maxBytes(decodedWireBytes: number): number
  /** What any other may put out. */
  maxStageBytes(): number
}

interface Failed {
  readonly kind: 'failure'
  readonly failure: Failure
}

export type ChainResult =
  | (Gathered & {
      readonly kind: 'body'
      /** Where there was more than a limit allows: at the end or on the way. */
      readonly cutAt: 'output' | 'stage' | undefined
      /** How many bytes of what came were decoded for it. */
      readonly decodedWireBytes: number
    })
  | Failed

/** More waits before no decoder, but for one piece. */
const MAX_WAITING_BYTES = 256 * 1024

export const brokenBody = (codings: readonly Coding[], error: unknown): Failed => {
  if (isTooLargeWindow(error)) {
    return { kind: 'failure', failure: encodingFailure(`the ${codings.join(', ')} body takes too much memory`, false) }
  }
  const reason = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const detail = `the ${codings.join(', ')} body is broken: ${reason}${code === '' ? '' : ` (${code})`}`
  return { kind: 'failure', failure: encodingFailure(detail, true) }
}

export class DecoderChain {
  readonly #codings: readonly Coding[]
  readonly #stages: (Decoder | undefined)[] = []
  readonly #maxWindowLog: number
  readonly #limits: ChainLimits
  readonly #flow: Flow
  readonly #done: (result: ChainResult) => void
  readonly #memory: BodyMemory
  readonly #out: Chunks
  readonly #stageBytes: number[] = []
  #over = false
  #isCut = false

  /** Calls `done` once, unless it is destroyed. */
  constructor(
    codings: readonly Coding[],
    memory: BodyMemory,
    limits: ChainLimits,
    flow: Flow,
    done: (result: ChainResult) => void,
  ) {
    this.#codings = codings
    this.#maxWindowLog = maxWindowLogOf(codings)
    this.#memory = memory
    this.#out = new Chunks(memory)
    this.#limits = limits
    this.#flow = flow
    this.#done = done
  }

  write({ bytes, block }: Gathered): void {
    this.#feed(0, bytes, this.#flow, () => this.#memory.give(block))
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
    for (const stage of this.#stages) stage?.destroy()
  }

  /** `release`: nobody looks at the chunk any more. */
  #feed(index: number, chunk: Uint8Array, from: Flow, release: () => void): void {
    if (this.#over || chunk.length === 0) return
    const coding = this.#codings[index]
    if (coding === undefined) {
      this.#collect(chunk)
      return release()
    }
    const stage = (this.#stages[index] ??= this.#createStage(index, coding, chunk))
    if (stage === undefined) return
    stage.write(chunk, (error) => {
      // A decoder that is broken off may still be at it, in another thread.
      if (!this.#over && error == null) release()
    })
    if (stage.writableLength <= MAX_WAITING_BYTES || stage.listenerCount('drain') > 0) return
    from.pause()
    stage.once('drain', () => from.resume())
  }

  /** Undefined if it may not be, which is the end. */
  #createStage(index: number, coding: Coding, first: Uint8Array): Decoder | undefined {
    let stage: Decoder
    try {
      stage = FORMATS[coding].streaming(first, this.#maxWindowLog)
    } catch (error) {
      this.#finish(brokenBody(this.#codings, error))
      return undefined
    }
    this.#stageBytes[index] = 0
    stage.on('data', (chunk: Uint8Array) => {
      const total = (this.#stageBytes[index] ?? 0) + chunk.length
      this.#stageBytes[index] = total
      const isLast = index === this.#codings.length - 1
      if (!isLast && total > this.#limits.maxStageBytes()) return this.#finishCut('stage')
      this.#feed(index + 1, chunk, stage, () => freeSpent(chunk))
    })
    stage.on('end', () => this.#endFrom(index + 1))
    stage.on('error', (error) => {
      if (this.#over) return
      if (this.#isCut && !isTooLargeWindow(error)) return this.#finishCut()
      this.#finish(brokenBody(this.#codings, error))
    })
    return stage
  }

  #collect(chunk: Uint8Array): void {
    if (this.#out.addUpTo(this.#limits.maxBytes(this.#decodedWireBytes), chunk)) return
    this.#finishWith('output')
  }

  #endFrom(index: number): void {
    if (this.#over || this.#isCut) return
    const stage = this.#stages[index]
    if (stage !== undefined) stage.end()
    else if (index === this.#codings.length) this.#finishWith(undefined)
    // A stage that never got a byte: the one before it held nothing.
    else this.#endFrom(index + 1)
  }

  #flushFrom(index: number): void {
    if (this.#over) return
    const stage = this.#stages[index]
    if (stage === undefined) return this.#finishCut()
    stage.flush(() => this.#flushFrom(index + 1))
  }

  #finishCut(cutAt?: 'stage'): void {
    if (this.#out.bytes > 0) return this.#finishWith(cutAt)
    const failure = tooLargeFailure('the body is larger than allowed, and nothing of it could be decoded')
    this.#finish({ kind: 'failure', failure })
  }

  #finishWith(cutAt: 'output' | 'stage' | undefined): void {
    this.#finish({ kind: 'body', ...this.#out.take(), cutAt, decodedWireBytes: this.#decodedWireBytes })
  }

  get #decodedWireBytes(): number {
    return this.#stages[0]?.bytesWritten ?? 0
  }

  #finish(result: ChainResult): void {
    if (this.#over) return
    this.destroy()
    this.#done(result)
  }
}

/** Only the last piece of a decoder's memory frees it: behind any other the decoder writes on. */
function freeSpent({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (byteOffset + byteLength === CHUNK_BYTES && buffer.byteLength === CHUNK_BYTES) (buffer as ArrayBuffer).transfer(0)
}
