/**
 * gzip (RFC 1952) as hosts send it: what follows the first member and is no other member is passed over, as browsers do
 * and zlib, which takes it for a broken member, does not. A member that is broken or stops short is an error.
 */
import { Duplex } from 'node:stream'
import * as zlib from 'node:zlib'
import { codeOf } from './failure.ts'

export interface GunzipStream extends Duplex {
  /** Calls back when all that was written has been decoded. */
  flush(callback: () => void): void
}

const FIXED_HEADER_BYTES = 10
const TRAILER_BYTES = 8
/** A file name or a comment in front of the data is a few bytes long; this is more than any host needs. */
const MAX_HEADER_BYTES = 64 * 1024
const FLAGS_AT = 3
const HAS_CHECKSUM = 2
const HAS_EXTRA = 4
const HAS_NAME = 8
const HAS_COMMENT = 16

const NOTHING = Buffer.alloc(0)

/** Throws what zlib throws; `ERR_BUFFER_TOO_LARGE` if there would be more than `maxOutputLength`. */
export function gunzipAtOnce(bytes: Uint8Array, options: { maxOutputLength: number; chunkSize: number }): Uint8Array {
  try {
    return zlib.gunzipSync(bytes, options)
  } catch (error) {
    const isBroken = codeOf(error) === 'Z_DATA_ERROR' || codeOf(error) === 'Z_BUF_ERROR'
    const only = isBroken ? onlyMember(Buffer.from(bytes), options) : undefined
    if (only === undefined) throw error
    return only
  }
}

/** What the first member holds, if it is whole and no other follows. */
function onlyMember(bytes: Buffer, options: { maxOutputLength: number }): Buffer | undefined {
  const start = headerLength(bytes)
  if (typeof start !== 'number') return undefined
  const { buffer, engine } = inflateWithInfo(bytes.subarray(start), options)
  const end = start + engine.bytesWritten
  const isWhole = isTrailerOf(bytes.subarray(end, end + TRAILER_BYTES), zlib.crc32(buffer), buffer.length)
  return isWhole && !isMember(bytes.subarray(end + TRAILER_BYTES)) ? buffer : undefined
}

function inflateWithInfo(
  bytes: Buffer,
  options: { maxOutputLength: number },
): { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } } {
  // The types do not know what `info` does.
  return zlib.inflateRawSync(bytes, { ...options, info: true }) as unknown as ReturnType<typeof inflateWithInfo>
}

/** The same for bytes that come bit by bit. Holds up whoever writes while nobody reads. */
export function createGunzipStream(options: { readonly chunkSize: number }): GunzipStream {
  /** What has come of a header, a trailer, or the beginning of what follows it. */
  let held: Buffer = NOTHING
  let phase: 'header' | 'data' | 'trailer' | 'next' | 'members' | 'rest' = 'header'
  let decoder: zlib.InflateRaw | zlib.Gunzip | undefined
  let isWanted = false
  let checksum = 0
  let size = 0

  const open = (next: zlib.InflateRaw | zlib.Gunzip): void => {
    decoder = next
    next.on('data', (part: Buffer) => {
      if (phase === 'data') {
        checksum = zlib.crc32(part, checksum)
        size += part.length
      }
      isWanted = false
      // Whoever reads may ask for more within the call.
      if (!stream.push(part) && !isWanted) next.pause()
    })
    next.on('error', (error) => stream.destroy(error))
  }

  const take = (chunk: Buffer, done: (error?: Error) => void): void => {
    if (chunk.length === 0 || phase === 'rest') return done()
    if (phase === 'members') return void decoder?.write(chunk, () => done())
    if (phase === 'data') return inflate(chunk, done)
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    if (phase === 'header') return takeHeader(done)
    if (phase === 'trailer') {
      if (held.length < TRAILER_BYTES) return done()
      const trailer = held.subarray(0, TRAILER_BYTES)
      if (!isTrailerOf(trailer, checksum, size)) return done(broken('incorrect data check'))
      held = held.subarray(TRAILER_BYTES)
      phase = 'next'
    }
    if (held.length < 2) return done()
    phase = isMember(held) ? 'members' : 'rest'
    if (phase === 'members') open(zlib.createGunzip(options))
    takeHeld(done)
  }

  const takeHeld = (done: (error?: Error) => void, from = 0): void => {
    const chunk = held.subarray(from)
    held = NOTHING
    take(chunk, done)
  }

  const takeHeader = (done: (error?: Error) => void): void => {
    const length = headerLength(held)
    if (length === 'broken' || (length === 'short' && held.length > MAX_HEADER_BYTES)) {
      return done(broken('incorrect header check'))
    }
    if (length === 'short') return done()
    phase = 'data'
    open(zlib.createInflateRaw(options))
    takeHeld(done, length)
  }

  const inflate = (chunk: Buffer, done: (error?: Error) => void): void => {
    const inflater = decoder
    if (inflater === undefined) return done()
    const before = inflater.bytesWritten
    // It ends when it wants no more and what it has made was read; only then is there a rest.
    const onEnd = (): void => {
      phase = 'trailer'
      take(chunk.subarray(inflater.bytesWritten - before), done)
    }
    inflater.once('end', onEnd)
    inflater.write(chunk, () => {
      if (inflater.bytesWritten - before < chunk.length) return
      inflater.off('end', onEnd)
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
      if (phase === 'header' || phase === 'data' || phase === 'trailer') return done(cutShort())
      if (phase !== 'members' || decoder === undefined) {
        this.push(null)
        return done()
      }
      decoder.once('end', () => {
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
  return Object.assign(stream, { flush: (callback: () => void) => void stream.write(NOTHING, callback) })
}

/** The bytes before the data; `short` while some of them are missing, `broken` if it is no gzip. */
function headerLength(bytes: Buffer): number | 'short' | 'broken' {
  const beginning = [0x1f, 0x8b, 8]
  if (beginning.some((byte, at) => at < bytes.length && bytes[at] !== byte)) return 'broken'
  if (bytes.length < FIXED_HEADER_BYTES) return 'short'
  const flags = bytes[FLAGS_AT] ?? 0
  let at = FIXED_HEADER_BYTES
  if ((flags & HAS_EXTRA) !== 0) at += at + 2 > bytes.length ? 2 : 2 + bytes.readUInt16LE(at)
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue
    const end = bytes.indexOf(0, at)
    if (end === -1) return 'short'
    at = end + 1
  }
  if ((flags & HAS_CHECKSUM) !== 0) at += 2
  return at > bytes.length ? 'short' : at
}

const isMember = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** RFC 1952 §2.3.1: the checksum and, modulo 2^32, the size of what was compressed. */
const isTrailerOf = (trailer: Buffer, checksum: number, size: number): boolean =>
  trailer.length === TRAILER_BYTES && trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size >>> 0

const broken = (words: string): Error => Object.assign(new Error(words), { code: 'Z_DATA_ERROR' })
const cutShort = (): Error => Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR' })
