/**
 * A record as a member of gzip. It is put together in the deflater's room, which is used again for the next: the block
 * first, and its head before it, since that tells the digest of the block. What is too long for the room is put together
 * in memory of its own.
 */
import { sha1 } from './digest.ts'
import { MAX_TEXT_BYTES, theDeflater } from './deflater.ts'
import { compressAtOnce, deflatedMember, framedMember, storedMember } from './gzip-member.ts'
import { RECORD_END, recordHead, type WarcRecord } from './warc-record.ts'

/** A record whose body is longer takes more than a few milliseconds to be compressed. */
export const MAX_AT_ONCE_BYTES = 1024 * 1024
/** Where the block begins: before it is room for the head, with URLs of 8,192 characters at most. */
const BLOCK_AT = 32 * 1024
const MAX_BODY_TEXT_BYTES = MAX_TEXT_BYTES - BLOCK_AT - MAX_AT_ONCE_BYTES - RECORD_END.length

/**
 * `isBodyKept`: the body would not get smaller, and stays as it is. The texts of a record have a code that costs next to
 * nothing, and are enough of a record that has no body.
 */
export function packRecord(record: WarcRecord, isBodyKept: boolean): Uint8Array {
  const { text, encoding, body = NOTHING } = record
  if (!fitsRoom(record)) return (isBodyKept ? storedMember : compressAtOnce)(serializeRecord(record))
  const { room } = theDeflater()
  const bodyAt = BLOCK_AT + room.write(text, BLOCK_AT, encoding)
  room.set(body, bodyAt)
  const blockEnd = bodyAt + body.length
  const digest = body.length === 0 ? sha1(room.subarray(BLOCK_AT, blockEnd)) : undefined
  const head = recordHead(record, blockEnd - BLOCK_AT, digest)
  const start = BLOCK_AT - Buffer.byteLength(head)
  room.write(head, start)
  const end = blockEnd + room.write(RECORD_END, blockEnd, 'latin1')
  if (!isBodyKept) return deflatedMember(start, end)
  return body.length === 0 ? framedMember(start, end) : framedMember(start, bodyAt, end)
}

const NOTHING = new Uint8Array()

function fitsRoom({ text, fields, body = NOTHING }: WarcRecord): boolean {
  // A character is three bytes of UTF-8 at most, and the fields that every record has are a few hundred.
  return (
    body.length <= MAX_AT_ONCE_BYTES && 3 * text.length <= MAX_BODY_TEXT_BYTES && 3 * fields.length <= BLOCK_AT - 1024
  )
}

export function serializeRecord(record: WarcRecord): Uint8Array {
  const { body = NOTHING } = record
  const text = Buffer.from(record.text, record.encoding)
  const digest = body.length === 0 ? sha1(text) : undefined
  const head = recordHead(record, text.length + body.length, digest)
  return Buffer.concat([Buffer.from(head), text, body, Buffer.from(RECORD_END)])
}
