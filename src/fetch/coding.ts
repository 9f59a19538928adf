/**
 * Content codings (RFC 9110 §8.4): which ones an answer names, and decoding them, at once for a small body and
 * streaming for a large one. Memory is bounded in both: nothing asks for more than its caller's cap.
 */
import * as zlib from 'node:zlib'
import { LIMITS } from '../model/index.ts'
import { createGunzipStream, gunzipAtOnce } from './gunzip.ts'
import type { ResponseHeaders } from './headers.ts'
import type { MemberStream } from './members.ts'
import { createUnzstdStream, unzstdAtOnce } from './unzstd.ts'
import { checkBrotliWindow, zstdParams } from './window.ts'

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** Codings on top of each other; real answers have one, a bomb has many. */
export const MAX_CODINGS = LIMITS.codings.value

const NAMES: Readonly<Record<string, Coding>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
}

export type Codings =
  | { readonly kind: 'known'; /** In the order they are undone. */ readonly codings: readonly Coding[] }
  | { readonly kind: 'unknown'; readonly detail: string }

export const NO_CODINGS: Codings = { kind: 'known', codings: [] }
const LONGEST_NAME_SHOWN = 40

export function codingsOf(headers: ResponseHeaders): Codings {
  const field = headers.get('content-encoding')
  if (field === null) return NO_CODINGS
  const codings: Coding[] = []
  for (const part of field.split(',')) {
    const name = part.trim().toLowerCase()
    if (name === '' || name === 'identity') continue
    const coding = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
    if (coding === undefined) {
      const shown = JSON.stringify(name.slice(0, LONGEST_NAME_SHOWN))
      return { kind: 'unknown', detail: `the content coding ${shown} is not known` }
    }
    codings.push(coding)
    if (codings.length > MAX_CODINGS) {
      return { kind: 'unknown', detail: `more than ${MAX_CODINGS} content codings on top of each other` }
    }
  }
  return { kind: 'known', codings: codings.reverse() }
}

/** Of the memory that a decoder writes to, before it takes new. */
export const CHUNK_BYTES = 64 * 1024

interface Format {
  /**
   * Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxBytes`, and a `TooLargeWindow` if
   * what it would have to look back on, as a power of two, is more than `maxWindowLog` allows.
   */
  atOnce(bytes: Uint8Array, maxBytes: number, maxWindowLog: number): Uint8Array
  /** `first`: the first bytes to be decoded, at least one. Throws a `TooLargeWindow`, now or as an error of the stream. */
  streaming(first: Uint8Array, maxWindowLog: number): Decoder
}

export type Decoder = MemberStream | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress

const bounded = (maxBytes: number): { maxOutputLength: number; chunkSize: number } => ({
  maxOutputLength: Math.max(maxBytes, 1),
  chunkSize: CHUNK_BYTES,
})
const STREAMING = { chunkSize: CHUNK_BYTES }

export const FORMATS: Readonly<Record<Coding, Format>> = {
  gzip: {
    atOnce: (bytes, maxBytes) => gunzipAtOnce(bytes, bounded(maxBytes)),
    streaming: () => createGunzipStream(STREAMING),
  },
  deflate: {
    atOnce: (bytes, maxBytes) =>
      isZlibWrapped(bytes) ? zlib.inflateSync(bytes, bounded(maxBytes)) : zlib.inflateRawSync(bytes, bounded(maxBytes)),
    streaming: (first) => (isZlibWrapped(first) ? zlib.createInflate(STREAMING) : zlib.createInflateRaw(STREAMING)),
  },
  br: {
    atOnce(bytes, maxBytes, maxWindowLog) {
      checkBrotliWindow(bytes, maxWindowLog)
      return zlib.brotliDecompressSync(bytes, bounded(maxBytes))
    },
    streaming(first, maxWindowLog) {
      checkBrotliWindow(first, maxWindowLog)
      return zlib.createBrotliDecompress(STREAMING)
    },
  },
  zstd: {
    atOnce: (bytes, maxBytes, maxWindowLog) =>
      unzstdAtOnce(bytes, { ...bounded(maxBytes), params: zstdParams(maxWindowLog) }),
    streaming: (_first, maxWindowLog) => createUnzstdStream({ ...STREAMING, params: zstdParams(maxWindowLog) }),
  },
}

/** `deflate` means zlib's format, but many servers send the bare one (RFC 9110 §8.4.1.2). Method 8 marks the former. */
function isZlibWrapped(bytes: Uint8Array): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8
}
