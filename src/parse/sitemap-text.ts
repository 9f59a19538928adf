/**
 * The text of a sitemap, in pieces: unpacks gzip where the bytes say so (sitemaps are served packed under any name
 * and type), finds the encoding, and decodes. Memory is constant. Packed data that is cut off or damaged yields what
 * came before the damage; an error of the source itself is the caller's and passes through.
 */
import { TextDecoder } from 'node:util'
import { constants, createGunzip } from 'node:zlib'
import {
  encodingOfBom,
  encodingOfContentType,
  encodingOfUtf16Declaration,
  encodingOfXmlDeclaration,
} from './encoding-sniff.ts'

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

/**
 * deflate packs at most 1032 to 1, so one step unpacks to about 1 MiB at the most. When a step meets damage or garbage,
 * what was unpacked in the same step is lost with it: another reason for small ones.
 */
const GUNZIP_STEP_BYTES = 1024

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
      decoder ??= new TextDecoder(encodingOf(chunk, contentType))
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
  // Flushing at the end instead of finishing makes a cut-off file an end like any other.
  const unpacker = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
  let ready: Uint8Array[] = []
  let isOver = false
  let wake = (): void => {}
  const over = (): void => {
    isOver = true
    wake()
  }
  // It is over with the last member, with damage, or when anything but a further member follows.
  unpacker.on('data', (chunk: Uint8Array) => ready.push(chunk))
  unpacker.on('end', over)
  unpacker.on('error', over)
  unpacker.on('close', over)
  const step = (feed: (done: () => void) => void): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      feed(resolve)
    })
  try {
    for await (const chunk of source) {
      await step((done) => unpacker.write(chunk, () => done()))
      const unpacked = ready
      ready = []
      yield* unpacked
      if (isOver) break
    }
    if (!isOver) await step(() => unpacker.end())
    yield* ready
  } finally {
    unpacker.destroy()
  }
}

/** XML without a declaration is UTF-8 (XML 1.0 §4.3.3), and so are plain lists of URLs. */
function encodingOf(head: Uint8Array, contentType: string | null): string {
  const encoding =
    encodingOfBom(head) ??
    encodingOfContentType(contentType) ??
    encodingOfUtf16Declaration(head) ??
    encodingOfUtf16Markup(head) ??
    encodingOfXmlDeclaration(head)
  return encoding === null || encoding === 'replacement' ? 'utf-8' : encoding
}

/** `<` and another ASCII character in UTF-16, without a byte order mark or a declaration. */
function encodingOfUtf16Markup(head: Uint8Array): string | null {
  if (head[0] === 0x3c && head[1] === 0 && head[3] === 0) return 'utf-16le'
  return head[0] === 0 && head[1] === 0x3c && head[2] === 0 ? 'utf-16be' : null
}
