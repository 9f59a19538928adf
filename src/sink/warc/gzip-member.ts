/**
 * Members of gzip (RFC 1952), one for each record, so that a reader can go to any of them. What gets smaller is
 * compressed; what is compressed already, or is only a head, is framed here at next to no cost.
 */
import { promisify } from 'node:util'
import { crc32, gzip, gzipSync } from 'node:zlib'
import { STORED, STORED_LAST, theDeflater, type StoredBlock } from './deflater.ts'
import { memoryFor } from './member-memory.ts'

/** As zlib writes it: no name, no time, made on Unix. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
const TRAILER_BYTES = 8
/** A stored block (RFC 1951 §3.2.4) has a type, which the first one shares with what stands before it, and its length twice. */
const LENGTHS_BYTES = 4
const MAX_STORED_BYTES = 0xffff

/** What stands between these places in the deflater's room, and gets smaller. */
export function deflatedMember(start: number, end: number): Uint8Array {
  const { room, deflate } = theDeflater()
  const text = room.subarray(start, end)
  const deflated = deflate(start, end)
  // What is compressed already is not made longer than it is.
  return deflated.length > text.length ? storedMember(text) : memberOf(text, deflated)
}

/** What stands there: a text, and behind it bytes that are kept as they are. */
export function framedMember(start: number, textEnd: number, end = textEnd): Uint8Array {
  const { room, packText } = theDeflater()
  const all = room.subarray(start, end)
  const rest = end === textEnd ? undefined : room.subarray(textEnd, end)
  const text = packText(start, textEnd, rest && typeOfStored(rest))
  return text === undefined ? storedMember(all) : memberOf(all, text, rest)
}

/** Bytes that are all kept as they are. */
export const storedMember = (bytes: Uint8Array): Uint8Array =>
  memberOf(bytes, Uint8Array.of(typeOfStored(bytes)), bytes)

/** `packed` is what was made of the beginning; where there is a `rest`, it ends with the type of a stored block. */
function memberOf(all: Uint8Array, packed: Uint8Array, rest?: Uint8Array): Uint8Array {
  const member = memoryFor(HEADER.length + packed.length + storedBytes(rest) + TRAILER_BYTES)
  member.set(HEADER)
  member.set(packed, HEADER.length)
  let at = HEADER.length + packed.length
  if (rest !== undefined) at = writeStored(member, at, rest)
  member.writeUInt32LE(all.length % 2 ** 32, member.writeUInt32LE(crc32(all), at))
  return member
}

const typeOfStored = ({ length }: Uint8Array): StoredBlock => (length <= MAX_STORED_BYTES ? STORED_LAST : STORED)

function storedBytes(bytes: Uint8Array | undefined): number {
  if (bytes === undefined) return 0
  const blocks = Math.max(1, Math.ceil(bytes.length / MAX_STORED_BYTES))
  return bytes.length + blocks * LENGTHS_BYTES + blocks - 1
}

/** Behind the type of the first block. */
function writeStored(member: Buffer, start: number, bytes: Uint8Array): number {
  let at = start
  for (let from = 0; from === 0 || from < bytes.length; from += MAX_STORED_BYTES) {
    const piece = bytes.subarray(from, from + MAX_STORED_BYTES)
    if (from > 0) at = member.writeUInt8(typeOfStored(bytes.subarray(from)), at)
    at = member.writeUInt16LE(piece.length, at)
    at = member.writeUInt16LE(~piece.length & 0xffff, at)
    member.set(piece, at)
    at += piece.length
  }
  return at
}

/** For records that are too long for the deflater. As fast as zlib can. */
const LEVEL = { level: 1 }

export const compressAtOnce = (record: Uint8Array): Uint8Array => gzipSync(record, LEVEL)

/** The same in a thread of the system. */
export type Compress = (record: Uint8Array) => Promise<Uint8Array>

const gzipAside = promisify(gzip)
export const compressAside: Compress = (record) => gzipAside(record, LEVEL)
