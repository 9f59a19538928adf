/**
 * A WARC 1.1 record (ISO 28500:2017) as bytes: version, named fields, block. The block is framed by its length, so what
 * it holds cannot end the record early; a field is framed by its line, so nothing that could end a line gets into one.
 */
import { createHash, hash } from 'node:crypto'
import { base32 } from './base32.ts'

export type Field = readonly [name: string, value: string]

export interface WarcRecord {
  readonly type: 'warcinfo' | 'response' | 'revisit' | 'request' | 'metadata'
  /** A UUID. */
  readonly id: string
  /** As `warcDate` has it; records of one exchange have the same. */
  readonly date: string
  /** Besides those that every record has. */
  readonly fields: readonly Field[]
  readonly contentType: string
  /** The parts of the block, in order. */
  readonly block: readonly Uint8Array[]
}

/** What stands behind the block. */
export const RECORD_END: Uint8Array = Buffer.from('\r\n\r\n')

/** What stands before the block. */
export function recordHead({ type, id, date, fields, contentType, block }: WarcRecord): Uint8Array {
  const lines = fieldLines([
    ['WARC-Type', type],
    ['WARC-Record-ID', `<${recordUri(id)}>`],
    ['WARC-Date', date],
    ...fields,
    ['WARC-Block-Digest', `sha1:${base32(sha1(block))}`],
    ['Content-Type', contentType],
    ['Content-Length', String(bytesOf(block))],
  ])
  return Buffer.from(`WARC/1.1\r\n${lines}\r\n`)
}

export function recordParts(record: WarcRecord): Uint8Array[] {
  return [recordHead(record), ...record.block, RECORD_END]
}

export function serializeRecord(record: WarcRecord): Uint8Array {
  return Buffer.concat(recordParts(record))
}

/** Lines of `application/warc-fields`. */
export function fieldLines(fields: readonly Field[]): string {
  let lines = ''
  for (const [name, value] of fields) lines += `${name}: ${onOneLine(value)}\r\n`
  return lines
}

export const recordUri = (id: string): string => `urn:uuid:${id}`

/** The W3C profile of ISO 8601, to the millisecond. */
export const warcDate = (at: number): string => new Date(at).toISOString()

/** Where parts are put together to be hashed: a hash of many steps is an object more for the collector, and slower. */
const together = Buffer.allocUnsafeSlow(256 * 1024)

/** Of all parts together. */
export function sha1(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return hash('sha1', only, 'buffer')
  const length = bytesOf(parts)
  if (length > together.length) {
    const digest = createHash('sha1')
    for (const part of parts) digest.update(part)
    return digest.digest()
  }
  let at = 0
  for (const part of parts) {
    together.set(part, at)
    at += part.length
  }
  return hash('sha1', together.subarray(0, length), 'buffer')
}

function bytesOf(parts: readonly Uint8Array[]): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}

/** Control characters and the line ends of Unicode become spaces. */
function onOneLine(value: string): string {
  // Nearly every value is plain, and to see that takes far less than to look for what is not.
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(value)
  return isPlain ? value : value.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim()
}
