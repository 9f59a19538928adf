/** gzip (RFC 1952): members with a header, a checksum and a size, in which there is deflate. */
import * as zlib from 'node:zlib'
import {
  createMemberStream,
  decodeMembers,
  isBrokenData,
  withBytesRead,
  type Beginning,
  type MemberFormat,
  type MemberStream,
} from './members.ts'

const FIXED_HEADER_BYTES = 10
const TRAILER_BYTES = 8
const MAGIC = [0x1f, 0x8b]
const METHOD_AT = 2
const DEFLATE = 8
const FLAGS_AT = 3
const HAS_CHECKSUM = 2
const HAS_EXTRA = 4
const HAS_NAME = 8
const HAS_COMMENT = 16

interface Sizes {
  /** Of the pieces that come out. */
  readonly chunkSize: number
}

/** Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxOutputLength`. */
export function gunzipAtOnce(bytes: Uint8Array, options: Sizes & { readonly maxOutputLength: number }): Uint8Array {
  try {
    return zlib.gunzipSync(bytes, options)
  } catch (error) {
    // It may be what follows the last member that zlib cannot read.
    if (isBrokenData(error)) return decodeMembers(formatOf(options), Buffer.from(bytes), options.maxOutputLength)
    throw error
  }
}

export const createGunzipStream = (sizes: Sizes): MemberStream => createMemberStream(formatOf(sizes))

const formatOf = (sizes: Sizes): MemberFormat => ({
  beginningOf,
  magicBytes: MAGIC.length,
  trailerBytes: TRAILER_BYTES,
  // RFC 1952 §2.3.1: the checksum and, modulo 2^32, the size of what was compressed.
  isTrailerOf: (trailer, checksum, size) =>
    trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size >>> 0,
  decodeOne: (bytes, maxOutputLength) =>
    withBytesRead(zlib.inflateRawSync(bytes, { ...sizes, maxOutputLength, info: true })),
  createDecoder: () => zlib.createInflateRaw(sizes),
  createLastDecoder: () => zlib.createGunzip(sizes),
})

function beginningOf(bytes: Buffer): Beginning {
  if (MAGIC.some((byte, at) => at < bytes.length && bytes[at] !== byte)) return 'none'
  if (bytes.length > METHOD_AT && bytes[METHOD_AT] !== DEFLATE) return 'broken'
  if (bytes.length < FIXED_HEADER_BYTES) return 'short'
  const flags = bytes[FLAGS_AT] ?? 0
  let at = FIXED_HEADER_BYTES
  if ((flags & HAS_EXTRA) !== 0) at += at + 2 > bytes.length ? 2 : 2 + bytes.readUInt16LE(at)
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue
    const end = bytes.indexOf(0, at)
    if (end === -1) return 'short'
    at = end + 1
  }
  if ((flags & HAS_CHECKSUM) !== 0) at += 2
  return at > bytes.length ? 'short' : { headerBytes: at }
}
