/**
 * The records of a WARC file of ours, one gzip member each: where each is, and how it begins. Bodies are read past, not
 * kept, so memory does not depend on them.
 */
import { closeSync, readSync } from 'node:fs'
import { createInflateRaw } from 'node:zlib'
import { TiptoeError } from '../../model/index.ts'
import { openToRead } from '../committed-file.ts'

const CHUNK_BYTES = 32 * 1024
/** The named fields of a record and the head of an answer are at the front, and are shorter than this. */
const MAX_HEAD_BYTES = 1024 * 1024
/** Magic number, method, no flags, no time: what our own writer begins a member with (RFC 1952 §2.3). */
const HEADER_BYTES = 10
const TRAILER_BYTES = 8

export interface RecordHead {
  readonly offset: number
  /** Compressed bytes. */
  readonly length: number
  /** The first bytes of the record, as Latin-1. */
  readonly head: string
}

/** Records up to the committed end, where one has to end. */
export async function* warcRecords(path: string, end: number): AsyncGenerator<RecordHead> {
  const descriptor = openToRead(path, end)
  try {
    for (let offset = 0; offset < end;) {
      const member = await readMember(descriptor, offset, end)
      if (member === undefined || offset + member.length > end) {
        throw new TiptoeError('output', `${path} is damaged at byte ${offset}`, {
          hint: 'put the file back, or crawl again with --fresh',
        })
      }
      yield { offset, ...member }
      offset += member.length
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Behind the last of the whole records that the file begins with. */
export async function wholeRecordsEnd(path: string, size: number): Promise<number> {
  const descriptor = openToRead(path, size)
  try {
    for (let offset = 0; offset < size;) {
      const member = await readMember(descriptor, offset, size)
      if (member === undefined || offset + member.length > size) return offset
      offset += member.length
    }
    return size
  } finally {
    closeSync(descriptor)
  }
}

/** Undefined for what is no whole gzip member. */
async function readMember(
  descriptor: number,
  offset: number,
  end: number,
): Promise<{ head: string; length: number } | undefined> {
  const header = Buffer.alloc(HEADER_BYTES)
  const isMember =
    readSync(descriptor, header, 0, HEADER_BYTES, offset) === HEADER_BYTES && header.readUInt32BE(0) === 0x1f8b_0800
  if (!isMember) return undefined
  const inflate = createInflateRaw()
  const kept: Buffer[] = []
  let keptBytes = 0
  inflate.on('data', (piece: Buffer) => {
    if (keptBytes < MAX_HEAD_BYTES) kept.push(piece)
    keptBytes += piece.length
  })
  const consumed = await new Promise<number | undefined>((resolve) => {
    let position = offset + HEADER_BYTES
    let isOver = false
    const stop = (bytes?: number): void => {
      isOver = true
      resolve(bytes)
    }
    inflate.on('end', () => stop(inflate.bytesWritten))
    inflate.on('error', () => stop())
    const feed = (): void => {
      if (isOver) return
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(0, end - position)))
      const read = readSync(descriptor, chunk, 0, chunk.length, position)
      position += read
      if (read === 0) inflate.end()
      else inflate.write(chunk.subarray(0, read), feed)
    }
    feed()
  })
  inflate.destroy()
  if (consumed === undefined) return undefined
  const head = Buffer.concat(kept).subarray(0, MAX_HEAD_BYTES).toString('latin1')
  return { head, length: HEADER_BYTES + consumed + TRAILER_BYTES }
}
