/**
 * A reader of WARC files that forgives nothing, written from the standard and not from the writer: members of gzip
 * without a byte between them, one record in each, fields by the grammar, lengths and digests exact.
 */
import { createHash } from 'node:crypto'
import { crc32, inflateRawSync } from 'node:zlib'

export interface ReadRecord {
  readonly offset: number
  /** Of its member of gzip. */
  readonly length: number
  readonly type: string
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly block: Buffer
  /** The first value of a field. */
  field(name: string): string | undefined
}

const TYPES = new Set(['warcinfo', 'response', 'revisit', 'request', 'metadata'])
const MANDATORY = ['warc-type', 'warc-record-id', 'warc-date', 'content-length']
const REPEATABLE = new Set(['warc-concurrent-to', 'warc-protocol'])
/** Fields that the standard forbids, by type of record. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  warcinfo: ['warc-target-uri', 'warc-concurrent-to', 'warc-ip-address', 'warc-payload-digest', 'warc-refers-to'],
  response: ['warc-refers-to', 'warc-refers-to-target-uri', 'warc-refers-to-date', 'warc-filename', 'warc-profile'],
  request: ['warc-refers-to', 'warc-refers-to-target-uri', 'warc-refers-to-date', 'warc-filename', 'warc-profile'],
  metadata: ['warc-refers-to-target-uri', 'warc-refers-to-date', 'warc-payload-digest', 'warc-filename'],
  revisit: ['warc-filename'],
}

/** Throws at the first thing that is not right. */
export function readWarc(bytes: Buffer): ReadRecord[] {
  const records: ReadRecord[] = []
  for (let offset = 0; offset < bytes.length;) {
    const { content, length } = readMember(bytes.subarray(offset))
    records.push({ offset, length, ...readRecord(content) })
    offset += length
  }
  if (records.length > 0) demand(records[0]?.type === 'warcinfo', 'the first record describes the file')
  const ids = records.map((record) => record.field('warc-record-id'))
  demand(new Set(ids).size === ids.length, 'no two records have the same identifier')
  return records
}

function readMember(bytes: Buffer): { content: Buffer; length: number } {
  // RFC 1952: magic number, deflate, no optional parts.
  demand(bytes.length >= 18 && bytes.readUInt32BE(0) === 0x1f8b0800, 'a member of gzip begins here')
  const { buffer, engine } = inflateRawSync(bytes.subarray(10), { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  const end = 10 + engine.bytesWritten
  demand(bytes.length >= end + 8, 'the member is whole')
  demand(bytes.readUInt32LE(end) === crc32(buffer), 'the checksum of the member is right')
  demand(bytes.readUInt32LE(end + 4) === buffer.length, 'the length of the member is right')
  return { content: buffer, length: end + 8 }
}

function readRecord(content: Buffer): Omit<ReadRecord, 'offset' | 'length'> {
  const headEnd = content.indexOf('\r\n\r\n')
  demand(headEnd !== -1, 'the fields end with an empty line')
  const [version, ...lines] = content.toString('utf8', 0, headEnd).split('\r\n')
  demand(version === 'WARC/1.1', 'the version is 1.1')
  const fields = new Map<string, string[]>()
  for (const line of lines) {
    const match = /^([A-Za-z-]+): ([^\p{Cc}]*)$/u.exec(line)
    if (match === null) throw new Error(`not a field: ${JSON.stringify(line)}`)
    const name = match[1]!.toLowerCase()
    demand(!fields.has(name) || REPEATABLE.has(name), `${name} is there once`)
    fields.set(name, [...(fields.get(name) ?? []), match[2]!])
  }
  const field = (name: string): string | undefined => fields.get(name)?.[0]
  const type = field('warc-type') ?? ''
  const block = content.subarray(headEnd + 4, -4)
  for (const name of MANDATORY) demand(fields.has(name), `${name} is there`)
  demand(TYPES.has(type), `${type} is a type`)
  for (const name of FORBIDDEN[type] ?? []) demand(!fields.has(name), `a ${type} has no ${name}`)
  demand(/^<urn:uuid:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}>$/.test(field('warc-record-id')!), 'a UUID names it')
  demand(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(field('warc-date')!), 'the date is one')
  demand(content.subarray(-4).equals(Buffer.from('\r\n\r\n')), 'the record ends with two line ends')
  demand(field('content-length') === String(block.length), 'the length is that of the block')
  const blockDigest = field('warc-block-digest')
  if (type !== 'response' || blockDigest !== undefined)
    demand(blockDigest === digestOf(block), 'the digest is that of the block')
  if (type !== 'warcinfo') demand(URL.canParse(field('warc-target-uri') ?? ''), 'a URI is its target')
  if (type === 'response')
    demand(field('warc-payload-digest') === digestOf(splitHttp(block).body), 'the payload is right')
  if (type === 'revisit') demand(field('warc-profile')?.includes('/warc/1.1/revisit/') === true, 'it has a profile')
  return { type, fields, block, field }
}

/** An HTTP message, parted at the first empty line. */
export function splitHttp(block: Buffer): { head: string; lines: string[]; body: Buffer } {
  const end = block.indexOf('\r\n\r\n')
  demand(end !== -1, 'the HTTP head ends')
  const head = block.toString('latin1', 0, end)
  return { head, lines: head.split('\r\n'), body: block.subarray(end + 4) }
}

/** `sha1:` and base32, computed digit by digit. */
export function digestOf(bytes: Uint8Array): string {
  const value = BigInt(`0x${createHash('sha1').update(bytes).digest('hex')}`)
  const digits = value.toString(32).padStart(32, '0')
  const letters = Array.from(digits, (digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number.parseInt(digit, 32)))
  return `sha1:${letters.join('')}`
}

function demand(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`it is not so that ${what}`)
}
