/**
 * Members of gzip (RFC 1952), one for each record, so that a reader can go to any of them. What gets smaller is
 * compressed; what is compressed already, or is only a head, is framed here at next to no cost.
 */
import { promisify } from 'node:util'
import { crc32, gzip, gzipSync } from 'node:zlib'
import { createBitWriter } from './bit-writer.ts'
import { theDeflater } from './deflater.ts'
import { textBlockBits, writeTextBlock } from './text-block.ts'

/** As zlib writes it: no name, no time, made on Unix. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** A stored block (RFC 1951 §3.2.4): its type in three bits, the rest of that byte, its length twice. */
const STORED_TYPE_BITS = 3
const STORED_HEAD_BYTES = 5
const MAX_STORED_BYTES = 0xffff

/** What stands between these places in the deflater's room, and gets smaller. */
export function deflatedMember(start: number, end: number): Uint8Array {
  const deflater = theDeflater()
  const text = deflater.room.subarray(start, end)
  const deflated = deflater.deflate(start, end)
  // What is compressed already is not made longer than it is.
  if (deflated.length > text.length) return framedMember(text)
  const member = memoryFor(HEADER.length + deflated.length + TRAILER_BYTES)
  member.set(HEADER)
  member.set(deflated, HEADER.length)
  writeTrailer(member, HEADER.length + deflated.length, crc32(text), text.length)
  return member
}

/** Members are kept in larger pieces of memory: each with one of its own would be so many more for the collector. */
const PIECE_BYTES = 256 * 1024
let piece = Buffer.allocUnsafeSlow(0)
let pieceUsed = 0

function memoryFor(bytes: number): Buffer {
  if (bytes > PIECE_BYTES / 8) return Buffer.allocUnsafeSlow(bytes)
  if (pieceUsed + bytes > piece.length) {
    piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
    pieceUsed = 0
  }
  pieceUsed += bytes
  return piece.subarray(pieceUsed - bytes, pieceUsed)
}

/** For records that are too long for the deflater. As fast as zlib can. */
const LEVEL = { level: 1 }

export const compressAtOnce = (record: Uint8Array): Uint8Array => gzipSync(record, LEVEL)

/** The same in a thread of the system. */
export type Compress = (record: Uint8Array) => Promise<Uint8Array>

const gzipAside = promisify(gzip)
export const compressAside: Compress = (record) => gzipAside(record, LEVEL)

const writer = createBitWriter()

/** A record that begins with `text` and goes on with `rest`, which is kept as it is. */
export function framedMember(text: Uint8Array, rest: readonly Uint8Array[] = []): Uint8Array {
  const textBits = textBlockBits(text)
  const stored = (textBits === undefined ? [text, ...rest] : rest).flatMap(piecesOf)
  const textBytes = Math.ceil((textBits ?? 0) / 8)
  const most = stored.reduce((sum, { length }) => sum + STORED_HEAD_BYTES + length, HEADER.length + textBytes)
  const member = memoryFor(most + TRAILER_BYTES)
  member.set(HEADER)

  writer.begin(member, HEADER.length)
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
  const end = writeTrailer(member, writer.at, checksum, length)
  return end === member.length ? member : member.subarray(0, end)
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
