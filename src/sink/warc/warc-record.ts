/**
 * A WARC 1.1 record (ISO 28500:2017): version, named fields, block. The block is framed by its length, so what it holds
 * cannot end the record early; a field is framed by its line, so nothing that could end a line gets into one.
 */

export interface WarcRecord {
  readonly type: 'warcinfo' | 'response' | 'revisit' | 'request' | 'metadata'
  /** A UUID. */
  readonly id: string
  /** As `warcDate` has it; records of one exchange have the same. */
  readonly date: string
  /** Besides those that every record has: lines as `field` makes them. */
  readonly fields: string
  readonly contentType: string
  /** What the block begins with, and which bytes that is. */
  readonly text: string
  readonly encoding: 'latin1' | 'utf8'
  /** What the block goes on with. */
  readonly body?: Uint8Array
}

/** What stands behind the block. */
export const RECORD_END = '\r\n\r\n'

/**
 * What stands before a block of so many bytes. A block without a body has a digest, in Base32. That of a body is among the
 * fields already, and a second one of nearly the same bytes would tell nothing that the checksum of gzip does not.
 */
export function recordHead(record: WarcRecord, blockBytes: number, blockDigest?: string): string {
  const { type, id, date, fields, contentType } = record
  const digest = blockDigest === undefined ? '' : `WARC-Block-Digest: sha1:${blockDigest}\r\n`
  return (
    `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: <${recordUri(id)}>\r\nWARC-Date: ${date}\r\n${fields}` +
    `${digest}Content-Type: ${contentType}\r\nContent-Length: ${blockBytes}\r\n\r\n`
  )
}

/** A line of its own. */
export const field = (name: string, value: string): string => `${name}: ${onOneLine(value)}\r\n`

export const recordUri = (id: string): string => `urn:uuid:${id}`

/** The W3C profile of ISO 8601, to the millisecond. */
export const warcDate = (at: number): string => new Date(at).toISOString()

/** Control characters and the line ends of Unicode become spaces. */
function onOneLine(value: string): string {
  // Nearly every value is plain, and to see that takes far less than to look for what is not.
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(value)
  return isPlain ? value : value.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').trim()
}
