/**
 * zstd (RFC 8878): frames, of which some are to be skipped. Node reads the first and says nothing of the others, unless
 * what it made fills its last buffer exactly: then it takes what follows for another frame, whatever it is.
 */
import * as zlib from 'node:zlib'
import {
  createMemberStream,
  decodeMembers,
  withBytesRead,
  type Beginning,
  type MemberFormat,
  type MemberStream,
} from './members.ts'

const MAGIC = 0xfd2fb528
/** RFC 8878 §3.1.2: sixteen of them, and then a size. */
const SKIPPABLE = 0x184d2a50
const MAGIC_BYTES = 4
const SKIPPABLE_HEADER_BYTES = 8
const BLOCK_HEADER_BYTES = 3

interface Options {
  /** Of the pieces that come out. */
  readonly chunkSize: number
  readonly params: Record<number, number>
}

/** Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxOutputLength`. */
export function unzstdAtOnce(bytes: Uint8Array, options: Options & { readonly maxOutputLength: number }): Uint8Array {
  return decodeMembers(
    formatOf(options),
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    options.maxOutputLength,
  )
}

export const createUnzstdStream = (options: Options): MemberStream => createMemberStream(formatOf(options))

const formatOf = (options: Options): MemberFormat => ({
  beginningOf,
  magicBytes: MAGIC_BYTES,
  // The decoder sees the whole frame, with its checksum.
  trailerBytes: 0,
  noMemberCode: 'ZSTD_error_prefix_unknown',
  isTrailerOf: () => true,
  decodeOne: (bytes, maxOutputLength) =>
    withBytesRead(
      zlib.zstdDecompressSync(bytes.subarray(0, frameBytesOf(bytes)), { ...options, maxOutputLength, info: true }),
    ),
  createDecoder: () => zlib.createZstdDecompress(options),
})

function beginningOf(bytes: Buffer): Beginning {
  if (bytes.length < MAGIC_BYTES) return 'short'
  const magic = bytes.readUInt32LE(0)
  if (magic === MAGIC) return { headerBytes: 0 }
  if ((magic & 0xfffffff0) >>> 0 !== SKIPPABLE) return 'none'
  if (bytes.length < SKIPPABLE_HEADER_BYTES) return 'short'
  return { skipBytes: SKIPPABLE_HEADER_BYTES + bytes.readUInt32LE(MAGIC_BYTES) }
}

/** How long the frame is with which the bytes begin, from the sizes in it (RFC 8878 §3.1.1); all of them if it is cut. */
function frameBytesOf(bytes: Buffer): number {
  const descriptor = bytes[MAGIC_BYTES] ?? 0
  const isSingleSegment = (descriptor & 0x20) !== 0
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = MAGIC_BYTES + 1 + (isSingleSegment ? 0 : 1) + dictionaryIdBytes + contentSizeBytes
  let isLast = false
  while (!isLast) {
    if (at + BLOCK_HEADER_BYTES > bytes.length) return bytes.length
    const header = bytes.readUIntLE(at, BLOCK_HEADER_BYTES)
    isLast = (header & 1) === 1
    const isRepeatedByte = ((header >> 1) & 3) === 1
    at += BLOCK_HEADER_BYTES + (isRepeatedByte ? 1 : header >> 3)
  }
  const checksumBytes = (descriptor & 4) === 0 ? 0 : 4
  return Math.min(at + checksumBytes, bytes.length)
}
