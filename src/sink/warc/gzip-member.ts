/**
 * Members of gzip (RFC 1952), one for each record, so that a reader can go to any of them. What gets smaller is
 * compressed; what is compressed already, or is only a head, is framed here at next to no cost.
 */
import { promisify } from 'node:util'
import { crc32, gzip, gzipSync } from 'node:zlib'
import { createBitWriter } from './bit-writer.ts'
import { writeCodedBlock } from './coded-block.ts'
import { createRepetitionFinder } from './repetitions.ts'
import { textBlockBits, writeTextBlock } from './text-block.ts'

/** For records that are too long for our own way, or packed aside. As fast as zlib can. */
const LEVEL = { level: 1 }
/** Records up to this length are compressed at once, which takes a few milliseconds; longer ones aside of the rest. */
export const MAX_AT_ONCE_BYTES = 256 * 1024

/** Where a record is put together and packed. Fresh memory for each would be the collector's to find again. */
const finder = createRepetitionFinder(MAX_AT_ONCE_BYTES)
/** Where no byte has more than eleven bits, and the codes of a block have some 300 bytes, this is enough. */
const packed = Buffer.allocUnsafeSlow(1.5 * MAX_AT_ONCE_BYTES)

/** A record, in parts, that gets smaller. */
export function deflatedMember(parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length > MAX_AT_ONCE_BYTES) return gzipSync(Buffer.concat(parts, length), LEVEL)
  const text = finder.begin(parts)
  packed.set(HEADER)
  const writer = createBitWriter(packed, HEADER.length)
  for (let isMore = true; isMore;) {
    isMore = finder.find()
    writeCodedBlock(writer, finder.found, !isMore)
  }
  writer.align()
  // What is compressed already is not made longer than it is.
  const [first, ...rest] = parts
  if (first !== undefined && writer.at > HEADER.length + length) return framedMember(first, rest)
  const end = writeTrailer(packed, writer.at, crc32(text), length)
  return keep(packed.subarray(0, end))
}

/** Members are kept in larger pieces of memory: each with one of its own would be so many more for the collector. */
const PIECE_BYTES = 256 * 1024
let piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
let pieceUsed = 0

function keep(member: Uint8Array): Uint8Array {
  if (member.length > PIECE_BYTES / 8) return Buffer.from(member)
  if (pieceUsed + member.length > PIECE_BYTES) {
    piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
    pieceUsed = 0
  }
  const kept = piece.subarray(pieceUsed, pieceUsed + member.length)
  kept.set(member)
  pieceUsed += member.length
  return kept
}

/** The same for a whole record, in a thread of the system. */
export type Compress = (record: Uint8Array) => Promise<Uint8Array>

const gzipAside = promisify(gzip)
export const compressAside: Compress = (record) => gzipAside(record, LEVEL)

/** As zlib writes it: no name, no time, made on Unix. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** A stored block (RFC 1951 §3.2.4): its type in three bits, the rest of that byte, its length twice. */
const STORED_TYPE_BITS = 3
const STORED_HEAD_BYTES = 5
const MAX_STORED_BYTES = 0xffff

/** A record that begins with `text` and goes on with `rest`, which is kept as it is. */
export function framedMember(text: Uint8Array, rest: readonly Uint8Array[] = []): Uint8Array {
  const textBits = textBlockBits(text)
  const stored = (textBits === undefined ? [text, ...rest] : rest).flatMap(piecesOf)
  const textBytes = Math.ceil((textBits ?? 0) / 8)
  const most = stored.reduce((sum, { length }) => sum + STORED_HEAD_BYTES + length, HEADER.length + textBytes)
  const member = Buffer.allocUnsafe(most + TRAILER_BYTES)
  member.set(HEADER)

  const writer = createBitWriter(member, HEADER.length)
  if (textBits !== undefined) writeTextBlock(writer, text, stored.length === 0)
  for (const [index, piece] of stored.entries()) {
    writer.write(index === stored.length - 1 ? 1 : 0, STORED_TYPE_BITS)
    writer.align()
    writer.write(piece.length, 16)
    writer.write(~piece.length & 0xffff, 16)
    writer.writeBytes(piece)
  }
  writer.align()

  const checksum = rest.reduce((sum, part) => crc32(part, sum), crc32(text))
  const length = rest.reduce((sum, part) => sum + part.length, text.length)
  return member.subarray(0, writeTrailer(member, writer.at, checksum, length))
}

function writeTrailer(member: Buffer, at: number, checksum: number, length: number): number {
  return member.writeUInt32LE(length % 2 ** 32, member.writeUInt32LE(checksum, at))
}

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= MAX_STORED_BYTES) return [bytes]
  const count = Math.ceil(bytes.length / MAX_STORED_BYTES)
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * MAX_STORED_BYTES, (index + 1) * MAX_STORED_BYTES),
  )
}
