/**
 * Content codings (RFC 9110 §8.4): which ones an answer names, and decoding them, at once for a small body and
 * streaming for a large one. Memory is bounded in both: nothing asks for more than its caller's cap.
 */
import * as zlib from 'node:zlib'
import { LIMITS } from '../model/index.ts'
import { createGunzipStream, gunzipAtOnce, type GunzipStream } from './gunzip.ts'
import type { ResponseHeaders } from './headers.ts'

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

const CHUNK_BYTES = 64 * 1024
/** 8 MiB: what RFC 9659 lets a server ask of a client. Without it a frame could claim 128 MiB. */
const ZSTD_WINDOW_LOG = 23
const ZSTD_PARAMS = { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG }

interface Format {
  /** Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxBytes`. */
  atOnce(bytes: Uint8Array, maxBytes: number): Uint8Array
  /** `first`: the first bytes to be decoded, at least one. */
  streaming(first: Uint8Array): Decoder
}

export type Decoder = GunzipStream | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress | zlib.ZstdDecompress

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
    atOnce: (bytes, maxBytes) => zlib.brotliDecompressSync(bytes, bounded(maxBytes)),
    streaming: () => zlib.createBrotliDecompress(STREAMING),
  },
  zstd: {
    atOnce: (bytes, maxBytes) => zlib.zstdDecompressSync(bytes, { ...bounded(maxBytes), params: ZSTD_PARAMS }),
    streaming: () => zlib.createZstdDecompress({ ...STREAMING, params: ZSTD_PARAMS }),
  },
}

/** `deflate` means zlib's format, but many servers send the bare one (RFC 9110 §8.4.1.2). Method 8 marks the former. */
function isZlibWrapped(bytes: Uint8Array): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8
}
