/**
 * A WARC 1.1 record (ISO 28500:2017) as bytes: version, named fields, block. The block is framed by its length, so what
 * it holds cannot end the record early; a field is framed by its line, so nothing that could end a line gets into one.
 */
import { createHash } from 'node:crypto'
import { base32 } from './base32.ts'

export type Field = readonly [name: string, value: string]

export interface WarcRecord {
  readonly type: 'warcinfo' | 'response' | 'revisit' | 'request' | 'metadata'
  /** A UUID. */
  readonly id: string
  /** Clock ms; records of one exchange have the same. */
  readonly at: number
  /** Besides those that every record has. */
  readonly fields: readonly Field[]
  readonly contentType: string
  /** The parts of the block, in order. */
  readonly block: readonly Uint8Array[]
}

export function serializeRecord({ type, id, at, fields, contentType, block }: WarcRecord): Buffer {
  const blockDigest = createHash('sha1')
  for (const part of block) blockDigest.update(part)
  const head = fieldLines([
    ['WARC-Type', type],
    ['WARC-Record-ID', `<${recordUri(id)}>`],
    ['WARC-Date', warcDate(at)],
    ...fields,
    ['WARC-Block-Digest', `sha1:${base32(blockDigest.digest())}`],
    ['Content-Type', contentType],
    ['Content-Length', String(block.reduce((bytes, part) => bytes + part.length, 0))],
  ])
  return Buffer.concat([Buffer.from(`WARC/1.1\r\n${head}\r\n`), ...block, RECORD_END])
}

const RECORD_END = Buffer.from('\r\n\r\n')

/** Lines of `application/warc-fields`. */
export function fieldLines(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${name}: ${onOneLine(value)}\r\n`).join('')
}

export const recordUri = (id: string): string => `urn:uuid:${id}`

/** The W3C profile of ISO 8601, to the millisecond. */
export const warcDate = (at: number): string => new Date(at).toISOString()

/** Control characters and the line ends of Unicode become spaces. */
function onOneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim()
}
