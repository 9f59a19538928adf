/**
 * Codings whose streams are several members in a row, gzip and zstd, decoded as hosts send them: members are read one
 * after the other, and what follows the last and is no other is passed over, as browsers do and zlib does not. A member
 * that is broken or stops short is an error. How much may come of it is left to the caller.
 */
import { Duplex } from 'node:stream'
import type { Gunzip, InflateRaw, ZstdDecompress } from 'node:zlib'
import * as zlib from 'node:zlib'
import { codeOf } from './failure.ts'

/** What stands where a member may begin: too little to tell, none, a wrong one, bytes without meaning, or one. */
export type Beginning =
  | 'short'
  | 'none'
  | 'broken'
  | { readonly skipBytes: number }
  | { /** Before what the decoder is to see. */ readonly headerBytes: number }

export interface MemberFormat {
  beginningOf(bytes: Buffer): Beginning
  /** By so many bytes a member is told from what is none. */
  readonly magicBytes: number
  /** After what the decoder saw. */
  readonly trailerBytes: number
  isTrailerOf(trailer: Buffer, checksum: number, size: number): boolean
  /** One member, and how many bytes it was. Throws what zlib throws. */
  decodeOne(bytes: Buffer, maxOutputLength: number): { readonly buffer: Buffer; readonly bytesRead: number }
  createDecoder(): InflateRaw | ZstdDecompress
  /** By which a decoder that goes on by itself, where the next piece begins a member, says that it is none. */
  readonly noMemberCode?: string
  /** Decodes all that is left behind `MAX_WALKED_MEMBERS`; without it there are too many. */
  createLastDecoder?(): Gunzip
}

export interface MemberStream extends Duplex {
  /** How many bytes of members have been decoded. */
  readonly bytesWritten: number
  /** Calls back when all that was written has been decoded. */
  flush(callback: () => void): void
}

/** Hosts send one member, or a few; each costs a decoder. */
const MAX_WALKED_MEMBERS = 256
/** A file name or a comment in front of the data is a few bytes long; this is more than any host needs. */
const MAX_BEGINNING_BYTES = 64 * 1024

const NOTHING = Buffer.alloc(0)

/** All members at once. Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxOutputLength`. */
export function decodeMembers(format: MemberFormat, bytes: Buffer, maxOutputLength: number): Buffer {
  const parts: Buffer[] = []
  let left = maxOutputLength
  let rest = bytes
  while (rest.length > 0) {
    const beginning = format.beginningOf(rest)
    const isFirst = rest === bytes
    if (beginning === 'none' && !isFirst) break
    if (beginning === 'broken' || beginning === 'none') throw wrongBeginning()
    if (beginning === 'short') {
      if (!isFirst && rest.length < format.magicBytes) break
      throw cutShort()
    }
    if ('skipBytes' in beginning) {
      if (rest.length < beginning.skipBytes) throw cutShort()
      rest = rest.subarray(beginning.skipBytes)
      continue
    }
    if (parts.length === MAX_WALKED_MEMBERS) throw tooMany()
    const { buffer, bytesRead } = format.decodeOne(rest.subarray(beginning.headerBytes), Math.max(left, 1))
    const end = beginning.headerBytes + bytesRead
    const trailer = rest.subarray(end, end + format.trailerBytes)
    if (trailer.length < format.trailerBytes) throw cutShort()
    if (!format.isTrailerOf(trailer, checksumOf(format, buffer, 0), buffer.length)) throw wrongTrailer()
    parts.push(buffer)
    left -= buffer.length
    rest = rest.subarray(end + format.trailerBytes)
  }
  return parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts)
}

/** The same for bytes that come bit by bit. Holds up whoever writes while nobody reads. */
export function createMemberStream(format: MemberFormat): MemberStream {
  /** What has come of a beginning or a trailer. */
  let held: Buffer = NOTHING
  let phase: 'beginning' | 'skip' | 'data' | 'trailer' | 'all' | 'rest' = 'beginning'
  let decoder: InflateRaw | ZstdDecompress | Gunzip | undefined
  let isWanted = false
  let skipBytes = 0
  let checksum = 0
  let size = 0
  let isFirst = true
  let walked = 0
  /** Bytes that earlier decoders took. */
  let takenBefore = 0
  /** Of the piece that is being decoded. */
  let onTaken: ((error?: Error) => void) | undefined

  const open = (next: InflateRaw | ZstdDecompress | Gunzip): void => {
    takenBefore += decoder?.bytesWritten ?? 0
    decoder = next
    checksum = 0
    size = 0
    next.on('data', (part: Buffer) => {
      checksum = checksumOf(format, part, checksum)
      size += part.length
      isWanted = false
      // Whoever reads may ask for more within the call.
      if (!stream.push(part) && !isWanted) next.pause()
    })
    next.on('error', (error) => {
      if (onTaken === undefined || codeOf(error) !== format.noMemberCode) return stream.destroy(error)
      phase = 'rest'
      onTaken()
    })
  }

  const take = (chunk: Buffer, done: (error?: Error) => void): void => {
    if (phase === 'rest') return done()
    let rest = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    held = NOTHING
    while (rest.length > 0) {
      if (phase === 'all') return void decoder?.write(rest, () => done())
      if (phase === 'data') return decode(rest, done)
      const used = takeAround(rest)
      if (used instanceof Error) return done(used)
      if (used === 0 && (phase === 'beginning' || phase === 'trailer')) {
        // A copy: what is given belongs to another when it has been taken.
        held = Buffer.from(rest)
        return done()
      }
      rest = rest.subarray(used)
    }
    done()
  }

  /** What is around the data: how many bytes were used, none if more are needed. */
  const takeAround = (bytes: Buffer): number | Error => {
    if (phase === 'skip') {
      const used = Math.min(skipBytes, bytes.length)
      skipBytes -= used
      if (skipBytes === 0) phase = 'beginning'
      return used
    }
    if (phase === 'trailer') {
      if (bytes.length < format.trailerBytes) return 0
      phase = 'beginning'
      const isRight = format.isTrailerOf(bytes.subarray(0, format.trailerBytes), checksum, size)
      return isRight ? format.trailerBytes : wrongTrailer()
    }
    return takeBeginning(bytes)
  }

  const takeBeginning = (bytes: Buffer): number | Error => {
    const beginning = format.beginningOf(bytes)
    if (beginning === 'short') return bytes.length > MAX_BEGINNING_BYTES ? wrongBeginning() : 0
    if (beginning === 'broken' || (beginning === 'none' && isFirst)) return wrongBeginning()
    isFirst = false
    if (beginning === 'none') {
      phase = 'rest'
      return bytes.length
    }
    if ('skipBytes' in beginning) {
      skipBytes = beginning.skipBytes
      phase = 'skip'
      return 0
    }
    if (++walked <= MAX_WALKED_MEMBERS) {
      phase = 'data'
      open(format.createDecoder())
      return beginning.headerBytes
    }
    if (format.createLastDecoder === undefined) return tooMany()
    phase = 'all'
    const last = format.createLastDecoder()
    open(last)
    // It may have had enough before all is written: it passes over zeros behind the last member.
    last.once('end', () => (phase = 'rest'))
    return 0
  }

  const decode = (chunk: Buffer, done: (error?: Error) => void): void => {
    const current = decoder
    if (current === undefined) return done()
    const before = current.bytesWritten
    onTaken = done
    // It ends when it wants no more and what it has made was read; only then is there a rest.
    const onEnd = (): void => {
      onTaken = undefined
      phase = format.trailerBytes > 0 ? 'trailer' : 'beginning'
      take(chunk.subarray(current.bytesWritten - before), done)
    }
    current.once('end', onEnd)
    current.write(chunk, () => {
      if (current.bytesWritten - before < chunk.length) return
      current.off('end', onEnd)
      onTaken = undefined
      done()
    })
  }

  const stream = new Duplex({
    write: (chunk: Buffer, _encoding, done) => take(chunk, done),
    read() {
      isWanted = true
      decoder?.resume()
    },
    final(done) {
      const isCutShort =
        phase === 'trailer' ||
        phase === 'skip' ||
        (phase === 'beginning' && (isFirst || held.length >= format.magicBytes))
      if (isCutShort) return done(cutShort())
      if ((phase !== 'data' && phase !== 'all') || decoder === undefined) {
        this.push(null)
        return done()
      }
      decoder.once('end', () => {
        if (phase === 'data' && format.trailerBytes > 0) return done(cutShort())
        this.push(null)
        done()
      })
      decoder.end()
    },
    destroy(error, done) {
      decoder?.destroy()
      done(error)
    },
  })
  const flush = (callback: () => void): void => void stream.write(NOTHING, callback)
  const taken = { get: () => takenBefore + (decoder?.bytesWritten ?? 0) }
  return Object.defineProperty(Object.assign(stream, { flush, bytesWritten: 0 }), 'bytesWritten', taken)
}

const checksumOf = (format: MemberFormat, part: Buffer, before: number): number =>
  format.trailerBytes > 0 ? zlib.crc32(part, before) : 0

const failure = (code: string, words: string): Error => Object.assign(new Error(words), { code })
const wrongBeginning = (): Error => failure('Z_DATA_ERROR', 'incorrect header check')
const wrongTrailer = (): Error => failure('Z_DATA_ERROR', 'incorrect data check')
const cutShort = (): Error => failure('Z_BUF_ERROR', 'unexpected end of file')
const tooMany = (): Error => failure('Z_DATA_ERROR', `more than ${MAX_WALKED_MEMBERS} members`)

/** For formats: what `info` makes of one of zlib's functions, which the types do not know. */
export function withBytesRead(result: unknown): { readonly buffer: Buffer; readonly bytesRead: number } {
  const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } }
  return { buffer, bytesRead: engine.bytesWritten }
}

/** Of what zlib throws: the bytes are wrong, or too few. */
export const isBrokenData = (error: unknown): boolean =>
  codeOf(error) === 'Z_DATA_ERROR' || codeOf(error) === 'Z_BUF_ERROR'
