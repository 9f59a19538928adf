/**
 * The text of a sitemap, in pieces: unpacks gzip where the bytes say so (sitemaps are served packed under any name
 * and type), finds the encoding, and decodes. Memory is bounded. Packed data that is cut off or damaged yields what
 * came before the damage; an error of the source itself is the caller's and passes through.
 */
import { TextDecoder } from 'node:util'
import { constants, createGunzip } from 'node:zlib'
import { isAsciiWhitespace } from '../charset/encoding-label.ts'
import {
  encodingOfBom,
  encodingOfContentType,
  encodingOfUtf16Declaration,
  encodingOfUtf16Markup,
  encodingOfXmlDeclaration,
} from '../charset/encoding-sniff.ts'

export interface SitemapText {
  /** Text, decoded, in order. */
  readonly pieces: AsyncIterable<string>
  /** More bytes came than may be decoded. Settled when the pieces are at their end. */
  readonly truncated: boolean
}

/** Some servers pack what was packed already; more layers than this are an attack. */
const MAX_GZIP_LAYERS = 2

/** Text is decoded and read in pieces of this size; the encoding is looked for in the first. */
const PIECE_BYTES = 65_536

/** deflate packs at most 1032 to 1, so one step unpacks to about 1 MiB at the most. */
const GUNZIP_STEP_BYTES = 1024

/**
 * zlib keeps back what it unpacked in the same step as it met damage, a wrong checksum or garbage. As much packed data
 * as this is held, so that the step can be taken again by smaller ones; further on, a step's output may be lost.
 */
const GUNZIP_HELD_BYTES = 1024 * 1024
const RETRY_STEPS_BYTES = [32, 1]

export function readSitemapText(
  input: Uint8Array | AsyncIterable<Uint8Array>,
  contentType: string | null,
  maxDecodedBytes: number,
): SitemapText {
  let truncated = false
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    let source = input instanceof Uint8Array ? once(input) : input
    for (let layer = 0; layer < MAX_GZIP_LAYERS; layer++) source = gunzipIfPacked(source)
    let left = maxDecodedBytes
    let decoder: TextDecoder | undefined
    for await (const chunk of inPieces(source, PIECE_BYTES)) {
      decoder ??= new TextDecoder(encodingOfXml(chunk, contentType))
      const taken = chunk.length > left ? chunk.subarray(0, left) : chunk
      left -= taken.length
      const text = decoder.decode(taken, { stream: true })
      if (text !== '') yield text
      if (taken.length < chunk.length) {
        truncated = true
        return
      }
    }
    const rest = decoder?.decode() ?? ''
    if (rest !== '') yield rest
  }
  return {
    pieces: pieces(),
    get truncated() {
      return truncated
    },
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

/** The same bytes in pieces of `size`, the last one shorter: neither a huge chunk nor a million tiny ones get through. */
async function* inPieces(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  for await (const chunk of source) {
    held.push(chunk)
    heldBytes += chunk.length
    if (heldBytes < size) continue
    const joined = held.length === 1 ? chunk : Buffer.concat(held)
    let at = 0
    for (; heldBytes - at >= size; at += size) yield joined.subarray(at, at + size)
    held = at < heldBytes ? [joined.subarray(at)] : []
    heldBytes -= at
  }
  if (heldBytes > 0) yield Buffer.concat(held)
}

async function* gunzipIfPacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = inPieces(source, GUNZIP_STEP_BYTES)
  const first = await chunks.next()
  if (first.done === true) return
  const all = prepend(first.value, chunks)
  if (first.value[0] === 0x1f && first.value[1] === 0x8b) yield* gunzip(all)
  else yield* all
}

async function* prepend(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield first
    yield* rest
  } finally {
    // Left at the first chunk, the rest has been started all the same, and must be closed.
    await rest.return()
  }
}

/** `source` comes in steps of `GUNZIP_STEP_BYTES`. */
async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const unpacker = createUnpacker()
  /** The packed data so far; undefined once there was too much of it. */
  let held: Uint8Array[] | undefined = []
  try {
    for await (const chunk of source) {
      const unpacked = await unpacker.write(chunk)
      yield* unpacked
      if (unpacker.isDamaged() && held !== undefined) {
        const given = unpacked.reduce((bytes, piece) => bytes + piece.length, 0)
        yield* unpackInSteps(held, chunk, given, RETRY_STEPS_BYTES)
      }
      if (unpacker.isOver()) return
      held?.push(chunk)
      if (held !== undefined && held.length * GUNZIP_STEP_BYTES > GUNZIP_HELD_BYTES) held = undefined
    }
    yield* await unpacker.end()
  } finally {
    unpacker.close()
  }
}

/**
 * What can be unpacked of `last`, in which there is damage, without the bytes that were `given` already: by small steps,
 * and the step with the damage by smaller ones, down to a byte.
 */
async function* unpackInSteps(
  before: readonly Uint8Array[],
  last: Uint8Array,
  given: number,
  [stepBytes = 1, ...smaller]: readonly number[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const unpacker = createUnpacker()
  let known = given
  try {
    for (const chunk of before) await unpacker.write(chunk)
    for (let at = 0; at < last.length && !unpacker.isOver(); at += stepBytes) {
      const step = last.subarray(at, at + stepBytes)
      const knownBefore = known
      let unpackedBytes = 0
      for (const piece of await unpacker.write(step)) {
        yield piece.subarray(known)
        known = Math.max(0, known - piece.length)
        unpackedBytes += piece.length
      }
      if (!unpacker.isDamaged() || smaller.length === 0) continue
      yield* unpackInSteps([...before, last.subarray(0, at)], step, Math.max(knownBefore, unpackedBytes), smaller)
    }
  } finally {
    unpacker.close()
  }
}

interface Unpacker {
  /** What came of these bytes, and of those before them that waited for more. */
  write(chunk: Uint8Array): Promise<Uint8Array[]>
  end(): Promise<Uint8Array[]>
  /** After the last member, at damage, or when anything but a further member follows. */
  isOver(): boolean
  isDamaged(): boolean
  close(): void
}

function createUnpacker(): Unpacker {
  // Flushing at the end instead of finishing makes a cut-off file an end like any other.
  const stream = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
  let ready: Uint8Array[] = []
  let isOver = false
  let isDamaged = false
  let wake = (): void => {}
  const over = (): void => {
    isOver = true
    wake()
  }
  stream.on('data', (chunk: Uint8Array) => ready.push(chunk))
  stream.on('end', over)
  stream.on('close', over)
  stream.on('error', () => {
    isDamaged = true
    over()
  })
  const step = async (feed: (done: () => void) => void): Promise<Uint8Array[]> => {
    if (!isOver) {
      await new Promise<void>((resolve) => {
        wake = resolve
        feed(resolve)
      })
    }
    const unpacked = ready
    ready = []
    return unpacked
  }
  return {
    write: (chunk) => step((done) => stream.write(chunk, () => done())),
    end: () => step(() => stream.end()),
    isOver: () => isOver,
    isDamaged: () => isDamaged,
    close: () => void stream.destroy(),
  }
}

/** XML without a declaration is UTF-8 (XML 1.0 §4.3.3), and so are plain lists of URLs. */
export function encodingOfXml(head: Uint8Array, contentType: string | null): string {
  const encoding =
    encodingOfBom(head) ??
    encodingOfContentType(contentType) ??
    encodingOfUtf16Declaration(head) ??
    encodingOfUtf16Markup(head) ??
    encodingOfXmlDeclaration(withoutLeadingSpace(head))
  return encoding === null || encoding === 'replacement' ? 'utf-8' : encoding
}

/** A blank line before the XML declaration is against the rules, and met. */
function withoutLeadingSpace(head: Uint8Array): Uint8Array {
  let start = 0
  while (start < head.length && isAsciiWhitespace(head[start] as number)) start++
  return head.subarray(start)
}
