/**
 * Records of WARC files as a strict reader finds them, written from the standard and not from the writer: whole members
 * of gzip without a byte between them, one record in each, framed by its length. Throws at the first thing that is not so.
 */
import { crc32, inflateRawSync } from 'node:zlib'

export interface WarcRecord {
  readonly offset: number
  /** Of its member of gzip. */
  readonly length: number
  /** The first value of a named field, by its name in small letters. */
  field(name: string): string
  readonly block: Buffer
}

/** RFC 1952: magic number, deflate, no optional parts. */
const MEMBER_START = 0x1f8b0800
const HEADER_BYTES = 10
const TRAILER_BYTES = 8
const RECORD_END = '\r\n\r\n'

/** `bytes` are those of the file from `offset` on. */
export function readWarcRecords(bytes: Buffer, offset: number): WarcRecord[] {
  const records: WarcRecord[] = []
  for (let at = 0; at < bytes.length;) {
    const { content, length } = readMember(bytes.subarray(at))
    records.push({ offset: offset + at, length, ...readRecord(content) })
    at += length
  }
  return records
}

function readMember(bytes: Buffer): { content: Buffer; length: number } {
  demand(bytes.length > HEADER_BYTES + TRAILER_BYTES && bytes.readUInt32BE(0) === MEMBER_START, 'a member begins here')
  const { buffer, engine } = inflateRawSync(bytes.subarray(HEADER_BYTES), { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  const end = HEADER_BYTES + engine.bytesWritten
  demand(bytes.length >= end + TRAILER_BYTES, 'the member is whole')
  demand(bytes.readUInt32LE(end) === crc32(buffer), 'the checksum of the member is right')
  demand(bytes.readUInt32LE(end + 4) === buffer.length, 'the length of the member is right')
  return { content: buffer, length: end + TRAILER_BYTES }
}

function readRecord(content: Buffer): Pick<WarcRecord, 'field' | 'block'> {
  const headEnd = content.indexOf(RECORD_END)
  const head = content.toString('utf8', 0, headEnd)
  demand(headEnd !== -1 && head.startsWith('WARC/1.1\r\n'), 'a record begins with its version and fields')
  demand(
    content.toString('latin1', content.length - RECORD_END.length) === RECORD_END,
    'a record ends with two line ends',
  )
  const field = (name: string): string => new RegExp(`\r\n${name}: ([^\r]*)`, 'i').exec(head)?.[1] ?? ''
  const block = content.subarray(headEnd + RECORD_END.length, -RECORD_END.length)
  demand(field('content-length') === String(block.length), 'the length of a record is that of its block')
  return { field, block }
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`it is not so that ${what}`)
}
