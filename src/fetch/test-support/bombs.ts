/** Compressed bodies without end, for tests: a beginning, and a piece that may be repeated for ever. */
import * as zlib from 'node:zlib'

export interface Bomb {
  readonly beginning: Buffer
  /** Decodes to a mebibyte or more of zeros or blanks. */
  readonly piece: Buffer
}

const ZEROS = Buffer.alloc(1024 * 1024)

/** Deflate that forgets what was before, so that it fits anywhere. */
const DEFLATED = zlib.deflateRawSync(ZEROS, { finishFlush: zlib.constants.Z_FULL_FLUSH, level: 9 })

/** RFC 8878 §3.1.1: a frame that does not say how long it is, with a window of 8 MiB. */
const ZSTD_FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68])
/** A block that repeats one byte 131,072 times: not the last, type 1. */
const ZSTD_BLOCK = Buffer.from([0x02, 0x00, 0x10, 0x20])

async function brotliBomb(): Promise<Bomb> {
  const compressor = zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } })
  const compressed = async (): Promise<Buffer> => {
    compressor.write(ZEROS)
    await new Promise<void>((resolve) => compressor.flush(() => resolve()))
    return compressor.read() as Buffer
  }
  const beginning = await compressed()
  const piece = await compressed()
  compressor.destroy()
  return { beginning, piece }
}

export const BOMBS: Readonly<Record<string, () => Promise<Bomb>>> = {
  gzip: () => Promise.resolve({ beginning: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), piece: DEFLATED }),
  deflate: () => Promise.resolve({ beginning: Buffer.from([0x78, 0x9c]), piece: DEFLATED }),
  br: brotliBomb,
  zstd: () => Promise.resolve({ beginning: ZSTD_FRAME, piece: Buffer.alloc(4 * 8, ZSTD_BLOCK) }),
}

export function repeated({ beginning, piece }: Bomb, times: number): Buffer {
  return Buffer.concat([beginning, Buffer.alloc(piece.length * times, piece)])
}
