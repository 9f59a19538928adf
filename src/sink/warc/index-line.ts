/**
 * A line of the index (CDXJ): the key of a URL, the second it was asked for, and where in which file the answer is. All
 * values are strings, as the tools that read such files expect it.
 *
 * A line with `recordId` and `date` is an original: a whole body that later records may refer to.
 */
import { surt } from './surt.ts'

export interface IndexEntry {
  readonly url: string
  /** ISO 8601, as the record has it. */
  readonly date: string
  readonly mime: string
  readonly status: number
  /** Base32. */
  readonly digest: string
  readonly length: number
  readonly offset: number
  readonly filename: string
  readonly truncated?: string
  /** Present for an original. */
  readonly recordId?: string
}

/** What a record that repeats another says of it. */
export interface Original {
  readonly url: string
  readonly date: string
  readonly recordId: string
}

/** A URL has 8,192 characters at most and is there twice, its quotes and backslashes escaped. */
export const MAX_INDEX_LINE_BYTES = 64 * 1024

/** With its line end. */
export function indexLine(entry: IndexEntry): string {
  const { url, date, mime, status, digest, length, offset, filename, truncated, recordId } = entry
  // A key ends at the first space, and a line is ASCII: its characters are its bytes.
  const plain = surt(url)
  const key = /[^!-~]/.test(plain) ? plain.replaceAll(/[^!-~]/g, '_') : plain
  return (
    `${key} ${timestamp14(date)} {"url":${quoted(url)},"mime":${quoted(mime)},"status":"${status}","digest":"sha1:${digest}",` +
    `"length":"${length}","offset":"${offset}","filename":${quoted(filename)}` +
    (truncated === undefined ? '' : `,"truncated":${quoted(truncated)}`) +
    (recordId === undefined ? '' : `,"recordId":${quoted(recordId)},"date":${quoted(date)}`) +
    '}\n'
  )
}

/** As JSON has it, in ASCII. Nearly every value is plain: without quotes, backslashes and the like. */
function quoted(value: string): string {
  return /^[ !#-[\]-~]*$/.test(value) ? `"${value}"` : JSON.stringify(value).replaceAll(/[^ -~]/g, escaped)
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** `2026-01-02T03:04:05.678Z` → `20260102030405` */
export function timestamp14(date: string): string {
  const part = (from: number, to: number): string => date.slice(from, to)
  return part(0, 4) + part(5, 7) + part(8, 10) + part(11, 13) + part(14, 16) + part(17, 19)
}

/** What the line says of an original; undefined when it is none. */
export function originalOf(line: string): Original | undefined {
  const { url, date, recordId } = JSON.parse(line.slice(line.indexOf('{'))) as Partial<Original>
  return url === undefined || date === undefined || recordId === undefined ? undefined : { url, date, recordId }
}

/**
 * Where the originals among these lines begin, and their digests. A quote inside of a value is escaped, so no URL can
 * pretend to be one of the fields.
 */
export function* originalsIn(lines: string): Generator<{ readonly at: number; readonly digest: string }> {
  let at = 0
  for (let end = lines.indexOf('\n'); end !== -1; at = end + 1, end = lines.indexOf('\n', at)) {
    const line = lines.slice(at, end)
    const digest = line.lastIndexOf(DIGEST)
    if (digest === -1 || line.indexOf(',"recordId":"', digest) === -1) continue
    yield { at, digest: line.slice(digest + DIGEST.length, digest + DIGEST.length + 32) }
  }
}

const DIGEST = ',"digest":"sha1:'
